//! The run ledger: leases, runs, and the parts that a plan lists from the start.
//!
//! Every change takes the write lock with its first statement, so exactly one transaction sees the last part of a stage
//! end, and exactly one tells which parts may start because of it.

use async_trait::async_trait;
use cairn_domain::{GenerationId, PartEnd, PartId, RepositoryId, RunId, RunState, StageName};
use cairn_ports::{Lease, Ledger, LedgerError, NewRun};
use cairn_wire::RunResult;
use rusqlite::{Connection, OptionalExtension, params};

use crate::LocalStore;
use crate::catalogue::newest_published;
use crate::database::Durability;
use crate::fault::Fault;

#[async_trait]
impl Ledger for LocalStore {
    async fn lease(&self, repository: RepositoryId, now_ms: i64, ttl_ms: i64) -> Result<Lease, LedgerError> {
        let change = move |connection: &rusqlite::Transaction<'_>| lease(connection, repository, now_ms, ttl_ms);
        self.write("lease", repository, Durability::Ordered, change).await
    }

    async fn renew(&self, lease: Lease, now_ms: i64, ttl_ms: i64) -> Result<(), LedgerError> {
        let change = move |connection: &rusqlite::Transaction<'_>| renew(connection, lease, now_ms, ttl_ms);
        self.write("renew", lease.repository, Durability::Ordered, change).await
    }

    async fn begin(&self, lease: Lease, run: NewRun) -> Result<RunId, LedgerError> {
        let key = run.repository;
        self.write("begin", key, Durability::Synced, move |connection| begin(connection, lease, &run)).await
    }

    async fn end_part(
        &self,
        run: RunId,
        part: PartId,
        end: PartEnd,
        report: String,
    ) -> Result<Vec<PartId>, LedgerError> {
        let key = format!("{run} {part}");
        let change = move |connection: &rusqlite::Transaction<'_>| end_part(connection, run, part, &end, &report);
        self.write("end_part", key, Durability::Ordered, change).await
    }

    async fn ready(&self, run: RunId) -> Result<Vec<PartId>, LedgerError> {
        self.read("ready", run, move |connection| {
            let state = run_state(connection, run)?;
            if state.is_finished() { Ok(Vec::new()) } else { startable(connection, run.generation, StageName::ALL) }
        })
        .await
    }

    async fn abort(&self, run: RunId, state: RunState, message: &str, now_ms: i64) -> Result<(), LedgerError> {
        let message = message.to_owned();
        let change = move |connection: &rusqlite::Transaction<'_>| abort(connection, run, state, &message, now_ms);
        self.write("abort", run, Durability::Synced, change).await
    }
}

fn lease(connection: &Connection, repository: RepositoryId, now_ms: i64, ttl_ms: i64) -> Result<Lease, Fault> {
    let holder = connection
        .query_row("SELECT epoch, expires_at_ms, held FROM lease WHERE repository = ?1", [repository.0.0], |row| {
            Ok((row.get::<_, u64>(0)?, row.get::<_, i64>(1)?, row.get::<_, bool>(2)?))
        })
        .optional()?;
    let epoch = match holder {
        Some((_, expires_at_ms, true)) if expires_at_ms > now_ms => {
            return Err(Fault::conflict("the repository is being synced by somebody else"));
        }
        Some((epoch, ..)) => epoch + 1,
        None => 1,
    };
    connection.execute(
        "INSERT OR REPLACE INTO lease (repository, epoch, expires_at_ms, held) VALUES (?1, ?2, ?3, 1)",
        params![repository.0.0, epoch, now_ms + ttl_ms],
    )?;
    Ok(Lease { repository, epoch })
}

fn renew(connection: &Connection, lease: Lease, now_ms: i64, ttl_ms: i64) -> Result<(), Fault> {
    let renewed = connection.execute(
        "UPDATE lease SET expires_at_ms = ?3, held = ?4 WHERE repository = ?1 AND epoch = ?2 AND held = 1",
        params![lease.repository.0.0, lease.epoch, now_ms + ttl_ms, ttl_ms > 0],
    )?;
    if renewed == 0 { Err(Fault::conflict("the lease has ended or somebody else took it")) } else { Ok(()) }
}

