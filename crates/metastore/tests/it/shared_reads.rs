//! Tests that questions share reads, and that a shared read has a maximum age.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use async_trait::async_trait;
use cairn_domain::{
    ArtifactRef, Lane, PartId, PublishedSeq, RunId, RunState, Scope, StageName, SyncProgress, Tenant, View,
};
use cairn_metastore::{Metastore, SharedReads};
use cairn_ports::{Catalogue, Ledger, LedgerRead, NewRun, RepositoryQuery, RunDocuments, RunDocumentsError, RunQuery};
use cairn_runs::{Command, CommandReply, EndedPart, Registry, RepositoryDocument, RunDocument};
use cairn_testkit::{ManualClock, MemoryRuns};
use cairn_wire::RunResult;

use crate::repository;

/// Counts the reads of a store.
#[derive(Default)]
struct CountedRuns {
    runs: MemoryRuns,
    num_reads: AtomicUsize,
    num_newest: AtomicUsize,
}

impl CountedRuns {
    fn read(&self) -> &MemoryRuns {
        self.num_reads.fetch_add(1, Ordering::Relaxed);
        &self.runs
    }
}

#[async_trait]
impl RunDocuments for CountedRuns {
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError> {
        self.runs.change(command).await
    }

    async fn registry(&self) -> Result<Registry, RunDocumentsError> {
        self.read().registry().await
    }

    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError> {
        self.read().publication(seq).await
    }

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError> {
        self.read().repositories(query).await
    }

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError> {
        if matches!(query, RunQuery::NewestOfEach { .. }) {
            self.num_newest.fetch_add(1, Ordering::Relaxed);
        }
        self.read().runs(query).await
    }

    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError> {
        self.read().parts(run).await
    }

    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError> {
        self.runs.forget_publications(until_ms).await
    }
}

const MAX_AGE: Duration = Duration::from_secs(1);

struct Fixture {
    store: Arc<CountedRuns>,
    clock: Arc<ManualClock>,
    shared: Metastore,
}

impl Fixture {
    fn new() -> Self {
        let (store, clock) = (Arc::new(CountedRuns::default()), Arc::new(ManualClock::new(1_000)));
        let reads = SharedReads::new(store.clone(), clock.clone(), MAX_AGE);
        Self { store, clock, shared: Metastore::new(Arc::new(reads)) }
    }

    /// Reads the data that a question needs, and returns the names of the repositories.
    async fn ask(&self) -> Result<Vec<String>> {
        let view = self.shared.view().await?;
        let visible = self.shared.visible(&Tenant::local(), &|_| true).await?;
        let ids: Vec<_> = visible.iter().map(|record| record.id).collect();
        self.shared.published_of(&view, &ids).await?;
        self.shared.runs_of(&ids, 1, ids.len()).await?;
        Ok(visible.into_iter().map(|record| record.name.to_string()).collect())
    }

    /// The revision and the state of the newest run of `a`, as a question sees it.
    async fn newest(&self) -> Result<Option<(String, RunState)>> {
        self.ask().await?;
        let newest = self.shared.runs_of(&[repository("a").id], 1, 1).await?.pop();
        Ok(newest.map(|run| (run.revision, run.state)))
    }

    fn num_reads(&self) -> usize {
        self.store.num_reads.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn questions_share_reads_until_the_maximum_age() -> Result<()> {
    let fixture = Fixture::new();
    // Another process registers a repository.
    let other = Metastore::new(fixture.store.clone());
    other.register(repository("a")).await?;
    ensure!(fixture.ask().await? == ["a"]);
    let num_reads = fixture.num_reads();
    for _ in 0..100 {
        ensure!(fixture.ask().await? == ["a"]);
    }
    ensure!(fixture.num_reads() == num_reads, "{} reads", fixture.num_reads());
    other.register(repository("b")).await?;
    fixture.clock.advance(MAX_AGE - Duration::from_millis(1));
    ensure!(fixture.ask().await? == ["a"]);
    fixture.clock.advance(Duration::from_millis(1));
    ensure!(fixture.ask().await? == ["a", "b"]);
    ensure!(fixture.num_reads() <= 2 * num_reads, "{} reads", fixture.num_reads());
    Ok(())
}

#[tokio::test]
async fn own_changes_are_visible_at_once() -> Result<()> {
    let fixture = Fixture::new();
    ensure!(fixture.ask().await?.is_empty());
    fixture.shared.register(repository("a")).await?;
    ensure!(fixture.ask().await? == ["a"]);
    fixture.shared.delete(repository("a").id, 1).await?;
    ensure!(fixture.ask().await?.is_empty());
    ensure!(fixture.shared.repositories(&Scope::all(Tenant::local())).await?.is_empty());
    Ok(())
}

/// Another process begins a run of `a` at this revision.
async fn begin(other: &Metastore, revision: &str, now_ms: i64) -> Result<RunId> {
    let artifact = |key: &str| ArtifactRef { key: format!("{key}/{now_ms}"), size_bytes: 1, hash: [7; 32] };
    let run = NewRun {
        repository: repository("a").id,
        previous: None,
        manifest: artifact("manifest"),
        plan: artifact("plan"),
        parts: vec![PartId { stage: StageName::Publish, number: 0 }],
        lane: Lane::Bulk,
        window: 1,
        revision: revision.to_owned(),
        branch: None,
        result: RunResult::default(),
        started_at_ms: now_ms,
    };
    let lease = other.lease(repository("a").id, now_ms, 1_000).await?;
    let run = other.begin(lease, run).await?;
    other.renew(lease, now_ms, 0, SyncProgress::default()).await?;
    Ok(run)
}

/// The newest run is read only after a run began or ended.
#[tokio::test]
async fn newest_run_is_read_after_it_changes() -> Result<()> {
    let fixture = Fixture::new();
    let other = Metastore::new(fixture.store.clone());
    other.register(repository("a")).await?;
    let num_newest = || fixture.store.num_newest.load(Ordering::Relaxed);
    ensure!(fixture.newest().await?.is_none());
    for _ in 0..10 {
        fixture.clock.advance(MAX_AGE);
        ensure!(fixture.newest().await?.is_none());
    }
    ensure!(num_newest() == 1, "{} reads", num_newest());
    let run = begin(&other, "second", 1).await?;
    fixture.clock.advance(MAX_AGE);
    ensure!(fixture.newest().await? == Some(("second".to_owned(), RunState::Running)));
    other.abort(run, RunState::Failed, "no parser", 2).await?;
    fixture.clock.advance(MAX_AGE);
    ensure!(fixture.newest().await? == Some(("second".to_owned(), RunState::Failed)));
    let num_reads = num_newest();
    for _ in 0..10 {
        fixture.clock.advance(MAX_AGE);
        ensure!(fixture.newest().await? == Some(("second".to_owned(), RunState::Failed)));
    }
    ensure!(num_newest() == num_reads, "{} reads", num_newest());
    let run = begin(&other, "third", 3).await?;
    other.abort(run, RunState::Cancelled, "no time", 4).await?;
    fixture.clock.advance(MAX_AGE);
    ensure!(fixture.newest().await? == Some(("third".to_owned(), RunState::Cancelled)));
    Ok(())
}
