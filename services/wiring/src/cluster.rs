//! What every service connects to: artifacts, catalogue and graph; and the broker, of those that work on jobs.

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
use cairn_stages::{Artifacts, Snapshots};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::topology::Lacking;
use crate::{ClusterConfig, Health, OwnersWork, PipelineConfig, Probes, Stop};

/// What handlers that are stopped in the middle get, to give back what they have in hand.
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
    /// Connects and checks that what `cairn topology apply` makes is there. A missing dependency is an error: the process is
    /// started again.
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

    /// Folder for what can be made again.
    pub fn cache_directory(&self) -> PathBuf {
        self.config.cache_directory.clone().unwrap_or_else(|| std::env::temp_dir().join("cairn"))
    }

    pub fn snapshots(&self) -> Arc<Snapshots> {
        Arc::new(Snapshots::new(self.config.pipeline.snapshot_memory_bytes))
    }

    pub fn num_threads(&self) -> usize {
        std::thread::available_parallelism().map_or(2, usize::from)
    }

    /// A connection to the broker, which lives on through its restarts.
    pub fn broker(&self) -> anyhow::Result<Arc<RabbitMqBroker>> {
        let config = self.config.rabbitmq.clone().context("the settings have no section [rabbitmq]")?;
        Ok(Arc::new(RabbitMqBroker::new(config)?.with_trace(cairn_pipeline::traceparent)))
    }

    /// Works on jobs until the process is asked to stop; then takes no more, and finishes what is in hand.
    pub async fn work(&self, broker: Arc<RabbitMqBroker>, workers: Vec<Worker>, stop: Stop) -> anyhow::Result<()> {
        self.work_and_own(broker, workers, None, stop).await
    }

    /// The same; what only the owner of a key does is done while this process is the owner.
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
        let lacking = Lacking::new();
        let health = Health::of(&broker, &runner, &lacking, &self.probes);
        let mut serving = std::pin::pin!(health.clone().serve(self.config.http.listen));
        let (drain, draining) = watch::channel(false);
        let (leave, leaving) = watch::channel(false);
        let mut working = tokio::spawn({
            let (broker, runner, lacking) = (Arc::clone(&broker), Arc::clone(&runner), lacking.clone());
            async move {
                lacking.until_complete(&broker).await;
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
            runner.wait_no_more();
            if lacking.reasons().is_empty() { self.ended(working, leave).await } else { Ok(()) }
        };
        tokio::select! {
            ended = drained => ended,
            served = serving => served,
        }
    }

    /// Waits for what is in hand, in bounded time.
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
            // What is not answered comes back to the queue, and counts as unanswered.
            Err(_) => Ok(()),
        }
    }
}

/// A small read of what every question and every job begins with.
fn watch_catalogue(probes: &Probes, runs: &Arc<Metastore>) {
    let runs = Arc::clone(runs);
    probes.watch("Neo4j (catalogue and graph)", move || {
        let runs = Arc::clone(&runs);
        async move { runs.view().await.map(drop).map_err(|error| error.kind) }
    });
}

/// Whether there is an artifact of that name: there is none, and that is an answer.
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

/// What a process that is to stop is told: to take no more, and then to stop at once.
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
