//! Embedders that share a provider's key, a broker, and a run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use cairn_domain::{
    ArtifactRef, InputType, Lane, PartId, RepositoryId, RepositoryName, RunId, Source, StageName, Tenant,
};
use cairn_embedding_http::{EmbeddingHttpConfig, HttpEmbedder, ProviderKind, QuotaConfig, Share};
use cairn_fake_provider::{FakeServer, Provider, Settings, Shape};
use cairn_metastore::Metastore;
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig, Stage, StageError, Task, Worker};
use cairn_ports::{Broker, Catalogue, Embedder, Ledger, LedgerRead, NewRun, RepositoryRecord};
use cairn_rabbitmq::topology::{Topology, TopologyConfig, apply};
use cairn_rabbitmq::{RabbitMqBroker, RabbitMqConfig};
use cairn_servers::{FaultProxy, Vhost, given};
use cairn_testkit::{ManualClock, MemoryRuns};
use cairn_wire::{Job, PartReport, RunResult};
use cairn_wiring::{OwnersWork, Owning, Signals};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub const KEY: &str = "voyage-1";
/// The number of calls that the provider permits in each `WINDOW`.
const REQUESTS: u64 = 30;
const WINDOW: Duration = Duration::from_secs(3);

/// A handler that embeds a different text for each part.
struct EmbedText(Arc<HttpEmbedder>);

#[async_trait]
impl Stage for EmbedText {
    fn name(&self) -> StageName {
        StageName::Embed
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        let text = format!("the text of part {}", task.part.number);
        self.0.embed(InputType::Passage, &[&text]).await?;
        Ok(PartReport::default())
    }
}

/// The servers and the run that all replicas share.
pub struct Cluster {
    pub vhost: Vhost,
    pub provider: FakeServer,
    pub runs: Arc<Metastore>,
    config: RabbitMqConfig,
}

impl Cluster {
    /// Connects to the test server. `None` if no server is given.
    pub async fn given() -> Result<Option<Self>> {
        let (Some(url), Some(management_url)) = (given::rabbitmq_url(), given::rabbitmq_management_url()) else {
            return Ok(None);
        };
        let vhost = Vhost::create(&url, &management_url).await?;
        let config = RabbitMqConfig {
            urls: vec![vhost.url().into()],
            management_url: Some(management_url.as_str().into()),
            topology: TopologyConfig { owned_keys: vec![KEY.to_owned()], ..TopologyConfig::default() },
            heartbeat_seconds: 2,
            ..RabbitMqConfig::default()
        };
        apply(&config, &Topology::new(&config.topology)).await?;
        let limits = Settings { window: WINDOW, requests: Some(REQUESTS), ..Settings::new(Shape::Openai) };
        let provider = FakeServer::start("127.0.0.1:0".parse()?, Provider::new(limits)).await?;
        let runs = Arc::new(Metastore::new(Arc::new(MemoryRuns::new())));
        Ok(Some(Self { vhost, provider, runs, config }))
    }

    /// Begins a run with this number of `embed` parts, and publishes all their jobs.
    pub async fn begin(&self, num_parts: u32) -> Result<RunId> {
        let (tenant, name) = (Tenant::local(), RepositoryName::new("r"));
        let id = RepositoryId::derive(&tenant, &name);
        let source = Source::Bare { path: "r".to_owned() };
        let settings = "{}".to_owned();
        self.runs.register(RepositoryRecord { settings, ..RepositoryRecord::new(tenant, name, source) }).await?;
        let artifact = |key: &str| ArtifactRef { key: key.to_owned(), size_bytes: 1, hash: [0; 32] };
        let parts = (0..num_parts).map(|number| PartId { stage: StageName::Embed, number });
        let new = NewRun {
            repository: id,
            previous: None,
            manifest: artifact("manifest"),
            plan: artifact("plan"),
            parts: parts.chain([PartId { stage: StageName::Publish, number: 0 }]).collect(),
            lane: Lane::Bulk,
            window: num_parts,
            revision: "1".to_owned(),
            branch: None,
            result: RunResult::default(),
            started_at_ms: 0,
        };
        let lease = self.runs.lease(id, 0, 1_000).await?;
        let run = self.runs.begin(lease, new).await?;
        let record = self.runs.run(run).await?;
        let jobs = self.runs.ready(run).await?.into_iter().map(|part| Job::Part(record.job(part))).collect();
        RabbitMqBroker::new(self.config.clone())?.publish(Lane::Bulk, jobs).await?;
        Ok(run)
    }

