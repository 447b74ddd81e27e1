//! Executes a tool call and returns its result.
//!
//! The calls that an error or an empty answer suggests are tried before they are shown. So every suggested
//! call has already succeeded once. Calls that change the index are not tried.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use cairn_redaction::{Given, Message, Own};
use cairn_search::{QueryError, QueryErrorCode};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::arguments::{Arguments, nearest_word};
use super::forms::{call_of, question_of};
use super::labels::labelled;
use super::progress::Origin;
use super::reply::{Failure, MAX_SUGGESTIONS, Replied, ToolReply};
use super::suggestion::{Suggestion, object, reports};
use super::tools::{TOOLS, ToolSpec};
use super::{ask, grep, indexing, inventory};
use crate::agent::{Agent, Notice};
use crate::answers::{ErrorReport, SuggestedCall};
use crate::guide;
use crate::index_call::WatchIndexing;
use crate::questions::{GrepMode, Question};

/// Maximum number of suggestions that are tried.
const MAX_TRIED: usize = 6;

pub(crate) async fn call(
    agent: &dyn Agent,
    tool: &str,
    arguments: JsonObject,
    watch: Arc<dyn WatchIndexing>,
) -> CallToolResult {
    let mut result = result_of(agent, tool, arguments, watch).await;
    if let Some(notice) = agent.take_notice() {
        let notice = shown(&notice);
        result.content.insert(0, ContentBlock::text(format!("{notice}\n")));
        if let Some(Value::Object(content)) = &mut result.structured_content {
            content.insert("notice".to_owned(), Value::from(notice));
        }
    }
    result
}

/// The notice as text, with the suggested next call. Quoted parts of the text come from the repository.
fn shown(notice: &Notice) -> String {
    let text = labelled(&notice.text);
    match notice.next.as_ref().and_then(Suggestion::of) {
        Some(next) => format!("{text}\ntry: {} ({})", next.call(), labelled(&next.reason)),
        None => text,
    }
}

async fn result_of(
    agent: &dyn Agent,
    tool: &str,
    arguments: JsonObject,
    watch: Arc<dyn WatchIndexing>,
) -> CallToolResult {
    let given = arguments.clone();
    match reply(agent, tool, arguments, Origin::Caller(watch)).await {
        Ok(mut reply) => {
            if reply.num_results == 0 {
                let candidates = std::mem::take(&mut reply.suggestions);
                let candidates = indexing_here_first(agent, tool, &given, None, candidates).await;
                reply.suggestions = that_work(agent, candidates).await;
            }
            reply.into_result(&given)
        }
        Err(mut failure) => {
            failure.error = agent.with_way_to_index(agent.outward(failure.error));
            let candidates = with_guide(&failure.error, std::mem::take(&mut failure.suggestions));
            let candidates = indexing_here_first(agent, tool, &given, Some(&failure.error), candidates).await;
            failure.suggestions = that_work(agent, candidates).await;
            failure.into_result(&given)
        }
    }
}

/// The report of an error that no tool caused, such as an error of a resource.
pub(super) async fn report_of(agent: &dyn Agent, error: QueryError) -> ErrorReport {
    let mut failure = Failure::from(agent.with_way_to_index(agent.outward(error)));
    if failure.error.code == QueryErrorCode::NotFound {
        failure.suggestions.push(Suggestion::listing());
    }
    let candidates = with_guide(&failure.error, std::mem::take(&mut failure.suggestions));
    failure.suggestions = that_work(agent, candidates).await;
    failure.report()
}

pub(super) fn with_guide(error: &QueryError, mut candidates: Vec<Suggestion>) -> Vec<Suggestion> {
    if error.code != QueryErrorCode::InternalError {
        candidates.push(Suggestion::guide("recovering", "explains what to do when calls fail"));
    }
    candidates
}

/// Tools that answer questions about code.
const OF_CODE: [&str; 3] = ["search_code", "read_code", "analyze_relationship"];

