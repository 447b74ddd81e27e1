//! The pace: an even flow with a small burst. The module uses the generic cell rate algorithm of the crate
//! `governor`.
//!
//! The caller passes the time, and this module stores the state. So a query for the next possible time leaves
//! the state unchanged, and an amount that was taken can be corrected later.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{NotKeyed, StateStore};
use governor::{Quota, RateLimiter};

/// The time at which the next cell (one unit of the limited amount) is due at the average rate. This time is
/// the complete state of the algorithm.
#[derive(Clone, Default, Debug)]
struct DueAt(Arc<AtomicU64>);

impl StateStore for DueAt {
    type Key = NotKeyed;

    /// The pace has one owner (`&mut`), so no atomic compare-and-swap is needed.
    fn measure_and_replace<T, F, E>(&self, _key: &NotKeyed, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let (outcome, due_at) = measure(Some(Nanos::new(self.0.load(Ordering::Relaxed))))?;
        self.0.store(due_at.as_u64(), Ordering::Relaxed);
        Ok(outcome)
    }
}

/// A clock that returns the time that the caller passed.
#[derive(Clone, Default, Debug)]
struct GivenTime(Arc<AtomicU64>);

impl Clock for GivenTime {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::new(self.0.load(Ordering::Relaxed))
    }
}

#[derive(Debug)]
pub(super) struct Pace {
    limiter: RateLimiter<NotKeyed, DueAt, GivenTime, NoOpMiddleware<Nanos>>,
    due_at: DueAt,
    given_time: GivenTime,
    /// Time between two cells, in nanoseconds.
    cell: u64,
    burst: NonZeroU32,
}

impl Pace {
    /// Allows at most `amount` in `period` on average, and `burst` at once. At the start the whole burst is
    /// available.
    pub(super) fn new(amount: u64, period: Duration, burst: u64) -> Self {
        let cell = nanoseconds(period).div_ceil(amount.max(1)).max(1);
        let burst = NonZeroU32::new(u32::try_from(burst).unwrap_or(u32::MAX)).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(Duration::from_nanos(cell)).unwrap_or(Quota::per_second(burst));
        let (due_at, given_time) = (DueAt::default(), GivenTime::default());
        let limiter = RateLimiter::new(quota.allow_burst(burst), due_at.clone(), given_time.clone());
        Self { limiter, due_at, given_time, cell, burst }
    }

    pub(super) fn burst(&self) -> u64 {
        u64::from(self.burst.get())
    }

    /// Returns how long the burst takes to recover.
    pub(super) fn burst_time(&self) -> Duration {
        Duration::from_nanos(self.cell.saturating_mul(self.burst()))
    }

    /// Returns the time at which `amount` may be taken. This time is never before `now`. An amount that
    /// exceeds the burst is reduced to the burst.
    pub(super) fn ready_at(&mut self, now: Duration, amount: u64) -> Duration {
        let before = self.due_at.0.load(Ordering::Relaxed);
        let ready_at = self.check(now, amount);
        self.due_at.0.store(before, Ordering::Relaxed);
        ready_at
    }

    /// Takes an amount that `ready_at` has allowed.
    pub(super) fn take(&mut self, now: Duration, amount: u64) {
        self.check(now, amount);
    }

    fn check(&mut self, now: Duration, amount: u64) -> Duration {
        self.given_time.0.store(nanoseconds(now), Ordering::Relaxed);
        let cells = u32::try_from(amount).unwrap_or(u32::MAX).min(self.burst.get());
        let Some(cells) = NonZeroU32::new(cells) else { return now };
        match self.limiter.check_n(cells) {
            Ok(Err(not_until)) => Duration::from_nanos(not_until.earliest_possible().as_u64()).max(now),
            // The error cannot occur, because `cells` never exceeds the burst.
            Ok(Ok(())) | Err(_) => now,
        }
    }

    /// Corrects the state: the usage was `actual`, not `taken`.
    pub(super) fn correct(&mut self, taken: u64, actual: u64) {
        let due_at = self.due_at.0.load(Ordering::Relaxed);
        let corrected = if actual > taken {
            due_at.saturating_add(self.cell.saturating_mul(actual - taken))
        } else {
            due_at.saturating_sub(self.cell.saturating_mul(taken - actual))
        };
        self.due_at.0.store(corrected, Ordering::Relaxed);
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn query_does_not_change_the_pace() {
        let mut pace = Pace::new(60, 60 * SECOND, 2);
        for _ in 0..5 {
            assert_eq!(pace.ready_at(SECOND, 2), SECOND);
        }
        pace.take(SECOND, 2);
        assert_eq!(pace.ready_at(SECOND, 1), 2 * SECOND);
        assert_eq!(pace.ready_at(SECOND, 2), 3 * SECOND);
        assert_eq!(pace.ready_at(10 * SECOND, 2), 10 * SECOND);
    }

    #[test]
    fn taken_amount_can_be_raised_and_lowered() {
        let mut pace = Pace::new(60, 60 * SECOND, 10);
        pace.take(SECOND, 10);
        pace.correct(10, 4);
        assert_eq!(pace.ready_at(SECOND, 6), SECOND);
        pace.correct(4, 13);
        assert_eq!(pace.ready_at(SECOND, 1), 5 * SECOND);
    }

    #[test]
    fn amount_above_the_burst_waits_for_the_full_burst() {
        let mut pace = Pace::new(60, 60 * SECOND, 3);
        assert_eq!(pace.ready_at(SECOND, 1_000_000), SECOND);
        pace.take(SECOND, 1_000_000);
        assert_eq!(pace.ready_at(SECOND, 1_000_000), 4 * SECOND);
        assert_eq!(pace.ready_at(SECOND, 0), SECOND);
    }
}
