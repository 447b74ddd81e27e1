//! From a tool's name and arguments to its result.
//!
//! What an error or an empty answer suggests is tried before it is shown: a suggested call is one that has just worked
//! (calls that change something are not tried).

use std::future::Future;
use std::pin::Pin;

use cairn_search::{QueryError, QueryErrorCode};
use rmcp::model::{CallToolResult, JsonObject};

use super::answer::{Answered, Failure, MAX_SUGGESTIONS, Suggestion, object};
use super::arguments::{Arguments, nearest_word};
use super::tools::{TOOLS, ToolSpec};
use super::{ask, guide, inventory};
use crate::Agent;

/// Suggestions that are tried, at most.
const MAX_TRIED: usize = 6;

pub(crate) async fn call(agent: &dyn Agent, tool: &str, arguments: JsonObject) -> CallToolResult {
    match answer(agent, tool, arguments).await {
        Ok(mut answer) => {
            if answer.num_results == 0 {
                answer.suggestions = that_work(agent, std::mem::take(&mut answer.suggestions)).await;
            }
            answer.into_result()
        }
        Err(mut failure) => {
            failure.error = agent.with_way_to_index(agent.outward(failure.error));
            let mut candidates = std::mem::take(&mut failure.suggestions);
            if failure.error.code != QueryErrorCode::InternalError {
                candidates.push(Suggestion::guide("recovering", "says what to do when calls fail"));
            }
            failure.suggestions = that_work(agent, candidates).await;
            failure.into_result()
        }
    }
}

/// The answer with suggestions that nobody has tried.
fn answer<'a>(
    agent: &'a dyn Agent,
    tool: &'a str,
    arguments: JsonObject,
) -> Pin<Box<dyn Future<Output = Answered> + Send + 'a>> {
    Box::pin(async move {
        let Some(tool) = ToolSpec::find(tool) else { return Err(unknown_tool(tool, arguments)) };
        let arguments = Arguments::read(tool, arguments)?;
        let answered = match tool.name {
            "search_code" => ask::search_code(agent, &arguments).await,
            "read_code" => ask::read_code(agent, &arguments).await,
            "analyze_relationship" => ask::analyze_relationship(agent, &arguments).await,
            "list_repositories" => inventory::list_repositories(agent, &arguments).await,
            "index_status" => inventory::index_status(agent, &arguments).await,
            "index_repository" => inventory::index_repository(agent, &arguments).await,
            _ => guide::workflow_guide(&arguments),
        };
        answered.map_err(|failure| failure.within(&arguments).with_known_repository(&arguments))
    })
}

impl Failure {
    /// The call with a repository of nearly that name, if the name was the fault.
    fn with_known_repository(mut self, arguments: &Arguments) -> Self {
        if let (Some(near), true) =
            (self.error.similar_repositories.first(), arguments.given().contains_key("repository"))
        {
            let value = match arguments.text("repository") {
                Some(_) => serde_json::json!(near),
                None => serde_json::json!([near]),
            };
            let call = arguments.with("repository", value);
            let reason = "asks the repository of the nearest name";
            self.suggestions.insert(0, Suggestion::new(arguments.tool.name, reason, call));
        }
        self
    }
}

fn unknown_tool(name: &str, arguments: JsonObject) -> Failure {
    let names: Vec<&'static str> = TOOLS.iter().map(|tool| tool.name).collect();
    let near = nearest_word(name, &names).and_then(ToolSpec::find);
    let message = format!("there is no tool `{name}`; there are {}", names.join(", "));
    let mut failure = Failure::from(QueryError::new(QueryErrorCode::NotFound, message));
    if let Some(tool) = near {
        failure.suggestions.push(Suggestion::new(tool.name, "is the nearest name", arguments));
    }
    failure.suggestions.push(Suggestion::new("workflow_guide", "says which tool does what", object([])));
    failure
}

/// The first suggestions that work and have results, with how many.
async fn that_work(agent: &dyn Agent, candidates: Vec<Suggestion>) -> Vec<Suggestion> {
    let mut working: Vec<Suggestion> = Vec::new();
    for mut candidate in candidates.into_iter().take(MAX_TRIED) {
        let is_known = working.iter().any(|known| known.call() == candidate.call());
        let may_call = |tool: &&ToolSpec| tool.read_only || agent.may_index();
        let Some(tool) = ToolSpec::find(candidate.tool).filter(may_call).filter(|_| !is_known) else { continue };
        if tool.read_only {
            match answer(agent, tool.name, candidate.arguments.clone()).await {
                Ok(answer) if answer.num_results == 1 => {}
                Ok(answer) if answer.num_results > 1 => {
                    candidate.reason.push_str(&format!("; {} results", answer.num_results));
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
