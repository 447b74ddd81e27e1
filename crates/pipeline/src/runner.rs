//! The loop around every stage.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cairn_domain::{PartEnd, StageName};
use cairn_faults::fail_point;
use cairn_ports::{Broker, Clock, Delivery, ErrorClass, ErrorKind, Ledger, LedgerRead, Outbox, Settlement};
use cairn_wire::{Job, PartReport};
use tokio::sync::{RwLock, watch};
use tokio::task::JoinSet;
use tracing::Instrument;

use crate::breaker::Breaker;
use crate::measure::{self, InHand, span};
use crate::settle::{Answer, RetryLadder, settlement};
use crate::{Stage, StageError, Syncer};

/// Deliveries without an answer that a suspect gets: then it is given up as one that kills its worker.
const SUSPECT_DELIVERIES: u32 = 2;

#[derive(Clone, Debug)]
pub struct RunnerConfig {
    /// Jobs of one stage that are worked on at a time.
    pub concurrency: usize,
    /// How long a handler may write to stores after it was last seen that its run is active.
    pub deadline: Duration,
    /// How long a handler may take in all. Shorter than the broker waits for an answer.
    pub longest: Duration,
    pub ladder: RetryLadder,
}

/// Who works on the jobs of a stage.
#[derive(Clone)]
pub enum Worker {
    Stage(Arc<dyn Stage>),
    Sync(Arc<dyn Syncer>),
}

impl Worker {
    pub fn stage(&self) -> StageName {
        match self {
            Worker::Stage(stage) => stage.name(),
            Worker::Sync(_) => StageName::Sync,
        }
    }
}

/// Takes jobs of its workers from the broker until it is closed.
pub struct Runner<L> {
    pub(crate) broker: Arc<dyn Broker>,
    pub(crate) ledger: Arc<L>,
    /// None where jobs cannot outlive the process and who drives the run looks after what was not published.
    pub(crate) outbox: Option<Arc<dyn Outbox>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: RunnerConfig,
    /// Held by all handlers, and by a suspect's alone: what kills the process kills no other job's work.
    company: RwLock<()>,
    /// Of the stages that are worked on.
    breakers: Mutex<BTreeMap<StageName, Arc<Breaker>>>,
}

