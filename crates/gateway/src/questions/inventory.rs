//! Answers that tell what is there.

use cairn_domain::RepositoryId;
use cairn_search::{KnownRepository, NOTHING_INDEXED, QueryError, QueryErrorCode, RepositorySelection, Searcher};
use cairn_wire::RunResult;
use serde_json::{Value, json};

use super::answer::{bounded, wrong};
use super::page::{self, Page};
use super::types::{CancelQuestion, CoverageQuestion, RepositoriesQuestion, RunsQuestion, SecretsQuestion};
use crate::json as as_json;
use crate::{Agent, Caps, syncs};

async fn known(searcher: &Searcher) -> Result<Vec<KnownRepository>, QueryError> {
    let view = searcher.catalogue.view().await?;
    searcher.repositories(&view).await
}

pub(super) async fn repositories(agent: &dyn Agent, question: &RepositoriesQuestion) -> Result<Value, QueryError> {
    let searcher = agent.searcher();
    let known = known(searcher).await?;
    let page = Page { offset: question.offset, limit: question.limit, most: agent.caps().entries };
    let part = page.of(known.len())?;
    let mut answer = json!({
        "next_action_hint": known.is_empty().then(|| agent.how_to_index()),
        "repositories": known[part.clone()].iter().map(as_json::repository).collect::<Vec<_>>(),
        "index_version": searcher.index_version(&known),
    });
    page::put(&mut answer, &part, known.len());
    Ok(answer)
}

pub(super) async fn status(agent: &dyn Agent) -> Result<Value, QueryError> {
    let searcher = agent.searcher();
    let known = known(searcher).await?;
    let unfinished = searcher.unfinished_runs(&RepositorySelection::default()).await?;
    let num_files: u64 = known.iter().filter_map(|known| Some(known.published.as_ref()?.result.files_indexed)).sum();
    Ok(json!({
        "home": agent.home(),
        "model": searcher.embedder.model().name,
        "num_repositories": known.len(),
        "num_files": num_files,
        "runs_in_progress": unfinished.iter().map(as_json::run).collect::<Vec<_>>(),
        "repositories": known.iter().map(as_json::repository).collect::<Vec<_>>(),
        "index_version": searcher.index_version(&known),
    }))
}

pub(super) async fn stats(agent: &dyn Agent) -> Result<Value, QueryError> {
    let known = known(agent.searcher()).await?;
    let mut total = RunResult::default();
    for published in known.iter().filter_map(|known| known.published.as_ref()) {
        let result = &published.result;
        total.files_indexed += result.files_indexed;
        total.symbols += result.symbols;
        total.chunks += result.chunks;
        total.edges += result.edges;
        total.patterns += result.patterns;
        total.secrets += result.secrets;
        for (class, count) in &result.edges_by_resolution {
            *total.edges_by_resolution.entry(class.clone()).or_default() += count;
        }
        for (reason, count) in &result.unresolved {
            *total.unresolved.entry(reason.clone()).or_default() += count;
        }
    }
    Ok(json!({
        "repositories": known.len(),
        "files": total.files_indexed,
        "symbols": total.symbols,
        "chunks": total.chunks,
        "edges": total.edges,
        "edges_by_resolution": total.edges_by_resolution,
        "unresolved_references": total.unresolved,
        "patterns": total.patterns,
        "secrets_redacted": total.secrets,
        "size_bytes": agent.size_bytes(),
    }))
}

fn selection(repository: Option<&String>) -> RepositorySelection {
    RepositorySelection(repository.cloned().into_iter().collect())
}

pub(super) async fn runs(searcher: &Searcher, question: &RunsQuestion, caps: Caps) -> Result<Value, QueryError> {
    let selection = selection(question.repository.as_ref());
    if let Some(id) = &question.run_id {
        let run = searcher.find_run(&selection, id).await?;
        let mut json = as_json::run(&run);
        json["result"] = json!(run.record.result);
        return Ok(json);
    }
    let limit = bounded("limit", question.limit, caps.runs)?;
    let runs = searcher.runs(&selection, limit).await?;
    // A sync that waits or failed has no run that could tell of it.
    let known = searcher.select(&searcher.catalogue.view().await?, &selection).await?;
    Ok(json!({
        "runs": runs.iter().map(as_json::run).collect::<Vec<_>>(),
        "syncs": syncs::unsettled(&known, limit),
    }))
}

