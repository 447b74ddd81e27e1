//! Waits between attempts. The upper bound of the waits grows with each attempt. Each wait is random, so that
//! several processes do not retry at the same time.

use std::time::Duration;

/// Exponential backoff with full jitter: each wait is a random time up to a bound that doubles. The number of
/// attempts is not limited.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    min: Duration,
    max: Duration,
    bound: Duration,
}

impl Backoff {
    pub(crate) fn new(min: Duration, max: Duration) -> Self {
        Self { min, max, bound: min }
    }

    pub(crate) fn next(&mut self) -> Duration {
        let bound = self.bound;
        self.bound = (bound * 2).min(self.max);
        bound.mul_f64(rand::random::<f64>())
    }

    /// Starts again with the smallest bound. Call this function after a success.
    pub(crate) fn reset(&mut self) {
        self.bound = self.min;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_random_and_grow_to_a_bound() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
        let waits: Vec<Duration> = (0..1000).map(|_| backoff.next()).collect();
        assert!(waits[0] <= Duration::from_millis(100));
        assert!(waits.iter().all(|wait| *wait <= Duration::from_secs(5)));
        assert!(waits.iter().any(|wait| *wait > Duration::from_secs(4)));
        assert!(waits[10..].iter().any(|wait| *wait < Duration::from_secs(1)));
        backoff.reset();
        assert!(backoff.next() <= Duration::from_millis(100));
    }
}
