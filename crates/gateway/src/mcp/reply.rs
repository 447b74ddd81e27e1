//! The reply to a call, before its conversion to the types of the protocol.

use std::cmp::Reverse;

use cairn_ranking::estimate_tokens;
use cairn_redaction::{MessagePart, message_parts};
use cairn_search::QueryError;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde::Serialize;
use serde_json::{Value, json};

use super::labels::{label_message, label_names, labelled};
use super::structured::{Extras, FollowingCall, Structured};
use super::suggestion::{Suggestion, reports};
use super::untrusted::UNTRUSTED;
use crate::answers::{ErrorReport, SuggestedCall};

/// Maximum number of calls that are suggested for an error or an empty answer.
pub(super) const MAX_SUGGESTIONS: usize = 2;
/// Number of tokens that are needed to state how many results a suggested call has.
const COUNT_TOKENS: usize = 6;
/// Number of tokens that are counted for a cursor. The cursors of two equal calls are different texts, and
/// estimates of their sizes differ too. A constant ensures that equal calls return equal code. The largest
/// estimate of 200,000 random cursors is 90.
const CURSOR_TOKENS: usize = 100;

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
        report.details.tool_suggestions = labelled_reports(&self.suggestions);
        label_names(&mut report.details.similar_symbols);
        label_names(&mut report.details.similar_files);
        report
    }

    /// The result of a call with the arguments `given`.
    pub(super) fn into_result(self, given: &JsonObject) -> CallToolResult {
        let report = self.report();
        let suggestions = self.suggestions;
        let mut text = format!("{}: {}", report.code, report.message);
        if has_repository_text(&report) {
            text.push_str(&format!("\n{UNTRUSTED}"));
        }
        let mut listed = |label: &str, names: &[String]| {
            if !names.is_empty() {
                text.push_str(&format!("\n{label}: {}", names.join(", ")));
            }
        };
        listed("similar symbols", &report.details.similar_symbols);
        listed("similar files", &report.details.similar_files);
        listed("similar repositories", &report.details.similar_repositories);
        if let Some(hint) = &report.details.next_action_hint {
            text.push_str(&format!("\nhint: {hint}"));
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

    /// Maximum number of tokens of the result's text: the tokens of the reply's text and of the longest
    /// suggestions. Which suggestions are shown is known only after they are tried.
    pub(super) fn max_tokens(&self, given: &JsonObject) -> usize {
        let suggestions = if self.num_results == 0 { self.suggestions.as_slice() } else { &[] };
        let tokens = |suggestion: &Suggestion| estimate_tokens(&line(suggestion, given)) + COUNT_TOKENS;
        let mut of_suggestions: Vec<usize> = suggestions.iter().map(tokens).collect();
        of_suggestions.sort_unstable_by_key(|tokens| Reverse(*tokens));
        self.text_tokens() + of_suggestions.iter().take(MAX_SUGGESTIONS).sum::<usize>()
    }

    fn text_tokens(&self) -> usize {
        let next = self.extras.next_call.as_ref().and_then(|next| next.arguments.get("cursor"));
        match next.and_then(Value::as_str).and_then(|cursor| self.text.split_once(cursor)) {
            Some((before, after)) => estimate_tokens(before) + CURSOR_TOKENS + estimate_tokens(after),
            None => estimate_tokens(&self.text),
        }
    }

    /// The result of a call with the arguments `given`.
    pub(super) fn into_result(mut self, given: &JsonObject) -> CallToolResult {
        if self.num_results == 0 {
            put_suggestions(&mut self.text, &self.suggestions, given);
            self.extras.tool_suggestions = labelled_reports(&self.suggestions).into_iter().map(Into::into).collect();
        }
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text)]);
        result.structured_content = Some(json!(Structured { answer: self.answer, extras: self.extras }));
        result
    }
}

/// Whether the error contains text of a repository. If so, the arguments of the suggested calls may
/// also contain such text.
fn has_repository_text(report: &ErrorReport) -> bool {
    let details = &report.details;
    let is_quoted = |part| matches!(part, MessagePart::Untrusted(_));
    message_parts(&report.message).any(is_quoted)
        || !(details.similar_symbols.is_empty() && details.similar_files.is_empty())
}

/// The suggested calls. Their arguments are exact, because a call with other arguments would not work.
fn labelled_reports(suggestions: &[Suggestion]) -> Vec<SuggestedCall> {
    let labelled = |call: SuggestedCall| SuggestedCall { reason: labelled(&call.reason), ..call };
    reports(suggestions).into_iter().map(labelled).collect()
}

fn put_suggestions(text: &mut String, suggestions: &[Suggestion], given: &JsonObject) {
    suggestions.iter().for_each(|suggestion| text.push_str(&line(suggestion, given)));
}

fn line(suggestion: &Suggestion, given: &JsonObject) -> String {
    format!("\ntry: {} ({})", suggestion.call_after(given), labelled(&suggestion.reason))
}
