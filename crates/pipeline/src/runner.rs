//! The runner: the loop that takes deliveries, runs the worker, and answers the broker.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use cairn_domain::{Lane, PartEnd, StageName};
use cairn_faults::fail_point;
use cairn_ports::{
    Broker, Clock, Delivery, ErrorClass, ErrorKind, FailureCode, Ledger, LedgerRead, Outbox, PostponedPart, Settlement,
};
use cairn_wire::{Job, PartJob, PartReport};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::Instrument;

use crate::breaker::Breaker;
use crate::isolation::{Isolation, attempt_isolated};
use crate::measure::{self, InHand, span};
use crate::settle::{RetryLadder, Settled, settlement};
use crate::{Stage, StageError, Syncer};

#[derive(Clone, Debug)]
pub struct RunnerConfig {
    /// Maximum number of jobs of one stage that are in progress at the same time.
    pub concurrency: usize,
    /// How long a handler may write to stores after the last check that found its run active.
    pub deadline: Duration,
    /// How long a handler may take in total. This time must be shorter than the time for which the broker
    /// waits for an answer.
    pub longest: Duration,
    pub ladder: RetryLadder,
}

/// The code that runs the jobs of one stage.
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

/// Takes jobs from the broker and gives them to its workers, until the broker is closed.
pub struct Runner<L> {
    pub(crate) broker: Arc<dyn Broker>,
    pub(crate) ledger: Arc<L>,
    /// `None` if jobs do not outlive the process: then the code that drives the run publishes lost jobs
    /// again.
    pub(crate) outbox: Option<Arc<dyn Outbox>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: RunnerConfig,
    /// Runs suspects in child processes. The field is not set if jobs do not outlive the process.
    isolation: OnceLock<Arc<dyn Isolation>>,
    /// Locked while a suspect runs, so that only one suspect runs at a time.
    suspect: tokio::sync::Mutex<()>,
    /// The breaker of each stage that has a worker.
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
        Arc::new(Self {
            broker,
            ledger,
            outbox,
            clock,
            config,
            isolation: OnceLock::new(),
            suspect: tokio::sync::Mutex::default(),
            breakers: Mutex::default(),
        })
    }

    /// Makes the runner use `isolation` for suspects. Only the first call has an effect.
    pub fn isolate(&self, isolation: Arc<dyn Isolation>) {
        let _is_set_before = self.isolation.set(isolation);
    }

    /// Runs one attempt at a job that this process did not receive from the broker. A child process for
    /// suspects uses this method.
    pub async fn attempt_alone(&self, worker: &Worker, lane: Lane, job: &Job) -> Result<(), StageError> {
        self.attempt_here(worker, lane, job).await
    }

    /// Runs jobs until the broker is closed and every job in progress is answered. If the broker fails, this
    /// method returns the error, and the supervisor of the connection calls the method again.
    pub async fn run(self: Arc<Self>, workers: Vec<Worker>) -> Result<(), StageError> {
        let (_stays, leave) = watch::channel(false);
        self.run_until(workers, leave).await
    }

    /// Does the same as `run`, but stops at once when `leave` becomes true. Jobs in progress go back to the
    /// queue unchanged, as if they had never been delivered. After the call returns, these workers receive no
    /// more jobs.
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

    /// Ends all waits for unavailable dependencies. The waiting jobs go back to the queue. When a process
    /// stops, it closes its broker first, and then calls this method.
    pub fn stop_waiting(&self) {
        for breaker in self.breakers().values() {
            breaker.close();
        }
    }

    /// For each stage that waits for a dependency, returns one line with the reason.
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
            () = wait_for_signal(leave) => Settled::By(Settlement::Requeue { after: Duration::ZERO }),
            answer = self.handle(worker, delivery, breaker) => answer,
        };
        fail_point!("pipeline::handled");
        match self.broker.settle(delivery.tag, answer.settlement()).await {
            Ok(()) => in_hand.answered(&answer),
            // The delivery was lost together with its connection. The job will be delivered again although
            // its work is already done.
            Err(error) if error.kind == ErrorKind::NotFound => {
                in_hand.lost();
                tracing::info!(job = %delivery.job, "the delivery of the job was lost before it was answered");
            }
            Err(error) => return Err(error.into()),
        }
        fail_point!("pipeline::acked");
        Ok(())
    }

    /// Handles a delivery and returns the answer for the broker. This function returns no error, because the
    /// broker must get an answer even after a failure.
    async fn handle(&self, worker: &Worker, delivery: &Delivery, breaker: &Breaker) -> Settled {
        let failure = match self.work(worker, delivery, breaker).await {
            Ok(()) => return Settled::By(Settlement::Ack),
            Err(error) if error.class == ErrorClass::Cancelled => return Settled::By(Settlement::Ack),
            Err(error) => error,
        };
        tracing::warn!(job = %delivery.job, code = %failure.code, "{}", failure.chain());
        match settlement(&failure, delivery, &self.config.ladder) {
            Some(answer) => {
                if let Settlement::Retry { after } = answer {
                    self.postpone(worker, delivery, &failure, after).await;
                }
                Settled::By(answer)
            }
            None => self.abandon(worker, delivery, &failure).await.unwrap_or_else(|error| {
                tracing::warn!(job = %delivery.job, "the job cannot be abandoned yet: {}", error.chain());
                Settled::By(Settlement::Requeue { after: self.config.ladder.pause })
            }),
        }
    }

    /// Stores the failure of an attempt and the time of the next attempt. If this step fails, the only effect
    /// is that a waiting sync counts as a sync in progress until its next attempt.
    async fn postpone(&self, worker: &Worker, delivery: &Delivery, failure: &StageError, after: Duration) {
        let recorded = match (worker, &delivery.job) {
            (Worker::Sync(syncer), Job::Sync(job)) => syncer.postponed(job, failure.code, failure.chain(), after).await,
            (Worker::Stage(_), Job::Part(job)) => self.postpone_part(job, failure, after).await,
            _ => Ok(()),
        };
        if let Err(error) = recorded {
            tracing::warn!(job = %delivery.job, "the next attempt at the job is not recorded: {}", error.chain());
        }
    }

    async fn postpone_part(&self, job: &PartJob, failure: &StageError, after: Duration) -> Result<(), StageError> {
        let Some(outbox) = &self.outbox else { return Ok(()) };
        let until_ms = self.clock.now_ms().saturating_add(i64::try_from(after.as_millis()).unwrap_or(i64::MAX));
        let postponed = PostponedPart { part: job.part, code: failure.code, until_ms };
        Ok(outbox.postponed(job.run, postponed).await?)
    }

    /// Publishes the job's dead letter, and then records the failure. If the process dies between these
    /// steps, a second dead letter may be published, but no dead letter is missing. If the job is no longer
    /// needed, because its run was cancelled or another copy of the job has ended the part, the job is only
    /// acknowledged.
    async fn abandon(&self, worker: &Worker, delivery: &Delivery, failure: &StageError) -> Result<Settled, StageError> {
        if !self.is_awaited(worker, &delivery.job).await? {
            return Ok(Settled::By(Settlement::Ack));
        }
        let is_new_failure = is_new_failure(worker, &delivery.job, failure).await?;
        if is_new_failure {
            self.broker.dead_letter(delivery.tag, failure.code, &failure.chain()).await?;
        }
        // From here on, only the step that records the failure is retried, because another attempt at the job
        // would publish another dead letter.
        let give_back_at = self.clock.monotonic() + self.config.ladder.longest_pause;
        while let Err(error) = self.record(worker, delivery, failure).await {
            if self.clock.monotonic() >= give_back_at {
                return Err(error);
            }
            tracing::warn!(job = %delivery.job, "the failure of the job is not recorded yet: {}", error.chain());
            tokio::time::sleep(self.config.ladder.pause).await;
        }
        Ok(if is_new_failure { Settled::Abandoned } else { Settled::By(Settlement::Ack) })
    }

    async fn is_awaited(&self, worker: &Worker, job: &Job) -> Result<bool, StageError> {
        match (worker, job) {
            (Worker::Sync(syncer), Job::Sync(job)) => syncer.is_awaited(job).await,
            (Worker::Stage(_), Job::Sync(_)) => Ok(true),
            (_, Job::Part(job)) => Ok(!self.is_part_over(job).await?),
        }
    }

    /// Stores the permanent failure of a job, unless the job is no longer needed.
    async fn record(&self, worker: &Worker, delivery: &Delivery, failure: &StageError) -> Result<(), StageError> {
        if !self.is_awaited(worker, &delivery.job).await? {
            return Ok(());
        }
        match (worker, &delivery.job) {
            (Worker::Sync(syncer), Job::Sync(job)) => syncer.failed(job, failure.code, failure.chain()).await,
            (Worker::Stage(_), Job::Sync(_)) => Ok(()),
            (_, Job::Part(job)) => {
                let end = PartEnd::Failed { code: failure.code, message: failure.chain() };
                self.end(delivery.lane, job, end, &PartReport::default()).await
            }
        }
    }

    /// Does the work of a delivery. While a dependency is unavailable, this process waits and tries the job
    /// again, and no attempt is counted.
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
                        tracing::info!(
                            job = %delivery.job,
                            code = %error.code,
                            "the job waits for a dependency: {}",
                            error.chain()
                        );
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
        match self.isolation.get().filter(|_| delivery.is_suspect) {
            Some(isolation) => {
                let _one_at_a_time = self.suspect.lock().await;
                attempt_isolated(isolation.as_ref(), delivery).await
            }
            None => self.attempt_here(worker, delivery.lane, &delivery.job).await,
        }
    }

    async fn attempt_here(&self, worker: &Worker, lane: Lane, job: &Job) -> Result<(), StageError> {
        match (worker, job) {
            (Worker::Stage(stage), Job::Part(job)) => self.work_on_part(stage.as_ref(), lane, job).await,
            // A sync has no total deadline. Each step of a sync has a deadline, and the lease prevents a late
            // worker from writing.
            (Worker::Sync(syncer), Job::Sync(job)) => self.sync(syncer.as_ref(), job).await,
            (worker, job) => {
                let message = format!("`{job}` is not for the workers of stage `{}`", worker.stage().as_str());
                Err(StageError::permanent(FailureCode::Invalid, message))
            }
        }
    }
}

/// Whether a failure creates a dead letter. If scheduled syncs fail repeatedly for the same reason, for
/// example because the source was removed, only the first failure creates a dead letter. Only permanent
/// failures are compared with the last outcome, because after any other failure, the last outcome may come
/// from an earlier attempt at the same job.
async fn is_new_failure(worker: &Worker, job: &Job, failure: &StageError) -> Result<bool, StageError> {
    match (worker, job) {
        (Worker::Sync(syncer), Job::Sync(job)) if failure.class == ErrorClass::Permanent => {
            syncer.is_new_failure(job, failure.code).await
        }
        _ => Ok(true),
    }
}

/// Returns when the signal becomes true. Never returns if the sender of the signal is dropped before that.
async fn wait_for_signal(leave: &mut watch::Receiver<bool>) {
    if leave.wait_for(|leave| *leave).await.is_err() {
        std::future::pending::<()>().await;
    }
}
