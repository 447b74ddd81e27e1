//! Workers that process parts.
//!
//! The production runner waits on tokio's clock, so this file executes the same steps in the same order. A
//! worker checks that the run is active, works while it is active, ends the part, publishes the next parts,
//! and answers. The worker may end or stop between any two of these steps. Writes that a worker has already
//! sent still arrive at a store. After its deadline, a worker sends no more writes.

use std::sync::Arc;
use std::time::Duration;

use cairn_domain::{FailureCode, PartEnd, PartId, PublishedSeq, RunId, RunState, StageName};
use cairn_pipeline::{Deadline, StageError, Task, while_active};
use cairn_ports::{
    Catalogue, ErrorClass, ErrorKind, Ledger, LedgerError, LedgerRead, Outbox, PartStatus, PublishedGeneration,
};
use cairn_wire::{Job, PartJob, RunResult};

use crate::broker;
use crate::mutants::Mutant;
use crate::records::{Records, Write};
use crate::source::{Manifest, Plan, artifact};
use crate::world::World;

const DEADLINE: Duration = Duration::from_secs(300);
const LONGEST: Duration = Duration::from_secs(1200);
/// The maximum time between sending a write and its arrival.
const LONGEST_WAY_MS: u64 = 20_000;

pub async fn work(world: &Arc<World>, job: &PartJob) -> Result<(), StageError> {
    let now = || Duration::from_millis(world.now().unsigned_abs());
    let deadline = Deadline::new(now(), DEADLINE);
    let Some(status) = active(world, job).await? else { return Ok(()) };
    let Some(plan) = world.environment.history().plan(&job.plan.key).cloned() else {
        return Err(StageError::permanent(FailureCode::Corrupt, "no plan"));
    };
    let task = Task::new(job, status.aborted);
    let part = Part { world, plan, task };
    let pause = || world.schedule().sleep(deadline.pause().as_millis() as u64);
    let is_active = || async { active(world, job).await.ok().map(|status| status.is_some()) };
    let is_patient = world.environment.has(Mutant::PublishingHasNoDeadline);
    let longest = if is_patient { LONGEST } else { deadline.in_all(job.part.stage, LONGEST) };
    match while_active(&deadline, longest, now, pause, is_active, part.run()).await {
        Err(error) if error.class == ErrorClass::Cancelled => Ok(()),
        worked => {
            worked?;
            end(world, job, PartEnd::Done).await
        }
    }
}

/// The status of a part if the run is active and the part has not ended; None otherwise.
async fn active(world: &Arc<World>, job: &PartJob) -> Result<Option<PartStatus>, StageError> {
    match world.runs.part_status(job.run, job.part).await {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        status => Ok(Some(status?).filter(|status| status.state == RunState::Running && !status.is_ended)),
    }
}

/// Abandons a part. In the stage parse, the files of the part are listed as failed. In any other stage, the
/// run fails.
pub async fn failed(world: &Arc<World>, job: &PartJob, code: FailureCode, message: String) -> Result<(), StageError> {
    if job.part.stage == StageName::Parse {
        return end(world, job, PartEnd::Failed { code, message }).await;
    }
    over(world.runs.abort(job.run, RunState::Failed, &message, world.now()).await)
}

/// Ignores the error if another process has already ended the run.
fn over(outcome: Result<(), LedgerError>) -> Result<(), StageError> {
    match outcome {
        Err(error) if !matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => Err(error.into()),
        _ => Ok(()),
    }
}

async fn end(world: &Arc<World>, job: &PartJob, end: PartEnd) -> Result<(), StageError> {
    let next = match world.runs.end_part(job.run, job.part, end, String::new(), world.now()).await {
        Ok(next) => next,
        Err(error) => return over(Err(error)),
    };
    let jobs: Vec<Job> = next.iter().map(|part| Job::Part(PartJob { part: *part, ..job.clone() })).collect();
    // If the jobs cannot be published, they stay in the outbox.
    if !jobs.is_empty() && broker::publish(world, jobs).await.is_ok() {
        let _published_again = world.runs.sent(job.run, &next).await;
    }
    Ok(())
}

struct Part<'a> {
    world: &'a Arc<World>,
    plan: Plan,
    task: Task,
}

