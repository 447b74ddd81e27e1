//! `cairn doctor` against a cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use cairn_domain::{RepositoryId, Scope};
use cairn_gateway::time::rfc3339;
use cairn_metastore::Metastore;
use cairn_names::NameIndex;
use cairn_neo4j::Neo4jGraph;
use cairn_ports::{
    BlobStore, Catalogue, DeadLetters, Generations, LedgerRead, PostponedPart, RepositoryRecord, RunRecord, plain,
};
use cairn_stages::Artifacts;
use cairn_texts::TextIndex;

use super::installation::Installation;
use super::survey::{self, Finding, State};
use crate::commands::doctor::{Check, report};
use crate::exit::CommandReply;
use crate::verify::verify;

/// Dead letters are counted only up to this number.
const LETTERS_COUNTED: usize = 1_000;
/// Maximum number of repositories or retries that one line of the output lists.
const NAMED: usize = 3;

/// Checks whether each dependency answers, which version it has, and whether it is prepared. Also checks
/// whether jobs make progress. Stored data is verified only for the given repository, because a check of all
/// repositories of a cluster would take hours.
pub(super) async fn doctor(installation: &Installation, named: Option<&str>, json: bool) -> CommandReply {
    let (mut findings, model) = tokio::join!(survey::of_servers(installation), survey::of_model(installation));
    findings.push(model);
    let mut checks: Vec<Check> = findings.iter().map(check).collect();
    // If a dependency has a fault, the other checks are skipped, because they would report the same fault
    // again.
    if checks.iter().all(|check| check.fault.is_none()) {
        checks.extend(work(installation).await?);
        if let Some(name) = named {
            checks.push(stored(installation, name).await?);
        }
    }
    Ok(report(&checks, json))
}

/// Checks all tenants for runs without progress, dead letters, and repositories that were indexed with a
/// different model.
async fn work(installation: &Installation) -> anyhow::Result<[Check; 5]> {
    let (runs, clock) = installation.ledger().await?;
    let now_ms = clock.now_ms();
    let unfinished = runs.unfinished().await?;
    let mut waiting = waiting_parts(&unfinished, now_ms);
    let stalled_since_ms = now_ms.saturating_sub(2 * installation.config.pipeline.stalled_after_ms);
    let model = installation.config.embedding.model_id()?.name;
    let repositories = RepositoryStates::read(&runs, &model, now_ms).await?;
    waiting.extend(repositories.waiting);
    let check = |what: &str, fault| Check { what: what.to_owned(), fault };
    // A wait for a retry is not a fault, because it ends without an action of the operator.
    let retries = some_of(waiting.into_iter()).map_or_else(|| "retries".to_owned(), |some| format!("retries ({some})"));
    // The owner of a repository must correct the cause of a failed sync, so a failed sync is not a fault of
    // the cluster.
    let failed = some_of(repositories.failed.into_iter());
    let failed = failed.map_or_else(|| "syncs".to_owned(), |some| format!("syncs ({some})"));
    let other = some_of(repositories.of_other_model.into_iter()).map(|some| {
        format!("not indexed with {model}: {some}; `cairn enqueue --rebuild NAME` indexes a repository again")
    });
    let letters = dead_letters(installation).await?;
    Ok([
        check("runs", stalled(unfinished, stalled_since_ms)),
        check(&retries, None),
        check(&failed, None),
        check("embedding models", other),
        check("dead letters", letters),
    ])
}

/// Describes the runs that make no progress. `None` if all runs have made progress since the given time.
fn stalled(unfinished: Vec<RunRecord>, since_ms: i64) -> Option<String> {
    let stalled = unfinished.into_iter().filter(|run| run.progressed_at_ms < since_ms);
    some_of(stalled.map(|run| run.result.repository)).map(|some| {
        format!(
            "without progress: {some}; check that every service is running, and read the logs; `cairn runs cancel NAME` cancels the run of a repository"
        )
    })
}

/// The repositories of all tenants that need attention.
#[derive(Default)]
struct RepositoryStates {
    /// Syncs that wait for their next attempt.
    waiting: Vec<String>,
    /// Syncs that failed.
    failed: Vec<String>,
    /// The names of the repositories that were indexed with a different model.
    of_other_model: Vec<String>,
}

impl RepositoryStates {
    async fn read(runs: &Metastore, model: &str, now_ms: i64) -> anyhow::Result<Self> {
        let mut states = Self::default();
        let view = runs.view().await?;
        for tenant in runs.tenants().await? {
            let records = runs.repositories(&Scope::all(tenant)).await?;
            states.waiting.extend(records.iter().filter_map(|record| waiting_sync(record, now_ms)));
            states.failed.extend(records.iter().filter_map(failed_sync));
            let ids: Vec<RepositoryId> = records.iter().map(|record| record.id).collect();
            let published = runs.published_of(&view, &ids).await?;
            let other = published.iter().filter(|found| found.model != model);
            let other: BTreeSet<RepositoryId> = other.map(|found| found.run.repository).collect();
            let records = records.into_iter().filter(|record| other.contains(&record.id));
            states.of_other_model.extend(records.map(|record| record.name.to_string()));
        }
        Ok(states)
    }
}

