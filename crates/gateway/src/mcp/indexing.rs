//! The tool that changes the index: `index_repository`.

use std::sync::Arc;

use cairn_inventory::Patterns;
use cairn_redaction::Own;
use cairn_search::{QueryError, QueryErrorCode};
use cairn_wire::{GivenSettings, RequestSettings};
use rmcp::model::JsonObject;
use serde_json::json;

use super::arguments::Arguments;
use super::labels::Label;
use super::reply::{Failure, Replied, ToolReply};
use super::report::{NUM_ERRORS, put_result};
use super::structured::{IndexAnswer, IndexedRepository};
use super::suggestion::{Suggestion, call_text, object};
use super::text::put_stamps;
use super::untrusted::one_line;
use crate::agent::Agent;
use crate::answers::{Cancellation, CoverageAnswer, IndexProgress, IndexedFiles, RequestState, SourceStamp};
use crate::index_call::WatchIndexing;
use crate::questions::{self, CancelQuestion, CoverageQuestion, IndexQuestion};

/// The note that is returned if a call passes `changed_files` to a service that reads no working tree.
const ONLY_COMMITS: &str =
    "this service reads commits from the address of the repository: push the edits, then index again\n";

/// The maximum number of paths in `changed_files` that are looked up after a run.
const NUM_CHECKED: usize = 20;

pub(super) async fn index_repository(
    agent: &dyn Agent,
    arguments: &Arguments,
    watch: Arc<dyn WatchIndexing>,
) -> Replied {
    if let Some(id) = arguments.text("cancel_run") {
        return cancel(agent, id).await;
    }
    let target = match arguments.text("path") {
        Some(target) => target.to_owned(),
        None => agent.default_repository().await.unwrap_or_else(|| ".".to_owned()),
    };
    let question = IndexQuestion {
        target,
        include_patterns: arguments.given_list("include_patterns"),
        exclude_patterns: arguments.given_list("exclude_patterns"),
        max_file_size: arguments.number("max_file_size").and_then(|size| i64::try_from(size).ok()),
        changed_files: arguments.list("changed_files"),
    };
    let progress = questions::index_watched(agent, &question, watch).await;
    let progress = progress.map_err(|error| not_indexed(error, arguments.given()))?;
    if matches!(progress.state, RequestState::Failed | RequestState::Cancelled) {
        return Err(failed(&progress));
    }
    let sources = sources_of(agent, &progress.repository).await?;
    let patterns = GivenSettings {
        include: question.include_patterns,
        exclude: question.exclude_patterns,
        ..GivenSettings::default()
    };
    let given = patterns.over(settings_of(agent, &progress.repository).await?);
    let progress = progress.into_labelled_except(&given);
    let note = match (question.changed_files.is_empty(), agent.home()) {
        (true, _) => None,
        (false, None) => Some(ONLY_COMMITS.to_owned()),
        (false, Some(_)) => unknown_files(agent, &progress, &question.changed_files).await,
    };
    Ok(indexed(progress, sources, note))
}

/// A note about the paths of `changed_files` that are not in the repository now, because they are deleted,
/// ignored by git, or misspelled.
async fn unknown_files(agent: &dyn Agent, progress: &IndexProgress, files: &[String]) -> Option<String> {
    if matches!(progress.state, RequestState::Requested | RequestState::Running) {
        return None;
    }
    let root = progress.indexed.path.trim_end_matches('/');
    let mut unknown = Vec::new();
    for file in files.iter().take(NUM_CHECKED) {
        let path = file.strip_prefix(root).and_then(|below| below.strip_prefix('/')).unwrap_or(file);
        if let Err(error) = agent.searcher().why(&progress.repository, path).await
            && error.code == QueryErrorCode::NotFound
        {
            let near = error.similar_files.first().map(|near| format!(" (near: {})", one_line(near)));
            unknown.push(format!("{}{}", one_line(file), near.unwrap_or_default()));
        }
    }
    let unknown = (!unknown.is_empty()).then(|| unknown.join(", "))?;
    Some(format!("not in the repository now (deleted, ignored by git, or misspelled): {unknown}\n"))
}

/// The failure of a call with the arguments `given` that was refused before it changed anything.
pub(super) fn not_indexed(error: QueryError, given: &JsonObject) -> Failure {
    let is_input = matches!(error.code, QueryErrorCode::NotFound | QueryErrorCode::ValidationError);
    let wrong = error.fault.as_ref().filter(|fault| fault.pattern.is_some()).map(|fault| fault.field.clone());
    let mut failure = Failure::from(error);
    if let Some(call) = wrong.and_then(|field| without_invalid_patterns(&field, given)) {
        let reason = "is the same call without the invalid patterns";
        failure.suggestions.push(Suggestion::new("index_repository", reason, call));
    } else if is_input {
        failure.suggestions.push(Suggestion::new(
            "list_repositories",
            "shows the names of all repositories",
            object([]),
        ));
        failure.suggestions.push(Suggestion::guide("keeping_up_to_date", "explains the forms of `target`"));
    }
    failure
}

