//! Reading the ledger.

use async_trait::async_trait;
use std::collections::BTreeSet;

use cairn_domain::{GenerationId, PartEnd, PartId, RepositoryId, RunId, RunState, Tenant};
use cairn_ports::{LedgerError, LedgerRead, PartRecord, RunRecord};
use rusqlite::{Connection, Params, Row, params};

use crate::LocalStore;
use crate::catalogue::{DELETION, artifact, repository_id};
use crate::fault::Fault;
use crate::ledger::{read_result, stage_from, state_from, state_number};

#[async_trait]
impl LedgerRead for LocalStore {
    async fn run(&self, run: RunId) -> Result<RunRecord, LedgerError> {
        self.read("run", run, move |connection| {
            let key = params![run.generation.0, run.repository.0.0, DELETION];
            let mut runs = runs(connection, "id = ?1 AND repository = ?2 AND state <> ?3", key)?;
            runs.pop().ok_or_else(Fault::not_found)
        })
        .await
    }

    async fn runs(&self, repository: Option<RepositoryId>, limit: usize) -> Result<Vec<RunRecord>, LedgerError> {
        self.read("runs", repository.map(|id| id.to_string()).unwrap_or_default(), move |connection| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            match repository {
                Some(repository) => runs(
                    connection,
                    "repository = ?1 AND state <> ?2 ORDER BY id DESC LIMIT ?3",
                    params![repository.0.0, DELETION, limit],
                ),
                None => runs(connection, "state <> ?1 ORDER BY id DESC LIMIT ?2", params![DELETION, limit]),
            }
        })
        .await
    }

    async fn unfinished(&self) -> Result<Vec<RunRecord>, LedgerError> {
        self.read("unfinished", "", |connection| {
            runs(connection, "state = 0 AND published_seq IS NULL AND swept = 0 ORDER BY id", [])
        })
        .await
    }

    async fn parts(&self, run: RunId) -> Result<Vec<PartRecord>, LedgerError> {
        self.read("parts", run, move |connection| parts(connection, run)).await
    }
}

fn runs(connection: &Connection, condition: &str, key: impl Params) -> Result<Vec<RunRecord>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, repository, previous, manifest_key, manifest_size, manifest_hash, plan_key, plan_size, plan_hash, \
         revision, branch, state, result, started_at_ms, ended_at_ms, message FROM generation WHERE {condition}"
    ))?;
    let mut rows = statement.query(key)?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        runs.push(run_from(connection, row)?);
    }
    Ok(runs)
}

fn run_from(connection: &Connection, row: &Row<'_>) -> Result<RunRecord, Fault> {
    let id = RunId { repository: repository_id(row.get(1)?), generation: GenerationId(row.get(0)?) };
    let (num_parts, num_ended, num_failed) = connection
        .prepare_cached("SELECT count(*), count(ended), ifnull(sum(ended), 0) FROM part WHERE generation = ?1")?
        .query_row([id.generation.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let tenant = connection
        .prepare_cached("SELECT tenant FROM repository WHERE key = ?1")?
        .query_row([id.repository.0.0], |row| row.get::<_, String>(0))?;
    Ok(RunRecord {
        id,
        tenant: Tenant::new(tenant),
        previous: row.get::<_, Option<u64>>(2)?.map(GenerationId),
        manifest: artifact(row, 3)?,
        plan: artifact(row, 6)?,
        revision: row.get(9)?,
        branch: row.get(10)?,
        state: state_from(row.get(11)?)?,
        num_parts,
        num_ended,
        num_failed,
        result: read_result(&row.get::<_, String>(12)?)?,
        started_at_ms: row.get(13)?,
        ended_at_ms: row.get(14)?,
        message: row.get(15)?,
        aborted: aborted_generations(connection, id.repository)?,
    })
}

fn parts(connection: &Connection, run: RunId) -> Result<Vec<PartRecord>, Fault> {
    let mut known = connection.prepare_cached("SELECT 1 FROM generation WHERE id = ?1 AND repository = ?2")?;
    if !known.exists(params![run.generation.0, run.repository.0.0])? {
        return Err(Fault::not_found());
    }
    let mut statement = connection.prepare_cached(
        "SELECT stage, number, ended, code, message, report FROM part WHERE generation = ?1 ORDER BY stage, number",
    )?;
    let mut rows = statement.query([run.generation.0])?;
    let mut parts = Vec::new();
    while let Some(row) = rows.next()? {
        parts.push(part_from(row)?);
    }
    Ok(parts)
}

fn part_from(row: &Row<'_>) -> Result<PartRecord, Fault> {
    let end = match row.get::<_, Option<u8>>(2)? {
        None => None,
        Some(0) => Some(PartEnd::Done),
        Some(_) => Some(PartEnd::Failed { code: row.get(3)?, message: row.get(4)? }),
    };
    let id = PartId { stage: stage_from(row.get(0)?)?, number: row.get(1)? };
    Ok(PartRecord { id, end, report: row.get(5)? })
}

/// Generations of a repository that came to nothing and are not swept yet.
fn aborted_generations(connection: &Connection, repository: RepositoryId) -> Result<BTreeSet<GenerationId>, Fault> {
    let mut select = connection.prepare_cached(
        "SELECT id FROM generation
         WHERE repository = ?1 AND published_seq IS NULL AND swept = 0 AND state IN (?2, ?3)",
    )?;
    let key = params![repository.0.0, state_number(RunState::Failed), state_number(RunState::Cancelled)];
    Ok(select.query_map(key, |row| Ok(GenerationId(row.get(0)?)))?.collect::<Result<_, _>>()?)
}
