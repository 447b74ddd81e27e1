//! Executes a tool call and returns its result.
//!
//! The calls that an error or an empty answer suggests are tried before they are shown. So every suggested
//! call has already succeeded once. Calls that change something are not tried.

use std::future::Future;
use std::pin::Pin;

use cairn_search::{QueryError, QueryErrorCode};
use rmcp::model::{CallToolResult, JsonObject};

use super::arguments::{Arguments, nearest_word};
use super::reply::{Failure, MAX_SUGGESTIONS, Replied, ToolReply};
use super::suggestion::{Suggestion, object};
use super::tools::{TOOLS, ToolSpec};
use super::{ask, grep, indexing, inventory};
use crate::agent::Agent;
use crate::guide;
use crate::questions::GrepMode;

/// Maximum number of suggestions that are tried.
const MAX_TRIED: usize = 6;

pub(crate) async fn call(agent: &dyn Agent, tool: &str, arguments: JsonObject) -> CallToolResult {
    match reply(agent, tool, arguments).await {
        Ok(mut reply) => {
            if reply.num_results == 0 {
                reply.suggestions = that_work(agent, std::mem::take(&mut reply.suggestions)).await;
            }
            reply.into_result()
        }
        Err(mut failure) => {
            failure.error = agent.with_way_to_index(agent.outward(failure.error));
            let mut candidates = std::mem::take(&mut failure.suggestions);
            if failure.error.code != QueryErrorCode::InternalError {
                candidates.push(Suggestion::guide("recovering", "explains what to do when calls fail"));
            }
            failure.suggestions = that_work(agent, candidates).await;
            failure.into_result()
        }
    }
}

/// The reply of the tool. The suggestions of the reply have not been tried yet.
fn reply<'a>(
    agent: &'a dyn Agent,
    tool: &'a str,
    arguments: JsonObject,
) -> Pin<Box<dyn Future<Output = Replied> + Send + 'a>> {
    Box::pin(async move {
        let Some(tool) = ToolSpec::find(tool) else { return Err(unknown_tool(tool, arguments)) };
        let arguments = Arguments::read(tool, arguments)?;
        let replied = match tool.name {
            "search_code" => match arguments.text("mode") {
                Some("text") => grep::grep(agent, &arguments, GrepMode::Text).await,
                Some("regex") => grep::grep(agent, &arguments, GrepMode::Regex).await,
                _ => ask::search_code(agent, &arguments).await,
            },
            "read_code" => ask::read_code(agent, &arguments).await,
            "analyze_relationship" => ask::analyze_relationship(agent, &arguments).await,
            "list_repositories" => inventory::list_repositories(agent, &arguments).await,
            "index_status" => inventory::index_status(agent, &arguments).await,
            "index_repository" => indexing::index_repository(agent, &arguments).await,
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

fn unknown_tool(name: &str, arguments: JsonObject) -> Failure {
    let names: Vec<&'static str> = TOOLS.iter().map(|tool| tool.name).collect();
    let near = nearest_word(name, &names).and_then(ToolSpec::find);
    let message = format!("the tool `{name}` does not exist; tools are {}", names.join(", "));
    let mut failure = Failure::from(QueryError::new(QueryErrorCode::NotFound, message));
    if let Some(tool) = near {
        failure.suggestions.push(Suggestion::new(tool.name, "has the most similar name", arguments));
    }
    failure.suggestions.push(Suggestion::new("workflow_guide", "explains which tool does what", object([])));
    failure
}

/// The first suggestions that succeed and return results, each with its number of results.
async fn that_work(agent: &dyn Agent, candidates: Vec<Suggestion>) -> Vec<Suggestion> {
    let mut working: Vec<Suggestion> = Vec::new();
    for mut candidate in candidates.into_iter().take(MAX_TRIED) {
        let is_known = working.iter().any(|known| known.call() == candidate.call());
        let may_call = |tool: &&ToolSpec| tool.read_only || agent.may_index();
        let Some(tool) = ToolSpec::find(candidate.tool).filter(may_call).filter(|_| !is_known) else { continue };
        if tool.read_only {
            match reply(agent, tool.name, candidate.arguments.clone()).await {
                Ok(reply) if reply.num_results == 1 => {}
                Ok(reply) if reply.num_results > 1 => {
                    candidate.reason.push_str(&format!("; {} results", reply.num_results));
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
