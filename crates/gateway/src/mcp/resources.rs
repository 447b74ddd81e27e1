//! Resources: repositories, their modules and patterns, and the guide.
//!
//! The URIs are `cairn://repository/NAME`, `cairn://modules/NAME`, `cairn://patterns/NAME` and
//! `cairn://guide/TOPIC`. Slashes in names are not escaped.

use cairn_redaction::{Given, Message};
use cairn_search::{KnownRepository, QueryError, QueryErrorCode, RepositorySelection};
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::call::report_of;
use super::labels::{Label, label_modules};
use crate::agent::Agent;
use crate::answers::{PageInfo, PatternList, RepositoryReport};
use crate::guide::{TOPICS, document, title};
use crate::questions::{self, ModulesQuestion};

/// Maximum number of repositories in the list of resources. The tool `list_repositories` lists all
/// repositories.
const MAX_REPOSITORIES: usize = 100;

pub(super) async fn list(agent: &dyn Agent) -> Result<Vec<Resource>, ErrorData> {
    let guides = TOPICS.iter().map(|topic| {
        let uri = format!("cairn://guide/{topic}");
        Resource::new(uri, *topic)
            .with_title(document(topic).map(title).unwrap_or_default())
            .with_mime_type("text/markdown")
    });
    let known = match all(agent).await {
        Ok(known) => known,
        Err(error) => return Err(protocol_error(agent, error).await),
    };
    let repositories = known.iter().take(MAX_REPOSITORIES).map(|known| {
        let name = known.record.name.as_str();
        Resource::new(format!("cairn://repository/{name}"), name).with_mime_type("application/json")
    });
    Ok(guides.chain(repositories).collect())
}

async fn all(agent: &dyn Agent) -> Result<Vec<KnownRepository>, QueryError> {
    let view = agent.searcher().catalogue.view().await?;
    agent.searcher().select(&view, &RepositorySelection::default()).await
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, description: &str| {
        ResourceTemplate::new(uri, name).with_description(description).with_mime_type("application/json")
    };
    vec![
        template("cairn://repository/{+name}", "repository", "A repository: commit, time, counts"),
        template(
            "cairn://modules/{+name}",
            "modules",
            "The modules of a repository, with descriptions and files by language",
        ),
        template("cairn://patterns/{+name}", "patterns", "The patterns of a repository, with members and deviations"),
    ]
}

pub(super) async fn read(agent: &dyn Agent, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    match value_of(agent, uri).await {
        Ok(Contents::Guide(text)) => {
            let contents = ResourceContents::text(text, uri).with_mime_type("text/markdown");
            Ok(ReadResourceResult::new(vec![contents]))
        }
        Ok(Contents::Json(value)) => {
            let contents = ResourceContents::text(value.to_string(), uri).with_mime_type("application/json");
            Ok(ReadResourceResult::new(vec![contents]))
        }
        Err(error) => Err(protocol_error(agent, error).await),
    }
}

/// The contents of a resource.
enum Contents {
    Guide(&'static str),
    Json(Value),
}

async fn value_of(agent: &dyn Agent, uri: &str) -> Result<Contents, QueryError> {
    let unknown = || {
        let message = Message::from("the resource ").and(Given(uri));
        let message = message.and(" does not exist; see resources/templates/list");
        QueryError::new(QueryErrorCode::NotFound, message)
    };
    let (kind, name) = uri.strip_prefix("cairn://").and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
    let value = match kind {
        "guide" => return document(name).map(Contents::Guide).ok_or_else(unknown),
        "repository" => repository(agent, name).await?,
        "modules" => modules(agent, name).await?,
        "patterns" => patterns(agent, name).await?,
        _ => return Err(unknown()),
    };
    Ok(Contents::Json(value))
}

async fn repository(agent: &dyn Agent, name: &str) -> Result<Value, QueryError> {
    let view = agent.searcher().catalogue.view().await?;
    Ok(json!(RepositoryReport::of(&agent.searcher().select_one(&view, name).await?).into_labelled()))
}

async fn modules(agent: &dyn Agent, name: &str) -> Result<Value, QueryError> {
    let question = ModulesQuestion { repository: Some(name.to_owned()), ..ModulesQuestion::default() };
    let mut list = questions::modules(agent, &question).await?;
    label_modules(&mut list.modules);
    Ok(json!(list))
}

async fn patterns(agent: &dyn Agent, name: &str) -> Result<Value, QueryError> {
    let selection = RepositorySelection(vec![name.to_owned()]);
    let answer = agent.searcher().patterns(&selection, None).await?;
    let page = PageInfo { num_total: answer.patterns.len(), ..PageInfo::default() };
    Ok(json!(PatternList::of(&answer, page)))
}

/// Converts the error for the protocol, and adds suggested tool calls. Each suggested call was tried before.
async fn protocol_error(agent: &dyn Agent, error: QueryError) -> ErrorData {
    let code = error.code;
    let report = report_of(agent, error).await;
    let (message, data) = (report.message.clone(), Some(json!(report)));
    match code {
        QueryErrorCode::NotFound => ErrorData::resource_not_found(message, data),
        QueryErrorCode::ValidationError => ErrorData::invalid_params(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}