fn begin(connection: &Connection, lease: Lease, run: &NewRun) -> Result<RunId, Fault> {
    check_begin(connection, lease, run)?;
    connection.execute(
        "INSERT INTO generation (repository, state, previous, manifest_key, manifest_size, manifest_hash, plan_key,
             plan_size, plan_hash, revision, branch, model, result, started_at_ms)
         VALUES (?1, 0, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, '', ?11, ?12)",
        params![
            run.repository.0.0,
            run.previous.map(|previous| previous.0),
            run.manifest.key,
            run.manifest.size_bytes,
            run.manifest.hash,
            run.plan.key,
            run.plan.size_bytes,
            run.plan.hash,
            run.revision,
            run.branch,
            write_result(&run.result)?,
            run.started_at_ms,
        ],
    )?;
    let generation = GenerationId(connection.last_insert_rowid() as u64);
    let mut insert = connection.prepare_cached("INSERT INTO part (generation, stage, number) VALUES (?1, ?2, ?3)")?;
    for part in &run.parts {
        insert.execute(params![generation.0, stage_number(part.stage), part.number])?;
    }
    Ok(RunId { repository: run.repository, generation })
}

fn check_begin(connection: &Connection, lease: Lease, run: &NewRun) -> Result<(), Fault> {
    let key = run.repository.0.0;
    let exists = |sql: &str| -> Result<bool, Fault> { Ok(connection.prepare_cached(sql)?.exists([key])?) };
    if lease.repository != run.repository {
        return Err(Fault::invalid("the lease is of another repository"));
    }
    if !exists("SELECT 1 FROM repository WHERE key = ?1 AND deleted = 0")? {
        return Err(Fault::not_found());
    }
    let epoch = connection
        .query_row("SELECT epoch FROM lease WHERE repository = ?1 AND held = 1", [key], |row| row.get(0))
        .optional()?;
    if epoch != Some(lease.epoch) {
        return Err(Fault::conflict("the lease has ended or somebody else took it"));
    }
    if exists("SELECT 1 FROM generation WHERE repository = ?1 AND state = 0")? {
        return Err(Fault::conflict("the repository has an unfinished run"));
    }
    if newest_published(connection, run.repository)? != run.previous {
        return Err(Fault::conflict("the plan was made against another generation than the published one"));
    }
    Ok(())
}

fn end_part(
    connection: &Connection,
    run: RunId,
    part: PartId,
    end: &PartEnd,
    report: &str,
) -> Result<Vec<PartId>, Fault> {
    if run_state(connection, run)?.is_finished() {
        return Err(Fault::conflict("the run is finished"));
    }
    let (ended, code, message) = match end {
        PartEnd::Done => (0, None, None),
        PartEnd::Failed { code, message } => (1, Some(code), Some(message)),
    };
    let id = (run.generation.0, stage_number(part.stage), part.number);
    let changed = connection
        .prepare_cached(
            "UPDATE part SET ended = ?4, code = ?5, message = ?6, report = ?7
             WHERE generation = ?1 AND stage = ?2 AND number = ?3 AND ended IS NULL",
        )?
        .execute(params![id.0, id.1, id.2, ended, code, message, report])?;
    if changed == 0 {
        let mut planned =
            connection.prepare_cached("SELECT 1 FROM part WHERE generation = ?1 AND stage = ?2 AND number = ?3")?;
        // It had ended before: that end stands, and what it allowed to start was told then.
        return if planned.exists(id)? { Ok(Vec::new()) } else { Err(Fault::not_found()) };
    }
    if has_open_parts(connection, run.generation, part.stage)? {
        return Ok(Vec::new());
    }
    let successors: Vec<StageName> =
        StageName::ALL.iter().copied().filter(|stage| stage.waits_for().contains(&part.stage)).collect();
    startable(connection, run.generation, &successors)
}

