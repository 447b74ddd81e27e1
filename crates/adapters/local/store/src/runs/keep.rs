//! Writes the documents that a command changed.

use cairn_domain::{Lane, PartEnd, RepositoryId, RunState, StageName};
use cairn_runs::{Documents, EndedPart, Publication, Registry, RepositoryDocument, RunDocument};
use cairn_wire::encode_document;
use rusqlite::{Connection, params};

use crate::fault::Fault;

pub(super) fn documents(connection: &Connection, before: &Documents, after: &Documents) -> Result<(), Fault> {
    if after.registry != before.registry {
        registry(connection, &after.registry)?;
    }
    if let Some(document) = after.repository.as_ref().filter(|_| after.repository != before.repository) {
        repository(connection, document)?;
    }
    for (before, after) in [(&before.previous, &after.previous), (&before.run, &after.run)] {
        if let Some(document) = after.as_ref().filter(|_| after != before) {
            run(connection, document)?;
        }
    }
    if let Some(ended) = &after.ended {
        part(connection, ended)?;
    }
    if let Some(made) = &after.publication {
        publication(connection, made)?;
    }
    forget(connection, after)
}

fn registry(connection: &Connection, registry: &Registry) -> Result<(), Fault> {
    let sql = "INSERT OR REPLACE INTO registry (id, document) VALUES (1, ?1)";
    connection.prepare_cached(sql)?.execute([encode_document(registry)])?;
    Ok(())
}

fn repository(connection: &Connection, document: &RepositoryDocument) -> Result<(), Fault> {
    let place = document.state.requests.place();
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO repository (id, tenant, name, lane, asked_at_ms, document)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            document.id.0.0,
            document.details.tenant.as_str(),
            document.details.name.as_str(),
            place.map(|(lane, _)| lane_number(lane)),
            place.map(|(_, at_ms)| at_ms),
            encode_document(document),
        ])?;
    Ok(())
}

fn run(connection: &Connection, document: &RunDocument) -> Result<(), Fault> {
    let ledger = &document.ledger;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO run (generation, repository, state, published_seq, ended_at_ms, superseded_at_ms,
                 is_swept, has_unsent, document)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            ledger.id.generation.0,
            ledger.id.repository.0.0,
            state_number(ledger.state),
            ledger.published.map(|seq| seq.0),
            ledger.ended_at_ms,
            ledger.superseded_at_ms,
            ledger.is_swept,
            !ledger.unsent().is_empty(),
            encode_document(document),
        ])?;
    Ok(())
}

fn part(connection: &Connection, ended: &EndedPart) -> Result<(), Fault> {
    let (code, message) = match &ended.end {
        PartEnd::Done => (None, None),
        PartEnd::Failed { code, message } => (Some(code.as_str()), Some(message)),
    };
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO ended_part (generation, stage, number, code, message, report)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            ended.run.generation.0,
            stage_number(ended.part.stage),
            ended.part.number,
            code,
            message,
            ended.report
        ])?;
    Ok(())
}

fn publication(connection: &Connection, made: &Publication) -> Result<(), Fault> {
    let sql = "INSERT OR REPLACE INTO publication (seq, at_ms, view) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![made.view.seq.0, made.at_ms, encode_document(&made.view)])?;
    Ok(())
}

pub(super) fn forget_publications(connection: &Connection, until_ms: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM publication WHERE seq < (SELECT max(seq) FROM publication WHERE at_ms < ?1)";
    connection.execute(sql, [until_ms])?;
    Ok(())
}

fn forget(connection: &Connection, after: &Documents) -> Result<(), Fault> {
    let Some(document) = &after.repository else { return Ok(()) };
    if let Some(until) = after.forgotten_until {
        let key = params![document.id.0.0, until.0];
        let parts = "DELETE FROM ended_part
            WHERE generation IN (SELECT generation FROM run WHERE repository = ?1 AND generation <= ?2)";
        connection.execute(parts, key)?;
        connection.execute("DELETE FROM run WHERE repository = ?1 AND generation <= ?2", key)?;
    }
    if after.is_removed { forget_repository(connection, document.id) } else { Ok(()) }
}

fn forget_repository(connection: &Connection, id: RepositoryId) -> Result<(), Fault> {
    connection.execute("DELETE FROM repository WHERE id = ?1", [id.0.0])?;
    Ok(())
}

/// The number that represents a lane in the file. Interactive requests sort first.
fn lane_number(lane: Lane) -> u8 {
    match lane {
        Lane::Interactive => 0,
        Lane::Bulk => 1,
    }
}

/// The number that represents a state in the file. These numbers never change.
pub(crate) fn state_number(state: RunState) -> u8 {
    match state {
        RunState::Running => 0,
        RunState::Published => 1,
        RunState::Partial => 2,
        RunState::Failed => 3,
        RunState::Cancelled => 4,
    }
}

/// The number that represents a stage in the file. These numbers never change.
pub(super) fn stage_number(stage: StageName) -> u8 {
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
