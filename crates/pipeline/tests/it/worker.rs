//! A worker that does as told, and a runner for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{Lane, RepositoryId, RepositoryName, RunId, StageName, Tenant};
use cairn_local_broker::{LocalBroker, QueueSettings};
use cairn_metastore::Metastore;
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig, StageError, Syncer, Worker};
use cairn_ports::{BlobStoreError, Broker, ErrorKind};
use cairn_testkit::{ManualClock, MemoryRuns};
use cairn_wire::{Job, SyncJob};
use tokio::sync::Notify;

/// Held by each test: metrics are shared by the whole process, and one of them counts.
pub static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// What a sync comes to.
#[derive(Clone, Copy)]
pub enum Outcome {
    Nothing,
    Fails(ErrorKind),
    /// It never ends.
    Hangs,
}

/// Syncs that come to these, one after the other; then to nothing.
pub struct Script {
    outcomes: Mutex<Vec<Outcome>>,
    /// A sync hangs.
    pub hanging: Notify,
    /// Nobody waits for them any more.
    pub is_answered: AtomicBool,
    /// The syncs before them failed as they do, and a schedule asks for them.
    pub failed_before: AtomicBool,
}

impl Script {
    pub fn new(outcomes: &[Outcome]) -> Arc<Self> {
        let outcomes = outcomes.iter().rev().copied().collect();
        let (is_answered, failed_before) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Self { outcomes: Mutex::new(outcomes), hanging: Notify::new(), is_answered, failed_before })
    }

    pub fn worker(self: &Arc<Self>) -> Worker {
        Worker::Sync(self.clone())
    }
}

#[async_trait]
impl Syncer for Script {
    async fn sync(&self, _: &SyncJob) -> Result<Option<RunId>, StageError> {
        let outcome = self.outcomes.lock().expect("no panic").pop();
        match outcome.unwrap_or(Outcome::Nothing) {
            Outcome::Nothing => Ok(None),
            Outcome::Fails(kind) => Err(BlobStoreError::new(kind, "get", "k").into()),
            Outcome::Hangs => {
                self.hanging.notify_one();
                std::future::pending().await
            }
        }
    }

    async fn is_awaited(&self, _: &SyncJob) -> Result<bool, StageError> {
        Ok(!self.is_answered.load(Ordering::SeqCst))
    }

    async fn postponed(&self, _: &SyncJob, _: String, _: String, _: Duration) -> Result<(), StageError> {
        Ok(())
    }

    async fn is_new_failure(&self, _: &SyncJob, _: &str) -> Result<bool, StageError> {
        Ok(!self.failed_before.load(Ordering::SeqCst))
    }

    async fn failed(&self, _: &SyncJob, _: String, _: String) -> Result<(), StageError> {
        Ok(())
    }
}

pub fn runner() -> (Arc<LocalBroker>, Arc<Runner<Metastore>>) {
    let broker = Arc::new(LocalBroker::new(|_: StageName| QueueSettings::default()));
    let runs = Arc::new(Metastore::new(Arc::new(MemoryRuns::new())));
    let deadline = Duration::from_secs(60);
    let config = RunnerConfig { concurrency: 2, deadline, longest: deadline, ladder: RetryLadder::local() };
    let runner = Runner::new(broker.clone(), runs, None, Arc::new(ManualClock::new(0)), config);
    (broker, runner)
}

pub fn repository() -> RepositoryId {
    RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"))
}

pub async fn publish(broker: &LocalBroker, request: u64) -> anyhow::Result<()> {
    let job = Job::Sync(SyncJob { tenant: Tenant::local(), repository: repository(), request });
    Ok(broker.publish(Lane::Bulk, vec![job]).await?)
}

/// Closes the broker when nothing waits or is in hand.
pub async fn close_when_done(broker: &LocalBroker) -> anyhow::Result<()> {
    while broker.depth(StageName::Sync).await? > 0 {
        tokio::task::yield_now().await;
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    broker.close().await;
    Ok(())
}
