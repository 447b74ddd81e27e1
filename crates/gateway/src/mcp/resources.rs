//! Resources: repositories, their modules and patterns, and the guide.
//!
//! The URIs are `cairn://repository/NAME`, `cairn://modules/NAME`, `cairn://patterns/NAME` and
//! `cairn://guide/TOPIC`. Slashes in names are not escaped.

use cairn_search::{QueryError, QueryErrorCode, RepositorySelection};
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::labels::{Label, label_message, label_modules, labelled};
use crate::agent::Agent;
use crate::answers::{ErrorReport, PageInfo, PatternList, RepositoryReport};
use crate::guide::{TOPICS, document, title};
use crate::questions::{self, ModulesQuestion};

/// Maximum number of repositories in the list of resources. `list_repositories` lists all repositories.
const MAX_REPOSITORIES: usize = 100;

pub(super) async fn list(agent: &dyn Agent) -> Result<Vec<Resource>, ErrorData> {
    let guides = TOPICS.iter().map(|topic| {
        let uri = format!("cairn://guide/{topic}");
        Resource::new(uri, *topic)
            .with_title(document(topic).map(title).unwrap_or_default())
            .with_mime_type("text/markdown")
    });
    let searcher = agent.searcher();
    let outward = |error: QueryError| protocol_error(&agent.outward(error));
    let view = searcher.catalogue.view().await.map_err(|error| outward(error.into()))?;
    let known = searcher.select(&view, &RepositorySelection::default()).await.map_err(outward)?;
    let repositories = known.iter().take(MAX_REPOSITORIES).map(|known| {
        let name = known.record.name.as_str();
        Resource::new(format!("cairn://repository/{name}"), name).with_mime_type("application/json")
    });
    Ok(guides.chain(repositories).collect())
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
    let unknown = || {
        let message = format!("the resource `{uri}` does not exist; see resources/templates/list");
        ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
    };
    let (kind, name) = uri.strip_prefix("cairn://").and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
    let value = match kind {
        "guide" => {
            let text = document(name).ok_or_else(unknown)?;
            let contents = ResourceContents::text(text, uri).with_mime_type("text/markdown");
            return Ok(ReadResourceResult::new(vec![contents]));
        }
        "repository" => repository(agent, name).await,
        "modules" => modules(agent, name).await,
        "patterns" => patterns(agent, name).await,
        _ => return Err(unknown()),
    };
    let text = value.map_err(|error| protocol_error(&agent.outward(error)))?.to_string();
    let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
    Ok(ReadResourceResult::new(vec![contents]))
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

fn protocol_error(error: &QueryError) -> ErrorData {
    let mut report = ErrorReport::of(error);
    report.message = labelled(&report.message);
    label_message(&mut report.details.next_action_hint);
    let (message, data) = (report.message.clone(), Some(json!(report)));
    match error.code {
        QueryErrorCode::NotFound => ErrorData::resource_not_found(message, data),
        QueryErrorCode::ValidationError => ErrorData::invalid_params(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}
