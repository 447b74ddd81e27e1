//! Implements the port `Broker` over RabbitMQ.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{Lane, StageName};
use cairn_ports::{Broker, BrokerError, Delivery, ErrorKind, FailureCode, Settlement};
use cairn_wire::Job;
use tokio::task::JoinSet;

use crate::config::{InvalidConfig, RabbitMqConfig};
use crate::consumer;
use crate::error::broker_error;
use crate::health::Health;
use crate::message::Message;
use crate::settle;
use crate::shared::Shared;
use crate::statistics::Statistics;
use crate::topology::{self, Source};

/// Returns the current trace context as a `traceparent`.
type CurrentTrace = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// Publishes and delivers jobs over RabbitMQ. Dropping the broker object closes its connections. Unsettled
/// jobs are then delivered to other processes.
pub struct RabbitMqBroker {
    pub(crate) shared: Arc<Shared>,
    /// Aborted when the broker is dropped.
    tasks: Mutex<JoinSet<()>>,
    /// Stages whose consumer tasks were started.
    consumed: Mutex<BTreeSet<StageName>>,
    current_trace: Option<CurrentTrace>,
}

impl RabbitMqBroker {
    /// Starts to connect in the background and returns at once; `health` reports when the broker is
    /// connected. Must be called within a tokio runtime.
    pub fn new(config: RabbitMqConfig) -> Result<Self, InvalidConfig> {
        config.validate()?;
        let shared = Arc::new(Shared::new(config));
        let mut tasks = JoinSet::new();
        for link in [&shared.consuming, &shared.publishing] {
            let link = Arc::clone(link);
            tasks.spawn(async move { link.run().await });
        }
        Ok(Self { shared, tasks: Mutex::new(tasks), consumed: Mutex::default(), current_trace: None })
    }

    /// Sets the source of the `traceparent` that `publish` adds to each message.
    #[must_use]
    pub fn with_trace(mut self, current: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.current_trace = Some(Box::new(current));
        self
    }

    pub fn health(&self) -> Health {
        let config = &self.shared.config;
        let (not_ready_after, dead_after) = (config.not_ready_after_ms, config.dead_after_ms);
        let is_blocked = self.shared.publishing.is_blocked();
        self.shared.health.snapshot(
            is_blocked,
            Duration::from_millis(not_ready_after),
            Duration::from_millis(dead_after),
        )
    }

    pub fn statistics(&self) -> Statistics {
        self.shared.counters.snapshot()
    }

    /// The missing parts of the topology, e.g. "exchange `cairn.work.v1`". A worker is ready only when this
    /// list is empty.
    pub async fn missing(&self) -> Result<Vec<String>, BrokerError> {
        let Some(up) = self.shared.consuming.current() else {
            return Err(BrokerError::new(ErrorKind::Unavailable, "check", "topology").because("no connection"));
        };
        let missing = topology::check(&up.connection, &self.shared.topology).await;
        missing.map_err(|error| broker_error("check", "topology", error))
    }

    /// Stops consuming the stage, and gives back the deliveries that were not received yet. The next
    /// `receive` starts consuming again.
    pub fn release(&self, stage: StageName) {
        self.shared.stage(stage).is_wanted.send_replace(false);
    }

    /// Attaches consumers for the stage and keeps them attached.
    fn want(&self, stage: StageName) {
        if self.consumed.lock().unwrap_or_else(PoisonError::into_inner).insert(stage) {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            for source in Source::ALL {
                tasks.spawn(consumer::consume(Arc::clone(&self.shared), stage, source));
            }
        }
        self.shared.stage(stage).is_wanted.send_if_modified(|is_wanted| !std::mem::replace(is_wanted, true));
    }
}

#[async_trait]
impl Broker for RabbitMqBroker {
    async fn publish(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), BrokerError> {
        let traceparent = self.current_trace.as_ref().and_then(|current| current());
        let mut messages = Vec::with_capacity(jobs.len());
        for job in &jobs {
            let message = Message::of_job(job, lane, traceparent.clone())?;
            messages.push(self.shared.to_work(&message, job.stage(), Source::of(lane)));
        }
        self.shared.publisher.publish(messages).await
    }

    async fn receive(&self, stage: StageName) -> Result<Option<Delivery>, BrokerError> {
        let state = self.shared.stage(stage);
        loop {
            // The listener is registered before the inbox is checked, so that a notification between these
            // two steps is not missed.
            let mut ready = std::pin::pin!(state.ready.notified());
            ready.as_mut().enable();
            if self.shared.is_closed() {
                return Ok(None);
            }
            self.want(stage);
            let may_be_suspect = self.shared.may_hand_out_suspects();
            let delivery = state.inbox().next(self.shared.next_id(), may_be_suspect);
            if let Some(delivery) = delivery {
                return Ok(Some(delivery));
            }
            ready.await;
        }
    }

    async fn dead_letter(&self, tag: u64, code: FailureCode, message: &str) -> Result<(), BrokerError> {
        settle::dead_letter(&self.shared, tag, code, message).await
    }

    async fn settle(&self, tag: u64, settlement: Settlement) -> Result<(), BrokerError> {
        settle::settle(&self.shared, tag, settlement).await
    }

    async fn depth(&self, stage: StageName) -> Result<u64, BrokerError> {
        crate::depth::depth(&self.shared, stage).await
    }

    async fn close(&self) {
        self.shared.close();
    }
}