impl<L: Ledger + LedgerRead + 'static> Runner<L> {
    pub fn new(
        broker: Arc<dyn Broker>,
        ledger: Arc<L>,
        outbox: Option<Arc<dyn Outbox>>,
        clock: Arc<dyn Clock>,
        config: RunnerConfig,
    ) -> Arc<Self> {
        let (company, breakers) = (RwLock::new(()), Mutex::default());
        Arc::new(Self { broker, ledger, outbox, clock, config, company, breakers })
    }

    /// Works until the broker is closed and every job in hand is answered. An error of the broker itself ends it; whoever
    /// supervises the connection starts it again.
    pub async fn run(self: Arc<Self>, workers: Vec<Worker>) -> Result<(), StageError> {
        let (_stays, leave) = watch::channel(false);
        self.run_until(workers, leave).await
    }

    /// The same, and stops at once when told to `leave`: what is in hand goes back to the queue, as if it had never been
    /// delivered. When it returns, nobody receives for these workers any more.
    pub async fn run_until(
        self: Arc<Self>,
        workers: Vec<Worker>,
        leave: watch::Receiver<bool>,
    ) -> Result<(), StageError> {
        let mut consumers = JoinSet::new();
        for worker in workers {
            measure::begin(worker.stage());
            let breaker = Arc::new(Breaker::new(self.config.ladder.pause));
            self.breakers().insert(worker.stage(), Arc::clone(&breaker));
            for _ in 0..self.config.concurrency {
                consumers.spawn(Arc::clone(&self).consume(worker.clone(), Arc::clone(&breaker), leave.clone()));
            }
        }
        while let Some(consumer) = consumers.join_next().await {
            consumer.map_err(|error| StageError::panicked(error.to_string()))??;
        }
        Ok(())
    }

    /// Ends the waiting for dependencies that are not there: such jobs go back to the queue. For a process that is asked to
    /// stop and whose broker is closed.
    pub fn wait_no_more(&self) {
        for breaker in self.breakers().values() {
            breaker.close();
        }
    }

    /// What the stages wait for that have to: one line each.
    pub fn waits(&self) -> Vec<String> {
        let wait = |(stage, breaker): (&StageName, &Arc<Breaker>)| {
            breaker.reason().map(|reason| format!("{} waits: {reason}", stage.as_str()))
        };
        self.breakers().iter().filter_map(wait).collect()
    }

    fn breakers(&self) -> std::sync::MutexGuard<'_, BTreeMap<StageName, Arc<Breaker>>> {
        self.breakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn consume(
        self: Arc<Self>,
        worker: Worker,
        breaker: Arc<Breaker>,
        mut leave: watch::Receiver<bool>,
    ) -> Result<(), StageError> {
        loop {
            let received = tokio::select! {
                biased;
                () = wait_for_signal(&mut leave) => return Ok(()),
                received = self.broker.receive(worker.stage()) => received?,
            };
            let Some(delivery) = received else { return Ok(()) };
            let span = span(&delivery);
            self.answer(&worker, &delivery, &breaker, &mut leave).instrument(span).await?;
        }
    }

    async fn answer(
        &self,
        worker: &Worker,
        delivery: &Delivery,
        breaker: &Breaker,
        leave: &mut watch::Receiver<bool>,
    ) -> Result<(), StageError> {
        let in_hand = InHand::new(worker.stage());
        fail_point!("pipeline::delivered");
        let answer = tokio::select! {
            biased;
            () = wait_for_signal(leave) => Answer::Settled(Settlement::Requeue { after: Duration::ZERO }),
            answer = self.handle(worker, delivery, breaker) => answer,
        };
        fail_point!("pipeline::handled");
        match self.broker.settle(delivery.tag, answer.settlement()).await {
            Ok(()) => in_hand.answered(&answer),
            // The delivery was lost with its connection. The job comes again, and finds its work done.
            Err(error) if error.kind == ErrorKind::NotFound => {
                in_hand.lost();
                tracing::info!(job = %delivery.job, "its delivery was lost before it was answered");
            }
            Err(error) => return Err(error.into()),
        }
        fail_point!("pipeline::acked");
        Ok(())
    }

    /// Everything from a delivery to the answer. Does not fail: a failure is an answer.
    async fn handle(&self, worker: &Worker, delivery: &Delivery, breaker: &Breaker) -> Answer {
        let failure = match self.in_company(worker, delivery, breaker).await {
            Ok(()) => return Answer::Settled(Settlement::Ack),
            Err(error) if error.class == ErrorClass::Cancelled => return Answer::Settled(Settlement::Ack),
            Err(error) => error,
        };
        tracing::warn!(job = %delivery.job, code = failure.code, "{}", failure.chain());
        match settlement(&failure, delivery, &self.config.ladder) {
            Some(answer) => {
                if let Settlement::Retry { after } = answer {
                    self.postpone(worker, delivery, &failure, after).await;
                }
                Answer::Settled(answer)
            }
            None => self.give_up(worker, delivery, &failure).await.unwrap_or_else(|error| {
                tracing::warn!(job = %delivery.job, "not given up yet: {}", error.chain());
                Answer::Settled(Settlement::Requeue { after: self.config.ladder.pause })
            }),
        }
    }

    /// Works beside the other jobs, or alone. Only as long as it works: what comes after may wait for a broker.
    async fn in_company(&self, worker: &Worker, delivery: &Delivery, breaker: &Breaker) -> Result<(), StageError> {
        if !delivery.is_suspect {
            let _with_others = self.company.read().await;
            return self.work(worker, delivery, breaker).await;
        }
        if delivery.num_unanswered >= SUSPECT_DELIVERIES {
            return Err(StageError::crashed());
        }
        let _alone = self.company.write().await;
        self.work(worker, delivery, breaker).await
    }

    /// Tells those who wait for a sync that it failed and is tried again. If that cannot be told, it takes room until it is.
    async fn postpone(&self, worker: &Worker, delivery: &Delivery, failure: &StageError, after: Duration) {
        let (Worker::Sync(syncer), Job::Sync(job)) = (worker, &delivery.job) else { return };
        if let Err(error) = syncer.postponed(job, failure.code.to_owned(), failure.chain(), after).await {
            tracing::warn!(job = %delivery.job, "could not record that it is tried again: {}", error.chain());
        }
    }

    /// Makes a job's dead letter and then records that it failed, so that a process that dies in between leaves a letter more,
    /// and none less. A job that nobody waits for any more is done with: its run was cancelled, or a copy of it was faster.
    async fn give_up(&self, worker: &Worker, delivery: &Delivery, failure: &StageError) -> Result<Answer, StageError> {
        if !self.is_awaited(worker, &delivery.job).await? {
            return Ok(Answer::Settled(Settlement::Ack));
        }
        let is_new_failure = is_new_failure(worker, &delivery.job, failure).await?;
        if is_new_failure {
            self.broker.dead_letter(delivery.tag, failure.code, &failure.chain()).await?;
        }
        // From here on only the record is tried again: with the job there would come another letter.
        let give_back_at = self.clock.monotonic() + self.config.ladder.longest_pause;
        while let Err(error) = self.record(worker, delivery, failure).await {
            if self.clock.monotonic() >= give_back_at {
                return Err(error);
            }
            tracing::warn!(job = %delivery.job, "its failure is not recorded yet: {}", error.chain());
            tokio::time::sleep(self.config.ladder.pause).await;
        }
        Ok(if is_new_failure { Answer::GivenUp } else { Answer::Settled(Settlement::Ack) })
    }

    async fn is_awaited(&self, worker: &Worker, job: &Job) -> Result<bool, StageError> {
        match (worker, job) {
            (Worker::Sync(syncer), Job::Sync(job)) => syncer.is_awaited(job).await,
            (Worker::Stage(_), Job::Sync(_)) => Ok(true),
            (_, Job::Part(job)) => Ok(!self.is_part_over(job).await?),
        }
    }

    /// Records that a job failed for good, unless nobody waits for it any more.
    async fn record(&self, worker: &Worker, delivery: &Delivery, failure: &StageError) -> Result<(), StageError> {
        if !self.is_awaited(worker, &delivery.job).await? {
            return Ok(());
        }
        let (code, message) = (failure.code.to_owned(), failure.chain());
        match (worker, &delivery.job) {
            (Worker::Sync(syncer), Job::Sync(job)) => syncer.failed(job, code, message).await,
            (Worker::Stage(_), Job::Sync(_)) => Ok(()),
            (_, Job::Part(job)) => {
                let end = PartEnd::Failed { code, message };
                self.end(delivery.lane, job, end, &PartReport::default()).await
            }
        }
    }

    /// While a dependency is not there, the job waits in hand: it comes to no harm, and climbs no ladder.
    async fn work(&self, worker: &Worker, delivery: &Delivery, breaker: &Breaker) -> Result<(), StageError> {
        let give_back_at = self.clock.monotonic() + self.config.ladder.longest_pause;
        loop {
            let Some(pass) = breaker.pass().await else { return Err(StageError::leaving()) };
            match self.attempt(worker, delivery).await {
                Err(error) => match error.class {
                    ErrorClass::Pause { retry_after } => {
                        pass.failed(retry_after, error.chain());
                        if self.clock.monotonic() >= give_back_at {
                            return Err(error);
                        }
                        tracing::info!(job = %delivery.job, code = error.code, "waits: {}", error.chain());
                    }
                    _ => {
                        pass.ended();
                        return Err(error);
                    }
                },
                Ok(()) => {
                    pass.ended();
                    return Ok(());
                }
            }
        }
    }

    async fn attempt(&self, worker: &Worker, delivery: &Delivery) -> Result<(), StageError> {
        match (worker, &delivery.job) {
            (Worker::Stage(stage), Job::Part(job)) => self.work_on_part(stage.as_ref(), delivery.lane, job).await,
            // Has no deadline as a whole: each of its steps has one, and the lease fences off whoever is too late.
            (Worker::Sync(syncer), Job::Sync(job)) => self.sync(syncer.as_ref(), job).await,
            (worker, job) => {
                let message = format!("`{job}` is not for the workers of stage `{}`", worker.stage().as_str());
                Err(StageError::permanent(ErrorKind::Invalid.code(), message))
            }
        }
    }
}

/// Whether a failure makes a dead letter: a source that is gone makes one, not one with each tick. Of what was tried several
/// times, the outcome before is its own last attempt.
async fn is_new_failure(worker: &Worker, job: &Job, failure: &StageError) -> Result<bool, StageError> {
    match (worker, job) {
        (Worker::Sync(syncer), Job::Sync(job)) if failure.class == ErrorClass::Permanent => {
            syncer.is_new_failure(job, failure.code).await
        }
        _ => Ok(true),
    }
}

/// Returns when it is time to leave; never if nobody can say so any more.
async fn wait_for_signal(leave: &mut watch::Receiver<bool>) {
    if leave.wait_for(|leave| *leave).await.is_err() {
        std::future::pending::<()>().await;
    }
}