/// Describes the number of jobs that failed permanently. `None` if there are no dead letters.
async fn dead_letters(installation: &Installation) -> anyhow::Result<Option<String>> {
    let letters = installation.broker().await?.dead_letters(LETTERS_COUNTED).await?.len();
    let at_least = if letters == LETTERS_COUNTED { "at least " } else { "" };
    Ok((letters > 0).then(|| {
        format!("{at_least}{letters} jobs failed permanently; `cairn dead-letters list` shows them and the reasons")
    }))
}

/// Describes the parts of unfinished runs that wait for their next attempt.
fn waiting_parts(unfinished: &[RunRecord], now_ms: i64) -> Vec<String> {
    let of_run = |run: &RunRecord| {
        let waiting = run.postponed.iter().filter(|part| part.until_ms > now_ms);
        let describe = |part: &PostponedPart| {
            retry(&run.result.repository, &part.part.to_string(), part.until_ms, part.code.as_str())
        };
        waiting.map(describe).collect::<Vec<_>>()
    };
    unfinished.iter().flat_map(of_run).collect()
}

/// Describes the sync of a repository if the sync waits for its next attempt.
fn waiting_sync(record: &RepositoryRecord, now_ms: i64) -> Option<String> {
    let until_ms = record.next_attempt_at_ms.filter(|until_ms| *until_ms > now_ms)?;
    let failure = record.last_sync.as_ref().and_then(|last| last.failure.as_ref());
    let code = failure.map(|(code, _)| code.as_str()).unwrap_or_default();
    Some(retry(record.name.as_str(), "sync", until_ms, code))
}

/// Describes the failure of the last sync of a repository. `None` if another attempt is scheduled.
fn failed_sync(record: &RepositoryRecord) -> Option<String> {
    let last = record.last_sync.as_ref().filter(|_| record.pending_sync.is_none())?;
    let (code, _) = last.failure.as_ref()?;
    Some(format!("the last sync of {} failed at {} ({code})", record.name, rfc3339(last.at_ms)))
}

/// Describes work that waits for its next attempt: the reason, and the time of the attempt.
fn retry(repository: &str, work: &str, until_ms: i64, code: &str) -> String {
    format!("{work} of {repository} failed ({code}), next attempt at {}", rfc3339(until_ms))
}

/// The first `NAMED` entries, and the number of the other entries. `None` if the list is empty.
fn some_of(names: impl Iterator<Item = String>) -> Option<String> {
    let names: Vec<String> = names.collect();
    let num_more = names.len().saturating_sub(NAMED);
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if num_more > 0 { format!(" and {num_more} more") } else { String::new() };
    (!names.is_empty()).then(|| shown + &more)
}

async fn stored(installation: &Installation, name: &str) -> anyhow::Result<Check> {
    let (runs, clock) = installation.ledger().await?;
    let searcher = installation.searcher(&runs, &clock).await?;
    let record = searcher.select_one(&runs.view().await?, name).await?.record;
    let blobs: Arc<dyn BlobStore> = Arc::new(installation.blobs()?);
    let graph: Arc<dyn Generations> = Arc::new(Neo4jGraph::new(installation.neo4j()?));
    let (names, texts) = (NameIndex::new(Arc::clone(&blobs)), TextIndex::new(Arc::clone(&blobs)));
    let stores: [Arc<dyn Generations>; 4] =
        [graph, Arc::new(installation.vectors()?.0), Arc::new(names), Arc::new(texts)];
    let verified = verify(&searcher, &stores, &Artifacts::new(blobs), record.id).await;
    let remedy = format!("`cairn enqueue --rebuild {}` writes the data again", record.name);
    let fault = verified.err().map(|error| format!("{}; {remedy}", plain(error.as_ref())));
    Ok(Check { what: format!("stored data of {}", record.name), fault })
}

fn check(finding: &Finding) -> Check {
    let name = finding.name.to_owned();
    match &finding.state {
        State::Fault(fault) => Check { what: name, fault: Some(fault.clone()) },
        State::Answers(answer) => {
            let known: Vec<&str> =
                answer.version.as_deref().into_iter().chain(answer.remarks.iter().copied()).collect();
            let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) };
            let missing = answer.missing.join(", ");
            let fault = format!("lacks {missing}; run `cairn topology apply` to create the missing parts");
            Check { what: format!("{name}{known}"), fault: (!missing.is_empty()).then_some(fault) }
        }
    }
}
