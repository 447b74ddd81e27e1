//! The connections of a service: artifacts, catalogue and graph, and the broker for services that work on
//! jobs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use cairn_config::Operator;
use cairn_metastore::Metastore;
use cairn_neo4j::{Neo4j, Neo4jClock, Neo4jGraph, Neo4jRuns};
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig, Worker};
use cairn_ports::{BlobStore, Broker, Catalogue, Clock, ErrorKind};
use cairn_rabbitmq::RabbitMqBroker;
use cairn_s3::S3BlobStore;
use cairn_stages::{Artifacts, Snapshots, StageSet};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::isolation::{self, ChildProcess};
use crate::topology::TopologyGate;
use crate::{ClusterConfig, Health, OwnersWork, PipelineConfig, Probes, Stop};

/// The time in which stopped handlers give back their jobs.
const GIVE_BACK: Duration = Duration::from_secs(5);

/// The connections of one process.
pub struct Cluster {
    pub config: ClusterConfig,
    pub operator: Arc<Operator>,
    pub blobs: Arc<dyn BlobStore>,
    pub artifacts: Arc<Artifacts>,
    pub runs: Arc<Metastore>,
    pub graph: Arc<Neo4jGraph>,
    pub neo4j: Neo4j,
    pub clock: Arc<dyn Clock>,
    /// The stores that this process uses.
    pub probes: Probes,
}

impl Cluster {
    /// Connects, and checks that everything that `cairn topology apply` creates exists. A missing dependency
    /// is an error, and the orchestrator starts the process again.
    pub async fn connect(config: ClusterConfig) -> anyhow::Result<Self> {
        let operator = Operator::load(config.operator.as_deref(), &PathBuf::from("config.toml"))?;
        let section = |name: &str| format!("the settings have no section [{name}]");
        let s3 = S3BlobStore::open(config.s3.as_ref().with_context(|| section("s3"))?)?;
        s3.self_test().await?;
        let neo4j = Neo4j::new(config.neo4j.as_ref().with_context(|| section("neo4j"))?)?;
        neo4j.check().await.context("Neo4j is not prepared: run `cairn topology apply`")?;
        for setting in neo4j.unset_timeouts().await.unwrap_or_default() {
            tracing::warn!("neo4j waits without end: {setting}");
        }
        let clock = Neo4jClock::start(neo4j.clone()).await?;
        let blobs: Arc<dyn BlobStore> = Arc::new(s3);
        let runs = Arc::new(Metastore::new(Arc::new(Neo4jRuns::new(neo4j.clone()))));
        let probes = Probes::default();
        watch_catalogue(&probes, &runs);
        watch_artifacts(&probes, &blobs);
        Ok(Self {
            operator: Arc::new(operator),
            artifacts: Artifacts::new(Arc::clone(&blobs)),
            blobs,
            runs,
            probes,
            graph: Arc::new(Neo4jGraph::new(neo4j.clone())),
            neo4j,
            clock: Arc::new(clock),
            config,
        })
    }

    /// The folder for data that can be made again.
    pub fn cache_directory(&self) -> PathBuf {
        self.config.cache_directory.clone().unwrap_or_else(|| std::env::temp_dir().join("cairn"))
    }

    /// The stages over these connections.
    pub fn stages(&self) -> StageSet {
        StageSet {
            artifacts: Arc::clone(&self.artifacts),
            snapshots: Arc::new(Snapshots::new(self.config.pipeline.snapshot_memory_bytes)),
            catalogue: self.runs.clone(),
            ledger: self.runs.clone(),
            graph: self.graph.clone(),
            clock: Arc::clone(&self.clock),
            num_threads: self.num_threads(),
        }
    }

    pub fn num_threads(&self) -> usize {
        std::thread::available_parallelism().map_or(2, usize::from)
    }

    /// A connection to the broker. It survives restarts of the broker.
    pub fn broker(&self) -> anyhow::Result<Arc<RabbitMqBroker>> {
        let config = self.config.rabbitmq.clone().context("the settings have no section [rabbitmq]")?;
        Ok(Arc::new(RabbitMqBroker::new(config)?.with_trace(cairn_pipeline::traceparent)))
    }

    /// Works on jobs until the process is asked to stop. Then it takes no more jobs and finishes those in
    /// progress.
    pub async fn work(&self, broker: Arc<RabbitMqBroker>, workers: Vec<Worker>, stop: Stop) -> anyhow::Result<()> {
        self.work_and_own(broker, workers, None, stop).await
    }

