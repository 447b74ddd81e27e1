//! Decides when a call may be made, so that requests and tokens stay below the provider's limits in any
//! window.
//!
//! A share of the quota is reserved for questions. A call with passages must fit both the whole quota and the
//! quota without this share, and it is counted against both. A call with questions needs to fit only the
//! whole quota, so questions can also use the quota that passages leave unused.
//!
//! Guarantee: if no call uses more tokens than requested, the calls do not exceed the limits in any window of
//! the provider. This holds for any order of requests, completed calls, throttled calls and cancelled calls.
//! If a call uses more tokens than requested, later calls are delayed; `Quota::headroom_percent` reserves
//! tokens for this excess.

use std::time::Duration;

use super::meter::Meter;

/// The quota of a key, as stated by the provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quota {
    /// `None` means unlimited.
    pub requests: Option<u64>,
    pub tokens: Option<u64>,
    /// The window of the provider, which is usually one minute.
    pub window: Duration,
    /// This time is added to the window, because the provider's real window may be longer than the documented
    /// window. This happens, for example, if the provider counts whole seconds.
    pub guard: Duration,
    /// Percentage of the quota that stays unused, for texts with more tokens than estimated.
    pub headroom_percent: u8,
    /// Percentage of the quota that is reserved for questions.
    pub questions_percent: u8,
    /// The largest estimate for one text. At least this number of tokens is always allowed in one call.
    pub largest_text: u64,
}

/// The kind of texts in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Questions,
    Passages,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grant {
    /// The call may be made now. Settle the reservation when the call ends.
    Now(Reservation),
    /// The call must wait. Ask again at this time, or when another call has ended.
    At(Duration),
    /// The call is never possible. Request at most this number of tokens per call.
    TooMuch { at_most: u64 },
}

/// A call that was allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reservation(pub(super) u64);

#[derive(Debug)]
pub struct Limiter {
    /// Meters for all calls, and meters for passages only.
    whole: Meters,
    passages: Meters,
    throttled_until: Duration,
    num_reservations: u64,
}

#[derive(Debug)]
struct Meters {
    requests: Option<Meter>,
    tokens: Option<Meter>,
}

impl Meters {
    fn all(&mut self) -> impl Iterator<Item = &mut Meter> {
        self.requests.iter_mut().chain(&mut self.tokens)
    }

    fn ready_at(&mut self, now: Duration, tokens: u64) -> Duration {
        let requests = self.requests.as_mut().map_or(now, |meter| meter.ready_at(now, 1));
        let tokens = self.tokens.as_mut().map_or(now, |meter| meter.ready_at(now, tokens));
        requests.max(tokens)
    }

    fn take(&mut self, now: Duration, reservation: u64, tokens: u64) {
        if let Some(meter) = &mut self.requests {
            meter.take(now, reservation, 1);
        }
        if let Some(meter) = &mut self.tokens {
            meter.take(now, reservation, tokens);
        }
    }

    fn settle(&mut self, now: Duration, reservation: u64, tokens: Option<u64>) {
        if let Some(meter) = &mut self.requests {
            meter.settle(now, reservation, None);
        }
        if let Some(meter) = &mut self.tokens {
            meter.settle(now, reservation, tokens);
        }
    }

    fn at_most(&self) -> u64 {
        self.tokens.as_ref().map_or(u64::MAX, Meter::at_most)
    }
}

impl Limiter {
    /// Creates a limiter that starts without earlier usage.
    pub fn new(quota: &Quota) -> Self {
        let window = quota.window + quota.guard;
        let meter = |limit: u64, burst: u64| Some(Meter::new(limit, window, burst));
        let usable = |limit: u64| percent(limit, 100 - quota.headroom_percent);
        let left = |limit: u64| percent(usable(limit), 100 - quota.questions_percent);
        // The burst is 1/240 of the requests that are allowed in a minute, and 1/25 of the tokens. Both
        // values are small compared with the limit, and large enough for full batches.
        let requests_burst = |limit: u64| left(limit) / 240;
        let tokens_burst = |limit: u64| (left(limit) / 25).max(quota.largest_text);
        let for_questions = |limit: u64| (usable(limit) - left(limit)) / 10;
        Self {
            whole: Meters {
                requests: quota.requests.and_then(|limit| meter(usable(limit), requests_burst(limit))),
                tokens: quota.tokens.and_then(|limit| meter(usable(limit), tokens_burst(limit) + for_questions(limit))),
            },
            passages: Meters {
                requests: quota.requests.and_then(|limit| meter(left(limit), requests_burst(limit))),
                tokens: quota.tokens.and_then(|limit| meter(left(limit), tokens_burst(limit))),
            },
            throttled_until: Duration::ZERO,
            num_reservations: 0,
        }
    }

    /// Returns the maximum number of tokens in one call of this class.
    pub fn at_most(&self, class: Class) -> u64 {
        match class {
            Class::Questions => self.whole.at_most(),
            Class::Passages => self.passages.at_most().min(self.whole.at_most()),
        }
    }

    pub fn ask(&mut self, now: Duration, tokens: u64, class: Class) -> Grant {
        let at_most = self.at_most(class);
        if tokens > at_most {
            return Grant::TooMuch { at_most };
        }
        let ready_at = self.ready_at(now, tokens, class);
        if ready_at > now {
            return Grant::At(ready_at);
        }
        let reservation = self.next_reservation();
        self.whole.take(now, reservation, tokens);
        if class == Class::Passages {
            self.passages.take(now, reservation, tokens);
        }
        Grant::Now(Reservation(reservation))
    }

    fn ready_at(&mut self, now: Duration, tokens: u64, class: Class) -> Duration {
        let mut ready_at = self.whole.ready_at(now, tokens).max(self.throttled_until);
        if class == Class::Passages {
            ready_at = ready_at.max(self.passages.ready_at(now, tokens));
        }
        ready_at
    }

    /// Records that a call has ended, whether it succeeded or not. `tokens` is the usage that the provider
    /// reported. If the provider reported no usage, the estimate remains, because providers also count failed
    /// calls.
    pub fn settle(&mut self, now: Duration, reservation: Reservation, tokens: Option<u64>) {
        self.whole.settle(now, reservation.0, tokens);
        self.passages.settle(now, reservation.0, tokens);
    }

    /// Records that the provider requested a wait.
    pub fn throttled(&mut self, until: Duration) {
        self.throttled_until = self.throttled_until.max(until);
    }

    /// The end of the wait that the provider requested. The time is in the past if the provider requested no
    /// wait.
    pub fn throttled_until(&self) -> Duration {
        self.throttled_until
    }

    /// Records that another process owned the key until `now` and used the same quota. No call is allowed for
    /// `wait`. After that, the limiter acts as if the previous window was used completely.
    ///
    /// Any value of `wait` is sufficient if the previous owner really ended at `now`. Because of the even
    /// pace, the usage of the previous owner and the later usage together stay below the limit.
    pub fn take_over(&mut self, now: Duration, wait: Duration) {
        let bursts = self.whole.all().chain(self.passages.all()).map(|meter| meter.burst_time());
        let start = now + bursts.max().unwrap_or_default().max(wait);
        self.throttled(now + wait);
        let num_reservations = &mut self.num_reservations;
        for meter in self.whole.all().chain(self.passages.all()) {
            meter.exhaust(start, || {
                *num_reservations += 1;
                *num_reservations
            });
        }
    }

    fn next_reservation(&mut self) -> u64 {
        self.num_reservations += 1;
        self.num_reservations
    }
}

fn percent(of: u64, percent: u8) -> u64 {
    (u128::from(of) * u128::from(percent) / 100) as u64
}
