//! A broker with faults: jobs arrive late, in any order, more than once, or never if they were not confirmed.
//!
//! The pipeline's own `settlement` decides how a failed job is settled.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cairn_domain::Lane;
use cairn_pipeline::{RetryLadder, StageError, settlement};
use cairn_ports::{BrokerError, Delivery, ErrorKind, Settlement};
use cairn_wire::Job;

use crate::world::World;
use crate::{cloner, worker};

/// Publishes jobs. After an error, some of them may have been published.
pub async fn publish(world: &Arc<World>, jobs: Vec<Job>) -> Result<(), BrokerError> {
    let schedule = world.schedule();
    schedule.step().await;
    let faults = schedule.faults();
    for job in jobs {
        if schedule.chance(faults.lost_jobs) {
            schedule.trace(|| format!("{job} is lost"));
            return Err(BrokerError::new(ErrorKind::ConnectionLost, "publish", job.to_string()));
        }
        let num_copies = if schedule.chance(faults.duplicates) { 2 + schedule.random(2) } else { 1 };
        for copy in 0..num_copies {
            let longest_ms = if copy > 0 && schedule.random(4) == 0 { 900_000 } else { 2 * faults.latency_ms };
            enqueue(world, job.clone(), 0, schedule.random(longest_ms));
        }
    }
    if schedule.chance(faults.lost_answers) {
        return Err(BrokerError::new(ErrorKind::ConnectionLost, "publish", "confirms"));
    }
    Ok(())
}

fn enqueue(world: &Arc<World>, job: Job, num_failed_attempts: u32, after_ms: u64) {
    world.num_jobs.fetch_add(1, Ordering::Relaxed);
    let delivery = Delivery {
        tag: 0,
        job,
        lane: Lane::Bulk,
        num_failed_attempts,
        num_unanswered: 0,
        is_suspect: false,
        traceparent: None,
    };
    let mut unanswered = Unanswered { world: Arc::clone(world), delivery: Some(delivery) };
    let own = Arc::clone(world);
    world.schedule().spawn(async move {
        own.schedule().sleep(after_ms).await;
        handle(&own, &mut unanswered).await;
    });
}

/// A delivery to a worker. If the worker ends without an answer, the delivery returns.
struct Unanswered {
    world: Arc<World>,
    delivery: Option<Delivery>,
}

impl Unanswered {
    fn answer(&mut self, settlement: &Settlement) {
        let Some(delivery) = self.delivery.take() else { return };
        self.world.num_jobs.fetch_sub(1, Ordering::Relaxed);
        self.world.schedule().trace(|| format!("{}: {settlement:?}", delivery.job));
        let attempts = delivery.num_failed_attempts;
        match settlement {
            Settlement::Ack => worker::check_acknowledged(&self.world, &delivery.job),
            Settlement::Retry { after } => enqueue(&self.world, delivery.job, attempts + 1, after.as_millis() as u64),
            Settlement::Requeue { after } => enqueue(&self.world, delivery.job, attempts, after.as_millis() as u64),
        }
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        let Some(delivery) = self.delivery.take().filter(|_| !self.world.is_over()) else { return };
        self.world.num_jobs.fetch_sub(1, Ordering::Relaxed);
        let after_ms = 1_000 + self.world.schedule().random(60_000);
        enqueue(&self.world, delivery.job, delivery.num_failed_attempts, after_ms);
    }
}

/// The runner's order for a delivery: work, then answer.
async fn handle(world: &Arc<World>, unanswered: &mut Unanswered) {
    let Some(delivery) = unanswered.delivery.clone() else { return };
    if world.environment.has(crate::Mutant::AckBeforeWrite) {
        unanswered.answer(&Settlement::Ack);
    }
    world.schedule().trace(|| format!("takes {}", delivery.job));
    let began_at_ms = world.now();
    let worked = match &delivery.job {
        Job::Sync(job) => cloner::sync(world, job).await,
        Job::Part(job) => worker::work(world, job).await,
    };
    let settlement = match worked {
        Ok(()) => Settlement::Ack,
        Err(error) => settle(world, &delivery, &error, began_at_ms).await,
    };
    world.schedule().step().await;
    unanswered.answer(&settlement);
}

async fn settle(world: &Arc<World>, delivery: &Delivery, error: &StageError, began_at_ms: i64) -> Settlement {
    world.schedule().trace(|| format!("{} fails: {}", delivery.job, error.chain()));
    if error.class == cairn_ports::ErrorClass::Cancelled {
        return Settlement::Ack;
    }
    if let Some(answer) = settlement(error, delivery, &RetryLadder::cluster()) {
        return answer;
    }
    let recorded = match &delivery.job {
        Job::Sync(job) => cloner::failed(world, job, error.code, began_at_ms).await.map_err(StageError::from),
        Job::Part(job) => worker::failed(world, job, error.code.to_owned(), error.chain()).await,
    };
    if recorded.is_ok() { Settlement::Ack } else { Settlement::Requeue { after: Duration::from_secs(5) } }
}
