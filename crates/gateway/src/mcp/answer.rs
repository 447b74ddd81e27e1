//! What a call comes to, before it is put into the protocol's types.

use cairn_search::{NextCall, QueryError};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::text::one_line;
use super::tools::{Kind, ToolSpec};
use crate::json::error as error_json;

/// Calls that an error or an empty answer suggests, at most.
pub(crate) const MAX_SUGGESTIONS: usize = 2;

/// A call that helps, ready to be made.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Suggestion {
    pub tool: &'static str,
    pub reason: String,
    pub arguments: JsonObject,
}

/// An answer. `num_results` of 0 says that it is true but empty; then the suggestions are shown.
#[derive(Debug)]
pub(crate) struct Answer {
    pub text: String,
    pub json: Value,
    pub num_results: usize,
    pub suggestions: Vec<Suggestion>,
}

/// An error with calls that help. They are tried before they are shown.
#[derive(Debug)]
pub(crate) struct Failure {
    pub error: QueryError,
    pub suggestions: Vec<Suggestion>,
}

pub(crate) type Answered = Result<Answer, Failure>;

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        let suggestions = error.next_calls.iter().filter_map(Suggestion::of).collect();
        Self { error, suggestions }
    }
}

impl Failure {
    /// Keeps the scope of the call that failed: a name that is near in one repository may not be in another.
    pub(crate) fn within(mut self, arguments: &Arguments) -> Self {
        let Some(repository) = arguments.given().get("repository") else { return self };
        for suggestion in &mut self.suggestions {
            let Some(parameter) = ToolSpec::find(suggestion.tool).and_then(|tool| tool.parameter("repository")) else {
                continue;
            };
            if let (Ok(repository), false) =
                (fitting(&parameter.kind, repository), suggestion.arguments.contains_key("repository"))
            {
                suggestion.arguments.insert("repository".to_owned(), repository);
            }
        }
        self
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let mut json = error_json(&self.error);
        json["details"]["tool_suggestions"] = suggestions_json(&self.suggestions);
        let mut text = format!("{}: {}", self.error.code.as_str(), self.error.message);
        let mut listed = |label: &str, names: &[String]| {
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(|name| one_line(name)).collect();
                text.push_str(&format!("\n{label}: {}", names.join(", ")));
            }
        };
        listed("similar symbols", &self.error.similar_symbols);
        listed("similar files", &self.error.similar_files);
        listed("similar repositories", &self.error.similar_repositories);
        if let Some(hint) = &self.error.hint {
            text.push_str(&format!("\nhint: {hint}"));
        }
        put_suggestions(&mut text, &self.suggestions);
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        result.structured_content = Some(json);
        result
    }
}

impl Answer {
    pub(crate) fn new(text: String, json: Value, num_results: usize) -> Self {
        Self { text, json, num_results, suggestions: Vec::new() }
    }

    pub(crate) fn into_result(mut self) -> CallToolResult {
        if self.num_results == 0 && !self.suggestions.is_empty() {
            put_suggestions(&mut self.text, &self.suggestions);
            self.json["tool_suggestions"] = suggestions_json(&self.suggestions);
        }
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text)]);
        result.structured_content = Some(self.json);
        result
    }
}

impl Suggestion {
    pub(crate) fn new(tool: &'static str, reason: impl Into<String>, arguments: JsonObject) -> Self {
        Self { tool, reason: reason.into(), arguments }
    }

    pub(crate) fn guide(topic: &str, reason: &str) -> Self {
        Self::new("workflow_guide", reason, object([("topic", Value::from(topic))]))
    }

    /// The call of an error, with its values as the tool's table wants them.
    fn of(call: &NextCall) -> Option<Self> {
        let tool = ToolSpec::find(call.tool)?;
        let mut arguments = Map::new();
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
        Some(Self { tool: tool.name, reason: call.reason.clone(), arguments })
    }

    /// The call as it can be made: `tool {arguments}`.
    pub(crate) fn call(&self) -> String {
        call_text(self.tool, &self.arguments)
    }
}

/// A value of one call in another: a list in place of a single name and the other way round.
fn fitting(kind: &Kind, value: &Value) -> Result<Value, ()> {
    match (kind, value) {
        (Kind::List, Value::String(_)) => Ok(json!([value])),
        (Kind::Text, Value::Array(values)) => match values.as_slice() {
            [only] => Ok(only.clone()),
            _ => Err(()),
        },
        _ => Ok(value.clone()),
    }
}

pub(crate) fn call_text(tool: &str, arguments: &JsonObject) -> String {
    format!("{tool} {}", Value::Object(arguments.clone()))
}

pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> JsonObject {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn put_suggestions(text: &mut String, suggestions: &[Suggestion]) {
    for suggestion in suggestions {
        text.push_str(&format!("\ntry: {} ({})", suggestion.call(), suggestion.reason));
    }
}

fn suggestions_json(suggestions: &[Suggestion]) -> Value {
    let suggestion = |(priority, suggestion): (usize, &Suggestion)| {
        json!({
            "tool": suggestion.tool,
            "reason": suggestion.reason,
            "arguments": suggestion.arguments,
            "priority": priority,
        })
    };
    (1..).zip(suggestions).map(suggestion).collect()
}
