//! The catalogue: repositories, and which generation of each is published.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cairn_domain::{
    ArtifactRef, GenerationId, Key128, PublishedSeq, RepositoryId, RepositoryName, RunId, RunState, Scope, Source,
    StageName, Tenant, View,
};
use cairn_ports::{Catalogue, CatalogueError, PublishedGeneration, RepositoryRecord};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::LocalStore;
use crate::database::Durability;
use crate::fault::Fault;
use crate::ledger::{read_result, stage_number, state_from, state_number, write_result};

/// State of a deletion among the states of runs.
pub(crate) const DELETION: u8 = 5;

#[async_trait]
impl Catalogue for LocalStore {
    async fn register(&self, repository: RepositoryRecord) -> Result<(), CatalogueError> {
        let key = repository.id;
        self.write("register", key, Durability::Synced, move |connection| register(connection, &repository)).await
    }

    async fn repositories(&self, scope: &Scope) -> Result<Vec<RepositoryRecord>, CatalogueError> {
        let scope = scope.clone();
        self.read("repositories", &scope.tenant.clone(), move |connection| repositories(connection, &scope)).await
    }

    async fn view(&self) -> Result<View, CatalogueError> {
        self.read("view", "", |connection| view(connection)).await
    }

    async fn published(
        &self,
        view: &View,
        repository: RepositoryId,
    ) -> Result<Option<PublishedGeneration>, CatalogueError> {
        if !view.sees_repository(repository) {
            return Ok(None);
        }
        let view = view.clone();
        self.read("published", repository, move |connection| published(connection, &view, repository)).await
    }

    async fn publish(&self, published: PublishedGeneration) -> Result<PublishedSeq, CatalogueError> {
        let key = published.run;
        self.write("publish", key, Durability::Synced, move |connection| publish(connection, &published)).await
    }

    async fn delete(&self, repository: RepositoryId, now_ms: i64) -> Result<GenerationId, CatalogueError> {
        self.write("delete", repository, Durability::Synced, move |connection| delete(connection, repository, now_ms))
            .await
    }
}

fn register(connection: &Connection, repository: &RepositoryRecord) -> Result<(), Fault> {
    let (source_kind, source) = match &repository.source {
        Source::WorkTree { path } => (0, path),
        Source::Bare { path } => (1, path),
        Source::Directory { path } => (2, path),
        Source::Url { url } => (3, url),
    };
    let key = repository.id.0.0;
    connection.execute(
        "INSERT INTO repository (key, tenant, name, source_kind, source, branch, settings)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (key) DO UPDATE SET
             source_kind = ?4, source = ?5, branch = ?6, settings = ?7, deleted = 0",
        params![
            key,
            repository.tenant.as_str(),
            repository.name.as_str(),
            source_kind,
            source,
            repository.branch,
            repository.settings
        ],
    )?;
    for alias in &repository.aliases {
        let insert = "INSERT OR IGNORE INTO alias (repository, name) VALUES (?1, ?2)";
        connection.execute(insert, params![key, alias.as_str()])?;
    }
    Ok(())
}

fn repositories(connection: &Connection, scope: &Scope) -> Result<Vec<RepositoryRecord>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT key, tenant, name, source_kind, source, branch, settings FROM repository
         WHERE tenant = ?1 AND deleted = 0 ORDER BY name",
    )?;
    let mut rows = statement.query([scope.tenant.as_str()])?;
    let mut repositories = Vec::new();
    while let Some(row) = rows.next()? {
        let id = repository_id(row.get(0)?);
        if scope.contains(id) {
            repositories.push(repository_from(connection, id, row)?);
        }
    }
    Ok(repositories)
}

fn repository_from(connection: &Connection, id: RepositoryId, row: &Row<'_>) -> Result<RepositoryRecord, Fault> {
    let location: String = row.get(4)?;
    let source = match row.get(3)? {
        0 => Source::WorkTree { path: location },
        1 => Source::Bare { path: location },
        2 => Source::Directory { path: location },
        3 => Source::Url { url: location },
        kind => return Err(Fault::damaged(format!("a source of kind {kind}"))),
    };
    let mut statement = connection.prepare_cached("SELECT name FROM alias WHERE repository = ?1 ORDER BY name")?;
    let aliases = statement.query_map([id.0.0], |row| Ok(RepositoryName::new(row.get::<_, String>(0)?)))?;
    Ok(RepositoryRecord {
        id,
        tenant: Tenant::new(row.get::<_, String>(1)?),
        name: RepositoryName::new(row.get::<_, String>(2)?),
        source,
        branch: row.get(5)?,
        settings: row.get(6)?,
        aliases: aliases.collect::<Result<_, _>>()?,
    })
}

