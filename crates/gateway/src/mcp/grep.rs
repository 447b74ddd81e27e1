//! Exact search: the tool `search_code` with a `mode`.

use cairn_redaction::Own;
use cairn_search::{QueryError, QueryErrorCode};
use rmcp::model::JsonObject;
use serde_json::json;

use super::arguments::Arguments;
use super::ask::{code_tokens, next_page, repositories, tests_of};
use super::progress::Origin;
use super::reply::{Failure, Replied, ToolReply};
use super::suggestion::{Suggestion, call_text_after};
use super::text::put_stamps;
use super::tools::MOST_TOKENS;
use super::untrusted::{UNTRUSTED, one_line, put_fenced};
use crate::agent::Agent;
use crate::answers::GrepResults;
use crate::questions::{self, GrepMode, GrepQuestion};

const GREP_TOKENS: usize = 3_000;
/// Arguments that apply to chunks and files, not to lines.
const OF_CHUNKS: [&str; 10] = [
    "kind",
    "module",
    "tag",
    "since",
    "explain",
    "target_type",
    "query_type",
    "context_path",
    "fuzzy_filename",
    "filename_only",
];

/// Arguments that apply to lines. They have no effect without `mode`.
const OF_LINES: [&str; 4] = ["context", "ignore_case", "multiline", "whole_word"];

/// The error for arguments of an exact search in a call without `mode`. `None` if the call has none of these
/// arguments.
pub(super) fn without_mode(arguments: &Arguments) -> Option<Failure> {
    let unused: Vec<String> =
        OF_LINES.into_iter().filter(|name| has_effect(arguments, name)).map(|name| format!("`{name}`")).collect();
    if unused.is_empty() {
        return None;
    }
    let message = Own(format!("{} can be used only with `mode`: text or regex", unused.join(", ")));
    let mut failure = Failure::from(QueryError::new(QueryErrorCode::ValidationError, message));
    let with_mode =
        Suggestion::new("search_code", "finds each line that contains the text", arguments.with("mode", "text"));
    let by_meaning = Suggestion::new("search_code", "searches by words and meaning", arguments.without(&OF_LINES));
    failure.suggestions.extend([with_mode, by_meaning]);
    Some(failure)
}

pub(super) async fn grep(agent: &dyn Agent, arguments: &Arguments, mode: GrepMode, origin: &Origin) -> Replied {
    let unused: Vec<&str> = OF_CHUNKS.into_iter().filter(|name| has_effect(arguments, name)).collect();
    if !unused.is_empty() {
        return Err(without_effect(arguments, &unused));
    }
    let context = arguments.count("context", 0);
    let mut question = GrepQuestion {
        query: arguments.text("query").unwrap_or_default().to_owned(),
        mode,
        ignore_case: arguments.flag("ignore_case"),
        whole_word: arguments.flag("whole_word"),
        multiline: arguments.flag("multiline"),
        repositories: repositories(agent, arguments, origin).await,
        languages: arguments.list("language"),
        paths: arguments.list("path"),
        tests: tests_of(arguments),
        before: context,
        after: context,
        limit: arguments.count("limit", GrepQuestion::DEFAULT_LIMIT),
        max_tokens: code_tokens(arguments, GREP_TOKENS),
        cursor: arguments.text("cursor").map(str::to_owned),
    };
    let max_tokens = arguments.count("max_tokens", GREP_TOKENS);
    loop {
        let answer = questions::grep(agent, &question).await.map_err(|error| failure(error, arguments))?;
        let reply = page(&answer, &question, arguments);
        // The call for the next page may need more tokens than estimated.
        let excess = reply.max_tokens(arguments.given()).saturating_sub(max_tokens);
        if excess == 0 || answer.matching_files.is_empty() {
            return Ok(reply);
        }
        question.max_tokens = question.max_tokens.saturating_sub(excess).max(1);
    }
}

/// Whether the argument is given and differs from its default. Some clients send all arguments.
fn has_effect(arguments: &Arguments, name: &str) -> bool {
    let default = match name {
        "target_type" => json!("auto"),
        "fuzzy_filename" => json!(true),
        "explain" | "filename_only" | "ignore_case" | "multiline" | "whole_word" => json!(false),
        "context" => json!(0),
        _ => json!([]),
    };
    arguments.given().get(name).is_some_and(|value| *value != default)
}

