//! More jobs than a small workload has: syncs without a request. Each costs its worker one read of the
//! ledger.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use cairn_domain::{Lane, RepositoryId, Tenant};
use cairn_ports::Broker;
use cairn_rabbitmq::RabbitMqBroker;
use cairn_wire::{Job, SyncJob};
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant, sleep};

use crate::bench::{Bench, PATIENCE};

/// Jobs that are published at a time.
const AT_ONCE: u64 = 500;
/// No request has such a number: real numbers count milliseconds.
const NOBODY_ASKED: u64 = 1 << 53;
const OFTEN: Duration = Duration::from_millis(1);

/// Jobs, some of which are always in transit.
pub(crate) struct Flood {
    is_over: Arc<AtomicBool>,
    /// Returns the number of confirmed jobs. At the end all jobs are confirmed.
    publishing: JoinHandle<Result<u64>>,
}

impl Flood {
    /// Publishes `num_times` batches of five hundred jobs. Returns the number of jobs.
    pub(crate) async fn publish(bench: &Bench, num_times: u64) -> Result<u64> {
        let (broker, repository) = (bench.ground.inside.cluster.broker()?, bench.asked[0].0);
        for number in 0..num_times {
            broker.publish(Lane::Bulk, jobs(repository, number * AT_ONCE)).await?;
        }
        Ok(num_times * AT_ONCE)
    }

    /// Publishes until stopped; returns when the first jobs are confirmed and others are in transit. Numbers
    /// continue from earlier jobs, so that each job is different.
    pub(crate) async fn begin(bench: &Bench, num_before: u64) -> Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (broker, repository) = (bench.ground.inside.cluster.broker()?, bench.asked[0].0);
        let publishing = tokio::spawn(publish(Arc::clone(&broker), repository, num_before, Arc::clone(&is_over)));
        let deadline = Instant::now() + PATIENCE;
        while broker.statistics().num_published == 0 {
            ensure!(Instant::now() < deadline, "nothing of a flood was confirmed");
            sleep(OFTEN).await;
        }
        Ok(Self { is_over, publishing })
    }

    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Waits until every publication is confirmed.
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
    while !is_over.load(Ordering::SeqCst) {
        broker.publish(Lane::Bulk, jobs(repository, num_before + num_confirmed)).await?;
        num_confirmed += AT_ONCE;
    }
    Ok(num_confirmed)
}

fn jobs(repository: RepositoryId, num_before: u64) -> Vec<Job> {
    let numbers = NOBODY_ASKED + num_before..NOBODY_ASKED + num_before + AT_ONCE;
    let job = |request| Job::Sync(SyncJob { tenant: Tenant::local(), repository, request });
    numbers.map(job).collect()
}
