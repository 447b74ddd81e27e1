//! A broker with faults. Jobs arrive late, in any order, or more than once. Jobs that were not confirmed may
//! never arrive.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cairn_domain::Lane;
use cairn_ports::{BrokerError, Delivery, ErrorKind, Settlement};
use cairn_wire::Job;

use crate::mutants::Mutant;
use crate::world::World;

/// Publishes jobs. If `publish` returns an error, some of the jobs may have been published.
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

/// A delivery that a worker has received but not answered. If the worker ends without an answer, the delivery
/// returns to the queue.
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
            Settlement::Ack => check_acknowledged(&self.world, &delivery.job),
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

/// Gives a delivery to the runner, and settles the delivery as the runner decides.
async fn handle(world: &Arc<World>, unanswered: &mut Unanswered) {
    let Some(delivery) = unanswered.delivery.clone() else { return };
    if world.environment.has(Mutant::AckBeforeWrite) {
        unanswered.answer(&Settlement::Ack);
    }
    let settlement = (world.runner)(Arc::clone(world), delivery).await;
    unanswered.answer(&settlement);
}

/// Checks that an acknowledged job needs no further delivery, because its part or its run has ended.
fn check_acknowledged(world: &World, job: &Job) {
    let Job::Part(job) = job else { return };
    let Some(run) = world.environment.memory.run(job.run) else { return };
    let is_open = run.ledger.stages.get(&job.part.stage).is_some_and(|stage| stage.open().contains(job.part.number));
    if is_open && !run.ledger.state.is_finished() {
        world.schedule().violate(format!("the job of {} of {} is acknowledged, its part is open", job.part, job.run));
    }
}
