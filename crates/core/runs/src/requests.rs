//! The sync requests of a repository. At most one request is waiting, and at most one request is in progress.
//!
//! Requests that arrive before a sync has started are combined into one request. A request that arrives
//! during a sync waits for the next sync, because the sync in progress may have read the source before the
//! caller's change.

use cairn_domain::Lane;

/// A requested sync.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    pub number: u64,
    pub lane: Lane,
    pub asked_at_ms: i64,
    /// Whether all records must be created again.
    pub rebuild: bool,
    /// Whether a schedule, and not a person, made this request. If a scheduled sync fails in the same way as
    /// the previous sync, the failure is not reported as new.
    pub is_scheduled: bool,
}

impl Wanted {
    /// Combines an additional request with this one.
    pub(crate) fn joined(self, other: Wanted) -> Self {
        Wanted {
            lane: self.lane.min(other.lane),
            rebuild: self.rebuild || other.rebuild,
            is_scheduled: self.is_scheduled && other.is_scheduled,
            ..self
        }
    }
}

/// A request whose job was given to a dispatcher, which publishes the job to the broker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispatched {
    /// The request at the time of the dispatch. If a request arrives later, it is a separate request with its
    /// own options.
    pub request: Wanted,
    pub at_ms: i64,
    /// Whether the broker has confirmed the job.
    pub is_sent: bool,
    /// The time of the next attempt, if an attempt has failed.
    pub postponed_until_ms: Option<i64>,
}

/// If a dispatched job has not reached the broker within this time, the dispatcher is assumed to have
/// crashed.
pub const HANDED_OVER_WITHIN_MS: i64 = 10_000;

impl Dispatched {
    /// Whether the job is treated as lost: the job never reached the broker, or the broker lost the job.
    pub(crate) fn is_lost(self, now_ms: i64, again_after_ms: i64) -> bool {
        let patience_ms = if self.is_sent { again_after_ms } else { again_after_ms.min(HANDED_OVER_WITHIN_MS) };
        self.at_ms.max(self.postponed_until_ms.unwrap_or(i64::MIN)).saturating_add(patience_ms) <= now_ms
    }

    /// Whether the job is waiting for its next attempt. During this time, no worker has the job, and the job
    /// uses no capacity.
    pub fn is_postponed(self, now_ms: i64) -> bool {
        self.postponed_until_ms.is_some_and(|until_ms| now_ms < until_ms)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Requests {
    /// Number of the newest request.
    pub last: u64,
    pub wanted: Option<Wanted>,
    pub dispatched: Option<Dispatched>,
}

impl Requests {
    /// Requests a sync. Returns the number of the request.
    pub fn ask(&mut self, lane: Lane, rebuild: bool, now_ms: i64) -> u64 {
        self.want(Wanted { number: 0, lane, asked_at_ms: now_ms, rebuild, is_scheduled: false })
    }

    /// Requests a sync because the schedule requires it.
    pub fn schedule(&mut self, now_ms: i64) -> u64 {
        self.want(Wanted { number: 0, lane: Lane::Bulk, asked_at_ms: now_ms, rebuild: false, is_scheduled: true })
    }

    fn want(&mut self, asked: Wanted) -> u64 {
        let under_way = self.dispatched.map_or(0, |dispatched| dispatched.request.number);
        let wanted = match self.wanted {
            Some(wanted) if wanted.number > under_way => wanted.joined(asked),
            _ => {
                // The first number is at least the current time. So a repository that was deleted and
                // registered again reuses no number. Otherwise, a late job from before the deletion would
                // count as the answer to a new request.
                self.last = if self.last == 0 { asked.asked_at_ms.max(1) as u64 } else { self.last + 1 };
                Wanted { number: self.last, ..asked }
            }
        };
        self.wanted = Some(wanted);
        wanted.number
    }

    /// Marks the job of the request as confirmed by the broker.
    pub fn dispatched(&mut self, number: u64) {
        if let Some(dispatched) = self.dispatched.as_mut().filter(|dispatched| dispatched.request.number == number) {
            dispatched.is_sent = true;
        }
    }

    /// Stores `until_ms`, at which the job of a failed attempt is delivered again. Returns false, and changes
    /// nothing, if the request with this number is not in progress.
    pub fn postpone(&mut self, number: u64, until_ms: i64) -> bool {
        let dispatched = self.dispatched.as_mut().filter(|dispatched| dispatched.request.number == number);
        dispatched.map(|dispatched| dispatched.postponed_until_ms = Some(until_ms)).is_some()
    }

    /// The key by which the waiting requests of all repositories are sorted: the lane and the time of the
    /// request. If the request waits for its next attempt, the key contains the time of this attempt.
    pub fn place(&self) -> Option<(Lane, i64)> {
        let wanted = self.wanted?;
        let own = self.dispatched.filter(|dispatched| dispatched.request.number == wanted.number);
        let until_ms = own.and_then(|dispatched| dispatched.postponed_until_ms);
        Some((wanted.lane, wanted.asked_at_ms.max(until_ms.unwrap_or(i64::MIN))))
    }

    /// Returns the request with this number, if it is still open.
    pub fn asked(&self, number: u64) -> Option<Wanted> {
        let wanted = self.wanted.filter(|wanted| wanted.number >= number)?;
        let under_way = self.dispatched.map(|dispatched| dispatched.request);
        let own = under_way.filter(|request| request.number == number);
        Some(own.unwrap_or(Wanted { number, ..wanted }))
    }

    /// Removes the request. Call this after a sync has fulfilled the request or has finally failed. Later
    /// requests are not removed.
    pub fn answer(&mut self, number: u64) {
        if self.dispatched.is_some_and(|dispatched| dispatched.request.number == number) {
            self.dispatched = None;
        }
        if self.wanted.is_some_and(|wanted| wanted.number <= number) {
            self.wanted = None;
        }
    }
}
