//! The state that the broker object and its background tasks share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cairn_domain::{FailureCode, StageName};
use lapin::{Acker, Channel};
use tokio::sync::{Notify, watch};

use crate::config::RabbitMqConfig;
use crate::health::HealthBook;
use crate::inbox::Inbox;
use crate::link::Link;
use crate::management::Management;
use crate::message::{Message, dead_letter_headers};
use crate::publisher::{Outgoing, Publisher};
use crate::statistics::Counters;
use crate::topology::{self, Names, Source, Topology};

/// State of one broker.
pub(crate) struct Shared {
    pub(crate) config: Arc<RabbitMqConfig>,
    pub(crate) names: Names,
    pub(crate) topology: Topology,
    pub(crate) consuming: Arc<Link>,
    pub(crate) publishing: Arc<Link>,
    pub(crate) publisher: Publisher,
    pub(crate) health: Arc<HealthBook>,
    pub(crate) counters: Arc<Counters>,
    /// `None` if `management_url` is not set.
    pub(crate) management: Option<Management>,
    /// Allows one walk through the dead-letter queue at a time, because a walk takes all messages of the
    /// queue.
    pub(crate) dead_letter_walk: tokio::sync::Mutex<()>,
    stages: BTreeMap<StageName, Stage>,
    /// Number of suspects that are being moved to the suspect queue.
    num_isolating: AtomicUsize,
    is_closed: watch::Sender<bool>,
    next_id: AtomicU64,
}

/// While this guard exists, a suspect is being moved to the suspect queue, and no suspect is given to a
/// worker. A suspect that is given to a worker could kill this process during the move. The moved messages
/// would then be in both queues, and the unanswered deliveries of each copy would be counted separately.
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

/// State of one stage in this process.
pub(crate) struct Stage {
    inbox: Mutex<Inbox<AckHandle>>,
    /// Notified when a delivery may be ready to be received.
    pub(crate) ready: Notify,
    /// True while consumers should be attached.
    pub(crate) is_wanted: watch::Sender<bool>,
    /// True after the consumer of the interactive lane was attached or could not be attached. The other lanes
    /// attach after that, so that interactive jobs are received first.
    pub(crate) is_interactive_tried: watch::Sender<bool>,
}

/// Acknowledges one delivery.
#[derive(Clone)]
pub(crate) struct AckHandle {
    pub(crate) acker: Acker,
    pub(crate) lease: Arc<Lease>,
}

/// The channel of one consumer. The channel stays open as long as one of its deliveries may be acknowledged.
pub(crate) struct Lease {
    pub(crate) id: u64,
    pub(crate) channel: Channel,
    /// Notified when the broker refuses an acknowledgement, because the channel is then unusable.
    pub(crate) broken: Notify,
    /// True when the channel is closed. All unacknowledged deliveries of the channel are then lost.
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

    pub(crate) fn inbox(&self) -> MutexGuard<'_, Inbox<AckHandle>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    pub(crate) fn new(config: RabbitMqConfig) -> Self {
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
        // Indexing cannot panic, because the map contains every stage.
        &self.stages[&stage]
    }

    pub(crate) fn is_closed(&self) -> bool {
        *self.is_closed.borrow()
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Addresses a message to a work queue of a stage.
    pub(crate) fn to_work(&self, message: &Message, stage: StageName, source: Source) -> Outgoing {
        outgoing(self.names.work_exchange(), stage, source, message)
    }

    /// Addresses a message to the queue with the shortest delay that is at least `after`, or to the queue
    /// with the longest delay if all delays are shorter. After the delay, the broker moves the message back
    /// to the work queue.
    pub(crate) fn to_retry(&self, message: &Message, stage: StageName, source: Source, after: Duration) -> Outgoing {
        let delay_ms = self.config.topology.rung(after);
        outgoing(self.names.retry_exchange(delay_ms), stage, source, message)
    }

    /// Addresses a message to the dead-letter queue.
    pub(crate) fn to_dead(&self, message: &Message, stage: StageName, code: FailureCode, chain: &str) -> Outgoing {
        Outgoing {
            exchange: self.names.dead_exchange(),
            key: stage.as_str().to_owned(),
            id: message.message_id(),
            body: message.body.clone(),
            properties: message.properties(&dead_letter_headers(stage, code, chain)),
        }
    }

    /// True if no suspect is being moved to its queue.
    pub(crate) fn may_hand_out_suspects(&self) -> bool {
        self.num_isolating.load(Ordering::SeqCst) == 0
    }

    /// Ends every `receive`, and detaches all consumers.
    pub(crate) fn close(&self) {
        self.is_closed.send_replace(true);
        for stage in self.stages.values() {
            stage.is_wanted.send_replace(false);
            stage.ready.notify_waiters();
        }
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