/// If a question about code found nothing, and nothing is indexed or the caller works in a directory that is
/// not indexed, the first suggestion is to index this directory. Calls that index other repositories are then
/// omitted. A question that names repositories does not ask about the working directory.
async fn indexing_here_first(
    agent: &dyn Agent,
    tool: &str,
    given: &JsonObject,
    error: Option<&QueryError>,
    mut candidates: Vec<Suggestion>,
) -> Vec<Suggestion> {
    let is_absent = error.is_none_or(|error| error.code == QueryErrorCode::NotFound);
    if !OF_CODE.contains(&tool) || !is_absent || agent.home().is_none() {
        return candidates;
    }
    let is_outside = !given.contains_key("repository") && agent.works_outside_repositories().await;
    if is_outside || is_nothing_indexed(agent).await {
        candidates.retain(|candidate| candidate.tool != "index_repository");
        candidates.insert(0, Suggestion::indexing_here());
    }
    candidates
}

async fn is_nothing_indexed(agent: &dyn Agent) -> bool {
    let searcher = agent.searcher();
    let Ok(view) = searcher.catalogue.view().await else { return false };
    searcher.repositories(&view).await.is_ok_and(|known| known.is_empty())
}

/// A suggested call as a question, for front ends other than MCP.
#[derive(Clone, Debug)]
pub(crate) struct SuggestedQuestion {
    pub call: SuggestedCall,
    pub question: Question,
}

/// The suggested questions after an error of this question, or after an empty answer to it. Each question was
/// tried and has an answer that is not empty.
pub(crate) async fn suggested_questions(
    agent: &dyn Agent,
    question: &Question,
    error: Option<&QueryError>,
) -> Vec<SuggestedQuestion> {
    let wrong_field = error.and_then(|error| error.fault.as_ref()).map(|fault| fault.field.as_str());
    let Some((tool, arguments)) = call_of(question, wrong_field) else { return Vec::new() };
    let is_read_only = ToolSpec::find(tool).is_some_and(|tool| tool.read_only);
    let given = arguments.clone();
    let candidates = match (is_read_only, error) {
        (true, _) => candidates_of(agent, tool, arguments).await,
        // The suggestions of a tool are found by repeating the call. A call that changes the index must not
        // be repeated.
        (false, Some(error)) => indexing::not_indexed(error.clone(), &given).suggestions,
        (false, None) => Vec::new(),
    };
    let candidates = match error {
        Some(error) => with_guide(error, candidates),
        None => candidates,
    };
    let candidates = indexing_here_first(agent, tool, &given, error, candidates).await;
    as_questions(that_work(agent, candidates).await)
}

/// The calls that an error itself suggests, as questions. They have not been tried.
pub(crate) fn questions_in(error: &QueryError) -> Vec<SuggestedQuestion> {
    as_questions(error.next_calls.iter().filter_map(Suggestion::of).collect())
}

/// The suggestions as questions. A suggestion that is not a question is omitted.
fn as_questions(suggestions: Vec<Suggestion>) -> Vec<SuggestedQuestion> {
    let calls = reports(&suggestions).into_iter().zip(suggestions);
    let questions = calls.filter_map(|(call, suggestion)| {
        let question = question_of(suggestion.tool, &suggestion.arguments)?;
        Some(SuggestedQuestion { call, question })
    });
    questions.collect()
}

/// The suggestions of a tool for this call. They have not been tried yet.
async fn candidates_of(agent: &dyn Agent, tool: &str, arguments: JsonObject) -> Vec<Suggestion> {
    match reply(agent, tool, arguments, Origin::Suggestion).await {
        Ok(reply) if reply.num_results == 0 => reply.suggestions,
        // The tool may ask several questions, so it may find something even if this question found nothing.
        // No call is suggested in that case.
        Ok(_) => Vec::new(),
        Err(failure) => failure.suggestions,
    }
}

