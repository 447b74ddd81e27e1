//! The port's methods, and what all parts share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{Lane, StageName};
use cairn_ports::{Broker, BrokerError, Delivery, ErrorKind, Settlement};
use cairn_wire::Job;
use lapin::{Acker, Channel};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::config::{InvalidConfig, RabbitMqConfig};
use crate::consumer;
use crate::error::broker_error;
use crate::health::{Health, HealthBook};
use crate::inbox::Inbox;
use crate::link::Link;
use crate::management::Management;
use crate::message::Message;
use crate::publisher::{Outgoing, Publisher};
use crate::settle;
use crate::statistics::{Counters, Statistics};
use crate::topology::{self, Names, Source, Topology};

/// Gives the trace that is being worked in, as a `traceparent`.
type CurrentTrace = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// Jobs over RabbitMQ. Dropping it ends its connections; what is unsettled then comes back to others.
pub struct RabbitMqBroker {
    pub(crate) shared: Arc<Shared>,
    /// End with the broker.
    tasks: Mutex<JoinSet<()>>,
    /// Stages that have consumers here.
    consumed: Mutex<BTreeSet<StageName>>,
    current_trace: Option<CurrentTrace>,
}

/// What the broker, its consumers and its watchers share.
pub(crate) struct Shared {
    pub(crate) config: Arc<RabbitMqConfig>,
    pub(crate) names: Names,
    pub(crate) topology: Topology,
    pub(crate) consuming: Arc<Link>,
    pub(crate) publishing: Arc<Link>,
    pub(crate) publisher: Publisher,
    pub(crate) health: Arc<HealthBook>,
    pub(crate) counters: Arc<Counters>,
    /// Absent if its address is not set.
    pub(crate) management: Option<Management>,
    /// Lets one walk through the dead letters at a time: whoever walks holds them all.
    pub(crate) dead_letter_walk: tokio::sync::Mutex<()>,
    stages: BTreeMap<StageName, Stage>,
    /// Suspects on their way to their queue.
    num_isolating: AtomicUsize,
    is_closed: watch::Sender<bool>,
    next_id: AtomicU64,
}

/// While it lives, a suspect is on its way to its queue, and none is handed out: one that kills this process now would leave those
/// that are under way in both queues, each with deaths of its own to count.
pub(crate) struct Isolating(Arc<Shared>);

impl Isolating {
    pub(crate) fn begin(shared: &Arc<Shared>) -> Self {
        shared.num_isolating.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(shared))
    }
}

impl Drop for Isolating {
    fn drop(&mut self) {
        self.0.num_isolating.fetch_sub(1, Ordering::SeqCst);
        for stage in self.0.stages.values() {
            stage.ready.notify_waiters();
        }
    }
}

/// What this process has of one stage.
pub(crate) struct Stage {
    inbox: Mutex<Inbox<Answer>>,
    /// Something may be receivable.
    pub(crate) ready: Notify,
    /// Whether consumers should be attached.
    pub(crate) is_wanted: watch::Sender<bool>,
    /// The interactive lane is attached, or was tried: others attach after it, so that its jobs come first.
    pub(crate) is_interactive_tried: watch::Sender<bool>,
}

/// Answers a delivery.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) acker: Acker,
    pub(crate) lease: Arc<Lease>,
}

/// The channel of one consumer. It stays open as long as something that came over it may be answered.
pub(crate) struct Lease {
    pub(crate) id: u64,
    pub(crate) channel: Channel,
    /// An acknowledgement was refused, so the channel is of no use.
    pub(crate) broken: Notify,
    /// The channel is gone and everything that came over it.
    pub(crate) is_lost: watch::Sender<bool>,
}

impl Stage {
    fn new(prefetch: usize) -> Self {
        Self {
            inbox: Mutex::new(Inbox::new(prefetch)),
            ready: Notify::new(),
            is_wanted: watch::channel(false).0,
            is_interactive_tried: watch::channel(false).0,
        }
    }

