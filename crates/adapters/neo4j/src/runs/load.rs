//! Reads the documents of the catalogue and the ledger.

use cairn_domain::{FailureCode, PartEnd, PartId, PublishedSeq, RepositoryId, RunId, View};
use cairn_ports::{RepositoryQuery, RunQuery};
use cairn_runs::{EndedPart, Registry, RepositoryDocument, RunDocument};
use cairn_wire::{Decode, decode_document};
use neo4rs::{Query, Row};
use serde::Deserialize;

use crate::connection::Neo4j;
use crate::fault::Fault;
use crate::runs::words;
use crate::values::{generation_number, key_text, number};

pub(super) async fn registry(neo4j: &Neo4j) -> Result<Registry, Fault> {
    let statement = "MATCH (registry:Registry~ {key: 'registry'}) RETURN registry.document AS document";
    let rows = neo4j.transact(&neo4j.query(statement)).await?;
    let found = rows.first().map(|row| optional_document(row, "document")).transpose()?;
    Ok(found.flatten().unwrap_or_default())
}

pub(super) async fn publication(neo4j: &Neo4j, seq: PublishedSeq) -> Result<Option<View>, Fault> {
    let statement = "MATCH (made:Publication~ {seq: $seq}) RETURN made.view AS document";
    Ok(documents(neo4j, neo4j.query(statement).param("seq", number(seq.0))).await?.pop())
}

