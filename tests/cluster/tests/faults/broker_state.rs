//! The connections of workers to the broker, read from the gauges of the workers and from the reports of the
//! broker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Queue, Raw};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, sleep, timeout};

use crate::bench::{Bench, PATIENCE, POLL};

/// The number of queues from which a worker of one stage receives jobs. The worker has a separate consumer
/// for each queue.
pub(crate) const NUM_SOURCES: u64 = 3;

/// The sums of the gauges of all workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BrokerState {
    /// The number of workers whose two connections are open.
    pub(crate) num_connected: u64,
    /// The number of workers that cannot publish because of an alarm.
    pub(crate) num_blocked: u64,
    /// The number of attached consumers.
    pub(crate) num_attached: u64,
}

impl BrokerState {
    pub(crate) async fn of(bench: &Bench) -> Result<Self> {
        let sum = async |gauge: &str| bench.metric(bench.environment.cluster.workers(), gauge).await;
        Ok(Self {
            num_connected: sum("cairn_broker_connected").await?,
            num_blocked: sum("cairn_broker_blocked").await?,
            num_attached: sum("cairn_broker_consumers_attached").await?,
        })
    }

    /// Waits until the gauges have the values of `self` again. Fails if more than `limit` passes after
    /// `since`. Returns the time that has passed since `since`.
    pub(crate) async fn is_back(self, bench: &Bench, since: Instant, limit: Duration) -> Result<Duration> {
        loop {
            let (now, after) = (Self::of(bench).await?, since.elapsed());
            if now == self {
                return Ok(after);
            }
            ensure!(
                after < limit,
                "{after:?} after the fault, the state of the workers is {now:?}; before the fault it was {self:?}"
            );
            sleep(POLL).await;
        }
    }
}

/// The number of times that a worker has attached a consumer since it started.
pub(crate) async fn num_attached(bench: &Bench, worker: &str) -> Result<u64> {
    bench.environment.cluster.metric(worker, "cairn_broker_total{what=\"attached\"").await
}

/// Whether all consumers that a worker needs are attached.
pub(crate) async fn has_all_consumers(bench: &Bench, worker: &str) -> Result<bool> {
    let attached = bench.environment.cluster.metric(worker, "cairn_broker_consumers_attached").await?;
    Ok(attached == bench.environment.cluster.metric(worker, "cairn_broker_consumers_wanted").await?)
}

/// Waits until a worker has attached consumers `num_wanted` times since it started, and all consumers that
/// the worker needs are attached. Fails if more than `limit` passes after `since`. Returns the time that has
/// passed since `since`.
pub(crate) async fn has_attached(
    bench: &Bench,
    worker: &str,
    num_wanted: u64,
    since: Instant,
    limit: Duration,
) -> Result<Duration> {
    loop {
        let (num_attached, is_whole) = (num_attached(bench, worker).await?, has_all_consumers(bench, worker).await?);
        let after = since.elapsed();
        if num_attached >= num_wanted && is_whole {
            return Ok(after);
        }
        ensure!(after < limit, "after {after:?}, {worker} has attached only {num_attached} of {num_wanted} consumers");
        sleep(POLL).await;
    }
}

/// Checks that all workers are alive but not ready: none needs a restart, and none takes jobs.
pub(crate) async fn all_are_alive_and_not_ready(bench: &Bench) -> Result<()> {
    for worker in bench.environment.cluster.workers() {
        ensure!(bench.environment.cluster.is_alive(worker).await?, "{worker} requests a restart");
        let reasons = bench.environment.cluster.not_ready(worker).await?;
        ensure!(reasons.is_some_and(|reasons| reasons.contains("RabbitMQ")), "{worker} is ready without a broker");
    }
    Ok(())
}

/// Every second, reads the number of unacknowledged jobs of each queue. This number must never exceed the
/// prefetch limit of the queue's consumers, even after consumers have been attached again.
pub(crate) struct PrefetchWatch {
    is_over: Arc<AtomicBool>,
    seen: watch::Receiver<Held>,
    looking: JoinHandle<Result<()>>,
}

/// The observations of a `PrefetchWatch`.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Held {
    pub(crate) num_looks: usize,
    /// The largest number of unacknowledged jobs of one queue, over all readings.
    pub(crate) most: u64,
    /// The largest number of unacknowledged jobs of one queue in the last reading.
    most_now: u64,
}

impl Held {
    fn and(self, most_now: u64) -> Self {
        Self { num_looks: self.num_looks + 1, most: self.most.max(most_now), most_now }
    }
}

impl PrefetchWatch {
    pub(crate) fn start(raw: Raw, prefetch: u64) -> Self {
        let (is_over, (sender, seen)) = (Arc::new(AtomicBool::new(false)), watch::channel(Held::default()));
        let looking = tokio::spawn(look(raw, prefetch, Arc::clone(&is_over), sender));
        Self { is_over, seen, looking }
    }

    /// Waits for a reading in which consumers have jobs. The wait takes time, because the broker counts only
    /// every few seconds and most jobs end sooner.
    pub(crate) async fn sees_work(&mut self) -> Result<()> {
        let num_before = self.seen.borrow().num_looks;
        // A watch that found too many jobs has ended; `stop` returns its error.
        let seen = self.seen.wait_for(|held| held.num_looks > num_before && held.most_now > 0);
        timeout(PATIENCE, seen).await.context("no consumer had an unacknowledged job")?.ok();
        Ok(())
    }

    pub(crate) async fn stop(self) -> Result<Held> {
        self.is_over.store(true, Ordering::SeqCst);
        self.looking.await??;
        Ok(*self.seen.borrow())
    }
}

async fn look(raw: Raw, prefetch: u64, is_over: Arc<AtomicBool>, seen: watch::Sender<Held>) -> Result<()> {
    let mut turns = interval(Duration::from_secs(1));
    while !is_over.load(Ordering::SeqCst) {
        turns.tick().await;
        // An unreachable broker reports nothing, and delivers no jobs.
        let (Ok(queues), Ok(consumers)) = (raw.queues().await, raw.consumers().await) else { continue };
        for consumer in consumers.iter().filter(|consumer| !consumer.queue.is_owners()) {
            let (name, found) = (&consumer.queue.name, consumer.prefetch);
            ensure!(found > 0 && found <= prefetch, "a consumer of {name} has a prefetch of {found}");
        }
        let mut most = 0;
        for queue in queues.iter().filter(|queue| queue.is_of_work()) {
            let Queue { name, unanswered, num_consumers, .. } = queue;
            // A consumer that is being attached may receive messages before the broker counts the consumer.
            let limit = prefetch * (*num_consumers).max(1) as u64;
            ensure!(
                *unanswered <= limit,
                "{num_consumers} consumers of {name} hold {unanswered} jobs, although their prefetch is {prefetch}"
            );
            most = most.max(*unanswered);
        }
        seen.send_modify(|held| *held = held.and(most));
    }
    Ok(())
}