/// The reply of the tool. The suggestions of the reply have not been tried yet.
fn reply<'a>(
    agent: &'a dyn Agent,
    tool: &'a str,
    arguments: JsonObject,
    origin: Origin,
) -> Pin<Box<dyn Future<Output = Replied> + Send + 'a>> {
    Box::pin(async move {
        let Some(tool) = ToolSpec::find(tool) else { return Err(unknown_tool(tool, arguments)) };
        let arguments = Arguments::read(tool, arguments)?;
        let replied = match tool.name {
            "search_code" => match arguments.text("mode") {
                Some("text") => grep::grep(agent, &arguments, GrepMode::Text, &origin).await,
                Some("regex") => grep::grep(agent, &arguments, GrepMode::Regex, &origin).await,
                _ => match grep::without_mode(&arguments) {
                    Some(failure) => Err(failure),
                    None => ask::search_code(agent, &arguments, &origin).await,
                },
            },
            "read_code" => ask::read_code(agent, &arguments, &origin).await,
            "analyze_relationship" => ask::analyze_relationship(agent, &arguments, &origin).await,
            "list_repositories" => inventory::list_repositories(agent, &arguments).await,
            "index_status" => inventory::index_status(agent, &arguments).await,
            "index_repository" => indexing::index_repository(agent, &arguments, origin.watch()).await,
            _ => workflow_guide(&arguments),
        };
        replied.map_err(|failure| failure.within(&arguments).with_known_repository(&arguments))
    })
}

fn workflow_guide(arguments: &Arguments) -> Replied {
    let guide = guide::answer(arguments.text("topic"))?;
    Ok(ToolReply::new(guide.text.clone(), &guide, 1))
}

impl Failure {
    /// Adds the repository of the call to the suggestions.
    fn within(mut self, arguments: &Arguments) -> Self {
        if let Some(repository) = arguments.given().get("repository") {
            self.suggestions.iter_mut().for_each(|suggestion| suggestion.within(repository));
        }
        self
    }

    /// If the given repository does not exist, suggests the same call with the repository whose name is most
    /// similar.
    fn with_known_repository(mut self, arguments: &Arguments) -> Self {
        if let (Some(near), true) =
            (self.error.similar_repositories.first(), arguments.given().contains_key("repository"))
        {
            let value = match arguments.text("repository") {
                Some(_) => serde_json::json!(near),
                None => serde_json::json!([near]),
            };
            let call = arguments.with("repository", value);
            let reason = "uses the repository with the most similar name";
            self.suggestions.insert(0, Suggestion::new(arguments.tool.name, reason, call));
        }
        self
    }
}

/// Names of tools in other products, each with the tool of Cairn that does the same, and an argument to add.
const OTHER_NAMES: &[(&[&str], &str, AddedArgument)] = &[
    (&["grep", "rg", "search_text", "exact_search", "find_text"], "search_code", Some(("mode", "regex"))),
    (
        &["glob", "find_file", "find_files", "search_files", "file_search"],
        "search_code",
        Some(("target_type", "filename")),
    ),
    (
        &["search_project", "checkpoint_search", "semantic_search", "codebase_search", "query", "ask", "find"],
        "search_code",
        None,
    ),
    (
        &["read_file", "read", "cat", "open", "view", "show", "get_code", "get_definition", "find_definition"],
        "read_code",
        None,
    ),
    (
        &["find_references", "get_callers", "callers", "who_calls", "usages"],
        "analyze_relationship",
        Some(("mode", "callers")),
    ),
    (&["impact", "dependents"], "analyze_relationship", Some(("mode", "dependents"))),
    (&["callees"], "analyze_relationship", Some(("mode", "callees"))),
    (&["repos", "repositories"], "list_repositories", None),
    (&["status", "coverage", "runs"], "index_status", None),
    (&["index", "reindex", "index_repo", "add_repository"], "index_repository", None),
    (&["help", "guide"], "workflow_guide", None),
];

