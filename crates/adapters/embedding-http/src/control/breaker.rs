//! The circuit breaker. While a provider fails, the breaker allows only one probe call per interval.

use std::collections::VecDeque;
use std::time::Duration;

/// Failures are counted over this time.
const SPAN: Duration = Duration::from_secs(30);
/// If fewer calls than this ended within `SPAN`, the share of failures is not representative and is ignored.
const MIN_CALLS: usize = 20;
const MAX_CONSECUTIVE_FAILURES: u32 = 5;
pub(super) const PROBE_INTERVAL: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Breaker {
    state: State,
    /// Times at which the calls of the last `SPAN` ended, and whether each call failed.
    ends: VecDeque<(Duration, bool)>,
    consecutive_failures: u32,
    num_opened: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Closed,
    Open { probe_at: Duration },
}

/// The state of the provider, derived from the result of one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Health {
    /// The provider replied correctly, or replied that it is busy.
    Works,
    Fails,
    /// The provider refuses the key or the model, so waiting does not help.
    Refuses,
    /// The call was cancelled before it had a result.
    Unknown,
}

impl Breaker {
    pub(super) fn new() -> Self {
        Self { state: State::Closed, ends: VecDeque::new(), consecutive_failures: 0, num_opened: 0 }
    }

    pub(super) fn num_opened(&self) -> u64 {
        self.num_opened
    }

    pub(super) fn is_open(&self) -> bool {
        self.state != State::Closed
    }

    /// Returns when a call may be made: `now`, or the time of the next probe.
    pub(super) fn ready_at(&self, now: Duration) -> Duration {
        match self.state {
            State::Closed => now,
            State::Open { probe_at } => probe_at.max(now),
        }
    }

    /// Records that a call begins. While the breaker is open, this call is the probe. The next probe may
    /// begin one interval later, whether this probe succeeds or fails.
    pub(super) fn begin(&mut self, now: Duration) {
        if self.is_open() {
            self.state = State::Open { probe_at: now + PROBE_INTERVAL };
        }
    }

    /// Records that a call has ended. While the breaker is open, any successful call closes it.
    pub(super) fn end(&mut self, now: Duration, health: Health) {
        match health {
            Health::Unknown => {}
            Health::Works => {
                if self.is_open() {
                    self.ends.clear();
                    self.state = State::Closed;
                }
                self.note(now, false);
                self.consecutive_failures = 0;
            }
            Health::Refuses => self.open(now),
            Health::Fails => {
                self.note(now, true);
                self.consecutive_failures += 1;
                if self.consecutive_failures >= MAX_CONSECUTIVE_FAILURES || self.half_failed() {
                    self.open(now);
                }
            }
        }
    }

    fn open(&mut self, now: Duration) {
        if !self.is_open() {
            self.num_opened += 1;
            self.state = State::Open { probe_at: now + PROBE_INTERVAL };
        }
    }

    fn note(&mut self, now: Duration, failed: bool) {
        self.ends.push_back((now, failed));
        while self.ends.front().is_some_and(|(at, _)| *at + SPAN <= now) {
            self.ends.pop_front();
        }
    }

    fn half_failed(&self) -> bool {
        let num_failed = self.ends.iter().filter(|(_, failed)| *failed).count();
        self.ends.len() >= MIN_CALLS && num_failed * 2 >= self.ends.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Records the ends of calls, one per second. `+` is a success, `-` a failure, `!` a refusal, and `?` a
    /// cancelled call.
    fn breaker_after(calls: &str) -> Breaker {
        let mut breaker = Breaker::new();
        for (second, call) in calls.chars().enumerate() {
            let health = match call {
                '+' => Health::Works,
                '-' => Health::Fails,
                '!' => Health::Refuses,
                _ => Health::Unknown,
            };
            breaker.end(at(second as u64), health);
        }
        breaker
    }

    #[test]
    fn breaker_opens_after_failures_or_one_refusal() {
        let check = |calls: &str, expect: bool| assert_eq!(breaker_after(calls).is_open(), expect, "{calls}");
        check("----", false);
        check("-----", true);
        check("----?-", true);
        check("----+----", false);
        check("!", true);
        check("++++++++++++!", true);
        check("-+-+-+-+-+-+-+-+-+-", false);
        check("-+-+-+-+-+-+-+-+-+--", true);
        check("++-++-++-++-++-++-++-++-++-++-", false);
        check("??????????", false);
    }

    #[test]
    fn old_failures_do_not_count() {
        let mut breaker = breaker_after("--+--+--+--+--+--+");
        breaker.end(at(100), Health::Fails);
        breaker.end(at(100), Health::Fails);
        assert!(!breaker.is_open());
    }

    #[test]
    fn open_breaker_allows_one_probe_per_interval() {
        let mut breaker = breaker_after("!");
        assert_eq!(breaker.ready_at(at(3)), at(10));
        breaker.begin(at(12));
        assert_eq!(breaker.ready_at(at(12)), at(22), "one probe at a time");
        breaker.end(at(13), Health::Fails);
        assert_eq!(breaker.ready_at(at(13)), at(22));
        breaker.begin(at(22));
        breaker.end(at(22), Health::Unknown);
        assert_eq!(breaker.ready_at(at(23)), at(32), "a cancelled probe also delays the next probe");
        breaker.begin(at(32));
        breaker.end(at(33), Health::Works);
        assert_eq!((breaker.ready_at(at(33)), breaker.num_opened()), (at(33), 1));
        for second in 34..38 {
            breaker.end(at(second), Health::Fails);
        }
        assert!(!breaker.is_open(), "earlier failures are removed");
    }
}
