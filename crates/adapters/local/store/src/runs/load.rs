//! Reads documents.

use cairn_domain::{FailureCode, GenerationId, PartEnd, PartId, PublishedSeq, RepositoryId, RunId, StageName, View};
use cairn_ports::{RepositoryQuery, RunQuery};
use cairn_runs::{Documents, EndedPart, Reach, Registry, RepositoryDocument, RunDocument};
use cairn_wire::{Decode, decode_document};
use rusqlite::{Connection, Params, params};

use crate::fault::Fault;
use crate::runs::keep::stage_number;

pub(super) fn documents(connection: &Connection, reach: Reach) -> Result<Documents, Fault> {
    let mut documents = Documents::default();
    if reach.registry {
        documents.registry = registry(connection)?;
    }
    if let Some(id) = reach.repository {
        documents.repository = repository(connection, id)?;
    }
    let state = documents.repository.as_ref().map(|document| &document.state);
    let unfinished = state.and_then(|state| state.unfinished).filter(|_| reach.registry);
    if let Some(generation) = reach.run.map(|run| run.generation).or(unfinished) {
        documents.run = one_run(connection, generation)?;
    }
    // The id of a run contains its generation and its repository, so a run of another repository does not
    // match.
    let is_other = |run: &RunDocument| reach.run.is_some_and(|wanted| wanted != run.ledger.id);
    if documents.run.as_ref().is_some_and(is_other) {
        documents.run = None;
    }
    if let (true, Some(state)) = (reach.registry, state) {
        if let Some(generation) = state.published {
            documents.previous = one_run(connection, generation)?;
        }
        if let (Some(id), Some(_)) = (reach.repository, state.deletion) {
            documents.earlier = generations(connection, id)?;
        }
    }
    Ok(documents)
}

pub(super) fn registry(connection: &Connection) -> Result<Registry, Fault> {
    let found = documents_of(connection, "SELECT document FROM registry WHERE id = 1", [])?;
    Ok(found.into_iter().next().unwrap_or_default())
}

pub(super) fn publication(connection: &Connection, seq: PublishedSeq) -> Result<Option<View>, Fault> {
    Ok(documents_of(connection, "SELECT view FROM publication WHERE seq = ?1", [seq.0])?.pop())
}

pub(super) fn has_publications(connection: &Connection, until_ms: i64) -> Result<bool, Fault> {
    let older = "SELECT 1 FROM publication WHERE seq < (SELECT max(seq) FROM publication WHERE at_ms < ?1)";
    Ok(connection.prepare_cached(older)?.exists([until_ms])?)
}

fn repository(connection: &Connection, id: RepositoryId) -> Result<Option<RepositoryDocument>, Fault> {
    Ok(documents_of(connection, "SELECT document FROM repository WHERE id = ?1", [id.0.0])?.pop())
}

pub(super) fn repositories(connection: &Connection, query: &RepositoryQuery) -> Result<Vec<RepositoryDocument>, Fault> {
    match query {
        RepositoryQuery::One(id) => Ok(repository(connection, *id)?.into_iter().collect()),
        RepositoryQuery::OfTenant(Some(tenant)) => {
            let of_tenant = "SELECT document FROM repository WHERE tenant = ?1 ORDER BY name";
            documents_of(connection, of_tenant, [tenant.as_str()])
        }
        RepositoryQuery::OfTenant(None) => {
            documents_of(connection, "SELECT document FROM repository ORDER BY tenant, name", [])
        }
        RepositoryQuery::Asked { limit } => {
            let asked =
                "SELECT document FROM repository WHERE lane IS NOT NULL ORDER BY lane, asked_at_ms, id LIMIT ?1";
            documents_of(connection, asked, [rows(*limit)])
        }
    }
}

fn one_run(connection: &Connection, generation: GenerationId) -> Result<Option<RunDocument>, Fault> {
    Ok(documents_of(connection, "SELECT document FROM run WHERE generation = ?1", [generation.0])?.pop())
}