    /// Like `work`. The work of a key's owner is done while this process owns the key.
    pub async fn work_and_own(
        &self,
        broker: Arc<RabbitMqBroker>,
        workers: Vec<Worker>,
        owners: Option<OwnersWork>,
        mut stop: Stop,
    ) -> anyhow::Result<()> {
        let config = runner_config(&self.config.pipeline);
        let outbox = self.runs.clone();
        let runner = Runner::new(broker.clone(), Arc::clone(&self.runs), Some(outbox), Arc::clone(&self.clock), config);
        if isolation::is_child() {
            return isolation::serve(&runner, workers, owners).await;
        }
        runner.isolate(Arc::new(ChildProcess::of_this_program()?));
        let gate = TopologyGate::new();
        let health = Health::of(&broker, &runner, &gate, &self.probes);
        let mut serving = std::pin::pin!(health.clone().serve(self.config.http.listen));
        let (drain, draining) = watch::channel(false);
        let (leave, leaving) = watch::channel(false);
        let mut working = tokio::spawn({
            let (broker, runner, gate) = (Arc::clone(&broker), Arc::clone(&runner), gate.clone());
            async move {
                gate.until_complete(&broker).await;
                everything(broker, runner, workers, owners, Signals { draining, leaving }).await
            }
        });
        tokio::select! {
            ended = &mut working => return ended?,
            served = &mut serving => return served,
            () = stop.asked() => tracing::info!("draining"),
        }
        health.drain();
        drain.send_replace(true);
        let drained = async {
            broker.close().await;
            runner.stop_waiting();
            if gate.reasons().is_empty() { self.ended(working, leave).await } else { Ok(()) }
        };
        tokio::select! {
            ended = drained => ended,
            served = serving => served,
        }
    }

    /// Waits for the jobs in progress, for a limited time.
    async fn ended(
        &self,
        mut working: JoinHandle<anyhow::Result<()>>,
        leave: watch::Sender<bool>,
    ) -> anyhow::Result<()> {
        let patience = Duration::from_secs(self.config.pipeline.drain_seconds);
        if let Ok(ended) = tokio::time::timeout(patience, &mut working).await {
            return ended?;
        }
        tracing::warn!("not all jobs ended within {} s: they go back to the queue", patience.as_secs());
        leave.send_replace(true);
        match tokio::time::timeout(GIVE_BACK, working).await {
            Ok(ended) => ended?,
            // Jobs without an answer come back to the queue and count as unanswered.
            Err(_) => Ok(()),
        }
    }
}

/// A small read of the data with which every question and every job begins.
fn watch_catalogue(probes: &Probes, runs: &Arc<Metastore>) {
    let runs = Arc::clone(runs);
    probes.watch("Neo4j (catalogue and graph)", move || {
        let runs = Arc::clone(&runs);
        async move { runs.view().await.map(drop).map_err(|error| error.kind) }
    });
}

/// Reads an artifact that does not exist. The reply `not found` proves that the store works.
fn watch_artifacts(probes: &Probes, blobs: &Arc<dyn BlobStore>) {
    let blobs = Arc::clone(blobs);
    probes.watch("S3 (artifacts)", move || {
        let blobs = Arc::clone(&blobs);
        async move {
            match blobs.get("probes/readiness").await {
                Err(error) if error.kind != ErrorKind::NotFound => Err(error.kind),
                _ => Ok(()),
            }
        }
    });
}

/// The signals to a stopping process: first to take no more jobs, then to stop at once.
pub struct Signals {
    pub draining: watch::Receiver<bool>,
    pub leaving: watch::Receiver<bool>,
}

async fn everything(
    broker: Arc<RabbitMqBroker>,
    runner: Arc<Runner<Metastore>>,
    workers: Vec<Worker>,
    owners: Option<OwnersWork>,
    signals: Signals,
) -> anyhow::Result<()> {
    let working = Arc::clone(&runner).run_until(workers, signals.leaving.clone());
    let working = async { Ok(working.await?) };
    match owners {
        Some(owners) => tokio::try_join!(working, owners.run(broker, runner, signals)).map(drop),
        None => working.await,
    }
}

fn runner_config(config: &PipelineConfig) -> RunnerConfig {
    let delays = config.retry_delays_ms.iter().copied().map(Duration::from_millis).collect();
    RunnerConfig {
        concurrency: config.concurrency,
        deadline: Duration::from_secs(config.deadline_seconds),
        longest: Duration::from_secs(config.longest_seconds),
        ladder: RetryLadder { delays, ..RetryLadder::cluster() },
    }
}
