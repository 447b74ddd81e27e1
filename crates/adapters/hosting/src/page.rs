//! A page of a list, not yet read: its entries as they were sent, and no more of them than a service gives.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A hundred are asked for at most; a service that does not heed that has a number of its own, which is not this large.
pub(crate) const MAX_ENTRIES: usize = 1_000;

pub(crate) struct Page<'a> {
    pub entries: Vec<&'a RawValue>,
    /// There are more than [`MAX_ENTRIES`].
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
