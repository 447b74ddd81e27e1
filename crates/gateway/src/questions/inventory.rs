//! Answers about the contents of the index.

use cairn_domain::{ManifestEntry, RepositoryId};
use cairn_search::{
    FieldFault, KnownRepository, ModulesRequest, NOTHING_INDEXED, QueryError, QueryErrorCode, RepositorySelection,
    Searcher,
};
use cairn_wire::RunResult;

use super::page::{Page, bounded, wrong};
use super::types::{
    CancelQuestion, CoverageQuestion, FingerprintQuestion, ModulesQuestion, RepositoriesQuestion, RunsQuestion,
    SecretsQuestion,
};
use crate::agent::Agent;
use crate::answers::{
    Cancellation, CoverageAnswer, CoverageReport, FingerprintList, FingerprintReport, ModuleList, PathExplanation,
    RepositoryList, RepositoryReport, RunDetails, RunList, RunReport, RunsAnswer, SecretList, SecretPlace, Statistics,
    StatusReport, unsettled,
};

/// Default number of levels of modules that are listed: the root modules and their submodules.
const MODULE_DEPTH: usize = 2;
const MAX_MODULE_DEPTH: usize = 20;
/// Maximum number of modules on a page. The number is limited because the description of each module is read
/// from the graph.
const MAX_MODULES: usize = 1_000;

async fn known(searcher: &Searcher) -> Result<Vec<KnownRepository>, QueryError> {
    let view = searcher.catalogue.view().await?;
    searcher.repositories(&view).await
}

pub(crate) async fn repositories(
    agent: &dyn Agent,
    question: &RepositoriesQuestion,
) -> Result<RepositoryList, QueryError> {
    let searcher = agent.searcher();
    let mut known = known(searcher).await?;
    let index_version = searcher.index_version(&known);
    let next_action_hint = known.is_empty().then(|| agent.how_to_index().to_owned());
    if let Some(part) = &question.name {
        let part = part.to_lowercase();
        known.retain(|known| known.record.name.as_str().to_lowercase().contains(&part));
    }
    let page = Page { offset: question.offset, limit: question.limit, most: agent.caps().entries };
    let (range, page) = page.of(known.len())?;
    let repositories = known[range].iter().map(RepositoryReport::of).collect();
    Ok(RepositoryList { next_action_hint, repositories, index_version, page })
}

pub(super) async fn status(agent: &dyn Agent) -> Result<StatusReport, QueryError> {
    let searcher = agent.searcher();
    let known = known(searcher).await?;
    let unfinished = searcher.unfinished_runs(&RepositorySelection::default()).await?;
    let num_files = known.iter().filter_map(|known| Some(known.published.as_ref()?.result.files_indexed)).sum();
    Ok(StatusReport {
        home: agent.home(),
        model: searcher.embedder.model().name.clone(),
        num_repositories: known.len(),
        num_files,
        runs_in_progress: unfinished.iter().map(RunReport::of).collect(),
        repositories: known.iter().map(RepositoryReport::of).collect(),
        index_version: searcher.index_version(&known),
    })
}

pub(super) async fn stats(agent: &dyn Agent) -> Result<Statistics, QueryError> {
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
    Ok(Statistics {
        repositories: known.len(),
        files: total.files_indexed,
        symbols: total.symbols,
        chunks: total.chunks,
        edges: total.edges,
        edges_by_resolution: total.edges_by_resolution,
        unresolved_references: total.unresolved,
        patterns: total.patterns,
        secrets_redacted: total.secrets,
        size_bytes: agent.size_bytes(),
    })
}

fn selection(repository: Option<&String>) -> RepositorySelection {
    RepositorySelection(repository.cloned().into_iter().collect())
}

pub(crate) async fn runs(agent: &dyn Agent, question: &RunsQuestion) -> Result<RunsAnswer, QueryError> {
    let (searcher, selection) = (agent.searcher(), selection(question.repository.as_ref()));
    if let Some(id) = &question.run_id {
        let run = searcher.find_run(&selection, id).await?;
        return Ok(RunsAnswer::One(Box::new(RunDetails::of(&run))));
    }
    let limit = bounded("limit", question.limit, agent.caps().runs)?;
    let runs = searcher.runs(&selection, limit).await?;
    // Syncs that are pending or failed have no run, so they are reported separately.
    let known = searcher.select(&searcher.catalogue.view().await?, &selection).await?;
    Ok(RunsAnswer::List(RunList { runs: runs.iter().map(RunReport::of).collect(), syncs: unsettled(&known, limit) }))
}

