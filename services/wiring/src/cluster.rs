//! The connections of a service to artifacts, catalogue and graph, and to the broker if the service processes
//! jobs.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use cairn_config::Operator;
use cairn_metastore::Metastore;
use cairn_neo4j::{Neo4j, Neo4jClock, Neo4jGraph, Neo4jRuns};
use cairn_ports::{BlobStore, Catalogue, Clock, ErrorKind};
use cairn_rabbitmq::RabbitMqBroker;
use cairn_s3::S3BlobStore;
use cairn_stages::{Artifacts, RecordCeilings, Snapshots, StageSet};

use crate::{ClusterConfig, Probes};

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
    /// The probes of the stores that this process uses.
    pub probes: Probes,
}

impl Cluster {
    /// Connects to the stores, and checks that every object that `cairn topology apply` creates exists. If an
    /// object is missing, an error is returned, the process ends, and the orchestrator restarts it.
    pub async fn connect(config: ClusterConfig) -> anyhow::Result<Self> {
        let operator = Operator::load(config.operator.as_deref(), &PathBuf::from("config.toml"))?;
        let section = |name: &str| format!("the settings have no section [{name}]");
        let s3 = S3BlobStore::open(config.s3.as_ref().with_context(|| section("s3"))?)?;
        s3.self_test().await?;
        let neo4j = Neo4j::new(config.neo4j.as_ref().with_context(|| section("neo4j"))?)?;
        neo4j.check().await.context("Neo4j is not prepared: run `cairn topology apply`")?;
        for setting in neo4j.unset_timeouts().await.unwrap_or_default() {
            tracing::warn!("a time limit is not set on the Neo4j server: {setting}");
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

    /// The folder for data that can be recreated, such as clones.
    pub fn cache_directory(&self) -> PathBuf {
        self.config.cache_directory.clone().unwrap_or_else(|| std::env::temp_dir().join("cairn"))
    }

    /// The stages, which use these connections.
    pub fn stages(&self) -> StageSet {
        StageSet {
            artifacts: Arc::clone(&self.artifacts),
            snapshots: Arc::new(Snapshots::new(self.config.pipeline.snapshot_memory_bytes)),
            catalogue: self.runs.clone(),
            ledger: self.runs.clone(),
            graph: self.graph.clone(),
            clock: Arc::clone(&self.clock),
            num_threads: self.num_threads(),
            ceilings: Arc::new(RecordCeilings::new(
                self.runs.clone(),
                Arc::clone(&self.artifacts),
                &self.operator.ceilings,
            )),
        }
    }

    pub fn num_threads(&self) -> usize {
        std::thread::available_parallelism().map_or(2, usize::from)
    }

    /// A connection to the broker. After a restart of the broker, the connection is opened again.
    pub fn broker(&self) -> anyhow::Result<Arc<RabbitMqBroker>> {
        let config = self.config.rabbitmq.clone().context("the settings have no section [rabbitmq]")?;
        Ok(Arc::new(RabbitMqBroker::new(config)?.with_trace(cairn_pipeline::traceparent)))
    }
}

/// Probes the database: reads a small amount of the data that every question and every job reads first.
fn watch_catalogue(probes: &Probes, runs: &Arc<Metastore>) {
    let runs = Arc::clone(runs);
    probes.watch("Neo4j (catalogue and graph)", move || {
        let runs = Arc::clone(&runs);
        async move { runs.view().await.map(drop).map_err(|error| error.kind) }
    });
}

/// Probes the object store by reading an artifact that does not exist. The reply `not found` proves that the
/// store works.
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
