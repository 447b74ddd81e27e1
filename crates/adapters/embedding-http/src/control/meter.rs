//! One quantity, requests or tokens, of which at most so many may be used in any window.
//!
//! Two things together: a *pace* makes the flow even, because providers look at shorter periods than they state, and
//! a *ledger* of what was used keeps the sum of any window below the limit, whatever corrections come. Something used
//! counts from its call's beginning to one window after its end: the provider counted it somewhere in between, so no
//! delay on the way can put more into one of its windows than the ledger saw.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::pace::Pace;

#[derive(Debug)]
pub(super) struct Meter {
    limit: u64,
    window: Duration,
    pace: Pace,
    /// What calls under way have taken, by ticket.
    under_way: HashMap<u64, u64>,
    /// What ended calls have used, by the time from which it counts no more.
    used: BTreeMap<(Duration, u64), u64>,
    sum: u64,
}

impl Meter {
    pub(super) fn new(limit: u64, window: Duration, burst: u64) -> Self {
        let (limit, burst) = (limit.max(1), burst.clamp(1, limit.max(1)));
        let pace = Pace::new(limit, window, burst);
        Self { limit, window, pace, under_way: HashMap::new(), used: BTreeMap::new(), sum: 0 }
    }

    /// The most that can be asked for at once.
    pub(super) fn at_most(&self) -> u64 {
        self.pace.burst()
    }

    pub(super) fn burst_time(&self) -> Duration {
        self.pace.burst_time()
    }

    /// When `amount` may be taken if nothing else happens. A call that ends may make it earlier.
    pub(super) fn ready_at(&mut self, now: Duration, amount: u64) -> Duration {
        self.forget(now);
        self.pace.ready_at(now, amount).max(self.room_at(now, amount))
    }

    fn room_at(&self, now: Duration, amount: u64) -> Duration {
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
        // The rest is under way: what ends now counts for one window more.
        if excess == 0 { now } else { now + self.window }
    }

    pub(super) fn take(&mut self, now: Duration, ticket: u64, amount: u64) {
        self.pace.take(now, amount);
        self.under_way.insert(ticket, amount);
        self.sum += amount;
    }

    /// A call has ended; `actual` is what the provider says that it used, if it says so.
    pub(super) fn settle(&mut self, now: Duration, ticket: u64, actual: Option<u64>) {
        let Some(taken) = self.under_way.remove(&ticket) else { return };
        let actual = actual.unwrap_or(taken);
        self.pace.correct(taken, actual);
        self.sum = self.sum - taken + actual;
        self.used.insert((now + self.window, ticket), actual);
    }

    /// As if the window that ends at `at` had been used up evenly, by calls that are not known here.
    pub(super) fn exhaust(&mut self, at: Duration, mut ticket: impl FnMut() -> u64) {
        const SLICES: u64 = 60;
        for slice in 1..=SLICES {
            let amount = self.limit * slice / SLICES - self.limit * (slice - 1) / SLICES;
            self.used.insert((at + self.window * slice as u32 / SLICES as u32, ticket()), amount);
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
    fn a_call_counts_until_one_window_after_its_end() {
        let mut meter = Meter::new(10, 10 * SECOND, 10);
        meter.take(Duration::ZERO, 1, 10);
        assert_eq!(meter.ready_at(5 * SECOND, 1), 15 * SECOND, "still under way");
        meter.settle(7 * SECOND, 1, None);
        assert_eq!(meter.ready_at(8 * SECOND, 1), 17 * SECOND);
        assert_eq!(meter.ready_at(17 * SECOND, 10), 17 * SECOND);
    }

    #[test]
    fn what_the_provider_counted_takes_the_place_of_the_estimate() {
        let mut meter = Meter::new(10, 10 * SECOND, 10);
        meter.take(Duration::ZERO, 1, 8);
        meter.settle(SECOND, 1, Some(3));
        assert_eq!(meter.ready_at(SECOND, 7), SECOND);
        meter.take(SECOND, 2, 7);
        meter.settle(SECOND, 2, Some(9));
        assert_eq!(meter.ready_at(2 * SECOND, 1), 11 * SECOND, "twelve of ten are used");
        meter.settle(2 * SECOND, 2, Some(0));
        assert_eq!(meter.ready_at(2 * SECOND, 1), 11 * SECOND, "settled once");
    }

    #[test]
    fn an_exhausted_meter_comes_back_evenly() {
        let mut meter = Meter::new(60, 60 * SECOND, 6);
        let mut tickets = 0..;
        meter.exhaust(10 * SECOND, || tickets.next().unwrap_or_default());
        assert_eq!(meter.ready_at(10 * SECOND, 1), 11 * SECOND);
        assert_eq!(meter.ready_at(10 * SECOND, 6), 16 * SECOND);
    }
}
