//! When a call may be made: requests and tokens are both below the provider's limits in any window.
//!
//! A share of the quota is kept for questions: passages are counted twice, against the whole and against what is left
//! without that share, and obey both. Questions obey the whole only, so what passages leave is theirs too.
//!
//! Holds, if no call uses more tokens than it asked for: in any window, as the provider sees it, no more than the
//! limits are used, whatever the order of asks, ends, throttles and cancelled calls. A call that used more makes later ones
//! wait; `Quota::headroom_percent` is there for that.

use std::time::Duration;

use super::meter::Meter;

/// What a key may use, as the provider states it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quota {
    /// None: not limited.
    pub requests: Option<u64>,
    pub tokens: Option<u64>,
    /// The provider's window; usually a minute.
    pub window: Duration,
    /// How much longer than stated the provider may count, e.g. because it counts in whole seconds.
    pub guard: Duration,
    /// Left unused, for texts with more tokens than estimated.
    pub headroom_percent: u8,
    /// Of the quota, kept for questions.
    pub questions_percent: u8,
    /// No text is estimated at more tokens than this: at least as much may go at once.
    pub largest_text: u64,
}

/// What the texts of a call are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Questions,
    Passages,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Call now, and say with the ticket how it ended.
    Now(Ticket),
    /// Ask again then, or when another call has ended.
    At(Duration),
    /// Can never pass: ask for no more than so many tokens at once.
    TooMuch { at_most: u64 },
}

/// A call that was allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub(super) u64);

#[derive(Debug)]
pub struct Limiter {
    /// For all calls, and for passages alone.
    whole: Meters,
    passages: Meters,
    throttled_until: Duration,
    num_tickets: u64,
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

    fn take(&mut self, now: Duration, ticket: u64, tokens: u64) {
        if let Some(meter) = &mut self.requests {
            meter.take(now, ticket, 1);
        }
        if let Some(meter) = &mut self.tokens {
            meter.take(now, ticket, tokens);
        }
    }

    fn settle(&mut self, now: Duration, ticket: u64, tokens: Option<u64>) {
        if let Some(meter) = &mut self.requests {
            meter.settle(now, ticket, None);
        }
        if let Some(meter) = &mut self.tokens {
            meter.settle(now, ticket, tokens);
        }
    }

    fn at_most(&self) -> u64 {
        self.tokens.as_ref().map_or(u64::MAX, Meter::at_most)
    }
}

impl Limiter {
    /// As if nothing had been used before.
    pub fn new(quota: &Quota) -> Self {
        let window = quota.window + quota.guard;
        let meter = |limit: u64, burst: u64| Some(Meter::new(limit, window, burst));
        let usable = |limit: u64| percent(limit, 100 - quota.headroom_percent);
        let left = |limit: u64| percent(usable(limit), 100 - quota.questions_percent);
        // A quarter of a second's worth of a minute's requests, a 25th of its tokens: small against the
        // limit, and large enough for full batches.
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
            num_tickets: 0,
        }
    }

    /// The most tokens that a call of the class can have.
    pub fn at_most(&self, class: Class) -> u64 {
        match class {
            Class::Questions => self.whole.at_most(),
            Class::Passages => self.passages.at_most().min(self.whole.at_most()),
        }
    }

    pub fn ask(&mut self, now: Duration, tokens: u64, class: Class) -> Answer {
        let at_most = self.at_most(class);
        if tokens > at_most {
            return Answer::TooMuch { at_most };
        }
        let ready_at = self.ready_at(now, tokens, class);
        if ready_at > now {
            return Answer::At(ready_at);
        }
        let ticket = self.next_ticket();
        self.whole.take(now, ticket, tokens);
        if class == Class::Passages {
            self.passages.take(now, ticket, tokens);
        }
        Answer::Now(Ticket(ticket))
    }

    fn ready_at(&mut self, now: Duration, tokens: u64, class: Class) -> Duration {
        let mut ready_at = self.whole.ready_at(now, tokens).max(self.throttled_until);
        if class == Class::Passages {
            ready_at = ready_at.max(self.passages.ready_at(now, tokens));
        }
        ready_at
    }

    /// A call has ended, however it ended; `tokens` is what the provider says that it used. Without that the estimate
    /// stays: providers count failed calls too.
    pub fn settle(&mut self, now: Duration, ticket: Ticket, tokens: Option<u64>) {
        self.whole.settle(now, ticket.0, tokens);
        self.passages.settle(now, ticket.0, tokens);
    }

    /// The provider said to wait.
    pub fn throttled(&mut self, until: Duration) {
        self.throttled_until = self.throttled_until.max(until);
    }

    /// In the past if the provider did not say so.
    pub fn throttled_until(&self) -> Duration {
        self.throttled_until
    }

    /// Another process owned the key until `now`, with the same quota. Nothing may go for `wait`, and then everything is as
    /// if the window before had been used up. Its even pace makes that enough: however short `wait` is, what that process
    /// used and what goes from here on stay below the limit together, if it really ended at `now`.
    pub fn take_over(&mut self, now: Duration, wait: Duration) {
        let bursts = self.whole.all().chain(self.passages.all()).map(|meter| meter.burst_time());
        let start = now + bursts.max().unwrap_or_default().max(wait);
        self.throttled(now + wait);
        let num_tickets = &mut self.num_tickets;
        for meter in self.whole.all().chain(self.passages.all()) {
            meter.exhaust(start, || {
                *num_tickets += 1;
                *num_tickets
            });
        }
    }

    fn next_ticket(&mut self) -> u64 {
        self.num_tickets += 1;
        self.num_tickets
    }
}

fn percent(of: u64, percent: u8) -> u64 {
    (u128::from(of) * u128::from(percent) / 100) as u64
}
