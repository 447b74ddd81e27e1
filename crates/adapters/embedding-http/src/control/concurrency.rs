//! How many calls are under way at once: a fixed number, or as many as the provider's answer times show to be useful.
//!
//! The adaptive rule is that of Vector's adaptive request concurrency, with its constants: when the limit was reached and
//! answers came no slower than they used to, one more; when they came slower than deviation explains, or the provider
//! said that it is overloaded, a tenth less. Decisions are made once per round trip. (Vector also takes a tenth away when answers
//! come exactly as they used to and the limit was not reached; here that is no reason.)

use std::time::Duration;

const EWMA_ALPHA: f64 = 0.4;
const RTT_DEVIATION_SCALE: f64 = 2.5;
const DECREASE_RATIO: f64 = 0.9;

#[derive(Debug)]
pub(super) struct Concurrency {
    limit: usize,
    under_way: usize,
    adaptation: Option<Adaptation>,
}

#[derive(Debug)]
struct Adaptation {
    max: usize,
    /// Mean and variance of round trips of the past, in seconds; none before the first.
    past: Option<(f64, f64)>,
    next_update: Duration,
    /// Sum and number of round trips since the last decision.
    current: (Duration, u32),
    had_back_pressure: bool,
    reached_limit: bool,
    /// There was nothing to do: the first round trips after that are short and say nothing.
    was_idle: bool,
}

impl Concurrency {
    pub(super) fn fixed(limit: usize) -> Self {
        Self { limit: limit.max(1), under_way: 0, adaptation: None }
    }

    /// Starts with one call at a time.
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
        Self { limit: 1, under_way: 0, adaptation: Some(adaptation) }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn under_way(&self) -> usize {
        self.under_way
    }

    pub(super) fn is_full(&self) -> bool {
        self.under_way >= self.limit
    }

    pub(super) fn begin(&mut self) {
        self.under_way += 1;
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.reached_limit |= self.under_way >= self.limit;
        }
    }

    /// A call has ended. `round_trip` is given for calls that the provider has worked on.
    pub(super) fn end(&mut self, now: Duration, round_trip: Option<Duration>, is_back_pressure: bool) {
        self.under_way = self.under_way.saturating_sub(1);
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.was_idle |= self.under_way == 0 && self.limit > 1;
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

/// Exponentially weighted mean and variance.
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

    /// A stand-in that works on `capacity` calls at once; more wait for their turn. Answers 429 beyond `queue`.
    /// Gives the mean limit over the last half of `num_calls`.
    fn mean_limit(capacity: usize, queue: usize, num_calls: u32) -> f64 {
        let mut concurrency = Concurrency::adaptive(200);
        let mut now = Duration::ZERO;
        let mut free_at = vec![Duration::ZERO; capacity];
        let mut ends = BinaryHeap::new();
        let (mut sum, mut num) = (0.0, 0.0);
        for call in 0..num_calls {
            while concurrency.is_full() {
                let std::cmp::Reverse((end, begin, refused)) = ends.pop().expect("calls are under way");
                now = end;
                let round_trip = if refused { None } else { Some(end - begin) };
                concurrency.end(now, round_trip, refused);
            }
            concurrency.begin();
            let refused = concurrency.under_way() > queue;
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
    fn it_finds_the_knee_of_a_stand_in() {
        for (capacity, queue) in [(1, 200), (8, 200), (8, 10), (40, 200)] {
            let mean = mean_limit(capacity, queue, 60_000);
            let knee = capacity as f64;
            assert!((knee * 0.8..=knee * 1.5 + 1.0).contains(&mean), "capacity {capacity}, {queue}: {mean}");
        }
    }

    #[test]
    fn it_does_not_grow_without_being_reached_nor_above_the_maximum() {
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
    fn back_pressure_costs_a_tenth() {
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
        assert_eq!((fixed.limit(), fixed.under_way()), (3, 0));
    }
}
