//! Cloners. Each cloner takes the lease, reads the source for some time, and begins a run.
//!
//! The production `Sync` cannot run here, because it reads trees on threads and sleeps on tokio's clock. So
//! this file makes the same calls in the same order. A cloner takes the lease and checks that the sync is
//! still requested. The cloner then reads the view and the source, begins the run, answers, and releases the
//! lease. If a heartbeat gets no answer, the sync ends.

use std::sync::Arc;

use cairn_domain::{Lane, SyncProgress};
use cairn_pipeline::StageError;
use cairn_ports::{Catalogue, ErrorClass, ErrorKind, FailureCode, Lease, Ledger, LedgerError, NewRun, Requests};
use cairn_wire::{RunResult, SyncJob};

use crate::mutants::Mutant;
use crate::source::{Manifest, Plan, artifact};
use crate::world::World;

const LEASE_MS: i64 = 60_000;

pub async fn sync(world: &Arc<World>, job: &SyncJob) -> Result<(), StageError> {
    if world.runs.asked(job.repository, job.request).await?.is_none() {
        return Ok(());
    }
    let lease = match world.runs.lease(job.repository, world.now(), LEASE_MS).await {
        Ok(lease) => lease,
        // Another cloner has the lease. The request is dispatched again if that cloner fails.
        Err(LedgerError { kind: ErrorKind::Conflict | ErrorKind::NotFound, .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut holder = Holder { world, lease, last_beat_ms: world.now() };
    let synced = holder.under_lease(job).await;
    let given_back = world.runs.renew(holder.lease, world.now(), 0, SyncProgress::default()).await;
    world.schedule().trace(|| format!("releases the lease {:?}: {}", holder.lease.epoch, given_back.is_ok()));
    match synced {
        Ok(()) => Ok(world.runs.answer(job.repository, job.request, None, world.now()).await?),
        // Another cloner was faster. Its result may be older than the request, so the request stays pending.
        Err(error) if error.code == FailureCode::Conflict || error.code == FailureCode::NotFound => Ok(()),
        Err(error) if error.class == ErrorClass::Cancelled => Ok(()),
        Err(error) => Err(error),
    }
}

/// Answers a request whose sync failed. The message contains the time when the attempt began.
pub async fn failed(world: &Arc<World>, job: &SyncJob, code: FailureCode, began_at_ms: i64) -> Result<(), LedgerError> {
    let failure = Some((code, began_at_ms.to_string()));
    world.runs.answer(job.repository, job.request, failure, world.now()).await
}

struct Holder<'a> {
    world: &'a Arc<World>,
    lease: Lease,
    last_beat_ms: i64,
}

impl Holder<'_> {
    async fn under_lease(&mut self, job: &SyncJob) -> Result<(), StageError> {
        let world = self.world;
        if world.runs.asked(job.repository, job.request).await?.is_none() {
            return Err(StageError::cancelled());
        }
        let repository = self.lease.repository;
        let view = world.runs.view().await?;
        let published = world.runs.published(&view, repository).await?;
        let previous = match &published {
            Some(published) => world.manifest(&published.manifest.key),
            None => Manifest::default(),
        };
        let read_at_ms = world.now();
        let content = world.sources().get(&repository).cloned().unwrap_or_default();
        let plan = Plan::new(&previous, content, read_at_ms, self.lease.epoch);
        self.pack().await?;
        let Some(plan) = plan else {
            world.environment.history().unchanged(repository, read_at_ms);
            return Ok(());
        };
        let (parts, plan) = (plan.parts(), world.environment.history().keep_plan(plan));
        let run = NewRun {
            repository,
            previous: published.map(|published| published.run.generation),
            manifest: artifact(&plan),
            plan: artifact(&plan),
            parts,
            lane: Lane::Bulk,
            window: 1 + world.schedule().random(6) as u32,
            revision: String::new(),
            branch: None,
            result: RunResult::default(),
            started_at_ms: world.now(),
        };
        world.runs.begin(self.lease, run).await?;
        Ok(())
    }

    /// Sleeps for as long as reading a large repository may take, and renews the lease in the meantime.
    async fn pack(&mut self) -> Result<(), StageError> {
        let schedule = self.world.schedule();
        for _ in 0..schedule.random(6) {
            schedule.sleep(schedule.random(10_000)).await;
            schedule.step().await;
            if self.world.now() < self.last_beat_ms + LEASE_MS / 4 {
                continue;
            }
            self.last_beat_ms = self.world.now();
            match self.world.runs.renew(self.lease, self.world.now(), LEASE_MS, SyncProgress::default()).await {
                Err(error)
                    if error.kind == ErrorKind::Conflict && self.world.environment.has(Mutant::LeaseLostMidRun) =>
                {
                    self.lease = self.world.runs.lease(self.lease.repository, self.world.now(), LEASE_MS).await?;
                }
                beat => beat?,
            }
        }
        Ok(())
    }
}
