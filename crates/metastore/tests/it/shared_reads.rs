//! Tests that questions share reads, and that a shared read has a maximum age.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use async_trait::async_trait;
use cairn_domain::{PublishedSeq, RunId, Scope, Tenant, View};
use cairn_metastore::{Metastore, SharedReads};
use cairn_ports::{Catalogue, LedgerRead, RepositoryQuery, RunDocuments, RunDocumentsError, RunQuery};
use cairn_runs::{Command, CommandReply, EndedPart, Registry, RepositoryDocument, RunDocument};
use cairn_testkit::{ManualClock, MemoryRuns};

use crate::repository;

/// Counts the reads of a store.
#[derive(Default)]
struct CountedRuns {
    runs: MemoryRuns,
    num_reads: AtomicUsize,
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

    /// Reads what a question needs, and returns the names of the repositories.
    async fn ask(&self) -> Result<Vec<String>> {
        let view = self.shared.view().await?;
        let visible = self.shared.visible(&Tenant::local(), &|_| true).await?;
        let ids: Vec<_> = visible.iter().map(|record| record.id).collect();
        self.shared.published_of(&view, &ids).await?;
        self.shared.unfinished().await?;
        Ok(visible.into_iter().map(|record| record.name.to_string()).collect())
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
