//! Saves the documents that a command changed, each with the properties that queries use.
//!
//! A new document is created, never merged. If another command has created it in the meantime, the constraint
//! refuses the statement and the change is retried.

use cairn_domain::{PartEnd, RepositoryId, RunState};
use cairn_runs::{Documents, EndedPart, Publication, RepositoryDocument, RunDocument};
use cairn_wire::encode_document;
use neo4rs::{BoltType, Query};

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::runs::words::{NEVER, is_published, lane_number};
use crate::transaction::Transaction;
use crate::values::{BATCH_ROWS, generation_number, key_text, number};

const REPOSITORY: &str = "
SET repository.tenant = $tenant, repository.name = $name, repository.lane = $lane,
    repository.asked_at_ms = $asked_at_ms, repository.document = $document,
    repository.changes = coalesce($changes, repository.changes)";

const RUN: &str = "
SET run.repository = $repository, run.state = $state, run.published_seq = $published_seq,
    run.ended_at_ms = $ended_at_ms, run.superseded_at_ms = $superseded_at_ms, run.is_swept = $is_swept,
    run.has_unsent = $has_unsent, run.document = $document, run.changes = coalesce($changes, run.changes)";

const PART: &str = "
MERGE (part:Part~ {key: $key})
ON CREATE SET part.generation = $generation, part.stage = $stage, part.number = $number, part.code = $code,
    part.message = $message, part.report = $report";

const PUBLICATION: &str = "
MERGE (made:Publication~ {seq: $seq})
SET made.at_ms = $at_ms, made.view = $view";

const FORGET_PARTS: &str = "
MATCH (run:Run~ {repository: $repository}) WHERE run.generation <= $until
MATCH (part:Part~ {generation: run.generation})
DELETE part";

const FORGET_RUNS: &str = "MATCH (run:Run~ {repository: $repository}) WHERE run.generation <= $until DELETE run";

/// Tokens of the latest changes. They belong to the document that the command changes.
pub(super) type Changes<'a> = &'a [i64];

