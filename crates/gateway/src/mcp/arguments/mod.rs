//! Checks the arguments of a call against the parameter table of the tool.
//!
//! All faults are reported at once. If all faults can be corrected without guessing, the corrected call is
//! suggested. `check` collects the faults of a call, `value` checks one value against its kind, and `words`
//! finds the word that a caller most likely meant.

mod check;
#[cfg(test)]
mod tests;
mod value;
mod words;

use rmcp::model::JsonObject;
use serde_json::Value;

use self::check::check;
pub(crate) use self::words::nearest_word;
use super::reply::Failure;
use super::tools::ToolSpec;

/// Checked arguments. Every name is known, and every value has the kind that the table requires.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub tool: &'static ToolSpec,
    given: JsonObject,
}

impl Arguments {
    pub(crate) fn read(tool: &'static ToolSpec, given: JsonObject) -> Result<Self, Failure> {
        Ok(Self { tool, given: check(tool, given)? })
    }

    pub(crate) fn given(&self) -> &JsonObject {
        &self.given
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name).and_then(Value::as_str)
    }

    /// The values of a list. The result is empty if the caller did not pass the list.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let values = self.given.get(name).and_then(Value::as_array).into_iter().flatten();
        values.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The values of a list. `None` if the caller did not pass the list. If the caller passed an empty list,
    /// the result is `Some`.
    pub(crate) fn given_list(&self, name: &str) -> Option<Vec<String>> {
        self.given.contains_key(name).then(|| self.list(name))
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.given.get(name).and_then(Value::as_u64)
    }

    /// A number as `usize`. The table limits such numbers to values that fit into `usize`.
    pub(crate) fn count(&self, name: &str, default: usize) -> usize {
        self.number(name).map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.given.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn flag_or(&self, name: &str, default: bool) -> bool {
        if self.given.contains_key(name) { self.flag(name) } else { default }
    }

    /// The arguments of this call, in which the argument `name` is set to `value`.
    pub(crate) fn with(&self, name: &str, value: impl Into<Value>) -> JsonObject {
        let mut given = self.given.clone();
        given.insert(name.to_owned(), value.into());
        given
    }

    /// The arguments of this call without the arguments in `names`.
    pub(crate) fn without(&self, names: &[&str]) -> JsonObject {
        self.given
            .iter()
            .filter(|(name, _)| !names.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}
