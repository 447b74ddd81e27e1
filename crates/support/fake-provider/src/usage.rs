//! The usage of a key. As at real providers, the usage is counted in steps, which are parts of a window.

use std::collections::BTreeMap;
use std::time::Duration;

/// The number of steps in a window.
const STEPS: u64 = 60;

/// The usage in each step. A step counts until one window after its end, so each request counts for at least
/// one window.
#[derive(Default, Debug)]
pub(crate) struct Usage {
    steps: BTreeMap<u64, (u64, u64)>,
}

/// The limits on the usage in one window. `None` means unlimited.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Limits {
    pub requests: Option<u64>,
    pub tokens: Option<u64>,
}

impl Usage {
    pub(crate) fn add(&mut self, now: Duration, window: Duration, requests: u64, tokens: u64) {
        let used = self.steps.entry(step_of(now, window)).or_default();
        *used = (used.0 + requests, used.1 + tokens);
    }

    /// Returns zero if a request of `tokens` tokens fits, otherwise the time until it will fit.
    pub(crate) fn wait(&mut self, now: Duration, window: Duration, limits: Limits, tokens: u64) -> Duration {
        let step = step_of(now, window);
        self.steps.retain(|at, _| at + STEPS >= step);
        let fits = |used: (u64, u64)| {
            limits.requests.is_none_or(|limit| used.0 < limit)
                && limits.tokens.is_none_or(|limit| used.1 + tokens <= limit)
        };
        let mut used = self.steps.values().fold((0, 0), |sum, used| (sum.0 + used.0, sum.1 + used.1));
        if fits(used) {
            return Duration::ZERO;
        }
        for (at, freed) in &self.steps {
            used = (used.0 - freed.0, used.1 - freed.1);
            if fits(used) {
                return (length(window) * (at + STEPS + 1) as u32).saturating_sub(now);
            }
        }
        window
    }
}

fn length(window: Duration) -> Duration {
    window / STEPS as u32
}

fn step_of(now: Duration, window: Duration) -> u64 {
    (now.as_nanos() / length(window).as_nanos().max(1)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn usage_step_counts_for_one_whole_window() {
        let limits = Limits { requests: Some(2), tokens: Some(100) };
        let mut usage = Usage::default();
        usage.add(Duration::from_millis(900), MINUTE, 1, 60);
        assert_eq!(usage.wait(Duration::from_secs(1), MINUTE, limits, 40), Duration::ZERO);
        assert_eq!(usage.wait(Duration::from_secs(1), MINUTE, limits, 41), Duration::from_secs(60));
        usage.add(Duration::from_secs(5), MINUTE, 1, 0);
        assert_eq!(usage.wait(Duration::from_secs(60), MINUTE, limits, 1), Duration::from_secs(1));
        assert_eq!(usage.wait(Duration::from_secs(61), MINUTE, limits, 100), Duration::ZERO);
    }
}
