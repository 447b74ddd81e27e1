//! Sweeping, as the catalogue sees it: which generations may be swept, and forgetting those that were.

use async_trait::async_trait;
use cairn_domain::{ArtifactRef, GenerationId, RepositoryId, RunId, RunState, Tenant};
use cairn_ports::{CatalogueError, CatalogueSweep, SweepList};
use rusqlite::{Connection, Params, params};

use crate::LocalStore;
use crate::catalogue::{artifact, pending_deletions, repository_id};
use crate::database::Durability;
use crate::fault::Fault;
use crate::ledger::state_number;

#[async_trait]
impl CatalogueSweep for LocalStore {
    async fn sweep_list(&self, now_ms: i64, grace_ms: i64) -> Result<SweepList, CatalogueError> {
        self.read("sweep_list", "", move |connection| sweep_list(connection, now_ms - grace_ms)).await
    }

    async fn swept(&self, swept: &SweepList, now_ms: i64, grace_ms: i64) -> Result<(), CatalogueError> {
        let list = swept.clone();
        let mark = move |connection: &rusqlite::Transaction<'_>| mark_swept(connection, &list, now_ms - grace_ms);
        self.write("swept", "", Durability::Ordered, mark).await
    }

    async fn live_manifests(&self, now_ms: i64, grace_ms: i64) -> Result<Vec<(Tenant, ArtifactRef)>, CatalogueError> {
        self.read("live_manifests", "", move |connection| live_manifests(connection, now_ms - grace_ms)).await
    }
}

fn sweep_list(connection: &Connection, until_ms: i64) -> Result<SweepList, Fault> {
    let deletions = pending_deletions(connection)?;
    // What a deletion removes anyway is not swept on its own.
    let survives = |run: &RunId| {
        let deletion = deletions.iter().find(|(repository, _)| *repository == run.repository);
        deletion.is_none_or(|(_, deletion)| run.generation > *deletion)
    };
    let retired = generations(connection, "published_seq IS NOT NULL AND swept = 0 AND ended_at_ms <= ?1", [until_ms])?;
    let aborted = generations(
        connection,
        "published_seq IS NULL AND swept = 0 AND state IN (?1, ?2)",
        [state_number(RunState::Failed), state_number(RunState::Cancelled)],
    )?;
    let mut deleted = Vec::new();
    for (repository, deletion) in &deletions {
        let tenant = connection.query_row("SELECT tenant FROM repository WHERE key = ?1", [repository.0.0], |row| {
            row.get::<_, String>(0)
        })?;
        deleted.push((Tenant::new(tenant), *repository, *deletion));
    }
    Ok(SweepList {
        retired: retired.into_iter().filter(&survives).collect(),
        aborted: aborted.into_iter().filter(&survives).collect(),
        deleted,
    })
}

fn generations(connection: &Connection, condition: &str, key: impl Params) -> Result<Vec<RunId>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT repository, id FROM generation WHERE {condition} ORDER BY id"))?;
    let rows = statement.query_map(key, |row| {
        Ok(RunId { repository: repository_id(row.get(0)?), generation: GenerationId(row.get(1)?) })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn mark_swept(connection: &Connection, list: &SweepList, until_ms: i64) -> Result<(), Fault> {
    for run in &list.retired {
        connection.execute(
            "UPDATE generation SET swept = 1 WHERE id = ?1 AND published_seq IS NOT NULL",
            [run.generation.0],
        )?;
    }
    for run in &list.aborted {
        connection.execute(
            "UPDATE generation SET swept = 1 WHERE id = ?1 AND state IN (?2, ?3) AND ended_at_ms <= ?4",
            params![run.generation.0, state_number(RunState::Failed), state_number(RunState::Cancelled), until_ms],
        )?;
    }
    for (_, repository, deletion) in &list.deleted {
        if !has_late_writers(connection, *repository, *deletion, until_ms)? {
            forget(connection, *repository, *deletion)?;
        }
    }
    Ok(())
}

/// Whether the deletion cancelled a run, or followed on one, that may still be at work somewhere.
fn has_late_writers(
    connection: &Connection,
    repository: RepositoryId,
    deletion: GenerationId,
    until_ms: i64,
) -> Result<bool, Fault> {
    let aborted = "SELECT 1 FROM generation
        WHERE repository = ?1 AND id < ?2 AND state IN (?3, ?4) AND ended_at_ms > ?5 LIMIT 1";
    let (failed, cancelled) = (state_number(RunState::Failed), state_number(RunState::Cancelled));
    Ok(connection.prepare_cached(aborted)?.exists(params![repository.0.0, deletion.0, failed, cancelled, until_ms])?)
}

/// Forgets a deleted repository's past; what was registered or indexed again since stays.
fn forget(connection: &Connection, repository: RepositoryId, deletion: GenerationId) -> Result<(), Fault> {
    let key = params![repository.0.0, deletion.0];
    connection.execute(
        "DELETE FROM part WHERE generation IN (SELECT id FROM generation WHERE repository = ?1 AND id <= ?2)",
        key,
    )?;
    connection.execute("DELETE FROM generation WHERE repository = ?1 AND id <= ?2", key)?;
    let gone = connection.execute(
        "DELETE FROM repository WHERE key = ?1 AND deleted = 1
             AND NOT EXISTS (SELECT 1 FROM generation WHERE generation.repository = ?1)",
        [repository.0.0],
    )?;
    if gone > 0 {
        connection.execute("DELETE FROM alias WHERE repository = ?1", [repository.0.0])?;
        connection.execute("DELETE FROM lease WHERE repository = ?1", [repository.0.0])?;
    }
    Ok(())
}

fn live_manifests(connection: &Connection, until_ms: i64) -> Result<Vec<(Tenant, ArtifactRef)>, Fault> {
    // A generation is live until its successor has been published for the grace period, or its repository is deleted.
    let mut statement = connection.prepare_cached(
        "SELECT manifest_key, manifest_size, manifest_hash, tenant
         FROM generation AS live JOIN repository ON repository.key = live.repository
         WHERE state IN (0, 1, 2)
           AND NOT EXISTS (
               SELECT 1 FROM generation AS later
               WHERE later.repository = live.repository AND later.published_seq > live.published_seq
                 AND later.ended_at_ms <= ?1)
           AND NOT EXISTS (
               SELECT 1 FROM generation AS deletion
               WHERE deletion.repository = live.repository AND deletion.state = 5 AND deletion.id > live.id)
         ORDER BY live.id",
    )?;
    let mut rows = statement.query([until_ms])?;
    let mut manifests = Vec::new();
    while let Some(row) = rows.next()? {
        manifests.push((Tenant::new(row.get::<_, String>(3)?), artifact(row, 0)?));
    }
    Ok(manifests)
}