pub(crate) async fn cancel(agent: &dyn Agent, question: &CancelQuestion) -> Result<Cancellation, QueryError> {
    let (searcher, selection) = (agent.searcher(), selection(question.repository.as_ref()));
    let (runs, requests) = match &question.run_id {
        Some(id) => (vec![searcher.find_run(&selection, id).await?], Vec::new()),
        None => {
            // Requests are cancelled before the runs are read. If a run begins between these two steps, it is
            // found among the unfinished runs.
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
    Ok(Cancellation { cancelled, requests })
}

/// Cancels pending requests and returns the names of the repositories that had a pending request.
async fn cancel_requests(agent: &dyn Agent, selection: &RepositorySelection) -> Result<Vec<String>, QueryError> {
    let searcher = agent.searcher();
    let view = searcher.catalogue.view().await?;
    let selected = searcher.select(&view, selection).await?;
    let ids: Vec<RepositoryId> = selected.iter().map(|known| known.record.id).collect();
    let cancelled = agent.cancel_requests(&ids).await?;
    let names = selected.iter().filter(|known| cancelled.contains(&known.record.id));
    Ok(names.map(|known| known.record.name.to_string()).collect())
}

/// Number of repositories that an error names.
const NUM_NAMED: usize = 3;

/// Returns the name that was given. If no name was given, returns the name of the only existing repository.
async fn only(searcher: &Searcher, named: Option<&str>) -> Result<String, QueryError> {
    if let Some(name) = named {
        return Ok(name.to_owned());
    }
    match known(searcher).await?.as_slice() {
        [] => Err(QueryError::new(QueryErrorCode::NotFound, "no repository exists").hint(NOTHING_INDEXED)),
        [only] => Ok(only.record.name.to_string()),
        several => {
            let error = wrong("several repositories exist; give the name of one of them");
            let names = several.iter().take(NUM_NAMED).map(|known| known.record.name.to_string());
            Err(QueryError { similar_repositories: names.collect(), ..error }.in_field(FieldFault::of("repository")))
        }
    }
}

pub(crate) async fn coverage(agent: &dyn Agent, question: &CoverageQuestion) -> Result<CoverageAnswer, QueryError> {
    let searcher = agent.searcher();
    let repository = only(searcher, question.repository.as_deref()).await?;
    if let Some(path) = &question.why {
        return Ok(CoverageAnswer::One(PathExplanation::of(&searcher.why(&repository, path).await?)));
    }
    let coverage = searcher.coverage(&repository).await?;
    if question.summary {
        return Ok(CoverageAnswer::All(CoverageReport::summary(&coverage)));
    }
    let entries: Vec<&ManifestEntry> = match &question.outcome {
        Some(word) => coverage.entries.iter().filter(|entry| is_of(&entry.outcome.label(), word)).collect(),
        None => coverage.entries.iter().collect(),
    };
    let page = Page { offset: question.offset, limit: question.limit, most: agent.caps().entries };
    let (range, page) = page.of(entries.len())?;
    let entries = entries[range].iter().copied();
    Ok(CoverageAnswer::All(CoverageReport::with_entries(&coverage, entries, page)))
}

pub(crate) async fn modules(agent: &dyn Agent, question: &ModulesQuestion) -> Result<ModuleList, QueryError> {
    let searcher = agent.searcher();
    let request = ModulesRequest {
        repository: only(searcher, question.repository.as_deref()).await?,
        within: question.module.clone(),
        depth: bounded("depth", question.depth.unwrap_or(MODULE_DEPTH), MAX_MODULE_DEPTH)?,
    };
    let tree = searcher.modules(&request).await?;
    let most = agent.caps().entries.min(MAX_MODULES);
    let page = Page { offset: question.offset, limit: question.limit, most };
    let (range, page) = page.of(tree.modules.len())?;
    let mut modules = tree.modules[range].to_vec();
    searcher.describe(&tree, &mut modules).await?;
    Ok(ModuleList::of(&tree, modules, page))
}

/// Whether an outcome matches a word: the word `skipped(binary)` matches only this outcome, `skipped` matches
/// all skipped paths, and `binary` matches all paths with this reason.
fn is_of(label: &str, word: &str) -> bool {
    let parts = label.split_once('(').map(|(outcome, reason)| (outcome, reason.trim_end_matches(')')));
    label == word || parts.is_some_and(|(outcome, reason)| outcome == word || reason == word)
}

pub(super) async fn secrets(agent: &dyn Agent, question: &SecretsQuestion) -> Result<SecretList, QueryError> {
    let searcher = agent.searcher();
    let repository = only(searcher, question.repository.as_deref()).await?;
    let found = searcher.secrets(&repository).await?;
    let page = Page { offset: question.offset, limit: question.limit, most: agent.caps().entries };
    let (range, page) = page.of(found.len())?;
    Ok(SecretList { repository, findings: found[range].iter().map(SecretPlace::of).collect(), page })
}

pub(super) async fn fingerprint(
    agent: &dyn Agent,
    question: &FingerprintQuestion,
) -> Result<FingerprintList, QueryError> {
    let selection = RepositorySelection(question.repositories.clone());
    let fingerprints = agent.searcher().fingerprint(&selection).await?;
    Ok(FingerprintList { fingerprints: fingerprints.iter().map(FingerprintReport::of).collect() })
}