pub(super) async fn repositories(neo4j: &Neo4j, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, Fault> {
    let select = |statement: &str| neo4j.query(&format!("{statement} RETURN repository.document AS document"));
    let query = match query {
        RepositoryQuery::One(id) => select("MATCH (repository:Repository~ {key: $key})").param("key", key_text(id.0)),
        RepositoryQuery::OfTenant(Some(tenant)) => {
            select("MATCH (repository:Repository~ {tenant: $tenant})").param("tenant", tenant.as_str())
        }
        RepositoryQuery::OfTenant(None) => select("MATCH (repository:Repository~)"),
        RepositoryQuery::Asked { limit } => {
            return documents(neo4j, select(ASKED).param("limit", number(limit as u64))).await;
        }
    };
    let mut found: Vec<RepositoryDocument> = documents(neo4j, query).await?;
    // The documents are sorted here, because the server does not order all texts by their bytes.
    found.sort_by(|left, right| {
        let key = |document: &RepositoryDocument| (document.details.tenant.clone(), document.details.name.clone());
        key(left).cmp(&key(right))
    });
    Ok(found)
}

const ASKED: &str = "
MATCH (repository:Repository~)
WHERE repository.lane IS NOT NULL
WITH repository ORDER BY repository.lane, repository.asked_at_ms, repository.key LIMIT $limit";

pub(super) async fn runs(neo4j: &Neo4j, query: RunQuery) -> Result<Vec<RunDocument>, Fault> {
    let query = match query {
        RunQuery::One(run) => select(neo4j, "run.generation = $generation AND run.repository = $repository")
            .param("generation", generation_number(run.generation))
            .param("repository", key_text(run.repository.0)),
        RunQuery::Newest { repository: Some(repository), limit } => {
            newest(neo4j, "run.repository = $repository", limit).param("repository", key_text(repository.0))
        }
        RunQuery::Newest { repository: None, limit } => newest(neo4j, "run.generation > 0", limit),
        RunQuery::NewestOfEach { repositories, of_each, in_all } => {
            newest_of_each(neo4j, "run.repository IN $repositories", &repositories)
                .param("of_each", number(of_each as u64))
                .param("in_all", number(in_all as u64))
        }
        RunQuery::Unfinished => oldest(neo4j, "run.state = 'running'"),
        RunQuery::Unsent { limit } => {
            select(neo4j, "run.state = 'running' AND run.has_unsent WITH run ORDER BY run.generation LIMIT $limit")
                .param("limit", number(limit as u64))
        }
        // The query selects the run with the latest generation of each repository. Within a repository, this
        // is also the run that was published last.
        RunQuery::PublishedAt { repositories, seq } => {
            newest_of_each(neo4j, "run.repository IN $repositories AND run.published_seq <= $seq", &repositories)
                .param("seq", number(seq.0))
                .param("of_each", 1)
                .param("in_all", number(u64::MAX))
        }
        RunQuery::Retired { until_ms } => {
            oldest(neo4j, "run.is_swept = false AND run.published_seq IS NOT NULL AND run.ended_at_ms <= $until_ms")
                .param("until_ms", until_ms)
        }
        RunQuery::Live { until_ms } => {
            oldest(neo4j, "run.superseded_at_ms > $until_ms AND run.state IN ['running', 'published', 'partial']")
                .param("until_ms", until_ms)
        }
    };
    documents(neo4j, query).await
}

/// Selects the runs that meet a condition. `condition` may end with clauses that order and limit the runs.
fn select(neo4j: &Neo4j, condition: &str) -> Query {
    neo4j.query(&format!("MATCH (run:Run~) WHERE {condition} RETURN run.document AS document"))
}

/// Selects all runs that meet a condition, oldest first.
fn oldest(neo4j: &Neo4j, condition: &str) -> Query {
    select(neo4j, &format!("{condition} WITH run ORDER BY run.generation"))
}

/// Selects at most `limit` runs that meet a condition, newest first.
fn newest(neo4j: &Neo4j, condition: &str, limit: usize) -> Query {
    select(neo4j, &format!("{condition} WITH run ORDER BY run.generation DESC LIMIT $limit"))
        .param("limit", number(limit as u64))
}

/// Selects the runs that meet a condition, newest first: at most `$of_each` runs of each repository, and at
/// most `$in_all` runs in total.
fn newest_of_each(neo4j: &Neo4j, condition: &str, repositories: &[RepositoryId]) -> Query {
    let each = "WITH run ORDER BY run.generation DESC
            WITH run.repository AS repository, collect(run)[..$of_each] AS newest
            UNWIND newest AS run WITH run ORDER BY run.generation DESC LIMIT $in_all";
    let keys: Vec<String> = repositories.iter().map(|repository| key_text(repository.0)).collect();
    select(neo4j, &format!("{condition} {each}")).param("repositories", keys)
}

pub(super) async fn parts(neo4j: &Neo4j, run: RunId) -> Result<Vec<EndedPart>, Fault> {
    let statement = "
        MATCH (part:Part~ {generation: $generation})
        RETURN part.stage AS stage, part.number AS number, part.code AS code, part.message AS message,
            part.report AS report";
    let query = neo4j.query(statement).param("generation", generation_number(run.generation));
    let rows = neo4j.transact(&query).await?;
    let mut parts = rows.iter().map(|row| row.to::<PartRow>()?.ended(run)).collect::<Result<Vec<_>, _>>()?;
    parts.sort_by_key(|ended| ended.part);
    Ok(parts)
}

#[derive(Deserialize)]
struct PartRow {
    stage: String,
    number: u32,
    code: Option<String>,
    message: Option<String>,
    report: String,
}

impl PartRow {
    fn ended(self, run: RunId) -> Result<EndedPart, Fault> {
        let part = PartId { stage: words::stage(&self.stage)?, number: self.number };
        let end = match self.code {
            None => PartEnd::Done,
            Some(code) => {
                PartEnd::Failed { code: FailureCode::of_stored(&code), message: self.message.unwrap_or_default() }
            }
        };
        Ok(EndedPart { run, part, end, report: self.report })
    }
}

/// Decodes the documents in the column `document` of all rows of a statement.
async fn documents<T: Decode>(neo4j: &Neo4j, query: Query) -> Result<Vec<T>, Fault> {
    let rows = neo4j.transact(&query).await?;
    rows.iter().map(|row| decode(&row.get::<Vec<u8>>("document")?)).collect()
}

/// Decodes a document of a node. Returns `None` if the node does not exist or has no document yet.
pub(super) fn optional_document<T: Decode>(row: &Row, column: &str) -> Result<Option<T>, Fault> {
    row.get::<Option<Vec<u8>>>(column)?.map(|bytes| decode(&bytes)).transpose()
}

fn decode<T: Decode>(bytes: &[u8]) -> Result<T, Fault> {
    decode_document(bytes).map_err(Fault::damaged)
}
