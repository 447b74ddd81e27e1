//! The loop around every stage.

use std::sync::Arc;
use std::time::Duration;

use cairn_domain::{Lane, PartEnd, PartId, RunId, RunState, StageName};
use cairn_faults::fail_point;
use cairn_ports::{Broker, Clock, Delivery, ErrorClass, ErrorKind, Ledger, LedgerRead, Outbox, Settlement};
use cairn_wire::{Job, PartJob, PartReport, SyncJob};
use tokio::sync::RwLock;
use tokio::task::JoinSet;

use crate::breaker::Breaker;
use crate::deadline::in_time;
use crate::settle::{RetryLadder, settlement};
use crate::{Stage, StageError, Syncer, Task};

/// Deliveries without an answer that a suspect gets: then it is given up as one that kills its worker.
const SUSPECT_DELIVERIES: u32 = 2;

#[derive(Clone, Debug)]
pub struct RunnerConfig {
    /// Jobs of one stage that are worked on at a time.
    pub concurrency: usize,
    /// How long a handler may write to stores.
    pub deadline: Duration,
    pub ladder: RetryLadder,
}

/// Who works on the jobs of a stage.
#[derive(Clone)]
pub enum Worker {
    Stage(Arc<dyn Stage>),
    Sync(Arc<dyn Syncer>),
}

impl Worker {
    fn stage(&self) -> StageName {
        match self {
            Worker::Stage(stage) => stage.name(),
            Worker::Sync(_) => StageName::Sync,
        }
    }
}

/// Takes jobs of its workers from the broker until it is closed.
pub struct Runner<L> {
    broker: Arc<dyn Broker>,
    ledger: Arc<L>,
    /// None where jobs cannot outlive the process and who drives the run looks after what was not published.
    outbox: Option<Arc<dyn Outbox>>,
    clock: Arc<dyn Clock>,
    config: RunnerConfig,
    /// Held by all handlers, and by a suspect's alone: what kills the process kills no other job's work.
    company: RwLock<()>,
}