fn view(connection: &Connection) -> Result<View, Fault> {
    let next_gen = counter(connection, "newest_published")? + 1;
    let unpublished = "SELECT id FROM generation WHERE published_seq IS NULL AND swept = 0 AND id < ?1";
    let mut hidden = BTreeSet::new();
    let mut statement = connection.prepare_cached(unpublished)?;
    for id in statement.query_map([next_gen], |row| row.get(0))? {
        hidden.insert(GenerationId(id?));
    }
    let mut hidden_repositories = BTreeSet::new();
    for (repository, deletion) in pending_deletions(connection)? {
        if newest_published(connection, repository)?.is_none() {
            hidden_repositories.insert(repository);
            continue;
        }
        // Indexed again before its records were removed: what began before the deletion stays hidden.
        let mut statement = connection.prepare_cached("SELECT id FROM generation WHERE repository = ?1 AND id < ?2")?;
        for id in statement.query_map(params![repository.0.0, deletion.0], |row| row.get(0))? {
            hidden.insert(GenerationId(id?));
        }
    }
    Ok(View { seq: PublishedSeq(counter(connection, "published_seq")?), next_gen, hidden, hidden_repositories })
}

/// The newest deletion of each repository that is not swept yet.
pub(crate) fn pending_deletions(connection: &Connection) -> Result<Vec<(RepositoryId, GenerationId)>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT repository, max(id) FROM generation
         WHERE state = ?1 AND published_seq IS NULL AND swept = 0 GROUP BY repository ORDER BY repository",
    )?;
    let rows = statement.query_map([DELETION], |row| Ok((repository_id(row.get(0)?), GenerationId(row.get(1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn pending_deletion(
    connection: &Connection,
    repository: RepositoryId,
) -> Result<Option<GenerationId>, Fault> {
    let newest = connection
        .prepare_cached("SELECT max(id) FROM generation WHERE repository = ?1 AND state = ?2 AND swept = 0")?
        .query_row(params![repository.0.0, DELETION], |row| row.get::<_, Option<u64>>(0))?;
    Ok(newest.map(GenerationId))
}

/// The published generation of a repository, now; none if it was deleted since.
pub(crate) fn newest_published(
    connection: &Connection,
    repository: RepositoryId,
) -> Result<Option<GenerationId>, Fault> {
    let deletion = pending_deletion(connection, repository)?.unwrap_or(GenerationId(0));
    let newest = connection
        .prepare_cached(
            "SELECT id FROM generation WHERE repository = ?1 AND published_seq IS NOT NULL AND id > ?2
             ORDER BY published_seq DESC LIMIT 1",
        )?
        .query_row(params![repository.0.0, deletion.0], |row| row.get(0))
        .optional()?;
    Ok(newest.map(GenerationId))
}

fn published(
    connection: &Connection,
    view: &View,
    repository: RepositoryId,
) -> Result<Option<PublishedGeneration>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, published_seq, manifest_key, manifest_size, manifest_hash, revision, branch, ended_at_ms, state, \
         result, model FROM generation WHERE repository = ?1 AND published_seq <= ?2 ORDER BY published_seq DESC",
    )?;
    let mut rows = statement.query(params![repository.0.0, view.seq.0])?;
    while let Some(row) = rows.next()? {
        let generation = GenerationId(row.get(0)?);
        if view.published(generation) {
            return Ok(Some(published_from(RunId { repository, generation }, row)?));
        }
    }
    Ok(None)
}

fn published_from(run: RunId, row: &Row<'_>) -> Result<PublishedGeneration, Fault> {
    Ok(PublishedGeneration {
        run,
        seq: PublishedSeq(row.get(1)?),
        manifest: artifact(row, 2)?,
        revision: row.get(5)?,
        branch: row.get(6)?,
        indexed_at_ms: row.get(7)?,
        state: state_from(row.get(8)?)?,
        result: read_result(&row.get::<_, String>(9)?)?,
        model: row.get(10)?,
    })
}

fn publish(connection: &Connection, published: &PublishedGeneration) -> Result<PublishedSeq, Fault> {
    if !matches!(published.state, RunState::Published | RunState::Partial) {
        return Err(Fault::invalid(format!("`{}` is no state of a published run", published.state.as_str())));
    }
    if let Some(seq) = check_publishable(connection, published.run)? {
        return Ok(seq);
    }
    let seq = PublishedSeq(counter(connection, "published_seq")? + 1);
    set_counter(connection, "published_seq", seq.0)?;
    let newest = counter(connection, "newest_published")?.max(published.run.generation.0);
    set_counter(connection, "newest_published", newest)?;
    connection.execute(
        "UPDATE generation SET state = ?2, published_seq = ?3, manifest_key = ?4, manifest_size = ?5,
             manifest_hash = ?6, revision = ?7, branch = ?8, ended_at_ms = ?9, result = ?10, model = ?11
         WHERE id = ?1",
        params![
            published.run.generation.0,
            state_number(published.state),
            seq.0,
            published.manifest.key,
            published.manifest.size_bytes,
            published.manifest.hash,
            published.revision,
            published.branch,
            published.indexed_at_ms,
            write_result(&published.result)?,
            published.model,
        ],
    )?;
    // The publishing part cannot end after its run has: it ends with it.
    connection.execute(
        "UPDATE part SET ended = 0 WHERE generation = ?1 AND stage = ?2 AND ended IS NULL",
        params![published.run.generation.0, stage_number(StageName::Publish)],
    )?;
    Ok(seq)
}

/// The seq of a run that is published already, or none if it may be published now.
fn check_publishable(connection: &Connection, run: RunId) -> Result<Option<PublishedSeq>, Fault> {
    let found = connection
        .query_row(
            "SELECT state, published_seq, previous FROM generation WHERE id = ?1 AND repository = ?2",
            params![run.generation.0, run.repository.0.0],
            |row| Ok((row.get::<_, u8>(0)?, row.get::<_, Option<u64>>(1)?, row.get::<_, Option<u64>>(2)?)),
        )
        .optional()?;
    let (state, seq, previous) = found.ok_or_else(Fault::not_found)?;
    if let Some(seq) = seq {
        return Ok(Some(PublishedSeq(seq)));
    }
    if state != state_number(RunState::Running) {
        return Err(Fault::conflict("the run was cancelled or has failed"));
    }
    if newest_published(connection, run.repository)? != previous.map(GenerationId) {
        return Err(Fault::conflict("another generation was published since the run began"));
    }
    for stage in StageName::Publish.waits_for() {
        if crate::ledger::has_open_parts(connection, run.generation, *stage)? {
            return Err(Fault::conflict(format!("parts of stage `{}` are open", stage.as_str())));
        }
    }
    Ok(None)
}

fn delete(connection: &Connection, repository: RepositoryId, now_ms: i64) -> Result<GenerationId, Fault> {
    let key = repository.0.0;
    let hidden = connection.execute("UPDATE repository SET deleted = 1 WHERE key = ?1 AND deleted = 0", [key])?;
    if hidden == 0 {
        return pending_deletion(connection, repository)?.ok_or_else(Fault::not_found);
    }
    connection.execute(
        "UPDATE generation SET state = ?2, ended_at_ms = ?4, message = 'the repository was deleted'
         WHERE repository = ?1 AND state = ?3",
        params![key, state_number(RunState::Cancelled), state_number(RunState::Running), now_ms],
    )?;
    connection.execute(
        "INSERT INTO generation (repository, state, manifest_key, manifest_size, manifest_hash, plan_key, plan_size,
             plan_hash, revision, model, result, started_at_ms)
         VALUES (?1, ?2, '', 0, x'', '', 0, x'', '', '', '', ?3)",
        params![key, DELETION, now_ms],
    )?;
    Ok(GenerationId(connection.last_insert_rowid() as u64))
}

fn counter(connection: &Connection, name: &str) -> Result<u64, Fault> {
    let mut statement = connection.prepare_cached("SELECT value FROM counter WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0))?)
}

fn set_counter(connection: &Connection, name: &str, value: u64) -> Result<(), Fault> {
    connection.prepare_cached("UPDATE counter SET value = ?2 WHERE name = ?1")?.execute(params![name, value])?;
    Ok(())
}

pub(crate) fn repository_id(bytes: [u8; 16]) -> RepositoryId {
    RepositoryId(Key128(bytes))
}

/// Reads a claim check from three columns.
pub(crate) fn artifact(row: &Row<'_>, first: usize) -> Result<ArtifactRef, Fault> {
    Ok(ArtifactRef { key: row.get(first)?, size_bytes: row.get(first + 1)?, hash: row.get(first + 2)? })
}