/// Names that other products use for tools that edit files. Cairn has no tool that edits files.
const EDITING: &[&str] =
    &["edit_code", "edit_file", "edit", "write_file", "write", "create_file", "apply_patch", "str_replace"];

type AddedArgument = Option<(&'static str, &'static str)>;

fn tool_of_other_name(name: &str) -> Option<(&'static str, AddedArgument)> {
    let folded = cairn_ranking::fold_style(name);
    let is_name = |other: &str| cairn_ranking::fold_style(other) == folded;
    let (_, tool, added) = OTHER_NAMES.iter().find(|(names, _, _)| names.iter().any(|other| is_name(other)))?;
    Some((*tool, *added))
}

fn with_missing(mut arguments: JsonObject, added: AddedArgument) -> JsonObject {
    if let Some((name, value)) = added {
        arguments.entry(name.to_owned()).or_insert_with(|| Value::from(value));
    }
    arguments
}

fn unknown_tool(name: &str, arguments: JsonObject) -> Failure {
    let names: Vec<&'static str> = TOOLS.iter().map(|tool| tool.name).collect();
    let no_tool = Message::from("the tool ").and(Given(name)).and(" does not exist");
    let folded = cairn_ranking::fold_style(name);
    if EDITING.iter().any(|other| cairn_ranking::fold_style(other) == folded) {
        let message = no_tool.and(": no tool here edits files; tools are ").and(Own(names.join(", ")));
        let mut failure = Failure::from(QueryError::new(QueryErrorCode::NotFound, message));
        failure.suggestions.push(Suggestion::guide("changing_code", "explains the calls before and after an edit"));
        return failure;
    }
    let (near, arguments) = match tool_of_other_name(name) {
        Some((tool, added)) => (ToolSpec::find(tool), with_missing(arguments, added)),
        None => (nearest_word(name, &names).and_then(ToolSpec::find), arguments),
    };
    let message = no_tool.and("; tools are ").and(Own(names.join(", ")));
    let mut failure = Failure::from(QueryError::new(QueryErrorCode::NotFound, message));
    if let Some(tool) = near {
        // The arguments may have the names that the other tool uses.
        let corrected = match Arguments::read(tool, arguments) {
            Ok(arguments) => vec![arguments.given().clone()],
            Err(refused) => {
                let of_tool = refused.suggestions.into_iter().filter(|suggestion| suggestion.tool == tool.name);
                of_tool.map(|suggestion| suggestion.arguments).collect()
            }
        };
        let suggestion = |arguments| Suggestion::new(tool.name, "is the tool for this task", arguments);
        failure.suggestions.extend(corrected.into_iter().map(suggestion));
    }
    failure.suggestions.push(Suggestion::new("workflow_guide", "explains the purpose of each tool", object([])));
    failure
}

/// The first suggestions that succeed and return results, each with its number of results. Suggestions that
/// cannot be tried in time are omitted, so that the error or the empty answer is not lost.
async fn that_work(agent: &dyn Agent, candidates: Vec<Suggestion>) -> Vec<Suggestion> {
    let mut working: Vec<Suggestion> = Vec::new();
    let deadline = Instant::now() + agent.suggestion_time();
    for mut candidate in candidates.into_iter().take(MAX_TRIED) {
        let is_known = working.iter().any(|known| known.call() == candidate.call());
        let may_call = |tool: &&ToolSpec| tool.read_only || agent.may_index();
        let Some(tool) = ToolSpec::find(candidate.tool).filter(may_call).filter(|_| !is_known) else { continue };
        if tool.read_only {
            let tried = reply(agent, tool.name, candidate.arguments.clone(), Origin::Suggestion);
            match timeout_at(deadline, tried).await {
                Ok(Ok(reply)) if reply.num_results > 0 => {
                    if let Some(count) = reply.count() {
                        candidate.reason.push_str(&format!("; {count}"));
                    }
                }
                _ => continue,
            }
        }
        working.push(candidate);
        if working.len() == MAX_SUGGESTIONS {
            break;
        }
    }
    working
}
