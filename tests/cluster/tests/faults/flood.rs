//! Publishes sync jobs without a request, because a small workload does not create enough jobs. Each job
//! costs its worker only one read of the ledger.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use cairn_domain::{Lane, RepositoryId, Tenant};
use cairn_ports::{Broker, ErrorKind};
use cairn_rabbitmq::RabbitMqBroker;
use cairn_wire::{Job, SyncJob};
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant, sleep};

use crate::bench::{Bench, PATIENCE};

/// The number of jobs in one batch.
const AT_ONCE: u64 = 500;
/// The first request number in the jobs. No real request has such a number, because request numbers are times
/// in milliseconds.
const UNREQUESTED: u64 = 1 << 53;
const OFTEN: Duration = Duration::from_millis(1);

/// A task that publishes jobs without a pause, so that some jobs are always in transit.
pub(crate) struct Flood {
    is_over: Arc<AtomicBool>,
    /// Returns the number of confirmed jobs. When the task ends, all its jobs are confirmed.
    publishing: JoinHandle<Result<u64>>,
}

impl Flood {
    /// Publishes `num_times` batches. Returns the number of jobs.
    pub(crate) async fn publish(bench: &Bench, num_times: u64) -> Result<u64> {
        let (broker, repository) = (bench.environment.inside.cluster.broker()?, bench.asked[0].0);
        for number in 0..num_times {
            broker.publish(Lane::Bulk, jobs(repository, number * AT_ONCE)).await?;
        }
        Ok(num_times * AT_ONCE)
    }

    /// Starts a task that publishes jobs until `stop` is called. Returns when the first jobs are confirmed.
    /// `num_before` is the number of earlier jobs, so that all jobs have different numbers.
    pub(crate) async fn begin(bench: &Bench, num_before: u64) -> Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (broker, repository) = (bench.environment.inside.cluster.broker()?, bench.asked[0].0);
        let publishing = tokio::spawn(publish(Arc::clone(&broker), repository, num_before, Arc::clone(&is_over)));
        let deadline = Instant::now() + PATIENCE;
        while broker.statistics().num_published == 0 {
            ensure!(Instant::now() < deadline, "no job of the flood was confirmed");
            sleep(OFTEN).await;
        }
        Ok(Self { is_over, publishing })
    }

    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Waits until all published jobs are confirmed. Returns their number.
    pub(crate) async fn num_confirmed(self) -> Result<u64> {
        self.publishing.await?
    }
}

async fn publish(
    broker: Arc<RabbitMqBroker>,
    repository: RepositoryId,
    num_before: u64,
    is_over: Arc<AtomicBool>,
) -> Result<u64> {
    let mut num_confirmed = 0;
    let mut unavailable_since = None;
    while !is_over.load(Ordering::SeqCst) || unavailable_since.is_some() {
        match broker.publish(Lane::Bulk, jobs(repository, num_before + num_confirmed)).await {
            Ok(()) => {
                num_confirmed += AT_ONCE;
                unavailable_since = None;
            }
            // On a slow machine, a restart of the broker takes longer than the adapter waits.
            Err(error) if error.kind == ErrorKind::Unavailable => {
                let since = unavailable_since.get_or_insert_with(Instant::now);
                ensure!(since.elapsed() < PATIENCE, "the broker is unavailable: {error}");
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(num_confirmed)
}

fn jobs(repository: RepositoryId, num_before: u64) -> Vec<Job> {
    let numbers = UNREQUESTED + num_before..UNREQUESTED + num_before + AT_ONCE;
    let job = |request| Job::Sync(SyncJob { tenant: Tenant::local(), repository, request });
    numbers.map(job).collect()
}