fn generations(connection: &Connection, repository: RepositoryId) -> Result<Vec<GenerationId>, Fault> {
    let mut select =
        connection.prepare_cached("SELECT generation FROM run WHERE repository = ?1 ORDER BY generation")?;
    let rows = select.query_map([repository.0.0], |row| Ok(GenerationId(row.get(0)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn runs(connection: &Connection, query: &RunQuery) -> Result<Vec<RunDocument>, Fault> {
    let select = |condition: &str| format!("SELECT document FROM run WHERE {condition}");
    match query {
        RunQuery::One(run) => {
            let one = select("generation = ?1 AND repository = ?2");
            documents_of(connection, &one, params![run.generation.0, run.repository.0.0])
        }
        RunQuery::Newest { repository: Some(repository), limit } => newest(connection, *repository, *limit),
        RunQuery::Newest { repository: None, limit } => {
            documents_of(connection, &select("1 ORDER BY generation DESC LIMIT ?1"), [rows(*limit)])
        }
        RunQuery::NewestOfEach { repositories, of_each: limit, in_all } => {
            let mut found = of_each(repositories, |repository| newest(connection, repository, *limit))?;
            found.truncate(*in_all);
            Ok(found)
        }
        RunQuery::Unfinished => documents_of(connection, &select("state = 0 ORDER BY generation"), []),
        RunQuery::Unsent { limit } => {
            let unsent = select("state = 0 AND has_unsent = 1 ORDER BY generation LIMIT ?1");
            documents_of(connection, &unsent, [rows(*limit)])
        }
        RunQuery::PublishedAt { repositories, seq } => {
            let published = select("repository = ?1 AND published_seq <= ?2 ORDER BY published_seq DESC LIMIT 1");
            of_each(repositories, |repository| documents_of(connection, &published, params![repository.0.0, seq.0]))
        }
        RunQuery::Retired { until_ms } => {
            let retired =
                select("published_seq IS NOT NULL AND is_swept = 0 AND ended_at_ms <= ?1 ORDER BY generation");
            documents_of(connection, &retired, [until_ms])
        }
        RunQuery::Live { until_ms } => {
            let live = "state IN (0, 1, 2) AND (superseded_at_ms IS NULL OR superseded_at_ms > ?1) ORDER BY generation";
            documents_of(connection, &select(live), [until_ms])
        }
    }
}

/// The newest runs of a repository, newest first.
fn newest(connection: &Connection, repository: RepositoryId, limit: usize) -> Result<Vec<RunDocument>, Fault> {
    let newest = "SELECT document FROM run WHERE repository = ?1 ORDER BY generation DESC LIMIT ?2";
    documents_of(connection, newest, params![repository.0.0, rows(limit)])
}

/// Runs a query for each of the repositories, and returns all found runs, newest first.
fn of_each(
    repositories: &[RepositoryId],
    find: impl Fn(RepositoryId) -> Result<Vec<RunDocument>, Fault>,
) -> Result<Vec<RunDocument>, Fault> {
    let mut found = Vec::new();
    for repository in repositories {
        found.extend(find(*repository)?);
    }
    found.sort_by_key(|run| std::cmp::Reverse(run.ledger.id.generation));
    Ok(found)
}

fn rows(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn parts(connection: &Connection, run: RunId) -> Result<Vec<EndedPart>, Fault> {
    let mut select = connection.prepare_cached(
        "SELECT stage, number, code, message, report FROM ended_part WHERE generation = ?1 ORDER BY stage, number",
    )?;
    let mut rows = select.query([run.generation.0])?;
    let mut parts = Vec::new();
    while let Some(row) = rows.next()? {
        let part = PartId { stage: stage(row.get(0)?)?, number: row.get(1)? };
        let end = match row.get::<_, Option<String>>(2)? {
            None => PartEnd::Done,
            Some(code) => PartEnd::Failed { code: FailureCode::of_stored(&code), message: row.get(3)? },
        };
        parts.push(EndedPart { run, part, end, report: row.get(4)? });
    }
    Ok(parts)
}

fn stage(number: u8) -> Result<StageName, Fault> {
    let found = StageName::ALL.iter().find(|stage| stage_number(**stage) == number);
    found.copied().ok_or_else(|| Fault::damaged(format!("a stage of number {number}")))
}

/// Decodes the documents in the only column that a statement selects.
fn documents_of<T: Decode>(connection: &Connection, sql: &str, key: impl Params) -> Result<Vec<T>, Fault> {
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(key)?;
    let mut documents = Vec::new();
    while let Some(row) = rows.next()? {
        let document = decode_document(row.get_ref(0)?.as_blob()?);
        documents.push(document.map_err(|error| Fault::damaged(error.to_string()))?);
    }
    Ok(documents)
}
