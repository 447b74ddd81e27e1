//! The settings of a queue.

use std::time::Duration;

/// The limits of one stage's queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueSettings {
    /// Maximum number of waiting jobs. If the queue is full, `publish` waits. Retries are never refused and
    /// may exceed this number.
    pub capacity: usize,
    /// Maximum number of unsettled jobs.
    pub prefetch: usize,
    /// After this time without an answer, a delivery is reclaimed. The time must be longer than the deadline
    /// of every handler.
    pub unanswered_after: Duration,
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self { capacity: 256, prefetch: 4, unanswered_after: Duration::from_secs(1800) }
    }
}
