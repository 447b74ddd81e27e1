//! The retry budget. The budget limits retries to a small share of calls, so that an outage does not multiply
//! the calls.

use std::time::Duration;

/// All amounts are in hundredths of a retry: income per call, income per interval, largest balance, and price
/// of a retry.
const PER_CALL: u64 = 10;
const INTERVAL: Duration = Duration::from_secs(10);
const PER_INTERVAL: u64 = 100;
const MAX_BALANCE: u64 = 1000;
const RETRY: u64 = 100;
/// Balance before the first call.
const FIRST: u64 = 300;

/// Allows one retry per ten calls, and one per ten seconds for callers with few calls. Unused retries
/// accumulate up to ten.
#[derive(Debug)]
pub(super) struct RetryBudget {
    balance: u64,
    earned_until: Duration,
}

impl RetryBudget {
    pub(super) fn new(now: Duration) -> Self {
        Self { balance: FIRST, earned_until: now }
    }

    /// Records a call that is not a retry.
    pub(super) fn call(&mut self) {
        self.balance = (self.balance + PER_CALL).min(MAX_BALANCE);
    }

    pub(super) fn take_retry(&mut self, now: Duration) -> bool {
        let num_intervals = (now.saturating_sub(self.earned_until).as_nanos() / INTERVAL.as_nanos()) as u32;
        self.earned_until += INTERVAL * num_intervals;
        self.balance = (self.balance + PER_INTERVAL * u64::from(num_intervals)).min(MAX_BALANCE);
        let is_enough = self.balance >= RETRY;
        if is_enough {
            self.balance -= RETRY;
        }
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_budget_grows_with_calls_and_time() {
        for (num_calls, seconds, expect) in [(1000, 0, 103), (0, 0, 3), (0, 9, 3), (0, 60, 9), (100, 60, 19)] {
            let mut budget = RetryBudget::new(Duration::ZERO);
            let mut num_retries = 0;
            for call in 0..num_calls {
                budget.call();
                num_retries += u32::from(budget.take_retry(Duration::from_secs(seconds) * call / num_calls));
            }
            while budget.take_retry(Duration::from_secs(seconds)) {
                num_retries += 1;
            }
            assert_eq!(num_retries, expect, "{num_calls} calls in {seconds} s");
        }
    }

    #[test]
    fn balance_is_bounded() {
        let mut budget = RetryBudget::new(Duration::ZERO);
        (0..100_000).for_each(|_| budget.call());
        let now = Duration::from_secs(1_000_000);
        assert_eq!((0..100).filter(|_| budget.take_retry(now)).count(), 10);
    }
}
