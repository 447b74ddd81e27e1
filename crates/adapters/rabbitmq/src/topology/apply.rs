//! Creates the topology. A second run changes nothing.
//!
//! Policies are created first, so that no queue ever exists without its limits. Then exchanges, queues and
//! bindings are created, in this order.

use std::time::Duration;

use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, Connection};
use serde_json::json;
use tokio::time::timeout;

use super::plan::{Binding, Exchange, ExchangeKind, Policy, Queue, Topology};
use crate::config::RabbitMqConfig;
use crate::link;
use crate::management::{Management, ManagementError};

/// Numbers of objects in the topology. All these objects exist now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Applied {
    pub num_policies: usize,
    pub num_exchanges: usize,
    pub num_queues: usize,
    pub num_bindings: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    #[error("the broker cannot be reached: {0}")]
    Unreachable(String),
    #[error("the management API, which is needed for the topology, cannot be used")]
    Management(#[from] ManagementError),
    #[error("the feature flag `{0}` is off: run `rabbitmqctl enable_feature_flag {0}` on a node, then apply again")]
    FeatureFlag(&'static str),
    #[error(
        "these objects exist, but their properties differ from the topology: {}. Change `topology.version`, apply the new topology, let the workers drain the old \
         queues, then delete the old objects", .0.join("; ")
    )]
    Incompatible(Vec<String>),
    #[error("the request for {0} failed")]
    Failed(String, #[source] lapin::Error),
}

/// Maximum time for all declarations together.
const DEADLINE: Duration = Duration::from_secs(60);
const CLOSING: Duration = Duration::from_secs(5);

/// Declares the whole `topology`, which `Topology::new` derives from the settings. Requires the management
/// API and a user with the configure permission.
pub async fn apply(config: &RabbitMqConfig, topology: &Topology) -> Result<Applied, TopologyError> {
    let management = Management::new(config)?;
    check_feature_flag(&management).await?;
    for policy in &topology.policies {
        put_policy(&management, policy).await?;
    }
    let unreachable = |error: String| TopologyError::Unreachable(error);
    let connection = link::connect_once(config, "topology").await.map_err(unreachable)?;
    let declaring = timeout(DEADLINE, declare(&connection, topology)).await;
    close(&connection).await;
    declaring.map_err(|_| TopologyError::Unreachable(format!("no reply within {DEADLINE:?}")))??;
    Ok(Applied {
        num_policies: topology.policies.len(),
        num_exchanges: topology.exchanges.len(),
        num_queues: topology.queues.len(),
        num_bindings: topology.bindings.len(),
    })
}

/// Closes the connection with the closing handshake, so that the broker logs no warning. A connection that
/// does not reply is dropped, which also closes the connection.
pub(super) async fn close(connection: &Connection) {
    let _ = timeout(CLOSING, connection.close(200, "done".into())).await;
}

/// At-least-once dead-lettering requires the feature flag `stream_queue`. A broker that does not list this
/// flag always has the feature.
async fn check_feature_flag(management: &Management) -> Result<(), TopologyError> {
    let flags = management.get(&["feature-flags"]).await?;
    let flags = flags.as_array().map(Vec::as_slice).unwrap_or_default();
    match flags.iter().find(|flag| flag["name"] == "stream_queue") {
        Some(flag) if flag["state"] == "disabled" => Err(TopologyError::FeatureFlag("stream_queue")),
        _ => Ok(()),
    }
}

async fn put_policy(management: &Management, policy: &Policy) -> Result<(), ManagementError> {
    let body = json!({
        "pattern": policy.pattern,
        "apply-to": "queues",
        "priority": policy.priority,
        "definition": policy.definition,
    });
    management.put(&["policies", management.vhost(), &policy.name], &body).await
}

async fn declare(connection: &Connection, topology: &Topology) -> Result<(), TopologyError> {
    let mut incompatible = Vec::new();
    let mut channel = open(connection).await?;
    for exchange in &topology.exchanges {
        let what = format!("exchange `{}`", exchange.name);
        judge(declare_exchange(&channel, exchange).await, what, &mut incompatible)?;
        channel = usable(connection, channel).await?;
    }
    for queue in &topology.queues {
        let what = format!("queue `{}`", queue.name);
        judge(declare_queue(&channel, queue).await, what, &mut incompatible)?;
        channel = usable(connection, channel).await?;
    }
    if !incompatible.is_empty() {
        return Err(TopologyError::Incompatible(incompatible));
    }
    for binding in &topology.bindings {
        let bound = bind(&channel, binding).await;
        bound.map_err(|error| TopologyError::Failed(format!("the binding of queue `{}`", binding.queue), error))?;
    }
    Ok(())
}

/// If the object exists, but its properties differ from the topology, adds it to `incompatible`. Any other
/// error ends the declaration.
fn judge(outcome: lapin::Result<()>, what: String, incompatible: &mut Vec<String>) -> Result<(), TopologyError> {
    let Err(error) = outcome else { return Ok(()) };
    match error.kind() {
        lapin::ErrorKind::ProtocolError(protocol)
            if protocol.kind() == &AMQPErrorKind::Soft(AMQPSoftError::PRECONDITIONFAILED) =>
        {
            incompatible.push(format!("{what} ({})", protocol.get_message()));
            Ok(())
        }
        _ => Err(TopologyError::Failed(what, error)),
    }
}

async fn open(connection: &Connection) -> Result<Channel, TopologyError> {
    let failed = |error| TopologyError::Failed("a channel".to_owned(), error);
    connection.create_channel().await.map_err(failed)
}

/// Returns a usable channel. A refused declaration closes its channel, so a new channel may be needed.
async fn usable(connection: &Connection, channel: Channel) -> Result<Channel, TopologyError> {
    if channel.status().connected() { Ok(channel) } else { open(connection).await }
}

async fn declare_exchange(channel: &Channel, exchange: &Exchange) -> lapin::Result<()> {
    let kind = match exchange.kind {
        ExchangeKind::Direct => lapin::ExchangeKind::Direct,
        ExchangeKind::Topic => lapin::ExchangeKind::Topic,
        ExchangeKind::Fanout => lapin::ExchangeKind::Fanout,
    };
    let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
    channel.exchange_declare(exchange.name.as_str().into(), kind, options, FieldTable::default()).await
}

async fn declare_queue(channel: &Channel, queue: &Queue) -> lapin::Result<()> {
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    if queue.has_single_active_consumer {
        arguments.insert("x-single-active-consumer".into(), AMQPValue::Boolean(true));
    }
    channel.queue_declare(queue.name.as_str().into(), options, arguments).await.map(drop)
}

async fn bind(channel: &Channel, binding: &Binding) -> lapin::Result<()> {
    let (queue, exchange, key) = (binding.queue.as_str(), binding.exchange.as_str(), binding.key.as_str());
    let options = QueueBindOptions::default();
    channel.queue_bind(queue.into(), exchange.into(), key.into(), options, FieldTable::default()).await
}
