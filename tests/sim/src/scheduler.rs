//! The loops of the scheduler: dispatch, outbox, reconciler, reaper and sweeper. Each loop may die and
//! restart, and some run twice at the same time.
//!
//! The sweeper uses the production stage itself, which may be interrupted between any two steps.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{ArtifactRef, DenseVector, RepositoryId, RunState, Tenant, VectorKey};
use cairn_ports::{
    CatalogueError, CatalogueSweep, Generations, Ledger, LedgerRead, Outbox, Requests, RunDocuments, SweepList,
    VectorCache, VectorCacheError,
};
use cairn_runs::Command;
use cairn_stages::{Artifacts, GRACE_MS, Sweep};
use cairn_testkit::FakeIndex;
use cairn_wire::Job;

use crate::broker;
use crate::environment::Remote;
use crate::mutants::Mutant;
use crate::records::Records;
use crate::schedule::SimulatedClock;
use crate::world::World;

type Loop = fn(Arc<World>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

pub const ALL: &[Loop] = &[
    |world| Box::pin(dispatch(world)),
    |world| Box::pin(relay(world)),
    |world| Box::pin(relay(world)),
    |world| Box::pin(reconcile(world)),
    |world| Box::pin(reap(world)),
    |world| Box::pin(sweep(world)),
    |world| Box::pin(sweep(world)),
];

/// The maximum number of syncs and runs in progress at a time.
const IN_FLIGHT: usize = 2;
/// A request that no worker has started is dispatched again after this time.
const AGAIN_AFTER_MS: i64 = 120_000;
/// The outbox of a run is relayed only if the run has made no progress for this time; until then, a worker
/// may still be publishing the jobs.
const QUIET_MS: i64 = 4_000;
const STALLED_AFTER_MS: i64 = 600_000;
/// A run that makes no progress for longer than this is ended as failed.
const LONGEST_STANDSTILL_MS: i64 = 3 * 3_600_000;

/// Sleeps between two rounds; the pause is longer after the faults have ended.
async fn pause(world: &World, ms: u64) {
    let ms = if world.is_healed() { 4 * ms } else { ms };
    world.schedule().sleep(ms / 2 + world.schedule().random(ms)).await;
}

async fn dispatch(world: Arc<World>) {
    loop {
        if let Ok(requests) = world.runs.dispatch(IN_FLIGHT, world.now(), AGAIN_AFTER_MS).await {
            for request in requests {
                let (repository, number) = (request.job.repository, request.job.request);
                if broker::publish(&world, vec![Job::Sync(request.job)]).await.is_ok() {
                    let _again_later = world.runs.dispatched(repository, number).await;
                }
            }
        }
        pause(&world, 5_000).await;
    }
}

async fn relay(world: Arc<World>) {
    loop {
        for (run, parts) in world.runs.unsent(world.now() - QUIET_MS, 16).await.unwrap_or_default() {
            let jobs = parts.iter().map(|part| Job::Part(run.job(*part))).collect();
            if broker::publish(&world, jobs).await.is_ok() {
                let _again_later = world.runs.sent(run.id, &parts).await;
            }
        }
        pause(&world, 8_000).await;
    }
}

async fn reconcile(world: Arc<World>) {
    loop {
        let _again_later = world.runs.send_again(&BTreeSet::new(), world.now(), STALLED_AFTER_MS).await;
        pause(&world, 60_000).await;
    }
}

async fn reap(world: Arc<World>) {
    loop {
        for run in world.runs.unfinished().await.unwrap_or_default() {
            if run.progressed_at_ms + LONGEST_STANDSTILL_MS < world.now() {
                let _again_later = world.runs.abort(run.id, RunState::Failed, "no progress", world.now()).await;
            }
        }
        pause(&world, 60_000).await;
    }
}

async fn sweep(world: Arc<World>) {
    let stores =
        (0..2).map(|number| Arc::new(Records::new(&world.environment, number)) as Arc<dyn Generations>).collect();
    let no_patterns = Arc::new(FakeIndex::empty());
    let sweep = Sweep {
        artifacts: Artifacts::new(Arc::clone(&world.blobs) as Arc<_>),
        catalogue: no_patterns.clone(),
        graph: no_patterns,
        sweeping: Arc::new(Sweeping(Arc::clone(&world))),
        clock: Arc::new(SimulatedClock(Arc::clone(world.schedule()))),
        cache: Arc::new(NoVectors),
        stores,
        letters: None,
        grace_ms: GRACE_MS,
        unfinished: Default::default(),
    };
    loop {
        let _again_later = sweep.generations().await;
        pause(&world, 40_000).await;
    }
}

/// The catalogue in the form that the sweep uses.
struct Sweeping(Arc<World>);

#[async_trait]
impl CatalogueSweep for Sweeping {
    async fn sweep_list(&self, now_ms: i64, grace_ms: i64) -> Result<SweepList, CatalogueError> {
        let list = self.0.runs.sweep_list(now_ms, grace_ms).await?;
        if self.0.environment.has(Mutant::UnhideBeforeSweep) {
            for run in &list.aborted {
                let forget = Command::ForgetAborted { run: *run, until_ms: now_ms };
                let _forgotten = Remote(Arc::clone(&self.0.environment)).change(forget).await;
            }
        }
        Ok(list)
    }

    async fn swept(&self, swept: &SweepList, now_ms: i64, grace_ms: i64) -> Result<(), CatalogueError> {
        self.0.runs.swept(swept, now_ms, grace_ms).await
    }

    async fn at_work(&self, now_ms: i64) -> Result<BTreeSet<RepositoryId>, CatalogueError> {
        self.0.runs.at_work(now_ms).await
    }

    async fn live_manifests(&self, now_ms: i64, grace_ms: i64) -> Result<Vec<(Tenant, ArtifactRef)>, CatalogueError> {
        self.0.runs.live_manifests(now_ms, grace_ms).await
    }
}

/// An empty cache of vectors. Vectors have no generations, so the simulation does not need them.
struct NoVectors;

#[async_trait]
impl VectorCache for NoVectors {
    async fn get(&self, _: &Tenant, keys: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, VectorCacheError> {
        Ok(vec![None; keys.len()])
    }

    async fn put(&self, _: &Tenant, _: &[(VectorKey, DenseVector)]) -> Result<(), VectorCacheError> {
        Ok(())
    }

    async fn sweep(
        &self,
        _: &Tenant,
        _: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError> {
        Ok(0)
    }
}