    pub async fn num_ended(&self, run: RunId) -> Result<usize> {
        Ok(self.runs.parts(run).await?.iter().filter(|part| part.end.is_some()).count())
    }

    /// The queues of the stage that calls the provider, each with the number of its consumers.
    pub async fn consumers(&self) -> Result<BTreeMap<String, u64>> {
        let text = self.vhost.request("GET", &format!("/api/consumers/{}", self.vhost.name()), "").await?;
        let consumers: serde_json::Value = serde_json::from_str(&text)?;
        let mut found = BTreeMap::new();
        for consumer in consumers.as_array().context("the answer is not a list of consumers")? {
            let queue = consumer["queue"]["name"].as_str().unwrap_or_default();
            if queue.contains(".embed.") {
                *found.entry(queue.to_owned()).or_default() += 1;
            }
        }
        Ok(found)
    }
}

/// One embedder of the cluster. Each embedder is connected through a separate proxy.
pub struct Replica {
    pub proxy: FaultProxy,
    pub embedder: Arc<HttpEmbedder>,
    broker: Arc<RabbitMqBroker>,
    drain: watch::Sender<bool>,
    working: JoinHandle<Result<()>>,
}

impl Replica {
    pub async fn start(cluster: &Cluster) -> Result<Self> {
        let proxy = FaultProxy::start(cluster.vhost.url()).await?;
        let urls = vec![proxy.url(cluster.vhost.url())?.into()];
        let broker = Arc::new(RabbitMqBroker::new(RabbitMqConfig { urls, ..cluster.config.clone() })?);
        let embedder = Arc::new(HttpEmbedder::new(provider(cluster)?, Share::Whole)?);
        let deadline = Duration::from_secs(60);
        let config = RunnerConfig { concurrency: 4, deadline, longest: deadline, ladder: RetryLadder::cluster() };
        let clock = Arc::new(ManualClock::new(0));
        let runner = Runner::new(broker.clone(), Arc::clone(&cluster.runs), None, clock, config);
        let (key, owning) = (KEY.to_owned(), Owning::Provider(Arc::clone(&embedder)));
        let workers = vec![Worker::Stage(Arc::new(EmbedText(Arc::clone(&embedder))) as Arc<dyn Stage>)];
        let owners = OwnersWork { key, owning, workers };
        let ((drain, draining), (_, leaving)) = (watch::channel(false), watch::channel(false));
        let working = tokio::spawn(owners.run(Arc::clone(&broker), runner, Signals { draining, leaving }));
        Ok(Self { proxy, embedder, broker, drain, working })
    }

    pub fn num_calls(&self) -> u64 {
        self.embedder.counters().num_calls
    }

    /// Stops the replica as SIGTERM does.
    pub async fn drain(self) -> Result<()> {
        self.drain.send_replace(true);
        self.broker.close().await;
        self.working.await?
    }
}

fn provider(cluster: &Cluster) -> Result<EmbeddingHttpConfig> {
    let url = format!("{}/v1/embeddings", cluster.provider.url());
    let text = format!(
        "provider = \"openai\"\nmodel = \"fake-embedding-1\"\ndimensions = 64\nallow_http = true\nurl = \"{url}\""
    );
    let mut config: EmbeddingHttpConfig = toml::from_str(&text)?;
    assert_eq!(config.provider, ProviderKind::Openai);
    config.quota = QuotaConfig {
        requests_per_minute: Some(REQUESTS),
        window_ms: WINDOW.as_millis() as u64,
        guard_ms: 100,
        ..QuotaConfig::default()
    };
    Ok(config)
}
