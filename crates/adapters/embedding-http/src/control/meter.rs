//! Limits one quantity (requests or tokens) in any window.
//!
//! The meter combines two mechanisms. A *pace* makes the flow even, because some providers check shorter
//! periods than they state. A *ledger* records the usage and limits its sum in any window, even after
//! corrections.
//!
//! The ledger counts the usage of a call from the start of the call until one window after its end. The
//! provider counts the call at some time between its start and its end. A network delay can therefore never
//! put more usage into a window of the provider than into the ledger.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::pace::Pace;

#[derive(Debug)]
pub(super) struct Meter {
    limit: u64,
    window: Duration,
    pace: Pace,
    /// Amounts of the calls in progress, by reservation.
    in_progress: HashMap<u64, u64>,
    /// Amounts of the calls that have ended, by the time until which they are counted.
    used: BTreeMap<(Duration, u64), u64>,
    sum: u64,
}

impl Meter {
    pub(super) fn new(limit: u64, window: Duration, burst: u64) -> Self {
        let (limit, burst) = (limit.max(1), burst.clamp(1, limit.max(1)));
        let pace = Pace::new(limit, window, burst);
        Self { limit, window, pace, in_progress: HashMap::new(), used: BTreeMap::new(), sum: 0 }
    }

    /// The largest amount that can be requested at once.
    pub(super) fn at_most(&self) -> u64 {
        self.pace.burst()
    }

    pub(super) fn burst_time(&self) -> Duration {
        self.pace.burst_time()
    }

    /// Returns when `amount` may be taken if nothing else happens. A call that ends may make this time
    /// earlier.
    pub(super) fn ready_at(&mut self, now: Duration, amount: u64) -> Duration {
        self.forget(now);
        self.pace.ready_at(now, amount).max(self.capacity_at(now, amount))
    }

    fn capacity_at(&self, now: Duration, amount: u64) -> Duration {
        let mut excess = (self.sum + amount).saturating_sub(self.limit);
        for ((until, _), used) in &self.used {
            if excess == 0 {
                return now;
            }
            excess = excess.saturating_sub(*used);
            if excess == 0 {
                return *until;
            }
        }
        // The remaining excess is the usage of calls in progress. Even if all these calls end now, their
        // usage is counted for one more window.
        if excess == 0 { now } else { now + self.window }
    }

    pub(super) fn take(&mut self, now: Duration, reservation: u64, amount: u64) {
        self.pace.take(now, amount);
        self.in_progress.insert(reservation, amount);
        self.sum += amount;
    }

    /// Records that a call has ended. `actual` is the usage that the provider reported, if any.
    pub(super) fn settle(&mut self, now: Duration, reservation: u64, actual: Option<u64>) {
        let Some(taken) = self.in_progress.remove(&reservation) else { return };
        let actual = actual.unwrap_or(taken);
        self.pace.correct(taken, actual);
        self.sum = self.sum - taken + actual;
        self.used.insert((now + self.window, reservation), actual);
    }

    /// Acts as if unknown calls had used the whole limit of the window that ends at `at`, at an even rate.
    pub(super) fn exhaust(&mut self, at: Duration, mut reservation: impl FnMut() -> u64) {
        const SLICES: u64 = 60;
        for slice in 1..=SLICES {
            let amount = self.limit * slice / SLICES - self.limit * (slice - 1) / SLICES;
            self.used.insert((at + self.window * slice as u32 / SLICES as u32, reservation()), amount);
            self.sum += amount;
        }
    }

    fn forget(&mut self, now: Duration) {
        while let Some(first) = self.used.first_entry()
            && first.key().0 <= now
        {
            self.sum -= first.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn call_counts_until_one_window_after_its_end() {
        let mut meter = Meter::new(10, 10 * SECOND, 10);
        meter.take(Duration::ZERO, 1, 10);
        assert_eq!(meter.ready_at(5 * SECOND, 1), 15 * SECOND, "still in progress");
        meter.settle(7 * SECOND, 1, None);
        assert_eq!(meter.ready_at(8 * SECOND, 1), 17 * SECOND);
        assert_eq!(meter.ready_at(17 * SECOND, 10), 17 * SECOND);
    }

    #[test]
    fn reported_usage_replaces_the_estimate() {
        let mut meter = Meter::new(10, 10 * SECOND, 10);
        meter.take(Duration::ZERO, 1, 8);
        meter.settle(SECOND, 1, Some(3));
        assert_eq!(meter.ready_at(SECOND, 7), SECOND);
        meter.take(SECOND, 2, 7);
        meter.settle(SECOND, 2, Some(9));
        assert_eq!(meter.ready_at(2 * SECOND, 1), 11 * SECOND, "twelve are used with a limit of ten");
        meter.settle(2 * SECOND, 2, Some(0));
        assert_eq!(meter.ready_at(2 * SECOND, 1), 11 * SECOND, "settled once");
    }

    #[test]
    fn exhausted_meter_recovers_evenly() {
        let mut meter = Meter::new(60, 60 * SECOND, 6);
        let mut reservations = 0..;
        meter.exhaust(10 * SECOND, || reservations.next().unwrap_or_default());
        assert_eq!(meter.ready_at(10 * SECOND, 1), 11 * SECOND);
        assert_eq!(meter.ready_at(10 * SECOND, 6), 16 * SECOND);
    }
}
