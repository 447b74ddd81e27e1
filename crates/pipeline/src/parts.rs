//! Does the work of a job, ends its part and publishes the next jobs.

use std::time::Duration;

use cairn_domain::{Lane, MessageId, PartEnd, PartId, RunId, RunState, StageName};
use cairn_faults::{fail_point, poison_point};
use cairn_ports::{BrokerError, ErrorKind, FailureCode, Ledger, LedgerRead, PartStatus};
use cairn_wire::{Job, PartJob, PartReport, SyncJob};

use crate::deadline::{Deadline, while_active};
use crate::runner::Runner;
use crate::{Stage, StageError, Syncer, Task, trace};

/// How long a handler tries to publish the next jobs. If this time is not enough, the coordinator publishes
/// the jobs from the outbox.
const HANDED_OVER_WITHIN: Duration = Duration::from_secs(2);

impl<L: Ledger + LedgerRead + 'static> Runner<L> {
    pub(crate) async fn sync(&self, syncer: &dyn Syncer, job: &SyncJob) -> Result<(), StageError> {
        fail_point!("pipeline::before_sync", |message| Err(StageError::injected(message)));
        if let Some(run) = syncer.sync(job).await? {
            fail_point!("pipeline::synced", |message| Err(StageError::injected(message)));
            tracing::Span::current().record("run", run.generation.0);
            self.start(run, MessageId::derive_sync(job.repository, job.request)).await;
        }
        Ok(())
    }

    pub(crate) async fn work_on_part(&self, stage: &dyn Stage, lane: Lane, job: &PartJob) -> Result<(), StageError> {
        // The clock is read before the status of the part. If the process is suspended between the two reads,
        // this time counts towards the deadline.
        let started = self.clock.monotonic();
        let status = match self.ledger.part_status(job.run, job.part).await {
            // The repository was deleted and its records were removed.
            Err(error) if error.kind == ErrorKind::NotFound => return Err(StageError::cancelled()),
            status => status?,
        };
        if is_over(&status) {
            return Err(StageError::cancelled());
        }
        fail_point!("pipeline::before_work", |message| Err(StageError::injected(message)));
        poison_point!("{} of run {}", job.part, job.run);
        let task = Task::new(job, status.aborted);
        let mut report = self.work_while_active(started, job, stage.run(&task)).await?;
        report.duration_ms = (self.clock.monotonic() - started).as_millis() as u64;
        fail_point!("pipeline::worked", |message| Err(StageError::injected(message)));
        self.end(lane, job, PartEnd::Done, &report).await
    }

    async fn work_while_active(
        &self,
        started: Duration,
        job: &PartJob,
        working: impl Future<Output = Result<PartReport, StageError>>,
    ) -> Result<PartReport, StageError> {
        let deadline = Deadline::new(started, self.config.deadline);
        let now = || self.clock.monotonic();
        let pause = || tokio::time::sleep(deadline.pause());
        let is_active = || async {
            let is_over = tokio::time::timeout(deadline.pause(), self.is_part_over(job)).await.ok()?;
            is_over
                .inspect_err(|error| tracing::info!(job = %job.part, run = %job.run, "{}", error.chain()))
                .ok()
                .map(|is_over| !is_over)
        };
        let longest = deadline.in_all(job.part.stage, self.config.longest);
        while_active(&deadline, longest, now, pause, is_active, working).await
    }

    /// Ends the part, and then publishes the jobs of the parts that may start now. If the part has failed and
    /// its stage is not `parse`, the run is aborted instead. A successful publish part is not ended here,
    /// because the catalogue's transaction has already ended it with the run.
    pub(crate) async fn end(
        &self,
        lane: Lane,
        job: &PartJob,
        end: PartEnd,
        report: &PartReport,
    ) -> Result<(), StageError> {
        if let (true, PartEnd::Failed { code, message }) = (fails_the_run(job.part.stage), &end) {
            return self.abort(job.run, &message_for_tenants(job.part, *code, message)).await;
        }
        let now_ms = self.clock.now_ms();
        let next = match self.ledger.end_part(job.run, job.part, end, report.to_json(), now_ms).await {
            Ok(next) => next,
            // The run ended during the work, or its repository was deleted and its records were removed.
            Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        fail_point!("pipeline::ended", |message| Err(StageError::injected(message)));
        let message = MessageId::derive(job.run, job.part);
        if let Err(error) = trace::within(job.run, message, self.publish(lane, job, next)).await {
            // The outbox contains the next jobs, so there is no reason to run the part again.
            tracing::warn!(job = %job.part, run = %job.run, "the next jobs are not published yet: {}", error.chain());
        }
        Ok(())
    }

    /// Publishes the jobs of the first parts of a run. Jobs that are not published stay in the outbox.
    async fn start(&self, run: RunId, sync: MessageId) {
        let started = async {
            let (record, ready) = (self.ledger.run(run).await?, self.ledger.ready(run).await?);
            match ready.first() {
                Some(first) => self.publish(record.lane, &record.job(*first), ready).await,
                None => Ok(()),
            }
        };
        if let Err(error) = trace::within(run, sync, started).await {
            tracing::warn!(%run, "the first parts of the run are not published yet: {}", error.chain());
        }
    }

    async fn publish(&self, lane: Lane, job: &PartJob, parts: Vec<PartId>) -> Result<(), StageError> {
        if parts.is_empty() {
            return Ok(());
        }
        let jobs = parts.iter().map(|part| Job::Part(PartJob { part: *part, ..job.clone() })).collect();
        self.hand_over(lane, jobs).await?;
        fail_point!("pipeline::published", |message| Err(StageError::injected(message)));
        if let Some(outbox) = &self.outbox {
            outbox.sent(job.run, &parts).await?;
        }
        Ok(())
    }

    /// Publishes the jobs. A broker may refuse all jobs for a while, for example because an alarm blocks
    /// publishers. If an outbox exists, this function does not wait long for such a broker, so that the
    /// worker can run other jobs.
    async fn hand_over(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), StageError> {
        let publishing = self.broker.publish(lane, jobs);
        if self.outbox.is_none() {
            return Ok(publishing.await?);
        }
        let outcome = tokio::time::timeout(HANDED_OVER_WITHIN, publishing).await;
        Ok(outcome.unwrap_or_else(|_| Err(BrokerError::new(ErrorKind::Timeout, "publish", "the next jobs")))?)
    }

    /// Whether the part needs no more work: its run has ended, another copy of the job has ended the part, or
    /// no store contains the run.
    pub(crate) async fn is_part_over(&self, job: &PartJob) -> Result<bool, StageError> {
        match self.ledger.part_status(job.run, job.part).await {
            Ok(status) => Ok(is_over(&status)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    async fn abort(&self, run: RunId, message: &str) -> Result<(), StageError> {
        match self.ledger.abort(run, RunState::Failed, message, self.clock.now_ms()).await {
            Err(error) if !matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn is_over(status: &PartStatus) -> bool {
    status.state != RunState::Running || status.is_ended
}

/// The message that tenants see for a run that failed. The chain of causes names stores and generations, so
/// tenants do not see it: it is only in the log and in the dead letter. An exception is the code
/// `over_budget`: its text is written for tenants, and contains the measured number, the limit and the
/// remedy.
fn message_for_tenants(part: PartId, code: FailureCode, chain: &str) -> String {
    if code == FailureCode::OverBudget {
        return format!("{part} failed with {code}: {chain}");
    }
    format!("{part} failed with {code}")
}

/// If a pack cannot be parsed, only its files are missing from the index, and the result lists these files.
/// If a part of any other stage fails, the run fails and the old generation stays published, because the
/// records of the new generation would be inconsistent.
fn fails_the_run(stage: StageName) -> bool {
    stage != StageName::Parse
}
