//! A store of runs, with the records of one check.

use anyhow::{Context, Result};
use cairn_domain::{
    ArtifactRef, GenerationId, Lane, PartEnd, PartId, RepositoryName, RunId, RunState, Source, StageName, SyncProgress,
};
use cairn_ports::{
    Catalogue, CatalogueSweep, Lease, Ledger, LedgerRead, NewRun, Outbox, PublishedGeneration, RepositoryRecord,
    Requests,
};
use cairn_wire::RunResult;

use crate::Case;
use crate::case::part;

/// A store of runs: one store that implements all ports for repositories and runs.
pub trait RunStore: Catalogue + CatalogueSweep + Ledger + LedgerRead + Outbox + Requests {}

impl<T: Catalogue + CatalogueSweep + Ledger + LedgerRead + Outbox + Requests> RunStore for T {}

/// The data of one check, and the store under test.
pub(super) struct RunFixture<'a> {
    pub(super) store: &'a dyn RunStore,
    pub(super) case: Case,
}

impl<'a> RunFixture<'a> {
    pub(super) fn new(store: &'a dyn RunStore, check: &str) -> Self {
        Self { store, case: Case::new(check) }
    }

    pub(super) fn record(&self, name: &str) -> RepositoryRecord {
        let source = Source::Bare { path: format!("repositories/{name}") };
        let record = RepositoryRecord::new(self.case.tenant.clone(), RepositoryName::new(name), source);
        RepositoryRecord { settings: "{}".to_owned(), ..record }
    }

    pub(super) async fn register(&self, names: &[&str]) -> Result<()> {
        for name in names {
            self.store.register(self.record(name)).await?;
        }
        Ok(())
    }

    /// The pending sync that the record of the repository contains.
    pub(super) async fn pending_sync(&self, name: &str) -> Result<Option<SyncProgress>> {
        let records = self.store.repositories(&self.case.scope()).await?;
        let record = records.into_iter().find(|record| record.name.as_str() == name);
        Ok(record.context("the repository is not in the list")?.pending_sync)
    }

    pub(super) async fn lease(&self, name: &str, now_ms: i64) -> Result<Lease> {
        Ok(self.store.lease(self.case.repository(name), now_ms, 1000).await?)
    }

    pub(super) fn new_run(&self, name: &str, previous: Option<RunId>, parts: &[PartId], now_ms: i64) -> NewRun {
        NewRun {
            repository: self.case.repository(name),
            previous: previous.map(|run| run.generation),
            manifest: self.artifact(&format!("planned/{name}/{now_ms}")),
            plan: self.artifact(&format!("plans/{name}/{now_ms}")),
            parts: parts.to_vec(),
            lane: Lane::Bulk,
            window: 1000,
            revision: format!("revision-{now_ms}"),
            branch: Some("trunk".to_owned()),
            result: RunResult { repository: name.to_owned(), ..RunResult::default() },
            started_at_ms: now_ms,
        }
    }

    /// Begins a run under a lease, and ends the lease afterwards.
    pub(super) async fn begin(
        &self,
        name: &str,
        previous: Option<RunId>,
        parts: &[PartId],
        now_ms: i64,
    ) -> Result<RunId> {
        let lease = self.lease(name, now_ms).await?;
        let run = self.store.begin(lease, self.new_run(name, previous, parts, now_ms)).await?;
        self.store.renew(lease, now_ms, 0, SyncProgress::default()).await?;
        Ok(run)
    }

    pub(super) fn publication(&self, run: RunId, now_ms: i64) -> PublishedGeneration {
        PublishedGeneration {
            run,
            seq: Default::default(),
            manifest: self.artifact(&format!("manifests/{}", run.generation)),
            revision: format!("revision of {}", run.generation),
            branch: Some("trunk".to_owned()),
            indexed_at_ms: now_ms,
            state: RunState::Published,
            result: RunResult { chunks: run.generation.0, ..RunResult::default() },
            model: "model-1".to_owned(),
        }
    }

    /// Begins a run and publishes it, without work between these steps.
    pub(super) async fn publish(&self, name: &str, previous: Option<RunId>, now_ms: i64) -> Result<RunId> {
        let run = self.begin(name, previous, &[part(StageName::Publish, 0)], now_ms).await?;
        self.store.publish(self.publication(run, now_ms)).await?;
        Ok(run)
    }

    /// A reference to an artifact. The key of the artifact contains the tenant of this check, so no other
    /// check uses the same artifact.
    pub(super) fn artifact(&self, key: &str) -> ArtifactRef {
        ArtifactRef { key: format!("{}/{key}", self.case.tenant), size_bytes: key.len() as u64, hash: [7; 32] }
    }

    pub(super) async fn done(&self, run: RunId, part: PartId) -> Result<Vec<PartId>> {
        Ok(self.store.end_part(run, part, PartEnd::Done, String::new(), 0).await?)
    }

    /// The published generation of the repository at this moment.
    pub(super) async fn published_now(&self, name: &str) -> Result<Option<GenerationId>> {
        let view = self.store.view().await?;
        let published = self.store.published(&view, self.case.repository(name)).await?;
        Ok(published.map(|published| published.run.generation))
    }
}
