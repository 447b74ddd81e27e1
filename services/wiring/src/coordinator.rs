//! Runs the steps of the coordinator in loops. Each step depends only on the stored state and the time, so a
//! step that was interrupted can be repeated. A failed step is logged, and is repeated after its usual
//! interval.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cairn_domain::{RunId, RunState, StageName};
use cairn_pipeline::{DispatchBounds, StageError, dispatch, held, relay, send_again};
use cairn_ports::{Broker, ErrorKind, Ledger, LedgerRead, Requests};
use cairn_rabbitmq::RabbitMqBroker;
use cairn_stages::{Sweep, SweepStores};
use cairn_telemetry::metrics::COORDINATED;
use tokio::time::{MissedTickBehavior, interval};

use crate::organisations::{discover, log_discovered};
use crate::{Cluster, ClusterConfig, Stores};

/// The jobs in the outbox of a run are relayed only if the run has made no progress for this time. While a
/// run makes progress, its workers publish the next jobs themselves.
const QUIET_MS: i64 = 2_000;
/// If the broker still holds the jobs of a run, the reaper waits for this multiple of `reaped_after_ms`
/// before it ends the run.
const WAITS_LONGER: i64 = 8;

pub struct Coordinator {
    cluster: Arc<Cluster>,
    broker: Arc<dyn Broker>,
    generations: Sweep,
    artifacts: Sweep,
}

impl Coordinator {
    /// Connects to all servers.
    pub async fn connect(config: ClusterConfig) -> anyhow::Result<(Arc<Cluster>, Arc<RabbitMqBroker>, Self)> {
        let model = config.embedding.model_id()?;
        let cluster = Arc::new(Cluster::connect(config).await?);
        let stores = Stores::connect(&cluster, &model).await?;
        let broker = cluster.broker()?;
        let coordinator = Self::new(Arc::clone(&cluster), Arc::clone(&broker), &stores);
        Ok((cluster, broker, coordinator))
    }

    fn new(cluster: Arc<Cluster>, broker: Arc<RabbitMqBroker>, stores: &Stores) -> Self {
        let sweep = |grace_ms| {
            let stores = SweepStores {
                sweeping: cluster.runs.clone(),
                cache: Arc::clone(&stores.cache),
                generations: stores.generations(&cluster),
                letters: Some(broker.clone()),
            };
            cluster.stages().sweep(stores, grace_ms)
        };
        let grace_ms = cluster.config.pipeline.grace_ms;
        // Tests may shorten the grace period of generations, because they have no concurrent readers. The
        // grace period of artifacts is not shortened, because it alone protects an artifact until a run or a
        // publication refers to the artifact. If an existing artifact is written again, its modification time
        // is renewed only if the artifact has reached a certain age.
        let generations = sweep(cairn_faults::sweep_grace_ms().unwrap_or(grace_ms));
        let artifacts = sweep(grace_ms);
        Self { cluster, broker, generations, artifacts }
    }

    /// Runs the steps until the future is dropped. Only one replica at a time runs the steps: see
    /// `OwnersWork`.
    pub(crate) async fn run(&self) {
        let config = &self.cluster.config.pipeline;
        let tick = Duration::from_millis(config.tick_ms);
        let sweeping = Duration::from_millis(config.sweep_every_ms);
        let grace = Duration::from_millis(config.grace_ms.unsigned_abs());
        let look_after = Duration::from_millis(config.stalled_after_ms.unsigned_abs() / 4).max(tick);
        tokio::join!(
            every(tick, "dispatched syncs", || self.dispatch()),
            every(tick, "relayed jobs", || self.relay()),
            every(look_after, "stalled runs", || self.send_again()),
            every(look_after, "reaped runs", || self.reap()),
            every(sweeping, "swept generations", || self.generations.generations()),
            every(tick, "continued maintenance", || self.generations.go_on()),
            every(grace, "swept artifacts", || self.artifacts.artifacts()),
        );
    }

    /// Runs the steps of the reconciler once.
    async fn reconcile(&self) -> anyhow::Result<()> {
        all_succeeded(&[
            once("dispatched syncs", self.dispatch()).await,
            once("relayed jobs", self.relay()).await,
            once("stalled runs", self.send_again()).await,
            once("reaped runs", self.reap()).await,
        ])
    }

    /// Deletes unused generations and artifacts once.
    async fn sweep(&self) -> anyhow::Result<()> {
        all_succeeded(&[
            once("swept generations", self.generations.generations()).await,
            once("swept artifacts", self.artifacts.artifacts()).await,
        ])
    }

    async fn dispatch(&self) -> Result<u64, StageError> {
        let config = &self.cluster.config.pipeline;
        let bounds = DispatchBounds { in_flight: config.runs_in_flight, again_after_ms: config.sync_again_after_ms };
        Ok(dispatch(self.broker.as_ref(), self.cluster.runs.as_ref(), bounds, self.cluster.clock.now_ms()).await?
            as u64)
    }

    async fn relay(&self) -> Result<u64, StageError> {
        let quiet_since_ms = self.cluster.clock.now_ms() - QUIET_MS;
        Ok(relay(self.broker.as_ref(), self.cluster.runs.as_ref(), quiet_since_ms).await? as u64)
    }

    /// If a run makes no progress, the reconciler sends its jobs again, because these jobs may be lost.
    async fn send_again(&self) -> Result<u64, StageError> {
        let (now_ms, after_ms) = (self.cluster.clock.now_ms(), self.cluster.config.pipeline.stalled_after_ms);
        send_again(self.broker.as_ref(), self.cluster.runs.as_ref(), now_ms, after_ms).await
    }