impl<L: Ledger + LedgerRead + 'static> Runner<L> {
    pub fn new(
        broker: Arc<dyn Broker>,
        ledger: Arc<L>,
        outbox: Option<Arc<dyn Outbox>>,
        clock: Arc<dyn Clock>,
        config: RunnerConfig,
    ) -> Arc<Self> {
        Arc::new(Self { broker, ledger, outbox, clock, config, company: RwLock::new(()) })
    }

    /// Works until the broker is closed and every job in hand is answered. An error of the broker itself ends it; whoever
    /// supervises the connection starts it again.
    pub async fn run(self: Arc<Self>, workers: Vec<Worker>) -> Result<(), StageError> {
        let mut consumers = JoinSet::new();
        for worker in workers {
            let breaker = Arc::new(Breaker::new(self.config.ladder.pause));
            for _ in 0..self.config.concurrency {
                consumers.spawn(Arc::clone(&self).consume(worker.clone(), Arc::clone(&breaker)));
            }
        }
        while let Some(consumer) = consumers.join_next().await {
            consumer.map_err(|error| StageError::panicked(error.to_string()))??;
        }
        Ok(())
    }

    async fn consume(self: Arc<Self>, worker: Worker, breaker: Arc<Breaker>) -> Result<(), StageError> {
        while let Some(delivery) = self.broker.receive(worker.stage()).await? {
            fail_point!("pipeline::delivered");
            let answer = self.in_company(&worker, &delivery, &breaker).await;
            fail_point!("pipeline::handled");
            match self.broker.settle(delivery.tag, answer).await {
                // The delivery was lost with its connection. The job comes again, and finds its work done.
                Err(error) if error.kind == ErrorKind::NotFound => {
                    tracing::info!(job = %delivery.job, "its delivery was lost before it was answered");
                }
                settled => settled?,
            }
            fail_point!("pipeline::acked");
        }
        Ok(())
    }

    async fn in_company(&self, worker: &Worker, delivery: &Delivery, breaker: &Breaker) -> Settlement {
        if delivery.is_suspect {
            let _alone = self.company.write().await;
            return self.handle(worker, delivery, breaker).await;
        }
        let _with_others = self.company.read().await;
        self.handle(worker, delivery, breaker).await
    }

    /// Everything from a delivery to the answer. Does not fail: a failure is an answer.
    async fn handle(&self, worker: &Worker, delivery: &Delivery, breaker: &Breaker) -> Settlement {
        let failure = if delivery.is_suspect && delivery.num_unanswered >= SUSPECT_DELIVERIES {
            StageError::crashed()
        } else {
            match self.work(worker, delivery, breaker).await {
                Ok(()) => return Settlement::Ack,
                Err(error) if error.class == ErrorClass::Cancelled => return Settlement::Ack,
                Err(error) => error,
            }
        };
        let answer = settlement(&failure, delivery, &self.config.ladder);
        tracing::warn!(job = %delivery.job, code = failure.code, "{}", failure.chain());
        match &answer {
            Settlement::DeadLetter { code, message } => {
                self.give_up(worker, delivery, code, message, answer.clone()).await
            }
            _ => answer,
        }
    }

    /// Records that a job failed for good; a job whose failure cannot be recorded comes back.
    async fn give_up(
        &self,
        worker: &Worker,
        delivery: &Delivery,
        code: &str,
        message: &str,
        answer: Settlement,
    ) -> Settlement {
        let (code, message) = (code.to_owned(), message.to_owned());
        let recorded = match (worker, &delivery.job) {
            (Worker::Sync(syncer), Job::Sync(job)) => syncer.failed(job, code, message).await,
            (_, Job::Part(job)) => {
                self.end(delivery.lane, job, PartEnd::Failed { code, message }, &PartReport::default()).await
            }
            (Worker::Stage(_), Job::Sync(_)) => Ok(()),
        };
        match recorded {
            Ok(()) => answer,
            Err(error) => {
                tracing::warn!(job = %delivery.job, "could not record the failure: {}", error.chain());
                Settlement::Requeue { after: self.config.ladder.pause }
            }
        }
    }

    /// While a dependency is not there, the job waits in hand: it comes to no harm, and climbs no ladder.
    async fn work(&self, worker: &Worker, delivery: &Delivery, breaker: &Breaker) -> Result<(), StageError> {
        let give_back_at = self.clock.monotonic() + self.config.ladder.longest_pause;
        loop {
            let pass = breaker.pass().await;
            match self.attempt(worker, delivery).await {
                Err(error) => match error.class {
                    ErrorClass::Pause { retry_after } => {
                        pass.failed(retry_after);
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

    async fn sync(&self, syncer: &dyn Syncer, job: &SyncJob) -> Result<(), StageError> {
        fail_point!("pipeline::before_sync", |said| Err(StageError::occupied(said)));
        if let Some(run) = syncer.sync(job).await? {
            fail_point!("pipeline::synced", |said| Err(StageError::occupied(said)));
            self.start(run).await;
        }
        Ok(())
    }

    async fn work_on_part(&self, stage: &dyn Stage, lane: Lane, job: &PartJob) -> Result<(), StageError> {
        let standing = match self.ledger.standing(job.run, job.part).await {
            // The repository was deleted and forgotten.
            Err(error) if error.kind == ErrorKind::NotFound => return Err(StageError::cancelled()),
            standing => standing?,
        };
        if standing.state != RunState::Running || standing.is_ended {
            return Err(StageError::cancelled());
        }
        fail_point!("pipeline::before_work", |said| Err(StageError::occupied(said)));
        let task = Task::new(job, standing.aborted);
        let started = self.clock.monotonic();
        let is_late = || self.clock.monotonic() >= started + self.config.deadline;
        let worked = tokio::time::timeout(self.config.deadline, in_time(is_late, stage.run(&task))).await;
        let mut report = worked.ok().flatten().unwrap_or_else(|| Err(StageError::timed_out(self.config.deadline)))?;
        report.duration_ms = (self.clock.monotonic() - started).as_millis() as u64;
        fail_point!("pipeline::worked", |said| Err(StageError::occupied(said)));
        self.end(lane, job, PartEnd::Done, &report).await
    }

    /// Ends the part, then publishes what may start because of it. Publishing a run is its own end: the catalogue's
    /// transaction ends that part with the run.
    async fn end(&self, lane: Lane, job: &PartJob, end: PartEnd, report: &PartReport) -> Result<(), StageError> {
        if let (true, PartEnd::Failed { code, message }) = (fails_the_run(job.part.stage), &end) {
            let message = format!("{} failed with {code}: {message}", job.part);
            return self.abort(job.run, &message).await;
        }
        let now_ms = self.clock.now_ms();
        let next = match self.ledger.end_part(job.run, job.part, end, report.to_json(), now_ms).await {
            Ok(next) => next,
            // The run ended meanwhile, or its repository was deleted and forgotten.
            Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        fail_point!("pipeline::ended", |said| Err(StageError::occupied(said)));
        if let Err(error) = self.publish(lane, job, next).await {
            // They stand in the outbox; doing the part again would bring nothing.
            tracing::warn!(job = %job.part, run = %job.run, "what follows is not published yet: {}", error.chain());
        }
        Ok(())
    }

    /// Publishes the first parts of a run. What is not published stands in the outbox.
    async fn start(&self, run: RunId) {
        let started = async {
            let (record, ready) = (self.ledger.run(run).await?, self.ledger.ready(run).await?);
            match ready.first() {
                Some(first) => self.publish(record.lane, &record.job(*first), ready).await,
                None => Ok(()),
            }
        };
        if let Err(error) = started.await {
            tracing::warn!(%run, "its first parts are not published yet: {}", error.chain());
        }
    }

    async fn publish(&self, lane: Lane, job: &PartJob, parts: Vec<PartId>) -> Result<(), StageError> {
        if parts.is_empty() {
            return Ok(());
        }
        let jobs = parts.iter().map(|part| Job::Part(PartJob { part: *part, ..job.clone() })).collect();
        self.broker.publish(lane, jobs).await?;
        fail_point!("pipeline::published", |said| Err(StageError::occupied(said)));
        if let Some(outbox) = &self.outbox {
            outbox.sent(job.run, &parts).await?;
        }
        Ok(())
    }

    async fn abort(&self, run: RunId, message: &str) -> Result<(), StageError> {
        match self.ledger.abort(run, RunState::Failed, message, self.clock.now_ms()).await {
            Err(error) if !matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// A pack that cannot be parsed costs its files, which are listed. Without the other stages a generation would show
/// things that contradict each other: then the old one stays.
fn fails_the_run(stage: StageName) -> bool {
    stage != StageName::Parse
}
