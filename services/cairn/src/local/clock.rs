//! Implements the clock port with the clock of the machine.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cairn_ports::Clock;

/// Returns the wall-clock time of the system, and the monotonic time since the clock was created.
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

#[cfg(test)]
mod tests {
    use cairn_conformance::clock::{self, ClockUnderTest};
    use cairn_conformance::suite;

    use super::*;

    struct Subject(SystemClock);

    impl ClockUnderTest for Subject {
        fn clock(&self) -> &dyn Clock {
            &self.0
        }

        fn pass(&self, time: Duration) {
            let started = Instant::now();
            while started.elapsed() < time {
                std::thread::yield_now();
            }
        }
    }

    #[tokio::test]
    async fn machine_clock_passes_the_suite() -> anyhow::Result<()> {
        let open = async || Ok(Box::new(Subject(SystemClock::start())) as Box<dyn ClockUnderTest>);
        suite::passes(&clock::checks(), open).await
    }
}
