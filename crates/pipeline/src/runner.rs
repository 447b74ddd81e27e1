//! The loop around every stage.

use std::sync::Arc;
use std::time::Duration;

use cairn_domain::{Lane, PartEnd, RunId, RunState, StageName};
use cairn_ports::{Broker, Clock, Delivery, ErrorKind, Ledger, LedgerRead, Settlement};
use cairn_wire::{Job, PartJob, PartReport};
use tokio::task::JoinSet;

use crate::settle::{RetryLadder, settlement};
use crate::{Stage, StageError, Task};

#[derive(Clone, Debug)]
pub struct RunnerConfig {
    /// Parts of one stage that are worked on at a time.
    pub concurrency: usize,
    /// How long a handler may write to stores.
    pub deadline: Duration,
    pub ladder: RetryLadder,
}

/// Takes jobs of its stages from the broker until it is closed.
pub struct Runner<L> {
    broker: Arc<dyn Broker>,
    ledger: Arc<L>,
    clock: Arc<dyn Clock>,
    config: RunnerConfig,
}

impl<L: Ledger + LedgerRead + 'static> Runner<L> {
    pub fn new(broker: Arc<dyn Broker>, ledger: Arc<L>, clock: Arc<dyn Clock>, config: RunnerConfig) -> Arc<Self> {
        Arc::new(Self { broker, ledger, clock, config })
    }

    /// Works on the stages until the broker is closed. An error of the broker itself ends it; whoever supervises the
    /// connection starts it again.
    pub async fn run(self: Arc<Self>, stages: Vec<Arc<dyn Stage>>) -> Result<(), StageError> {
        let mut consumers = JoinSet::new();
        for stage in stages {
            for _ in 0..self.config.concurrency {
                consumers.spawn(Arc::clone(&self).consume(Arc::clone(&stage)));
            }
        }
        while let Some(consumer) = consumers.join_next().await {
            consumer.map_err(|error| StageError::panicked(error.to_string()))??;
        }
        Ok(())
    }

    async fn consume(self: Arc<Self>, stage: Arc<dyn Stage>) -> Result<(), StageError> {
        while let Some(delivery) = self.broker.receive(stage.name()).await? {
            let answer = self.handle(stage.as_ref(), &delivery).await;
            self.broker.settle(delivery.tag, answer).await?;
        }
        Ok(())
    }

    /// Everything from a delivery to the answer. Does not fail: a failure is an answer.
    async fn handle(&self, stage: &dyn Stage, delivery: &Delivery) -> Settlement {
        let Job::Part(job) = &delivery.job else {
            let message = format!("`{}` is not for the workers of stage `{}`", delivery.job, stage.name().as_str());
            return Settlement::DeadLetter { code: ErrorKind::Invalid.code().to_owned(), message };
        };
        let failure = match self.work(stage, delivery.lane, job).await {
            Ok(()) => return Settlement::Ack,
            Err(error) if error.class == cairn_ports::ErrorClass::Cancelled => return Settlement::Ack,
            Err(error) => error,
        };
        let answer = settlement(&failure, delivery, &self.config.ladder);
        tracing::warn!(run = %job.run, part = %job.part, code = failure.code, "{}", failure.chain());
        if let Settlement::DeadLetter { code, message } = &answer {
            let end = PartEnd::Failed { code: code.clone(), message: message.clone() };
            if let Err(error) = self.end(delivery.lane, job, end, &PartReport::default()).await {
                tracing::warn!(run = %job.run, part = %job.part, "could not record the failure: {}", error.chain());
                return Settlement::Requeue { after: self.config.ladder.pause };
            }
        }
        answer
    }

    async fn work(&self, stage: &dyn Stage, lane: Lane, job: &PartJob) -> Result<(), StageError> {
        let run = self.ledger.run(job.run).await?;
        if run.state != RunState::Running {
            return Err(StageError::cancelled());
        }
        let task = Task::new(job, run.aborted);
        let started = self.clock.monotonic();
        let worked = tokio::time::timeout(self.config.deadline, stage.run(&task)).await;
        let mut report = worked.unwrap_or_else(|_| Err(StageError::timed_out(self.config.deadline)))?;
        report.duration_ms = (self.clock.monotonic() - started).as_millis() as u64;
        self.end(lane, job, PartEnd::Done, &report).await
    }

    /// Ends the part, then publishes what may start because of it. Publishing a run is its own end: the catalogue's
    /// transaction ends that part with the run.
    async fn end(&self, lane: Lane, job: &PartJob, end: PartEnd, report: &PartReport) -> Result<(), StageError> {
        if let (true, PartEnd::Failed { code, message }) = (fails_the_run(job.part.stage), &end) {
            let message = format!("{} failed with {code}: {message}", job.part);
            return self.abort(job.run, &message).await;
        }
        let next = match self.ledger.end_part(job.run, job.part, end, report.to_json()).await {
            Ok(next) => next,
            Err(error) if error.kind == ErrorKind::Conflict => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let jobs = next.into_iter().map(|part| Job::Part(PartJob { part, ..job.clone() })).collect();
        Ok(self.broker.publish(lane, jobs).await?)
    }

    async fn abort(&self, run: RunId, message: &str) -> Result<(), StageError> {
        match self.ledger.abort(run, RunState::Failed, message, self.clock.now_ms()).await {
            Err(error) if error.kind != ErrorKind::Conflict => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// A pack that cannot be parsed costs its files, which are listed. Without the other stages a generation would show
/// things that contradict each other: then the old one stays.
fn fails_the_run(stage: StageName) -> bool {
    stage != StageName::Parse
}
