//! Settings of a queue.

use std::time::Duration;

/// Limits of one stage's queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueSettings {
    /// Jobs that may wait; then `publish` waits. Retries are never refused and may exceed this number.
    pub capacity: usize,
    /// Jobs that may be unsettled at the same time.
    pub prefetch: usize,
    /// After this time without an answer a delivery is reclaimed. It is longer than the deadline of every
    /// handler.
    pub unanswered_after: Duration,
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self { capacity: 256, prefetch: 4, unanswered_after: Duration::from_secs(1800) }
    }
}