/// A page of hits, with the call for the next page.
fn page(answer: &GrepResults, question: &GrepQuestion, arguments: &Arguments) -> ToolReply {
    let next = match answer.next_cursor.as_deref() {
        Some(cursor) => Some(next_page(arguments, &question.repositories, cursor)),
        None => answer.is_too_small().then(|| with_more_tokens(arguments, question)),
    };
    let call = next.as_ref().map(|next| call_text_after("search_code", next, arguments.given()));
    // A page without hits is not treated as empty if a next page exists.
    let num_results = answer.num_results.max(usize::from(next.is_some()));
    let mut reply = ToolReply::new(text_of(answer, call.as_deref()), answer, num_results).next("search_code", next);
    reply.is_exact = answer.is_exact;
    if num_results == 0 {
        reply.suggestions = wider(arguments, question);
    }
    reply
}

/// The arguments of this call, with twice the token limit.
fn with_more_tokens(arguments: &Arguments, question: &GrepQuestion) -> JsonObject {
    let max_tokens = (2 * arguments.count("max_tokens", GREP_TOKENS)).min(MOST_TOKENS);
    let mut call = arguments.with("max_tokens", max_tokens);
    if !question.repositories.is_empty() {
        call.insert("repository".to_owned(), json!(question.repositories));
    }
    call
}

fn without_effect(arguments: &Arguments, unused: &[&str]) -> Failure {
    let names: Vec<String> = unused.iter().map(|name| format!("`{name}`")).collect();
    let message =
        Own(format!("{} cannot be used with `mode`: exact search finds lines, not chunks or files", names.join(", ")));
    let mut failure = Failure::from(QueryError::new(QueryErrorCode::ValidationError, message));
    let reason = "searches without these arguments";
    failure.suggestions.push(Suggestion::new("search_code", reason, arguments.without(unused)));
    failure
}

fn failure(error: QueryError, arguments: &Arguments) -> Failure {
    let code = error.code;
    let mut failure = Failure::from(error);
    let mut suggest = |reason: &str, call| failure.suggestions.push(Suggestion::new("search_code", reason, call));
    match code {
        QueryErrorCode::InvalidCursor => suggest("starts from the first page", arguments.without(&["cursor"])),
        QueryErrorCode::ValidationError => {
            suggest("searches across lines", arguments.with("multiline", true));
            suggest("searches for the text literally", arguments.with("mode", "text"));
        }
        _ => {}
    }
    failure
}

/// Wider searches that may find something if this search finds nothing.
fn wider(arguments: &Arguments, question: &GrepQuestion) -> Vec<Suggestion> {
    let mut wider = Vec::new();
    let mut suggest = |reason: &str, call| wider.push(Suggestion::new("search_code", reason, call));
    if !question.ignore_case {
        suggest("ignores case", arguments.with("ignore_case", true));
    }
    if question.whole_word {
        suggest("also finds parts of words", arguments.without(&["whole_word"]));
    }
    if !question.paths.is_empty() || !question.languages.is_empty() {
        suggest("searches all files", arguments.without(&["path", "language", "tests"]));
    }
    suggest("searches all repositories", arguments.with("repository", json!(["all"])));
    let of_meaning = ["mode", "ignore_case", "whole_word", "multiline", "context", "limit"];
    suggest("searches by meaning", arguments.without(&of_meaning));
    wider.push(Suggestion::listing());
    wider
}

fn text_of(answer: &GrepResults, next: Option<&str>) -> String {
    let mut out = if answer.num_results == 0 && answer.sources.is_empty() {
        "no line matches: no repository that was searched is indexed".to_owned()
    } else if answer.num_results == 0 {
        "no line matches".to_owned()
    } else if answer.is_too_small() {
        format!("the next of {} hits does not fit into max_tokens", answer.counted())
    } else {
        let last = answer.offset + answer.num_shown();
        format!("hits {}-{last} of {}\n{UNTRUSTED}", (answer.offset + 1).min(last), answer.counted())
    };
    out.push('\n');
    if answer.is_shortened {
        out.push_str("the hit is shortened, because it does not fit into max_tokens\n");
    }
    for note in &answer.notes {
        out.push_str(&format!("{note}\n"));
    }
    for file in &answer.matching_files {
        out.push_str(&format!("\n{} {}\n", one_line(&file.repository), one_line(&file.path)));
        let lines: Vec<String> = file.lines.iter().map(|line| line.numbered()).collect();
        put_fenced(&mut out, "", &lines.join("\n"));
    }
    if let Some(next) = next {
        out.push_str(&format!("\nmore: {next}"));
    }
    put_stamps(&mut out, &answer.sources);
    out
}
