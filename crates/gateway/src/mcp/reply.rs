//! The reply to a call, before its conversion to the types of the protocol.

use std::cmp::Reverse;

use cairn_ranking::estimate_tokens;
use cairn_search::QueryError;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde::Serialize;
use serde_json::{Value, json};

use super::labels::{label_message, labelled};
use super::structured::{Extras, FollowingCall, Structured};
use super::suggestion::{Suggestion, reports};
use super::untrusted::{UNTRUSTED, one_line};
use crate::answers::ErrorReport;

/// Maximum number of calls that are suggested for an error or an empty answer.
pub(super) const MAX_SUGGESTIONS: usize = 2;
/// Number of tokens of the number of results of a suggested call.
const COUNT_TOKENS: usize = 6;

/// A reply. The suggestions are shown only if `num_results` is 0, because the answer is then empty.
#[derive(Debug)]
pub(super) struct ToolReply {
    pub text: String,
    pub num_results: usize,
    /// If false, there are at least `num_results` results.
    pub is_exact: bool,
    pub suggestions: Vec<Suggestion>,
    pub extras: Extras,
    answer: Value,
}

/// An error with suggested calls. A call that only reads is tried first, and is shown only if it returns
/// results.
#[derive(Debug)]
pub(super) struct Failure {
    pub error: QueryError,
    pub suggestions: Vec<Suggestion>,
}

pub(super) type Replied = Result<ToolReply, Failure>;

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        let suggestions = error.next_calls.iter().filter_map(Suggestion::of).collect();
        Self { error, suggestions }
    }
}

impl Failure {
    /// The report of the error, with the suggested calls.
    pub(super) fn report(&self) -> ErrorReport {
        let mut report = ErrorReport::of(&self.error);
        report.message = labelled(&report.message);
        label_message(&mut report.details.next_action_hint);
        report.details.tool_suggestions = reports(&self.suggestions);
        report
    }

    /// The result of a call with the arguments `given`.
    pub(super) fn into_result(self, given: &JsonObject) -> CallToolResult {
        let report = self.report();
        let Self { error, suggestions } = self;
        let mut text = format!("{}: {}", report.code, report.message);
        if !(error.similar_symbols.is_empty() && error.similar_files.is_empty()) {
            text.push_str(&format!("\n{UNTRUSTED}"));
        }
        let mut listed = |label: &str, names: &[String]| {
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(|name| one_line(name)).collect();
                text.push_str(&format!("\n{label}: {}", names.join(", ")));
            }
        };
        listed("similar symbols", &error.similar_symbols);
        listed("similar files", &error.similar_files);
        listed("similar repositories", &error.similar_repositories);
        if let Some(hint) = &error.hint {
            text.push_str(&format!("\nhint: {}", labelled(hint)));
        }
        put_suggestions(&mut text, &suggestions, given);
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        result.structured_content = Some(json!(report));
        result
    }
}

impl ToolReply {
    pub(super) fn new(text: String, answer: &impl Serialize, num_results: usize) -> Self {
        let (suggestions, extras) = (Vec::new(), Extras::default());
        Self { text, num_results, is_exact: true, suggestions, extras, answer: json!(answer) }
    }

    /// The number of results as a text. `None` for a single result.
    pub(super) fn count(&self) -> Option<String> {
        let at_least = if self.is_exact { "" } else { "at least " };
        (self.num_results > 1 || !self.is_exact).then(|| format!("{at_least}{} results", self.num_results))
    }

    /// Adds the call that returns the omitted part of the answer.
    pub(super) fn next(mut self, tool: &'static str, arguments: Option<JsonObject>) -> Self {
        self.extras.next_call = arguments.map(|arguments| FollowingCall { tool, arguments });
        self
    }

    /// The most tokens that the text of the result may need: those of the text of the reply, and of the
    /// longest suggestions. Only after the suggestions are tried, it is known which of them are shown.
    pub(super) fn max_tokens(&self, given: &JsonObject) -> usize {
        let suggestions = if self.num_results == 0 { self.suggestions.as_slice() } else { &[] };
        let tokens = |suggestion: &Suggestion| estimate_tokens(&line(suggestion, given)) + COUNT_TOKENS;
        let mut of_suggestions: Vec<usize> = suggestions.iter().map(tokens).collect();
        of_suggestions.sort_unstable_by_key(|tokens| Reverse(*tokens));
        estimate_tokens(&self.text) + of_suggestions.iter().take(MAX_SUGGESTIONS).sum::<usize>()
    }

    /// The result of a call with the arguments `given`.
    pub(super) fn into_result(mut self, given: &JsonObject) -> CallToolResult {
        if self.num_results == 0 {
            put_suggestions(&mut self.text, &self.suggestions, given);
            self.extras.tool_suggestions = reports(&self.suggestions).into_iter().map(Into::into).collect();
        }
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text)]);
        result.structured_content = Some(json!(Structured { answer: self.answer, extras: self.extras }));
        result
    }
}

fn put_suggestions(text: &mut String, suggestions: &[Suggestion], given: &JsonObject) {
    suggestions.iter().for_each(|suggestion| text.push_str(&line(suggestion, given)));
}

fn line(suggestion: &Suggestion, given: &JsonObject) -> String {
    format!("\ntry: {} ({})", suggestion.call_after(given), suggestion.reason)
}