/// Saves the documents that differ between `before` and `after`. `changes` are stored on the node of the run
/// that the command names, or on the node of the repository if the command names no run.
pub(super) async fn documents(
    neo4j: &Neo4j,
    transaction: &mut Transaction,
    (before, after): (&Documents, &Documents),
    (names_run, changes): (bool, Changes<'_>),
) -> Result<(), Fault> {
    if after.registry != before.registry {
        let statement = "MATCH (registry:Registry~ {key: 'registry'}) SET registry.document = $document";
        transaction.run(neo4j.query(statement).param("document", encode_document(&after.registry))).await?;
    }
    if let Some(document) = after.repository.as_ref().filter(|_| after.repository != before.repository) {
        let changes = (!names_run).then_some(changes);
        transaction.run(repository(neo4j, document, before.repository.is_none(), changes)).await?;
    }
    if let Some(document) = after.previous.as_ref().filter(|_| after.previous != before.previous) {
        transaction.run(run(neo4j, document, false, None)).await?;
    }
    if let Some(document) = after.run.as_ref().filter(|_| after.run != before.run) {
        transaction.run(run(neo4j, document, before.run.is_none(), names_run.then_some(changes))).await?;
    }
    if let Some(ended) = &after.ended {
        transaction.run(part(neo4j, ended)).await?;
    }
    if let Some(made) = &after.publication {
        transaction.run(publication(neo4j, made)).await?;
    }
    forget(neo4j, transaction, after).await
}

fn repository(neo4j: &Neo4j, document: &RepositoryDocument, is_new: bool, changes: Option<Changes<'_>>) -> Query {
    let clause = if is_new { "CREATE" } else { "MATCH" };
    let queue_position = document.state.requests.place();
    neo4j
        .query(&format!("{clause} (repository:Repository~ {{key: $key}}) {REPOSITORY}"))
        .param("key", key_text(document.id.0))
        .param("tenant", document.details.tenant.as_str())
        .param("name", document.details.name.as_str())
        .param("lane", queue_position.map(|(lane, _)| lane_number(lane)))
        .param("asked_at_ms", queue_position.map(|(_, at_ms)| at_ms))
        .param("document", encode_document(document))
        .param("changes", changes.map(BoltType::from))
}

fn run(neo4j: &Neo4j, document: &RunDocument, is_new: bool, changes: Option<Changes<'_>>) -> Query {
    let clause = if is_new { "CREATE" } else { "MATCH" };
    let ledger = &document.ledger;
    let is_live = ledger.state == RunState::Running || is_published(ledger.state);
    neo4j
        .query(&format!("{clause} (run:Run~ {{generation: $generation}}) {RUN}"))
        .param("generation", generation_number(ledger.id.generation))
        .param("repository", key_text(ledger.id.repository.0))
        .param("state", ledger.state.as_str())
        .param("published_seq", ledger.published.map(|seq| number(seq.0)))
        .param("ended_at_ms", ledger.ended_at_ms)
        .param("superseded_at_ms", is_live.then_some(ledger.superseded_at_ms.unwrap_or(NEVER)))
        .param("is_swept", ledger.is_swept)
        .param("has_unsent", !ledger.unsent().is_empty())
        .param("document", encode_document(document))
        .param("changes", changes.map(BoltType::from))
}

fn part(neo4j: &Neo4j, ended: &EndedPart) -> Query {
    let (code, message) = match &ended.end {
        PartEnd::Done => (None, None),
        PartEnd::Failed { code, message } => (Some(code.as_str()), Some(message.as_str())),
    };
    neo4j
        .query(PART)
        .param("key", format!("{}/{}", ended.run, ended.part))
        .param("generation", generation_number(ended.run.generation))
        .param("stage", ended.part.stage.as_str())
        .param("number", i64::from(ended.part.number))
        .param("code", code)
        .param("message", message)
        .param("report", ended.report.as_str())
}

fn publication(neo4j: &Neo4j, made: &Publication) -> Query {
    neo4j
        .query(PUBLICATION)
        .param("seq", number(made.view.seq.0))
        .param("at_ms", made.at_ms)
        .param("view", encode_document(&made.view))
}

async fn forget(neo4j: &Neo4j, transaction: &mut Transaction, after: &Documents) -> Result<(), Fault> {
    let Some(document) = &after.repository else { return Ok(()) };
    if let Some(until) = after.forgotten_until {
        for statement in [FORGET_PARTS, FORGET_RUNS] {
            let query = neo4j.query(statement).param("repository", key_text(document.id.0));
            transaction.run(query.param("until", generation_number(until))).await?;
        }
    }
    if after.is_removed { transaction.run(forget_repository(neo4j, document.id)).await } else { Ok(()) }
}

fn forget_repository(neo4j: &Neo4j, id: RepositoryId) -> Query {
    neo4j.query("MATCH (repository:Repository~ {key: $key}) DELETE repository").param("key", key_text(id.0))
}

const FORGET_PUBLICATIONS: &str = "
MATCH (made:Publication~) WHERE made.at_ms < $until_ms WITH max(made.seq) AS newest
MATCH (made:Publication~) WHERE made.seq < newest
WITH made LIMIT $limit
DELETE made
RETURN count(*) AS forgotten";

pub(super) async fn forget_publications(neo4j: &Neo4j, until_ms: i64) -> Result<(), Fault> {
    let query = neo4j.query(FORGET_PUBLICATIONS).param("until_ms", until_ms).param("limit", BATCH_ROWS as i64);
    loop {
        let rows = neo4j.transact(&query).await?;
        let forgotten = rows.first().map_or(Ok(0), |row| row.get::<usize>("forgotten"))?;
        if forgotten < BATCH_ROWS {
            return Ok(());
        }
    }
}
