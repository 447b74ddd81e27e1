//! Fields of an answer. One that is not there is empty: an older server may not send it.

use serde_json::Value;

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

pub(super) fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_default()
}

pub(super) fn flag(value: &Value, name: &str) -> bool {
    value[name].as_bool().unwrap_or_default()
}

pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Names and counts, in the order of the names.
pub(super) fn counts<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, u64)> {
    let entries = value[name].as_object().into_iter().flatten();
    entries.map(|(name, count)| (name, count.as_u64().unwrap_or_default()))
}
