//! Counters of the adapter, for metrics and tests.

use std::sync::atomic::{AtomicU64, Ordering};

use cairn_telemetry::metrics::{BROKER, IntCounter};

/// Numbers of events since the process started.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// Messages that the broker confirmed.
    pub num_published: u64,
    /// Messages that were returned because no queue was bound for them. Operators should set an alert for
    /// this number.
    pub num_returned: u64,
    /// Messages that a full queue refused.
    pub num_refused: u64,
    /// Messages whose confirm was lost. Such messages are published again, so duplicates may exist.
    pub num_unconfirmed: u64,
    /// Connections that were opened.
    pub num_connected: u64,
    /// Consumers that were attached.
    pub num_attached: u64,
    /// Messages that the broker delivered.
    pub num_delivered: u64,
}

pub(crate) struct Counters {
    pub(crate) published: Counter,
    pub(crate) returned: Counter,
    pub(crate) refused: Counter,
    pub(crate) unconfirmed: Counter,
    pub(crate) connected: Counter,
    pub(crate) attached: Counter,
    pub(crate) delivered: Counter,
}

/// A counter for one broker. The counter also adds to the metrics of the process.
pub(crate) struct Counter {
    own: AtomicU64,
    of_process: IntCounter,
}

impl Counter {
    fn new(what: &str) -> Self {
        Self { own: AtomicU64::new(0), of_process: BROKER.with_label_values(&[what]) }
    }

    pub(crate) fn add(&self, count: usize) {
        self.own.fetch_add(count as u64, Ordering::Relaxed);
        self.of_process.inc_by(count as u64);
    }

    pub(crate) fn get(&self) -> u64 {
        self.own.load(Ordering::Relaxed)
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            published: Counter::new("published"),
            returned: Counter::new("returned"),
            refused: Counter::new("refused"),
            unconfirmed: Counter::new("unconfirmed"),
            connected: Counter::new("connected"),
            attached: Counter::new("attached"),
            delivered: Counter::new("delivered"),
        }
    }
}

impl Counters {
    pub(crate) fn snapshot(&self) -> Statistics {
        Statistics {
            num_published: self.published.get(),
            num_returned: self.returned.get(),
            num_refused: self.refused.get(),
            num_unconfirmed: self.unconfirmed.get(),
            num_connected: self.connected.get(),
            num_attached: self.attached.get(),
            num_delivered: self.delivered.get(),
        }
    }
}
