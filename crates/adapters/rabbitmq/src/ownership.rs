//! One process at a time owns a key: the key of a provider, or the key of the coordinator.
//!
//! Each key has a queue with a single active consumer: the broker delivers everything to one consumer until
//! that consumer is disconnected. Every process that needs the key consumes the queue, and publishes a token
//! to the queue four times per heartbeat.
//!
//! The broker delivers tokens only to the active consumer. A process that receives its own token is therefore
//! the active consumer, and owns the key until three quarters of a heartbeat after it sent the token. The
//! broker needs at least one heartbeat to notice a lost consumer and to deliver to another consumer. So two
//! processes never own the key at the same time. A process that was suspended receives only old tokens, which
//! do not extend its ownership.
//!
//! A lost token does no harm, because another token follows. Each message is acknowledged at once. A lock
//! that consists of one unacknowledged message is not used, because the broker limits how long a message may
//! be unacknowledged (`consumer_timeout`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_ports::{BrokerError, ErrorKind, plain};
use futures::StreamExt;
use lapin::message::Delivery;
use lapin::options::{BasicAckOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Consumer};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::backoff::Backoff;
use crate::broker::RabbitMqBroker;
use crate::error::broker_error;
use crate::publisher::Outgoing;
use crate::shared::Shared;
use crate::topology::passive;

const TOKENS_PER_HEARTBEAT: u32 = 4;
/// The prefetch is more than one, because tokens of other processes arrive as well.
const PREFETCH: u16 = 16;

/// Ownership of a key. Dropping the ownership releases the key to the next process.
pub struct Ownership {
    /// Time until which the key is owned; `None` when the ownership is lost.
    until: watch::Receiver<Option<Instant>>,
    task: JoinHandle<()>,
}

impl Ownership {
    /// True if the key may be used now. Call this function before each use. If the process was suspended,
    /// only this call shows that its ownership has expired.
    pub fn is_held(&self) -> bool {
        self.until.borrow().is_some_and(|until| Instant::now() < until)
    }

    /// Waits until the key is no longer owned.
    pub async fn lost(&self) {
        // The wait fails only if the sender is dropped. Then the task has ended, and the key is no longer
        // owned.
        let _ = self.until.clone().wait_for(Option::is_none).await;
    }
}

impl Drop for Ownership {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RabbitMqBroker {
    /// Waits until this process owns the key with this name (one of `topology.owned_keys`, or `COORDINATOR`).
    /// Fails with `NotFound` if the key has no queue.
    pub async fn own(&self, key_name: &str) -> Result<Ownership, BrokerError> {
        let config = &self.shared.config;
        let (min, max) = (config.backoff_min_ms, config.backoff_max_ms);
        let mut backoff = Backoff::new(Duration::from_millis(min), Duration::from_millis(max));
        loop {
            match Contender::attach(&self.shared, key_name).await {
                Ok((contender, consumer)) => match contender.contend(consumer).await {
                    Ok(ownership) => return Ok(ownership),
                    Err(fault) => tracing::warn!(key = key_name, "cannot wait for the ownership of the key: {fault}"),
                },
                Err(error) => {
                    let error = broker_error("own", key_name, error);
                    if error.kind == ErrorKind::NotFound {
                        return Err(error);
                    }
                    tracing::warn!(key = key_name, "cannot wait for the ownership of the key: {}", plain(&error));
                }
            }
            sleep(backoff.next()).await;
        }
    }
}

/// A process that waits for a key or owns it.
struct Contender {
    shared: Arc<Shared>,
    queue: String,
    channel: Channel,
    /// Distinguishes the tokens of this process from those of other processes.
    id: u64,
    started: Instant,
    until: watch::Sender<Option<Instant>>,
}

impl Contender {
    async fn attach(shared: &Arc<Shared>, key_name: &str) -> lapin::Result<(Self, Consumer)> {
        let queue = shared.names.owner_queue(key_name);
        let channel = shared.consuming.up().await.connection.create_channel().await?;
        passive(&channel, &queue).await?;
        channel.basic_qos(PREFETCH, BasicQosOptions::default()).await?;
        let options = BasicConsumeOptions::default();
        let consumer = channel.basic_consume(queue.as_str().into(), "".into(), options, FieldTable::default()).await?;
        let (shared, until) = (Arc::clone(shared), watch::channel(None).0);
        Ok((Self { shared, queue, channel, id: rand::random(), started: Instant::now(), until }, consumer))
    }

    /// Waits until this process owns the key; fails if the channel ends.
    async fn contend(self, consumer: Consumer) -> Result<Ownership, String> {
        let mut until = self.until.subscribe();
        let ownership = until.clone();
        let task = tokio::spawn(self.hold(consumer));
        // From this line on, dropping `ownership` ends the task.
        let ownership = Ownership { until: ownership, task };
        match until.wait_for(Option::is_some).await {
            Ok(_) => Ok(ownership),
            Err(_) => Err("the channel ended".to_owned()),
        }
    }

    /// Sends and receives tokens until the channel ends or the tokens of this process no longer arrive.
    async fn hold(self, consumer: Consumer) {
        tokio::select! {
            () = self.send_tokens() => {}
            fault = self.take_tokens(consumer) => tracing::warn!(queue = self.queue, "the ownership of the key was lost: {fault}"),
        }
        self.until.send_replace(None);
        // The broker serves the next process as soon as the channel is closed.
        let _ = self.channel.close(200, "done".into()).await;
    }

    fn every(&self) -> Duration {
        self.shared.config.heartbeat() / TOKENS_PER_HEARTBEAT
    }

    async fn send_tokens(&self) {
        let mut ticks = interval(self.every());
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let sent_ms = self.started.elapsed().as_millis();
            let token = Outgoing {
                exchange: String::new(),
                key: self.queue.clone(),
                id: format!("{}-{sent_ms}", self.id),
                body: Vec::new(),
                properties: BasicProperties::default().with_message_id(format!("{}-{sent_ms}", self.id).into()),
            };
            if let Err(error) = self.shared.publisher.publish(vec![token]).await {
                tracing::warn!(
                    queue = self.queue,
                    "a token that confirms the ownership of the key was not sent: {}",
                    plain(&error)
                );
            }
        }
    }

    async fn take_tokens(&self, mut consumer: Consumer) -> String {
        loop {
            let now = Instant::now();
            let left = self.until.borrow().map(|until| until.saturating_duration_since(now));
            // A process that does not own the key yet waits without a limit.
            let delivery = match timeout(left.unwrap_or(Duration::MAX), consumer.next()).await {
                Ok(Some(Ok(delivery))) => delivery,
                Ok(Some(Err(error))) => return plain(&error),
                Ok(None) => return "the broker cancelled the consumer".to_owned(),
                Err(_) => return "no token arrived in time".to_owned(),
            };
            if !delivery.acker.ack(BasicAckOptions::default()).await.unwrap_or(false) {
                return "an acknowledgement was refused".to_owned();
            }
            if let Some(sent_at) = self.own_token(&delivery) {
                let until = sent_at + self.every() * (TOKENS_PER_HEARTBEAT - 1);
                if until > Instant::now() {
                    self.until.send_replace(Some(until));
                }
            }
        }
    }

    /// Returns the time at which the token was sent; `None` if another process sent it.
    fn own_token(&self, delivery: &Delivery) -> Option<Instant> {
        let id = delivery.properties.message_id().as_ref()?.to_string();
        let (of, sent_ms) = id.split_once('-')?;
        let sent_ms = sent_ms.parse().ok().filter(|_| of == self.id.to_string())?;
        self.started.checked_add(Duration::from_millis(sent_ms))
    }
}