/// The call without the invalid patterns of a list. If no pattern of the list remains, the call does not
/// contain the list. `None` if the list contains no invalid pattern.
fn without_invalid_patterns(field: &str, given: &JsonObject) -> Option<JsonObject> {
    let field = ["include_patterns", "exclude_patterns"].into_iter().find(|known| *known == field)?;
    let patterns: Vec<String> = serde_json::from_value(given.get(field)?.clone()).ok()?;
    let is_valid = |pattern: &&String| Patterns::compile(field, std::slice::from_ref(*pattern)).is_ok();
    let valid: Vec<&String> = patterns.iter().filter(is_valid).collect();
    let mut call = given.clone();
    match valid.is_empty() {
        true => call.remove(field),
        false => call.insert(field.to_owned(), json!(valid)),
    };
    (valid.len() < patterns.len()).then_some(call)
}

async fn sources_of(agent: &dyn Agent, name: &str) -> Result<Vec<SourceStamp>, QueryError> {
    let question = CoverageQuestion { repository: Some(name.to_owned()), summary: true, ..CoverageQuestion::default() };
    match questions::coverage(agent, &question).await {
        Ok(CoverageAnswer::All(coverage)) => Ok(coverage.sources),
        Ok(CoverageAnswer::One(path)) => Ok(path.sources),
        // The repository is not found as long as its first run is not published, so no state of it can be
        // shown.
        Err(error) if error.code == QueryErrorCode::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn follow(progress: &IndexProgress) -> Suggestion {
    let mut arguments = object([("repository", json!(progress.repository))]);
    if let Some(run) = &progress.run_id {
        arguments.insert("run_id".to_owned(), json!(run));
    }
    Suggestion::new("index_status", "shows the run", arguments)
}

fn failed(progress: &IndexProgress) -> Failure {
    let message = progress.message.as_deref().unwrap_or("no reason is recorded");
    let message =
        Own(format!("the run ended as {}: {message}; the previous state is still used", progress.state.as_str()));
    let mut failure = Failure::from(QueryError::new(QueryErrorCode::InternalError, message));
    failure.suggestions.push(follow(progress));
    failure
}

/// The settings of a repository that come from calls. A repository that is not registered has no such
/// settings.
pub(super) async fn settings_of(agent: &dyn Agent, name: &str) -> Result<RequestSettings, QueryError> {
    let searcher = agent.searcher();
    match searcher.select_one(&searcher.catalogue.view().await?, name).await {
        Ok(known) => Ok(RequestSettings::from_json(&known.record.settings).unwrap_or_default()),
        Err(error) if error.code == QueryErrorCode::NotFound => Ok(RequestSettings::default()),
        Err(error) => Err(error),
    }
}

fn indexed(progress: IndexProgress, sources: Vec<SourceStamp>, note: Option<String>) -> ToolReply {
    let name = one_line(&progress.repository);
    let mut out = match (progress.state, &progress.run_id) {
        (RequestState::Requested, _) => format!("{name}: requested; follow it: {}\n", follow(&progress).call()),
        (RequestState::Running, _) => format!("{name}: still running; follow it: {}\n", follow(&progress).call()),
        (_, None) => format!("{name}: up to date, because nothing had changed\n"),
        (state, Some(run)) => format!("{name}: {} by run {run}\n", state.as_str()),
    };
    put_result(&mut out, &progress.result);
    put_calls(&mut out, &progress.indexed);
    put_settings(&mut out, &progress.indexed);
    out.extend(note);
    put_stamps(&mut out, &sources);
    ToolReply::new(out, &IndexAnswer::indexed(IndexedRepository { progress, sources }), 1)
}

/// Appends the calls that may follow the listed errors, each call once.
fn put_calls(out: &mut String, indexed: &IndexedFiles) {
    let mut shown: Vec<String> = Vec::new();
    for call in indexed.errors.iter().take(NUM_ERRORS).flat_map(|error| &error.tool_suggestions) {
        let line = format!("try: {} ({})\n", call_text(&call.tool, &call.arguments), call.reason);
        if !shown.contains(&line) {
            shown.push(line);
        }
    }
    out.push_str(&shown.concat());
}

/// Appends the settings that the run used or will use, and the time of the run.
fn put_settings(out: &mut String, indexed: &IndexedFiles) {
    for (name, patterns) in [("include", &indexed.include_patterns), ("exclude", &indexed.exclude_patterns)] {
        if !patterns.is_empty() {
            let patterns: Vec<String> = patterns.iter().map(|pattern| one_line(pattern)).collect();
            out.push_str(&format!("{name}_patterns: {}\n", patterns.join(", ")));
        }
    }
    let size = (indexed.max_file_size > 0).then(|| format!("max_file_size {}", indexed.max_file_size));
    let facts = size.into_iter().chain(indexed.indexed_at.as_ref().map(|at| format!("indexed at {at}")));
    let facts: Vec<String> = facts.collect();
    if !facts.is_empty() {
        out.push_str(&format!("{}\n", facts.join(", ")));
    }
}

/// Cancels a run, or the run and the requests of a repository.
async fn cancel(agent: &dyn Agent, id: &str) -> Replied {
    let of_run = CancelQuestion { repository: None, run_id: Some(id.to_owned()) };
    match questions::cancel(agent, &of_run).await {
        Ok(cancelled) => {
            let text = if cancelled.cancelled.is_empty() {
                format!("run {id} had already ended")
            } else {
                format!("run {id} is cancelled; the previous state is still used")
            };
            Ok(ToolReply::new(text, &IndexAnswer::cancelled(cancelled), 1))
        }
        Err(error) if error.code == QueryErrorCode::NotFound => match cancel_all(agent, id).await? {
            Some(reply) => Ok(reply),
            None => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Cancels the requests of a repository and its unfinished run. `None` if the repository does not exist.
async fn cancel_all(agent: &dyn Agent, name: &str) -> Result<Option<ToolReply>, Failure> {
    let question = CancelQuestion { repository: Some(name.to_owned()), run_id: None };
    let cancelled: Cancellation = match questions::cancel(agent, &question).await {
        Ok(cancelled) => cancelled,
        Err(error) if error.code == QueryErrorCode::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let (num_runs, num_requests) = (cancelled.cancelled.len(), cancelled.requests.len());
    let text = format!(
        "{num_runs} runs are cancelled, and {num_requests} requests that had not begun; the previous state is still used"
    );
    Ok(Some(ToolReply::new(text, &IndexAnswer::cancelled(cancelled), 1)))
}

#[cfg(test)]
mod tests {
    use cairn_search::FieldFault;

    use super::*;

    #[test]
    fn invalid_patterns_are_omitted_from_the_suggested_call() {
        let check = |given: serde_json::Value, expect: Option<serde_json::Value>| {
            let serde_json::Value::Object(given) = given else { panic!("an object") };
            let fault = FieldFault { pattern: Some("[x".to_owned()), ..FieldFault::of("include_patterns") };
            let error = QueryError::new(QueryErrorCode::ValidationError, "invalid").in_field(fault);
            let failure = not_indexed(error, &given);
            let first = failure.suggestions.first().filter(|first| first.tool == "index_repository");
            assert_eq!(first.map(|first| json!(first.arguments)), expect, "{given:?}");
        };
        let path = json!({"path": "/x"});
        check(json!({"path": "/x", "include_patterns": ["[x"]}), Some(path.clone()));
        let rest = json!({"path": "/x", "include_patterns": ["*.md"]});
        check(json!({"path": "/x", "include_patterns": ["[x", "*.md", "a["]}), Some(rest));
        check(path, None);
    }

    #[test]
    fn settings_are_shown_before_and_after_indexing() {
        let check = |indexed_at: Option<&str>, expect: &str| {
            let indexed = IndexedFiles {
                include_patterns: vec!["*.md".to_owned()],
                exclude_patterns: vec!["docs/**".to_owned(), "vendor/**".to_owned()],
                max_file_size: 1_048_576,
                indexed_at: indexed_at.map(str::to_owned),
                ..IndexedFiles::default()
            };
            let mut out = String::new();
            put_settings(&mut out, &indexed);
            assert_eq!(out, expect);
        };
        let patterns = "include_patterns: *.md\nexclude_patterns: docs/**, vendor/**\n";
        check(None, &format!("{patterns}max_file_size 1048576\n"));
        let at = "2023-11-14T22:13:20Z";
        check(Some(at), &format!("{patterns}max_file_size 1048576, indexed at {at}\n"));
        let mut out = String::new();
        put_settings(&mut out, &IndexedFiles::default());
        assert_eq!(out, "");
    }
}
