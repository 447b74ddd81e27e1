//! Reports the missing parts of the topology and changes nothing.

use lapin::options::{ExchangeDeclareOptions, QueueDeclareOptions};
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use lapin::types::FieldTable;
use lapin::{Channel, Connection};

use super::plan::Topology;

/// Returns each missing exchange and queue, as `exchange …` or `queue …`. AMQP cannot query bindings. A
/// missing binding is noticed only when the broker returns a message as unroutable.
pub async fn check(connection: &Connection, topology: &Topology) -> lapin::Result<Vec<String>> {
    let mut missing = Vec::new();
    let mut channel = connection.create_channel().await?;
    for exchange in &topology.exchanges {
        if is_missing(passive_exchange(&channel, &exchange.name).await)? {
            missing.push(format!("exchange `{}`", exchange.name));
            channel = connection.create_channel().await?;
        }
    }
    for queue in &topology.queues {
        if is_missing(passive(&channel, &queue.name).await.map(drop))? {
            missing.push(format!("queue `{}`", queue.name));
            channel = connection.create_channel().await?;
        }
    }
    Ok(missing)
}

fn is_missing(outcome: lapin::Result<()>) -> lapin::Result<bool> {
    let Err(error) = outcome else { return Ok(false) };
    match error.kind() {
        lapin::ErrorKind::ProtocolError(protocol)
            if protocol.kind() == &AMQPErrorKind::Soft(AMQPSoftError::NOTFOUND) =>
        {
            Ok(true)
        }
        _ => Err(error),
    }
}

async fn passive_exchange(channel: &Channel, name: &str) -> lapin::Result<()> {
    let options = ExchangeDeclareOptions { passive: true, ..ExchangeDeclareOptions::default() };
    // The broker ignores the exchange kind in a passive declaration.
    channel.exchange_declare(name.into(), lapin::ExchangeKind::Direct, options, FieldTable::default()).await
}

/// Declares a queue passively: returns its state, or fails if it does not exist.
pub(crate) async fn passive(channel: &Channel, queue: &str) -> lapin::Result<lapin::Queue> {
    let options = QueueDeclareOptions { passive: true, durable: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(queue.into(), options, FieldTable::default()).await
}
