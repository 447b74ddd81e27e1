//! A clock that moves only when a test advances it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use cairn_ports::Clock;

/// A clock that starts at a fixed time and moves only when `advance` is called.
#[derive(Debug)]
pub struct ManualClock {
    started_at_ms: i64,
    now_ms: AtomicI64,
}

impl ManualClock {
    pub fn new(now_ms: i64) -> Self {
        Self { started_at_ms: now_ms, now_ms: AtomicI64::new(now_ms) }
    }

    /// Advances the clock by `duration`, rounded down to milliseconds.
    pub fn advance(&self, duration: Duration) {
        let milliseconds = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.now_ms.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new(1_700_000_000_000)
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis((self.now_ms() - self.started_at_ms).unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_moves_only_by_advance() {
        let clock = ManualClock::new(5000);
        assert_eq!((clock.now_ms(), clock.monotonic()), (5000, Duration::ZERO));
        clock.advance(Duration::from_millis(1500));
        assert_eq!((clock.now_ms(), clock.monotonic()), (6500, Duration::from_millis(1500)));
    }
}
