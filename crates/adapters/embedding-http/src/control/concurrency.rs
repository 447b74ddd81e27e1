//! Limits the number of concurrent calls. The limit is fixed, or adapts to the response times of the
//! provider.
//!
//! The adaptive rule and its constants come from the feature "adaptive request concurrency" of the log
//! collector Vector. There is one decision per round trip:
//!
//! - If the limit was reached and responses were no slower than before, the limit grows by one.
//! - If responses were slower than the normal deviation allows, or the provider reported overload, the limit
//!   shrinks by a tenth.
//!
//! Vector also shrinks the limit if response times are unchanged and the limit was not reached; this code
//! does not.

use std::time::Duration;

const EWMA_ALPHA: f64 = 0.4;
const RTT_DEVIATION_SCALE: f64 = 2.5;
const DECREASE_RATIO: f64 = 0.9;

#[derive(Debug)]
pub(super) struct Concurrency {
    limit: usize,
    num_in_progress: usize,
    adaptation: Option<Adaptation>,
}

#[derive(Debug)]
struct Adaptation {
    max: usize,
    /// Mean and variance of past round trips, in seconds; `None` before the first round trip.
    past: Option<(f64, f64)>,
    next_update: Duration,
    /// Total duration and number of the round trips since the last decision.
    current: (Duration, u32),
    had_back_pressure: bool,
    reached_limit: bool,
    /// True if no call was in progress for some time. The next round trips are then short and not
    /// representative.
    was_idle: bool,
}

impl Concurrency {
    pub(super) fn fixed(limit: usize) -> Self {
        Self { limit: limit.max(1), num_in_progress: 0, adaptation: None }
    }

    /// Creates an adaptive limit. The limit starts at one call at a time.
    pub(super) fn adaptive(max: usize) -> Self {
        let adaptation = Adaptation {
            max: max.max(1),
            past: None,
            next_update: Duration::ZERO,
            current: (Duration::ZERO, 0),
            had_back_pressure: false,
            reached_limit: false,
            was_idle: false,
        };
        Self { limit: 1, num_in_progress: 0, adaptation: Some(adaptation) }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn num_in_progress(&self) -> usize {
        self.num_in_progress
    }

    pub(super) fn is_full(&self) -> bool {
        self.num_in_progress >= self.limit
    }

    pub(super) fn begin(&mut self) {
        self.num_in_progress += 1;
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.reached_limit |= self.num_in_progress >= self.limit;
        }
    }

    /// Records that a call has ended. `round_trip` is set if the provider has processed the call.
    pub(super) fn end(&mut self, now: Duration, round_trip: Option<Duration>, is_back_pressure: bool) {
        self.num_in_progress = self.num_in_progress.saturating_sub(1);
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.was_idle |= self.num_in_progress == 0 && self.limit > 1;
            self.limit = adaptation.limit_after(self.limit, now, round_trip, is_back_pressure);
        }
    }
}

impl Adaptation {
    fn limit_after(&mut self, limit: usize, now: Duration, round_trip: Option<Duration>, pressed: bool) -> usize {
        self.had_back_pressure |= pressed;
        if let Some(round_trip) = round_trip {
            self.current = (self.current.0 + round_trip, self.current.1 + 1);
        }
        let current = (self.current.1 > 0).then(|| (self.current.0 / self.current.1).as_secs_f64());
        let Some(past) = self.past else {
            if let Some(current) = current {
                self.past = Some((current, 0.0));
                self.next_update = now + Duration::from_secs_f64(current);
            }
            return limit;
        };
        if now < self.next_update {
            return limit;
        }
        let limit = if self.was_idle && !self.had_back_pressure { limit } else { self.decide(limit, past, current) };
        let past = current.filter(|_| !self.was_idle).map_or(past, |current| blend(past, current));
        self.past = Some(past);
        self.next_update = now + Duration::from_secs_f64(past.0);
        self.current = (Duration::ZERO, 0);
        self.had_back_pressure = false;
        self.reached_limit = false;
        self.was_idle = false;
        limit
    }

