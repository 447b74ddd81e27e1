//! The form of errors that all front ends share.

use cairn_redaction::quoted;
use cairn_search::{FieldFault, NextCall, QueryError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The error that is returned instead of an answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ErrorReport {
    pub code: String,
    pub message: String,
    #[serde(default)]
    pub details: ErrorDetails,
}

/// Information that helps the caller to make the next call.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ErrorDetails {
    /// The field of the request that has an invalid value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The invalid pattern in this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The path in this field that cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The largest number that this field allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_allowed: Option<u64>,
    /// The number that the request contains in this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provided: Option<i64>,
    pub similar_symbols: Vec<String>,
    pub similar_files: Vec<String>,
    pub similar_repositories: Vec<String>,
    pub next_action_hint: Option<String>,
    pub tool_suggestions: Vec<SuggestedCall>,
}

/// A suggested call with all its arguments.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SuggestedCall {
    pub tool: String,
    pub reason: String,
    pub arguments: Map<String, Value>,
    /// Set only for calls that were tried. Calls of the same priority are listed best first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// The suggested call as an HTTP request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<SuggestedRequest>,
    /// The suggested call as a command of the program `cairn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// How likely a suggested call is to help.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    High,
    Medium,
    Low,
}

impl Priority {
    /// The priority of the suggestion with this rank. Ranks start at 1.
    pub fn of(rank: usize) -> Self {
        match rank {
            0 | 1 => Self::High,
            2 => Self::Medium,
            _ => Self::Low,
        }
    }
}

/// A request that can be sent without changes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SuggestedRequest {
    pub method: String,
    pub path: String,
    pub body: Map<String, Value>,
}

impl ErrorReport {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), details: ErrorDetails::default() }
    }

    pub fn of(error: &QueryError) -> Self {
        let FieldFault { field, pattern, path, max_allowed, provided } =
            error.fault.as_deref().cloned().unwrap_or_default();
        let details = ErrorDetails {
            field: error.fault.is_some().then_some(field),
            pattern,
            path,
            max_allowed,
            provided,
            similar_symbols: shown_names(&error.similar_symbols),
            similar_files: shown_names(&error.similar_files),
            similar_repositories: shown_names(&error.similar_repositories),
            next_action_hint: error.hint.as_ref().map(ToString::to_string),
            tool_suggestions: error.next_calls.iter().map(SuggestedCall::of).collect(),
        };
        Self { details, ..Self::new(error.code.as_str(), error.message.as_str()) }
    }
}

impl SuggestedCall {
    fn of(call: &NextCall) -> Self {
        let (tool, reason) = (call.tool.to_owned(), call.reason.to_string());
        Self { tool, reason, arguments: arguments(call), priority: None, request: None, command: None }
    }
}

/// Names and paths of repositories for a list: each is on one line, without secrets and shortened.
fn shown_names(names: &[String]) -> Vec<String> {
    names.iter().map(|name| quoted(name).as_str().to_owned()).collect()
}

/// The arguments of a call as JSON. An argument that occurs several times becomes a list of its values.
fn arguments(call: &NextCall) -> Map<String, Value> {
    let mut arguments: Map<String, Value> = Map::new();
    for (name, value) in &call.arguments {
        let value = Value::from(value.as_str());
        let value = match arguments.remove(*name) {
            None => value,
            Some(Value::Array(mut values)) => {
                values.push(value);
                Value::Array(values)
            }
            Some(first) => json!([first, value]),
        };
        arguments.insert((*name).to_owned(), value);
    }
    arguments
}
