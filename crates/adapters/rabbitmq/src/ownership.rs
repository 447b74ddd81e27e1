//! One process at a time owns a key: a provider's, or the one of whoever coordinates.
//!
//! The key has a queue whose consumers are served one at a time: the broker gives everything to one of them, until that one
//! is gone. Everybody who wants the key consumes the queue, and four times per heartbeat puts a token into it. Who receives
//! its own token was the one when it sent it, and owns the key until three quarters of a heartbeat after that: sooner than
//! the broker, which takes at least one heartbeat, can have noticed that it is gone and served somebody else. A process that
//! stood still finds old tokens only.
//!
//! A lost token is followed by another, and nothing is held for longer than the broker allows (`consumer_timeout`), as a
//! lock made of one message would be.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_ports::{BrokerError, ErrorKind};
use futures::StreamExt;
use lapin::message::Delivery;
use lapin::options::{BasicAckOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Consumer};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::backoff::Backoff;
use crate::broker::{RabbitMqBroker, Shared};
use crate::error::{broker_error, chain};
use crate::publisher::Outgoing;
use crate::topology::passive;

const TOKENS_PER_HEARTBEAT: u32 = 4;
/// Tokens of others may be on their way as well.
const PREFETCH: u16 = 16;

/// A key in our hands. Dropping it lets the next one have it.
pub struct Ownership {
    /// Until when it is ours; none when it is lost.
    until: watch::Receiver<Option<Instant>>,
    task: JoinHandle<()>,
}

impl Ownership {
    /// Whether the key may be used at this moment. Ask before each use: a process that stood still learns only here that
    /// its time is over.
    pub fn is_held(&self) -> bool {
        self.until.borrow().is_some_and(|until| Instant::now() < until)
    }

    /// Returns when the key is not ours any more.
    pub async fn lost(&self) {
        // A sender that is gone is a task that ended.
        let _ = self.until.clone().wait_for(Option::is_none).await;
    }
}

impl Drop for Ownership {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RabbitMqBroker {
    /// Waits until the key of that name (one of `topology.owned_keys`, or `COORDINATOR`) is ours. `NotFound` if it has no queue.
    pub async fn own(&self, key_name: &str) -> Result<Ownership, BrokerError> {
        let config = &self.shared.config;
        let (min, max) = (config.backoff_min_ms, config.backoff_max_ms);
        let mut backoff = Backoff::new(Duration::from_millis(min), Duration::from_millis(max));
        loop {
            match Contender::attach(&self.shared, key_name).await {
                Ok((contender, consumer)) => match contender.contend(consumer).await {
                    Ok(ownership) => return Ok(ownership),
                    Err(fault) => tracing::warn!(key = key_name, "cannot wait for ownership: {fault}"),
                },
                Err(error) => {
                    let error = broker_error("own", key_name, error);
                    if error.kind == ErrorKind::NotFound {
                        return Err(error);
                    }
                    tracing::warn!(key = key_name, "cannot wait for ownership: {}", chain(&error));
                }
            }
            sleep(backoff.next()).await;
        }
    }
}

/// Who wants a key, or has it.
struct Contender {
    shared: Arc<Shared>,
    queue: String,
    channel: Channel,
    /// Tells our tokens from those of others.
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

    /// Becomes the owner, or fails with the channel.
    async fn contend(self, consumer: Consumer) -> Result<Ownership, String> {
        let mut until = self.until.subscribe();
        let ownership = until.clone();
        let task = tokio::spawn(self.hold(consumer));
        // From here on dropping it ends the task.
        let ownership = Ownership { until: ownership, task };
        match until.wait_for(Option::is_some).await {
            Ok(_) => Ok(ownership),
            Err(_) => Err("the channel ended".to_owned()),
        }
    }

    /// Sends tokens and takes them, until the channel ends or our tokens stay away.
    async fn hold(self, consumer: Consumer) {
        tokio::select! {
            () = self.send_tokens() => {}
            fault = self.take_tokens(consumer) => tracing::warn!(queue = self.queue, "not an owner any more: {fault}"),
        }
        self.until.send_replace(None);
        // With the channel the broker serves the next one at once.
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
                tracing::warn!(queue = self.queue, "a token was not sent: {}", chain(&error));
            }
        }
    }

    async fn take_tokens(&self, mut consumer: Consumer) -> String {
        loop {
            let now = Instant::now();
            let left = self.until.borrow().map(|until| until.saturating_duration_since(now));
            // Who waits for its turn has nothing to lose.
            let delivery = match timeout(left.unwrap_or(Duration::MAX), consumer.next()).await {
                Ok(Some(Ok(delivery))) => delivery,
                Ok(Some(Err(error))) => return chain(&error),
                Ok(None) => return "the broker cancelled the consumer".to_owned(),
                Err(_) => return "no token came back in time".to_owned(),
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

    /// When we sent it, if it is ours.
    fn own_token(&self, delivery: &Delivery) -> Option<Instant> {
        let id = delivery.properties.message_id().as_ref()?.to_string();
        let (of, sent_ms) = id.split_once('-')?;
        let sent_ms = sent_ms.parse().ok().filter(|_| of == self.id.to_string())?;
        self.started.checked_add(Duration::from_millis(sent_ms))
    }
}