impl Part<'_> {
    async fn run(&self) -> Result<(), StageError> {
        let changed = || self.plan.packs.iter().flatten().copied();
        match self.task.part.stage {
            StageName::Parse => self.parse().await,
            StageName::Embed => self.stage(0, self.plan.packs[self.task.part.number as usize].clone()).await,
            StageName::Retire => self.stage(0, self.plan.gone.clone()).await,
            StageName::Link => self.stage(1, changed().chain(self.plan.gone.iter().copied()).collect()).await,
            _ => self.publish().await,
        }
    }

    async fn parse(&self) -> Result<(), StageError> {
        let schedule = self.world.schedule();
        schedule.step().await;
        if schedule.chance(schedule.faults().poison) {
            return Err(StageError::permanent(FailureCode::Corrupt, "the pack cannot be parsed"));
        }
        Ok(())
    }

    /// The files in packs that could not be parsed.
    async fn failed_files(&self) -> Result<Vec<u32>, StageError> {
        let parts = self.world.runs.parts(self.task.run).await?;
        let failed = parts.into_iter().filter(|part| matches!(part.end, Some(PartEnd::Failed { .. })));
        let packs = failed.filter(|part| part.id.stage == StageName::Parse).map(|part| part.id.number as usize);
        Ok(packs.flat_map(|number| self.plan.packs[number].clone()).collect())
    }

    /// Compares the files with those of the published generation, and stages the differences.
    async fn stage(&self, store: usize, files: Vec<u32>) -> Result<(), StageError> {
        let (run, failed) = (self.task.run, self.failed_files().await?);
        let view = self.world.runs.view().await?;
        self.world.schedule().step().await;
        let before = self.world.environment.rows(store).visible(&view, run.repository);
        let mut writes = Vec::new();
        for file in files {
            let now = self.plan.content.get(&file).filter(|_| !failed.contains(&file)).copied();
            let before = before.version(file);
            if now != before {
                writes.extend(now.map(|version| Write::Insert { file, version }));
                writes.extend(before.map(|_| Write::Retire { file }));
            }
        }
        for write in writes {
            self.write(store, write).await?;
        }
        Ok(())
    }

    /// Sends a write, and waits until the store has received it.
    async fn write(&self, store: usize, write: Write) -> Result<(), StageError> {
        let schedule = self.world.schedule();
        schedule.step().await;
        let way_ms = schedule.random(if schedule.random(20) == 0 { LONGEST_WAY_MS } else { 50 });
        let (records, staging, own) =
            (Records::new(&self.world.environment, store), self.task.staging(), Arc::clone(schedule));
        schedule.spawn(async move {
            own.sleep(way_ms).await;
            records.write(&staging, write);
        });
        schedule.sleep(way_ms + 1).await;
        schedule.step().await;
        Ok(())
    }

    async fn publish(&self) -> Result<(), StageError> {
        let failed = self.failed_files().await?;
        let mut content = self.plan.content.clone();
        content.retain(|file, _| !failed.contains(file));
        let state = if failed.is_empty() { RunState::Published } else { RunState::Partial };
        let manifest = Manifest { is_some: true, content, failed: failed.into_iter().collect() };
        let manifest = artifact(&self.world.keep_manifest(manifest));
        let run: RunId = self.task.run;
        let published = PublishedGeneration {
            run,
            seq: PublishedSeq::default(),
            manifest,
            revision: String::new(),
            branch: None,
            indexed_at_ms: self.world.now(),
            state,
            result: RunResult::default(),
            model: String::new(),
        };
        if self.world.environment.has(Mutant::PublishingHasNoDeadline) {
            // Without this delay, late publications would be so rare that a small number of seeds would not
            // reveal the bug.
            let schedule = self.world.schedule();
            schedule.sleep(schedule.random(LONGEST.as_millis() as u64)).await;
        }
        self.world.runs.publish(published).await?;
        self.check_published(PartId { stage: StageName::Publish, number: 0 })
    }

    /// Checks that after an acknowledged publication, the publish part has ended in the store.
    fn check_published(&self, part: PartId) -> Result<(), StageError> {
        let run = self.world.environment.memory.run(self.task.run);
        let is_open =
            |run: &cairn_runs::RunDocument| run.ledger.stages.get(&part.stage).is_some_and(|stage| stage.has_open());
        if run.as_ref().is_some_and(is_open) {
            self.world.schedule().violate(format!("{} was published and has not ended", self.task.run));
        }
        Ok(())
    }
}
