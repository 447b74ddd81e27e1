//! A vhost with a topology, and brokers that use it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use cairn_domain::{ArtifactRef, GenerationId, Lane, PartId, RepositoryId, RepositoryName, RunId, StageName, Tenant};
use cairn_ports::{Broker, Delivery};
use cairn_rabbitmq::topology::{Topology, TopologyConfig, apply};
use cairn_rabbitmq::{Health, RabbitMqBroker, RabbitMqConfig};
use cairn_servers::{Vhost, given};
use cairn_wire::{Job, PartJob};
use lapin::options::QueueDeclareOptions;
use lapin::types::FieldTable;
use lapin::{Channel, Connection, ConnectionProperties};
use serde_json::Value;
use tokio::time::{sleep, timeout};

pub const STAGE: StageName = StageName::Parse;
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A vhost for one test, with the queues of two stages.
pub struct Space {
    pub vhost: Vhost,
    pub config: RabbitMqConfig,
    pub topology: Topology,
}

impl Space {
    /// Creates a space on the configured test server. Returns `None` if no server is configured.
    pub async fn given() -> Result<Option<Self>> {
        Self::given_with(|_| {}).await
    }

    pub async fn given_with(change: impl FnOnce(&mut RabbitMqConfig)) -> Result<Option<Self>> {
        let (Some(url), Some(management_url)) = (given::rabbitmq_url(), given::rabbitmq_management_url()) else {
            return Ok(None);
        };
        Self::on(&url, &management_url, change).await.map(Some)
    }

    pub async fn on(url: &str, management_url: &str, change: impl FnOnce(&mut RabbitMqConfig)) -> Result<Self> {
        let vhost = Vhost::create(url, management_url).await?;
        let mut config = RabbitMqConfig {
            urls: vec![vhost.url().into()],
            management_url: Some(management_url.into()),
            topology: TopologyConfig { retry_delays_ms: vec![200, 1500], ..TopologyConfig::default() },
            prefetch: 2,
            heartbeat_seconds: 2,
            not_ready_after_ms: 2_000,
            confirm_timeout_ms: 3_000,
            ..RabbitMqConfig::default()
        };
        change(&mut config);
        let topology = of_two_stages(&config);
        apply(&config, &topology).await?;
        // Without the management API, `depth` counts only the deliveries of this process, so it is always up
        // to date.
        config.management_url = None;
        Ok(Self { vhost, config, topology })
    }

    pub fn management_config(&self, management_url: &str) -> RabbitMqConfig {
        RabbitMqConfig { management_url: Some(management_url.into()), ..self.config.clone() }
    }

    pub fn broker(&self) -> Result<RabbitMqBroker> {
        Ok(RabbitMqBroker::new(self.config.clone())?)
    }

    /// Creates a broker that connects to `url`.
    pub fn broker_at(&self, url: String) -> Result<RabbitMqBroker> {
        Ok(RabbitMqBroker::new(RabbitMqConfig { urls: vec![url.into()], ..self.config.clone() })?)
    }

    /// Creates a plain client that does not use the adapter.
    pub async fn client(&self) -> Result<Client> {
        let connection = Connection::connect(self.vhost.url(), ConnectionProperties::default()).await?;
        let channel = connection.create_channel().await?;
        Ok(Client { _connection: connection, channel })
    }

    /// Returns the state of a queue from the management API.
    pub async fn queue(&self, name: &str) -> Result<Value> {
        let path = format!("/api/queues/{}/{name}", self.vhost.name());
        Ok(serde_json::from_str(&self.vhost.request("GET", &path, "").await?)?)
    }
}

pub struct Client {
    /// Keeps the connection open as long as the channel is used.
    _connection: Connection,
    pub channel: Channel,
}

impl Client {
    pub async fn num_ready(&self, queue: &str) -> Result<u32> {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        Ok(self.channel.queue_declare(queue.into(), options, FieldTable::default()).await?.message_count())
    }
}

/// The topology contains queues for only two stages, because each queue takes fifteen milliseconds to
/// declare.
fn of_two_stages(config: &RabbitMqConfig) -> Topology {
    let mut topology = Topology::new(&config.topology);
    let others: BTreeSet<String> = StageName::ALL
        .iter()
        .filter(|stage| !matches!(stage, StageName::Parse | StageName::Embed))
        .map(|stage| format!(".{}.", stage.as_str()))
        .collect();
    let is_of_others = |queue: &str| others.iter().any(|other| queue.contains(other.as_str()));
    topology.queues.retain(|queue| !is_of_others(&queue.name));
    topology.bindings.retain(|binding| !is_of_others(&binding.queue));
    topology
}

pub fn job(number: u32) -> Job {
    let tenant = Tenant::local();
    let repository = RepositoryId::derive(&tenant, &RepositoryName::new("r"));
    Job::Part(PartJob {
        tenant,
        run: RunId { repository, generation: GenerationId(1) },
        part: PartId { stage: STAGE, number },
        plan: ArtifactRef { key: "plan".to_owned(), size_bytes: 1, hash: [0; 32] },
    })
}

pub fn jobs(numbers: std::ops::Range<u32>) -> Vec<Job> {
    numbers.map(job).collect()
}

pub fn number(delivery: &Delivery) -> u32 {
    match &delivery.job {
        Job::Part(job) => job.part.number,
        Job::Sync(_) => u32::MAX,
    }
}

pub async fn publish(broker: &RabbitMqBroker, numbers: std::ops::Range<u32>) -> Result<()> {
    Ok(broker.publish(Lane::Bulk, jobs(numbers)).await?)
}

pub async fn next(broker: &RabbitMqBroker) -> Result<Delivery> {
    let received = timeout(PATIENCE, broker.receive(STAGE)).await.context("no job was delivered in time")??;
    received.context("the broker is closed")
}

/// Waits until the condition holds; returns the waiting time.
pub async fn wait_until(what: &str, limit: Duration, condition: impl AsyncFn() -> Result<bool>) -> Result<Duration> {
    let started = Instant::now();
    while !condition().await? {
        ensure!(started.elapsed() < limit, "this condition did not become true within {limit:?}: {what}");
        sleep(Duration::from_millis(20)).await;
    }
    Ok(started.elapsed())
}

/// Like `wait_until`, for a condition that sends no request. The limit is `PATIENCE`.
pub async fn wait_for(what: &str, condition: impl Fn() -> bool) -> Result<Duration> {
    let started = Instant::now();
    while !condition() {
        ensure!(started.elapsed() < PATIENCE, "this condition did not become true within {PATIENCE:?}: {what}");
        sleep(Duration::from_millis(5)).await;
    }
    Ok(started.elapsed())
}

/// Waits until both connections and all consumers are up.
pub async fn complete(broker: &RabbitMqBroker) -> Result<Duration> {
    let is_complete = |health: Health| health.incomplete_since.is_none() && health.connected_since.is_some();
    wait_for("complete", || is_complete(broker.health())).await
}
