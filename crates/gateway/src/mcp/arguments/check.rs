//! Collects the faults of a call, and the corrected call.

use cairn_redaction::Own;
use cairn_search::{FieldFault, QueryError, QueryErrorCode};
use rmcp::model::JsonObject;
use serde_json::{Map, Value};

use super::value::{Wrong, checked};
use super::words::nearest_word;
use crate::mcp::reply::Failure;
use crate::mcp::suggestion::Suggestion;
use crate::mcp::tools::{Kind, Parameter, ToolSpec};

/// Checks the arguments of a call. Returns them with the types that the table requires.
pub(super) fn check(tool: &'static ToolSpec, given: JsonObject) -> Result<JsonObject, Failure> {
    let mut check = Check::of(tool);
    for (name, value) in given {
        // Some clients send null for every parameter that they do not use.
        if !value.is_null() {
            check.argument(&name, value);
        }
    }
    for parameter in tool.parameters.iter().filter(|parameter| parameter.required) {
        check.require(parameter);
    }
    if check.faults.is_empty() { Ok(check.corrected) } else { Err(check.failure()) }
}

struct Check {
    tool: &'static ToolSpec,
    corrected: JsonObject,
    faults: Vec<String>,
    /// The field of the first fault.
    first: Option<FieldFault>,
    /// A missing argument, and its allowed words.
    choices: Option<(&'static str, &'static [&'static str])>,
    /// True while every fault has an obvious correction, which is in `corrected`.
    correctable: bool,
}

impl Check {
    fn of(tool: &'static ToolSpec) -> Self {
        Self { tool, corrected: Map::new(), faults: Vec::new(), first: None, choices: None, correctable: true }
    }

    fn argument(&mut self, name: &str, value: Value) {
        if let Some(parameter) = self.tool.parameter(name) {
            return self.value(parameter, value);
        }
        if let Some(parameter) = self.tool.parameters.iter().find(|parameter| parameter.alias == Some(name)) {
            if self.corrected.contains_key(parameter.name) {
                return self.fault(name, format!("`{name}` and `{}` are the same argument", parameter.name));
            }
            return self.value(parameter, value);
        }
        let Some(near) = nearest(self.tool, name) else {
            let known: Vec<&str> = self.tool.parameters.iter().map(|parameter| parameter.name).collect();
            let message = format!("unknown argument `{name}`; `{}` takes {}", self.tool.name, known.join(", "));
            return self.dropped(FieldFault::of(name), message, false);
        };
        self.note(FieldFault::of(name), format!("unknown argument `{name}`; did you mean `{}`?", near.name));
        if self.corrected.contains_key(near.name) {
            self.correctable = false;
        } else {
            self.value(near, value);
        }
    }

    /// Records a fault if a required argument is missing.
    fn require(&mut self, parameter: &'static Parameter) {
        let is_chosen = self.choices.is_some_and(|(name, _)| name == parameter.name);
        if self.corrected.contains_key(parameter.name) || is_chosen {
            return;
        }
        let message = format!("`{}` is missing{}", parameter.name, describe(parameter));
        match parameter.kind {
            Kind::Choice(words) => self.choose(parameter.name, words, message),
            _ => self.fault(parameter.name, message),
        }
    }

    fn value(&mut self, parameter: &'static Parameter, value: Value) {
        match checked(&parameter.kind, value) {
            Ok(value) => {
                self.corrected.insert(parameter.name.to_owned(), value);
            }
            Err(Wrong { what, nearest, max_allowed, provided }) => {
                let fault = FieldFault { max_allowed, provided, ..FieldFault::of(parameter.name) };
                let message = format!("`{}` {what}", parameter.name);
                let Some(nearest) = nearest else {
                    return match parameter.kind {
                        Kind::Choice(words) if parameter.required => self.choose(parameter.name, words, message),
                        _ => self.dropped(fault, message, parameter.required),
                    };
                };
                self.note(fault, message);
                self.corrected.insert(parameter.name.to_owned(), nearest);
            }
        }
    }

    /// Records a fault of an argument that is omitted from the corrected call. If the call changes the index,
    /// no argument may be omitted.
    fn dropped(&mut self, fault: FieldFault, message: String, is_required: bool) {
        self.note(fault, message);
        self.correctable &= self.tool.read_only && !is_required;
    }

    /// Records the fault of an argument that must be one of the given words. One corrected call is suggested
    /// for each word.
    fn choose(&mut self, name: &'static str, words: &'static [&'static str], message: String) {
        self.note(FieldFault::of(name), message);
        self.choices = Some((name, words));
    }

    /// Records a fault that has no correction.
    fn fault(&mut self, field: &str, message: String) {
        self.note(FieldFault::of(field), message);
        self.correctable = false;
    }

    fn note(&mut self, fault: FieldFault, message: String) {
        self.faults.push(message);
        self.first.get_or_insert(fault);
    }

    fn failure(self) -> Failure {
        let error = QueryError::new(QueryErrorCode::ValidationError, Own(self.faults.join("; ")));
        let error = error.in_field(self.first.unwrap_or_default());
        let mut failure = Failure::from(error);
        match self.choices {
            _ if !self.correctable => {
                failure.suggestions.push(Suggestion::guide("recovering", "shows calls that work"));
            }
            Some((name, words)) => {
                for word in words {
                    let mut arguments = self.corrected.clone();
                    arguments.insert(name.to_owned(), Value::from(*word));
                    failure.suggestions.push(Suggestion::new(
                        self.tool.name,
                        format!("the call with `{name}`"),
                        arguments,
                    ));
                }
            }
            None => {
                let reason = "the call with corrected arguments";
                failure.suggestions.push(Suggestion::new(self.tool.name, reason, self.corrected));
            }
        }
        failure
    }
}

fn describe(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Choice(words) => format!("; it must be one of {}", words.join(", ")),
        _ => format!(" ({})", parameter.description),
    }
}

/// The parameter that the caller most likely meant by an unknown name.
fn nearest(tool: &ToolSpec, name: &str) -> Option<&'static Parameter> {
    let folded = cairn_ranking::fold_style(name);
    let is_other =
        |parameter: &&Parameter| parameter.also.iter().any(|other| cairn_ranking::fold_style(other) == folded);
    if let Some(parameter) = tool.parameters.iter().find(is_other) {
        return Some(parameter);
    }
    let names: Vec<&'static str> = tool.parameters.iter().map(|parameter| parameter.name).collect();
    tool.parameter(nearest_word(name, &names)?)
}
