//! Calls that answers and errors suggest.

use cairn_ranking::estimate_tokens;
use cairn_search::NextCall;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::tools::{Kind, ToolSpec};
use crate::answers::{Priority, SuggestedCall};

/// A longer argument of a call is not repeated in the text of the answer.
const MAX_REPEATED_TOKENS: usize = 60;

/// A suggested call with all its arguments.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Suggestion {
    pub tool: &'static str,
    pub reason: String,
    pub arguments: JsonObject,
}

impl Suggestion {
    pub(super) fn new(tool: &'static str, reason: impl Into<String>, arguments: JsonObject) -> Self {
        Self { tool, reason: reason.into(), arguments }
    }

    pub(super) fn guide(topic: &str, reason: &str) -> Self {
        Self::new("workflow_guide", reason, object([("topic", Value::from(topic))]))
    }

    /// A call that always succeeds.
    pub(super) fn listing() -> Self {
        Self::new("list_repositories", "lists the indexed repositories", object([]))
    }

    /// The call that indexes the working directory. Shown only for a directory that is not indexed.
    pub(super) fn indexing_here() -> Self {
        let reason = "the working directory is not indexed; this indexes it";
        Self::new("index_repository", reason, object([("path", json!("."))]))
    }

    /// Returns the call that an error suggests. The arguments are converted to the parameter types of the
    /// suggested tool.
    pub(super) fn of(call: &NextCall) -> Option<Self> {
        let tool = ToolSpec::find(call.tool)?;
        let mut arguments = JsonObject::new();
        for (name, value) in &call.arguments {
            let value = Value::from(value.as_str());
            match tool.parameter(name)?.kind {
                Kind::List | Kind::Choices(_) => match arguments.entry((*name).to_owned()).or_insert_with(|| json!([]))
                {
                    Value::Array(values) => values.push(value),
                    _ => return None,
                },
                Kind::Number { .. } => {
                    arguments.insert((*name).to_owned(), Value::from(value.as_str()?.parse::<u64>().ok()?));
                }
                Kind::Text | Kind::Flag | Kind::Choice(_) => {
                    arguments.insert((*name).to_owned(), value);
                }
            }
        }
        Some(Self { tool: tool.name, reason: call.reason.to_string(), arguments })
    }

    /// Adds the repository of the failed call, because a similar name in this repository may not exist in
    /// another repository.
    pub(super) fn within(&mut self, repository: &Value) {
        let Some(parameter) = ToolSpec::find(self.tool).and_then(|tool| tool.parameter("repository")) else { return };
        if let (Some(repository), false) =
            (fitting(&parameter.kind, repository), self.arguments.contains_key("repository"))
        {
            self.arguments.insert("repository".to_owned(), repository);
        }
    }

    /// The call as text: `tool {arguments}`.
    pub(super) fn call(&self) -> String {
        call_text(self.tool, &self.arguments)
    }

    /// The suggested call as text. `given` contains the arguments of the call that is answered. The text
    /// does not repeat long values from `given`.
    pub(super) fn call_after(&self, given: &JsonObject) -> String {
        call_text_after(self.tool, &self.arguments, given)
    }
}

/// Converts an argument to the type that the parameter has in another tool: a single name becomes a list, or
/// a list with one name becomes a single name.
fn fitting(kind: &Kind, value: &Value) -> Option<Value> {
    match (kind, value) {
        (Kind::List, Value::String(_)) => Some(json!([value])),
        (Kind::Text, Value::Array(values)) => match values.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        },
        _ => Some(value.clone()),
    }
}

/// The call as text: `tool {arguments}`.
pub(super) fn call_text(tool: &str, arguments: &JsonObject) -> String {
    format!("{tool} {}", Value::Object(arguments.clone()))
}

/// A call that an answer contains, as text. `given` contains the arguments of the call that is answered.
/// The text does not repeat long values from `given`, because they could need more tokens than the answer may
/// have. The structured answer contains all arguments of the call.
pub(super) fn call_text_after(tool: &str, arguments: &JsonObject, given: &JsonObject) -> String {
    let is_long = |value: &Value| estimate_tokens(&value.to_string()) > MAX_REPEATED_TOKENS;
    // A text and a list that consists of this text are the same value.
    let is_same = |known: &Value, value: &Value| known == value || *value == json!([known]);
    let name_given = |value: &Value| given.iter().find(|(_, known)| is_same(known, value)).map(|(name, _)| name);
    let (mut shown, mut omitted) = (arguments.clone(), Vec::new());
    for (name, value) in arguments.iter().filter(|(_, value)| is_long(value)) {
        if let Some(source) = name_given(value) {
            shown.remove(name);
            let same =
                if source == name { format!("the same `{name}`") } else { format!("your `{source}` as `{name}`") };
            omitted.push(same);
        }
    }
    let call = call_text(tool, &shown);
    if omitted.is_empty() { call } else { format!("{call} with {}", omitted.join(" and ")) }
}

pub(super) fn object<const N: usize>(fields: [(&str, Value); N]) -> JsonObject {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Best first.
pub(super) fn reports(suggestions: &[Suggestion]) -> Vec<SuggestedCall> {
    let report = |(rank, suggestion): (usize, &Suggestion)| SuggestedCall {
        tool: suggestion.tool.to_owned(),
        reason: suggestion.reason.clone(),
        arguments: suggestion.arguments.clone(),
        priority: Some(Priority::of(rank)),
        request: None,
        command: None,
    };
    (1..).zip(suggestions).map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_arguments_are_not_repeated() {
        let long = "a word, ".repeat(100);
        let given = object([("query", json!(long)), ("limit", json!(3))]);
        let check = |query: &str, expect: &str| {
            let arguments = object([("query", json!(query)), ("cursor", json!("x"))]);
            assert_eq!(call_text_after("search_code", &arguments, &given), expect);
        };
        check(&long, r#"search_code {"cursor":"x"} with the same `query`"#);
        check("date", &call_text("search_code", &object([("query", json!("date")), ("cursor", json!("x"))])));
        // A long value that the client does not have is not omitted.
        let other = "other, ".repeat(100);
        check(&other, &call_text("search_code", &object([("query", json!(other)), ("cursor", json!("x"))])));
        // The client has the value under another name, or as a text instead of a list.
        let given = object([("q", json!(long)), ("path", json!(other))]);
        let arguments = object([("query", json!(long)), ("path", json!([other]))]);
        let call = call_text_after("search_code", &arguments, &given);
        assert_eq!(call, "search_code {} with the same `path` and your `q` as `query`");
    }
}