/// Open parts of the stages, as far as what they wait for has ended.
fn startable(connection: &Connection, generation: GenerationId, stages: &[StageName]) -> Result<Vec<PartId>, Fault> {
    let mut parts = Vec::new();
    for stage in stages {
        let mut waits = false;
        for earlier in stage.waits_for() {
            waits |= has_open_parts(connection, generation, *earlier)?;
        }
        if waits {
            continue;
        }
        let mut open = connection.prepare_cached(
            "SELECT number FROM part WHERE generation = ?1 AND stage = ?2 AND ended IS NULL ORDER BY number",
        )?;
        for number in open.query_map(params![generation.0, stage_number(*stage)], |row| row.get(0))? {
            parts.push(PartId { stage: *stage, number: number? });
        }
    }
    Ok(parts)
}

pub(crate) fn has_open_parts(
    connection: &Connection,
    generation: GenerationId,
    stage: StageName,
) -> Result<bool, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM part WHERE generation = ?1 AND stage = ?2 AND ended IS NULL")?;
    Ok(statement.exists(params![generation.0, stage_number(stage)])?)
}

fn run_state(connection: &Connection, run: RunId) -> Result<RunState, Fault> {
    let state = connection
        .prepare_cached("SELECT state FROM generation WHERE id = ?1 AND repository = ?2")?
        .query_row(params![run.generation.0, run.repository.0.0], |row| row.get(0))
        .optional()?;
    match state {
        Some(crate::catalogue::DELETION) | None => Err(Fault::not_found()),
        Some(state) => state_from(state),
    }
}

fn abort(connection: &Connection, run: RunId, state: RunState, message: &str, now_ms: i64) -> Result<(), Fault> {
    if !matches!(state, RunState::Failed | RunState::Cancelled) {
        return Err(Fault::invalid(format!("`{}` is no state of an aborted run", state.as_str())));
    }
    if run_state(connection, run)?.is_finished() {
        return Err(Fault::conflict("the run is finished"));
    }
    connection.execute(
        "UPDATE generation SET state = ?2, message = ?3, ended_at_ms = ?4 WHERE id = ?1",
        params![run.generation.0, state_number(state), message, now_ms],
    )?;
    Ok(())
}

/// Numbers of stages in the file, fixed for ever.
pub(crate) fn stage_number(stage: StageName) -> u8 {
    match stage {
        StageName::Sync => 0,
        StageName::Parse => 1,
        StageName::Embed => 2,
        StageName::Retire => 3,
        StageName::Link => 4,
        StageName::Aggregate => 5,
        StageName::EmbedPatterns => 6,
        StageName::Publish => 7,
        StageName::Sweep => 8,
    }
}

pub(crate) fn stage_from(number: u8) -> Result<StageName, Fault> {
    let found = StageName::ALL.iter().find(|stage| stage_number(**stage) == number);
    found.copied().ok_or_else(|| Fault::damaged(format!("a stage of number {number}")))
}

/// Numbers of states in the file, fixed for ever.
pub(crate) fn state_number(state: RunState) -> u8 {
    match state {
        RunState::Running => 0,
        RunState::Published => 1,
        RunState::Partial => 2,
        RunState::Failed => 3,
        RunState::Cancelled => 4,
    }
}

pub(crate) fn state_from(number: u8) -> Result<RunState, Fault> {
    let found = RunState::ALL.iter().find(|state| state_number(**state) == number);
    found.copied().ok_or_else(|| Fault::damaged(format!("a run in state {number}")))
}

pub(crate) fn write_result(result: &RunResult) -> Result<String, Fault> {
    serde_json::to_string(result).map_err(|error| Fault::invalid(error.to_string()))
}

pub(crate) fn read_result(text: &str) -> Result<RunResult, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::damaged(format!("the result of a run: {error}")))
}
