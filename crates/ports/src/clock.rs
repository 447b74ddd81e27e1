//! The clock. Stages and the pipeline read the time through this port, so that tests can set the time.

use std::time::Duration;

pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// The time on a monotonic clock, for deadlines and durations.
    fn monotonic(&self) -> Duration;
}
