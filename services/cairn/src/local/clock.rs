//! The machine's clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cairn_ports::Clock;

/// Wall time from the system, monotonic time since the start.
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    pub fn start() -> Self {
        Self { started: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }
}