    fn decide(&self, limit: usize, (mean, variance): (f64, f64), current: Option<f64>) -> usize {
        let is_no_slower = current.is_some_and(|current| current <= mean);
        if limit < self.max && self.reached_limit && !self.had_back_pressure && is_no_slower {
            return limit + 1;
        }
        let threshold = variance.sqrt() * RTT_DEVIATION_SCALE;
        if self.had_back_pressure || current.is_some_and(|current| current > mean + threshold) {
            return ((limit as f64 * DECREASE_RATIO) as usize).max(1);
        }
        limit
    }
}

/// Adds a value to an exponentially weighted mean and variance.
fn blend((mean, variance): (f64, f64), value: f64) -> (f64, f64) {
    let difference = value - mean;
    let increment = EWMA_ALPHA * difference;
    (mean + increment, (1.0 - EWMA_ALPHA) * (variance + difference * increment))
}

#[cfg(test)]
mod tests {
    use std::collections::BinaryHeap;

    use super::*;

    const SERVICE: Duration = Duration::from_millis(50);

    /// Simulates a provider that processes `capacity` calls at the same time and puts further calls into a
    /// queue. A call returns 429 if more than `queue` calls are in progress. Returns the mean limit over the
    /// last half of `num_calls`.
    fn mean_limit(capacity: usize, queue: usize, num_calls: u32) -> f64 {
        let mut concurrency = Concurrency::adaptive(200);
        let mut now = Duration::ZERO;
        let mut free_at = vec![Duration::ZERO; capacity];
        let mut ends = BinaryHeap::new();
        let (mut sum, mut num) = (0.0, 0.0);
        for call in 0..num_calls {
            while concurrency.is_full() {
                let std::cmp::Reverse((end, begin, refused)) = ends.pop().expect("calls in progress");
                now = end;
                let round_trip = if refused { None } else { Some(end - begin) };
                concurrency.end(now, round_trip, refused);
            }
            concurrency.begin();
            let refused = concurrency.num_in_progress() > queue;
            let slot = free_at.iter_mut().min().expect("a slot");
            let end = if refused { now + SERVICE / 10 } else { now.max(*slot) + SERVICE };
            if !refused {
                *slot = end;
            }
            ends.push(std::cmp::Reverse((end, now, refused)));
            if call > num_calls / 2 {
                sum += concurrency.limit() as f64;
                num += 1.0;
            }
        }
        sum / num
    }

    #[test]
    fn limit_settles_at_the_capacity() {
        for (capacity, queue) in [(1, 200), (8, 200), (8, 10), (40, 200)] {
            let mean = mean_limit(capacity, queue, 60_000);
            let expected = capacity as f64;
            assert!((expected * 0.8..=expected * 1.5 + 1.0).contains(&mean), "capacity {capacity}, {queue}: {mean}");
        }
    }

    #[test]
    fn limit_grows_only_if_it_is_reached_and_stops_at_the_maximum() {
        let mut idle = Concurrency::adaptive(200);
        let mut busy = Concurrency::adaptive(4);
        for call in 1..1000 {
            let now = SERVICE * call;
            idle.begin();
            idle.end(now, Some(SERVICE), false);
            while !busy.is_full() {
                busy.begin();
            }
            busy.end(now, Some(SERVICE), false);
        }
        assert_eq!((idle.limit(), busy.limit()), (2, 4));
    }

    #[test]
    fn back_pressure_reduces_the_limit_by_a_tenth() {
        let mut concurrency = Concurrency::adaptive(200);
        concurrency.limit = 100;
        for call in 1..=3 {
            concurrency.begin();
            concurrency.end(SERVICE * 10 * call, (call == 1).then_some(SERVICE), true);
        }
        assert_eq!(concurrency.limit(), 81);
        let mut fixed = Concurrency::fixed(3);
        fixed.begin();
        fixed.end(SERVICE, None, true);
        assert_eq!((fixed.limit(), fixed.num_in_progress()), (3, 0));
    }
}