    pub(crate) fn inbox(&self) -> MutexGuard<'_, Inbox<Answer>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn new(config: RabbitMqConfig) -> Self {
        let config = Arc::new(config);
        let (health, counters) = (Arc::new(HealthBook::new()), Arc::new(Counters::default()));
        let link = |name| Arc::new(Link::new(name, Arc::clone(&config), Arc::clone(&health), Arc::clone(&counters)));
        let (consuming, publishing) = (link("consuming"), link("publishing"));
        let stages = StageName::ALL.iter().map(|stage| (*stage, Stage::new(config.prefetch_of(*stage).into())));
        Self {
            names: Names::new(&config.topology),
            topology: Topology::new(&config.topology),
            publisher: Publisher::new(Arc::clone(&publishing), Arc::clone(&config), Arc::clone(&counters)),
            consuming,
            publishing,
            health,
            counters,
            management: Management::new(&config).ok(),
            dead_letter_walk: tokio::sync::Mutex::new(()),
            stages: stages.collect(),
            num_isolating: AtomicUsize::new(0),
            is_closed: watch::channel(false).0,
            next_id: AtomicU64::new(1),
            config,
        }
    }

    pub(crate) fn stage(&self, stage: StageName) -> &Stage {
        // Made of all stages that there are.
        &self.stages[&stage]
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// A message on its way to a queue of a stage.
    pub(crate) fn to_work(&self, message: &Message, stage: StageName, source: Source) -> Outgoing {
        outgoing(self.names.work_exchange(), stage, source, message)
    }

    /// The same after a delay.
    pub(crate) fn to_retry(&self, message: &Message, stage: StageName, source: Source, after: Duration) -> Outgoing {
        let delay_ms = self.config.topology.rung(after);
        outgoing(self.names.retry_exchange(delay_ms), stage, source, message)
    }
}

fn outgoing(exchange: String, stage: StageName, source: Source, message: &Message) -> Outgoing {
    Outgoing {
        exchange,
        key: topology::routing_key(stage, source),
        id: message.message_id(),
        body: message.body.clone(),
        properties: message.properties(&[]),
    }
}

impl RabbitMqBroker {
    /// Starts to connect and returns at once: `health` says when it stands. Must be called within a tokio runtime.
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

    /// What `publish` sends along as `traceparent`.
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

    /// What of the topology is missing, e.g. "exchange `cairn.work.v1`". A worker is not ready while there is something.
    pub async fn missing(&self) -> Result<Vec<String>, BrokerError> {
        let Some(up) = self.shared.consuming.current() else {
            return Err(BrokerError::new(ErrorKind::Unavailable, "check", "topology").because("no connection"));
        };
        let missing = topology::check(&up.connection, &self.shared.topology).await;
        missing.map_err(|error| broker_error("check", "topology", error))
    }

    /// Stops consuming the stage, and gives back what nobody received yet. The next `receive` starts again.
    pub fn release(&self, stage: StageName) {
        self.shared.stage(stage).is_wanted.send_replace(false);
    }

    /// Has consumers for the stage from now on.
    fn want(&self, stage: StageName) {
        if self.consumed.lock().unwrap_or_else(PoisonError::into_inner).insert(stage) {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            for source in Source::ALL {
                tasks.spawn(consumer::consume(Arc::clone(&self.shared), stage, source));
            }
        }
        self.shared.stage(stage).is_wanted.send_if_modified(|is_wanted| !std::mem::replace(is_wanted, true));
    }

    fn is_closed(&self) -> bool {
        *self.shared.is_closed.borrow()
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
            // Listening starts before looking, so that nothing is missed in between.
            let mut ready = std::pin::pin!(state.ready.notified());
            ready.as_mut().enable();
            if self.is_closed() {
                return Ok(None);
            }
            self.want(stage);
            let may_be_suspect = self.shared.num_isolating.load(Ordering::SeqCst) == 0;
            let delivery = state.inbox().next(self.shared.next_id(), may_be_suspect);
            if let Some(delivery) = delivery {
                return Ok(Some(delivery));
            }
            ready.await;
        }
    }

    async fn dead_letter(&self, tag: u64, code: &str, message: &str) -> Result<(), BrokerError> {
        settle::dead_letter(&self.shared, tag, code, message).await
    }

    async fn settle(&self, tag: u64, settlement: Settlement) -> Result<(), BrokerError> {
        settle::settle(&self.shared, tag, settlement).await
    }

    async fn depth(&self, stage: StageName) -> Result<u64, BrokerError> {
        crate::depth::depth(&self.shared, stage).await
    }

    async fn close(&self) {
        self.shared.is_closed.send_replace(true);
        for stage in self.shared.stages.values() {
            stage.is_wanted.send_replace(false);
            stage.ready.notify_waiters();
        }
    }
}
