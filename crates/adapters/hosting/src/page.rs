//! Reads a page of a list: its unparsed entries, up to a maximum number.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Maximum number of entries on a page. A request specifies at most a hundred entries. If a service ignores
/// this number, it sends its default number of entries, which is also below this maximum.
pub(crate) const MAX_ENTRIES: usize = 1_000;

pub(crate) struct Page<'a> {
    pub entries: Vec<&'a RawValue>,
    /// True if the page has more than [`MAX_ENTRIES`] entries.
    pub has_more: bool,
}

impl<'de> Deserialize<'de> for Page<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Page<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while entries.len() < MAX_ENTRIES {
            let Some(entry) = list.next_element()? else { return Ok(Page { entries, has_more: false }) };
            entries.push(entry);
        }
        let mut has_more = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            has_more = true;
        }
        Ok(Page { entries, has_more })
    }
}
