//! Counters, for metrics and tests.

use std::sync::atomic::{AtomicU64, Ordering};

/// What happened since the process started.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// Messages that the broker confirmed.
    pub num_published: u64,
    /// Messages that came back because no queue took them. An alert belongs on it.
    pub num_returned: u64,
    /// Messages that a full queue refused.
    pub num_refused: u64,
    /// Messages whose confirm was lost: published again, so there may be duplicates.
    pub num_unconfirmed: u64,
    /// Connections that were opened.
    pub num_connected: u64,
    /// Consumers that were attached.
    pub num_attached: u64,
    /// Messages that were handed over by the broker.
    pub num_delivered: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) published: Counter,
    pub(crate) returned: Counter,
    pub(crate) refused: Counter,
    pub(crate) unconfirmed: Counter,
    pub(crate) connected: Counter,
    pub(crate) attached: Counter,
    pub(crate) delivered: Counter,
}

#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
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
