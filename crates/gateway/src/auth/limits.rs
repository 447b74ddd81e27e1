//! Enforces the limits of a key: requests per minute, requests in a burst after a pause, and concurrent
//! requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cairn_ports::Clock;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of keys whose use is tracked. Above this number, idle keys are no longer tracked.
const MAX_KEYS: usize = 10_000;

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    pub requests_per_minute: u32,
    /// Number of requests that are accepted without delay after a pause.
    pub burst: u32,
    /// Maximum number of concurrent requests of one key. A request ends when its answer is sent.
    pub concurrency: u32,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self { requests_per_minute: 600, burst: 60, concurrency: 10 }
    }
}

/// The permit for one concurrent request. Dropping this value releases the permit.
#[derive(Debug)]
pub struct Admission(#[expect(dead_code, reason = "dropping the field releases the permit")] OwnedSemaphorePermit);

struct Use {
    /// The time on the monotonic clock from which the key may again send the maximum number of requests
    /// without delay.
    full_at: Duration,
    running: Arc<Semaphore>,
}

/// The limits of every key.
pub struct Limits {
    config: LimitsConfig,
    clock: Arc<dyn Clock>,
    uses: Mutex<HashMap<String, Use>>,
}

impl Limits {
    pub fn new(config: LimitsConfig, clock: Arc<dyn Clock>) -> Self {
        Self { config, clock, uses: Mutex::default() }
    }

    /// Admits a request of the key, or returns how long the caller must wait.
    pub fn admit(&self, key: &str) -> Result<Admission, Duration> {
        let now = self.clock.monotonic();
        let interval = Duration::from_secs(60) / self.config.requests_per_minute;
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let concurrency = self.config.concurrency as usize;
        if uses.len() >= MAX_KEYS {
            uses.retain(|_, used| used.full_at > now || used.running.available_permits() < concurrency);
        }
        let fresh = || Use { full_at: now, running: Arc::new(Semaphore::new(concurrency)) };
        let used = uses.entry(key.to_owned()).or_insert_with(fresh);
        let full_at = used.full_at.max(now) + interval;
        let room = interval * self.config.burst;
        if full_at > now + room {
            return Err(full_at - now - room);
        }
        let permit = Arc::clone(&used.running).try_acquire_owned().map_err(|_| Duration::from_secs(1))?;
        used.full_at = full_at;
        Ok(Admission(permit))
    }
}

#[cfg(test)]
mod tests {
    use cairn_testkit::ManualClock;

    use super::*;

    #[test]
    fn burst_is_followed_by_a_steady_rate() {
        let clock = Arc::new(ManualClock::new(0));
        let config = LimitsConfig { requests_per_minute: 60, burst: 3, concurrency: 100 };
        let limits = Limits::new(config, clock.clone());
        for _ in 0..3 {
            limits.admit("a").expect("the request is within the burst");
        }
        assert_eq!(limits.admit("a").expect_err("too many"), Duration::from_secs(1));
        limits.admit("b").expect("another key");
        clock.advance(Duration::from_millis(400));
        assert_eq!(limits.admit("a").expect_err("too soon"), Duration::from_millis(600));
        clock.advance(Duration::from_millis(600));
        limits.admit("a").expect("one more");
        limits.admit("a").expect_err("but only one");
    }

    #[test]
    fn concurrent_requests_are_limited() {
        let config = LimitsConfig { requests_per_minute: 6_000, burst: 100, concurrency: 2 };
        let limits = Limits::new(config, Arc::new(ManualClock::new(0)));
        let (first, _second) = (limits.admit("a").expect("one"), limits.admit("a").expect("two"));
        limits.admit("a").expect_err("three at once");
        limits.admit("b").expect("another key");
        drop(first);
        limits.admit("a").expect("one of the concurrent requests has ended");
    }
}
