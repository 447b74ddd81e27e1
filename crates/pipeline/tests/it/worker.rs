//! A worker with scripted results, and a runner for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{Lane, RepositoryId, RepositoryName, RunId, StageName, Tenant};
use cairn_local_broker::{LocalBroker, QueueSettings};
use cairn_metastore::Metastore;
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig, StageError, Syncer, Worker};
use cairn_ports::{BlobStoreError, Broker, ErrorKind, FailureCode};
use cairn_testkit::{ManualClock, MemoryRuns};
use cairn_wire::{Job, SyncJob};
use tokio::sync::Notify;

/// Each test locks this mutex, because all tests share the metrics of the process, and one test checks the
/// values of these metrics.
pub static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// The result of a sync.
#[derive(Clone, Copy)]
pub enum ScriptedResult {
    Nothing,
    Fails(ErrorKind),
    /// The sync never ends.
    Hangs,
}

/// A worker whose successive syncs return these results. Later syncs succeed without a run.
pub struct Script {
    outcomes: Mutex<Vec<ScriptedResult>>,
    /// Notified when a sync hangs.
    pub hanging: Notify,
    /// Whether the requests are already answered.
    pub is_answered: AtomicBool,
    /// Whether every sync is scheduled, and the sync before it failed with the same code.
    pub failed_before: AtomicBool,
}

impl Script {
    pub fn new(outcomes: &[ScriptedResult]) -> Arc<Self> {
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
        match outcome.unwrap_or(ScriptedResult::Nothing) {
            ScriptedResult::Nothing => Ok(None),
            ScriptedResult::Fails(kind) => Err(BlobStoreError::new(kind, "get", "k").into()),
            ScriptedResult::Hangs => {
                self.hanging.notify_one();
                std::future::pending().await
            }
        }
    }

    async fn is_awaited(&self, _: &SyncJob) -> Result<bool, StageError> {
        Ok(!self.is_answered.load(Ordering::SeqCst))
    }

    async fn postponed(&self, _: &SyncJob, _: FailureCode, _: String, _: Duration) -> Result<(), StageError> {
        Ok(())
    }

    async fn is_new_failure(&self, _: &SyncJob, _: FailureCode) -> Result<bool, StageError> {
        Ok(!self.failed_before.load(Ordering::SeqCst))
    }

    async fn failed(&self, _: &SyncJob, _: FailureCode, _: String) -> Result<(), StageError> {
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

/// Closes the broker as soon as no job is waiting or in progress.
pub async fn close_when_done(broker: &LocalBroker) -> anyhow::Result<()> {
    while broker.depth(StageName::Sync).await? > 0 {
        tokio::task::yield_now().await;
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    broker.close().await;
    Ok(())
}