    /// The reaper ends runs that have made no progress for hours. If all jobs of a run wait at the broker,
    /// for a provider's quota or behind other jobs, the run gets more time.
    async fn reap(&self) -> Result<u64, StageError> {
        let (now_ms, runs) = (self.cluster.clock.now_ms(), &self.cluster.runs);
        let after_ms = self.cluster.config.pipeline.reaped_after_ms;
        let mut still = runs.unfinished().await?;
        still.retain(|run| run.progressed_at_ms.saturating_add(after_ms) <= now_ms);
        if still.is_empty() {
            return Ok(0);
        }
        let held = held(self.broker.as_ref(), runs.as_ref()).await?;
        let mut num_reaped = 0;
        for run in still {
            let is_overdue = run.progressed_at_ms.saturating_add(after_ms.saturating_mul(WAITS_LONGER)) <= now_ms;
            if !is_overdue && self.waits_at_the_broker(run.id, &held).await? {
                continue;
            }
            match runs
                .abort(run.id, RunState::Failed, "ended by the reaper: the run made no progress for too long", now_ms)
                .await
            {
                Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => {}
                outcome => {
                    outcome?;
                    let repository = &run.result.repository;
                    tracing::warn!(run = %run.id, repository, "the run made no progress for too long and was ended");
                    num_reaped += 1;
                }
            }
        }
        Ok(num_reaped)
    }

    async fn waits_at_the_broker(&self, run: RunId, held: &BTreeSet<StageName>) -> Result<bool, StageError> {
        match self.cluster.runs.ready(run).await {
            // The repository was deleted in the meantime.
            Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
            open => {
                let open = open?;
                Ok(!open.is_empty() && open.iter().all(|part| held.contains(&part.stage)))
            }
        }
    }
}

/// Repeats a step at an interval, and counts its actions.
pub(crate) async fn every<F>(pause: Duration, what: &str, step: impl Fn() -> F)
where
    F: Future<Output = Result<u64, StageError>>,
{
    let (mut turns, counter) = (interval(pause), COORDINATED.with_label_values(&[what]));
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        match step().await {
            Ok(count) => counter.inc_by(count),
            Err(error) => tracing::warn!(step = what, code = %error.code, "{}", error.chain()),
        }
    }
}

/// Runs a step once, and logs the number of its actions.
async fn once(what: &str, step: impl Future<Output = Result<u64, StageError>>) -> Result<(), StageError> {
    let done = step.await;
    match &done {
        Ok(count) => tracing::info!(step = what, count, "the step has ended"),
        Err(error) => tracing::warn!(step = what, code = %error.code, "{}", error.chain()),
    }
    done.map(drop)
}

fn all_succeeded<const NUM: usize>(steps: &[Result<(), StageError>; NUM]) -> anyhow::Result<()> {
    let num_failed = steps.iter().filter(|step| step.is_err()).count();
    anyhow::ensure!(num_failed == 0, "{num_failed} of {NUM} steps failed");
    Ok(())
}

/// Does the work of the coordinator's reconciler once: dispatches requested syncs and the jobs of the outbox,
/// sends the jobs of stalled runs again, and ends runs that make no progress. A coordinator may be active at
/// the same time.
pub async fn reconcile(config: ClusterConfig) -> anyhow::Result<()> {
    run_once(config, async |coordinator| coordinator.reconcile().await).await
}

/// Deletes unused generations and artifacts once, as the coordinator does. A coordinator may be active at the
/// same time.
pub async fn sweep(config: ClusterConfig) -> anyhow::Result<()> {
    run_once(config, async |coordinator| coordinator.sweep().await).await
}

async fn run_once(
    config: ClusterConfig,
    work: impl AsyncFnOnce(&Coordinator) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (_, broker, coordinator) = Coordinator::connect(config).await?;
    let done = work(&coordinator).await;
    broker.close().await;
    done
}

/// Updates the catalogue from the organisations, and requests a sync of every repository of every tenant. Two
/// concurrent ticks create only one request for each repository. If an organisation cannot be listed, the
/// syncs are still requested.
pub async fn tick(config: ClusterConfig) -> anyhow::Result<()> {
    let cluster = Cluster::connect(config).await?;
    let discovered = discover_all(&cluster).await;
    let (mut num_asked, now_ms) = (0_u64, cluster.clock.now_ms());
    for repository in cluster.runs.all_repositories().await? {
        match cluster.runs.schedule(repository, now_ms).await {
            // The repository was deleted in the meantime.
            Err(error) if error.kind == ErrorKind::NotFound => {}
            asked => {
                asked?;
                num_asked += 1;
            }
        }
    }
    tracing::info!(num_asked, "syncs were requested");
    discovered
}

/// Updates the catalogue from all organisations. If one organisation cannot be listed, the other
/// organisations are still listed, and the failure is reported at the end.
async fn discover_all(cluster: &Cluster) -> anyhow::Result<()> {
    let (organisations, sources) = (&cluster.config.organisations, &cluster.operator.sources);
    let discovered = discover(organisations, sources, cluster.runs.clone(), Arc::clone(&cluster.clock)).await?;
    discovered.iter().for_each(log_discovered);
    let num_failed = discovered.iter().filter(|discovered| discovered.outcome.is_err()).count();
    anyhow::ensure!(num_failed == 0, "{num_failed} of {} organisations could not be listed", discovered.len());
    Ok(())
}
