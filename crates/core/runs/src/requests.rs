//! The sync requests of a repository: one that is wanted, and one in progress.
//!
//! Two requests before anything has started are one request. A request that arrives during a sync waits for
//! the next sync, because the sync in progress may have read the source before the caller's change.

use cairn_domain::Lane;

/// A requested sync.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    pub number: u64,
    pub lane: Lane,
    pub asked_at_ms: i64,
    /// All records are created again.
    pub rebuild: bool,
    /// A schedule requested it, not a person. If it fails like the sync before it, that is not a new failure.
    pub is_scheduled: bool,
}

impl Wanted {
    /// Joins two requests.
    pub(crate) fn joined(self, other: Wanted) -> Self {
        Wanted {
            lane: self.lane.min(other.lane),
            rebuild: self.rebuild || other.rebuild,
            is_scheduled: self.is_scheduled && other.is_scheduled,
            ..self
        }
    }
}

/// A request whose job is handed over to the broker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispatched {
    /// The request at the time of the dispatch. A later request is the next one, with options of its own.
    pub request: Wanted,
    pub at_ms: i64,
    /// The broker has confirmed its job.
    pub is_sent: bool,
    /// The time of the next attempt, if an attempt has failed.
    pub postponed_until_ms: Option<i64>,
}

/// A dispatched job reaches the broker within this time, or its dispatcher has died.
pub const HANDED_OVER_WITHIN_MS: i64 = 10_000;

impl Dispatched {
    /// Whether no worker will get the job: it never reached the broker, or was lost there.
    pub(crate) fn is_lost(self, now_ms: i64, again_after_ms: i64) -> bool {
        let patience_ms = if self.is_sent { again_after_ms } else { again_after_ms.min(HANDED_OVER_WITHIN_MS) };
        self.at_ms.max(self.postponed_until_ms.unwrap_or(i64::MIN)).saturating_add(patience_ms) <= now_ms
    }

    /// Whether its job waits for its next attempt: no worker has it, and it takes no capacity.
    pub fn is_postponed(self, now_ms: i64) -> bool {
        self.postponed_until_ms.is_some_and(|until_ms| now_ms < until_ms)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Requests {
    /// Number of the last request.
    pub last: u64,
    pub wanted: Option<Wanted>,
    pub dispatched: Option<Dispatched>,
}

impl Requests {
    /// Requests a sync. Returns the number of the request.
    pub fn ask(&mut self, lane: Lane, rebuild: bool, now_ms: i64) -> u64 {
        self.want(Wanted { number: 0, lane, asked_at_ms: now_ms, rebuild, is_scheduled: false })
    }

    /// Requests a sync because it is due.
    pub fn schedule(&mut self, now_ms: i64) -> u64 {
        self.want(Wanted { number: 0, lane: Lane::Bulk, asked_at_ms: now_ms, rebuild: false, is_scheduled: true })
    }

    fn want(&mut self, asked: Wanted) -> u64 {
        let under_way = self.dispatched.map_or(0, |dispatched| dispatched.request.number);
        let wanted = match self.wanted {
            Some(wanted) if wanted.number > under_way => wanted.joined(asked),
            _ => {
                // The first number is at least the current time. A repository that was deleted and registered
                // again must not reuse numbers: a late job of its earlier life would answer a request that it
                // does not know.
                self.last = if self.last == 0 { asked.asked_at_ms.max(1) as u64 } else { self.last + 1 };
                Wanted { number: self.last, ..asked }
            }
        };
        self.wanted = Some(wanted);
        wanted.number
    }

    /// The broker has confirmed the job of the request.
    pub fn dispatched(&mut self, number: u64) {
        if let Some(dispatched) = self.dispatched.as_mut().filter(|dispatched| dispatched.request.number == number) {
            dispatched.is_sent = true;
        }
    }

    /// An attempt has failed, and its job is delivered again at that time. Returns false, and changes
    /// nothing, if another request is in progress.
    pub fn postpone(&mut self, number: u64, until_ms: i64) -> bool {
        let dispatched = self.dispatched.as_mut().filter(|dispatched| dispatched.request.number == number);
        dispatched.map(|dispatched| dispatched.postponed_until_ms = Some(until_ms)).is_some()
    }

    /// The order of the request among others: its lane, and the time of the request. Between two attempts it
    /// comes after all requests of its lane that may start before its next attempt.
    pub fn place(&self) -> Option<(Lane, i64)> {
        let wanted = self.wanted?;
        let own = self.dispatched.filter(|dispatched| dispatched.request.number == wanted.number);
        let until_ms = own.and_then(|dispatched| dispatched.postponed_until_ms);
        Some((wanted.lane, wanted.asked_at_ms.max(until_ms.unwrap_or(i64::MIN))))
    }

    /// The request with that number, if it is not answered yet.
    pub fn asked(&self, number: u64) -> Option<Wanted> {
        let wanted = self.wanted.filter(|wanted| wanted.number >= number)?;
        let under_way = self.dispatched.map(|dispatched| dispatched.request);
        let own = under_way.filter(|request| request.number == number);
        Some(own.unwrap_or(Wanted { number, ..wanted }))
    }

    /// A sync has fulfilled the request, or cannot. Later requests stay.
    pub fn answer(&mut self, number: u64) {
        if self.dispatched.is_some_and(|dispatched| dispatched.request.number == number) {
            self.dispatched = None;
        }
        if self.wanted.is_some_and(|wanted| wanted.number <= number) {
            self.wanted = None;
        }
    }
}