pub(super) async fn cancel(agent: &dyn Agent, question: &CancelQuestion) -> Result<Value, QueryError> {
    let (searcher, selection) = (agent.searcher(), selection(question.repository.as_ref()));
    let (runs, requests) = match &question.run_id {
        Some(id) => (vec![searcher.find_run(&selection, id).await?], Vec::new()),
        None => {
            // First what is to begin: a run that begins before is then seen as unfinished.
            let requests = cancel_requests(agent, &selection).await?;
            (searcher.unfinished_runs(&selection).await?, requests)
        }
    };
    let mut cancelled = Vec::new();
    for run in runs {
        if agent.cancel(run.record.id).await? {
            cancelled.push(run.id);
        }
    }
    Ok(json!({ "cancelled": cancelled, "requests": requests }))
}

/// Names of the repositories of which something was asked that has not begun.
async fn cancel_requests(agent: &dyn Agent, selection: &RepositorySelection) -> Result<Vec<String>, QueryError> {
    let searcher = agent.searcher();
    let view = searcher.catalogue.view().await?;
    let selected = searcher.select(&view, selection).await?;
    let ids: Vec<RepositoryId> = selected.iter().map(|known| known.record.id).collect();
    let cancelled = agent.cancel_requests(&ids).await?;
    let names = selected.iter().filter(|known| cancelled.contains(&known.record.id));
    Ok(names.map(|known| known.record.name.to_string()).collect())
}

/// The repository that is named; without a name the only one that there is.
async fn only(searcher: &Searcher, named: Option<&str>) -> Result<String, QueryError> {
    if let Some(name) = named {
        return Ok(name.to_owned());
    }
    let mut known = known(searcher).await?;
    match (known.len(), known.pop()) {
        (1, Some(known)) => Ok(known.record.name.to_string()),
        (0, _) => Err(QueryError::new(QueryErrorCode::NotFound, "there is no repository").hint(NOTHING_INDEXED)),
        _ => Err(wrong("there are several repositories; name one")),
    }
}

pub(super) async fn coverage(
    searcher: &Searcher,
    question: &CoverageQuestion,
    caps: Caps,
) -> Result<Value, QueryError> {
    let repository = only(searcher, question.repository.as_deref()).await?;
    if let Some(path) = &question.why {
        return Ok(as_json::why(&searcher.why(&repository, path).await?));
    }
    let coverage = searcher.coverage(&repository).await?;
    if question.summary {
        return Ok(as_json::coverage(&coverage, None));
    }
    let num_total = coverage.entries.len();
    let part = Page { offset: question.offset, limit: question.limit, most: caps.entries }.of(num_total)?;
    let mut answer = as_json::coverage(&coverage, Some(part.clone()));
    page::put(&mut answer, &part, num_total);
    Ok(answer)
}

pub(super) async fn secrets(searcher: &Searcher, question: &SecretsQuestion, caps: Caps) -> Result<Value, QueryError> {
    let repository = only(searcher, question.repository.as_deref()).await?;
    let found = searcher.secrets(&repository).await?;
    let part = Page { offset: question.offset, limit: question.limit, most: caps.entries }.of(found.len())?;
    let findings = found[part.clone()]
        .iter()
        .map(|(path, finding)| json!({ "path": path.as_str(), "line": finding.line, "rule": finding.rule }));
    let mut answer = json!({ "repository": repository, "findings": findings.collect::<Vec<_>>() });
    page::put(&mut answer, &part, found.len());
    Ok(answer)
}

pub(super) async fn fingerprint(searcher: &Searcher, repositories: &[String]) -> Result<Value, QueryError> {
    let fingerprints = searcher.fingerprint(&RepositorySelection(repositories.to_vec())).await?;
    Ok(json!({ "fingerprints": fingerprints.iter().map(as_json::fingerprint).collect::<Vec<_>>() }))
}
