//! How the connections and consumers stand, for readiness, liveness and gauges.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How things stand. A socket that is open proves nothing: what counts is that every part that this process wants (two
/// connections, the consumers of its stages) is there, and that the loop that watches over them runs.
#[derive(Clone, PartialEq, Debug)]
pub struct Health {
    /// Since when both connections are up.
    pub connected_since: Option<Instant>,
    pub num_consumers_attached: usize,
    pub num_consumers_wanted: usize,
    /// Since when a part is missing.
    pub incomplete_since: Option<Instant>,
    /// A part was not there yet since the process started.
    pub is_starting: bool,
    /// When the slower of the loops that watch over the connections last went round.
    pub last_tick: Instant,
    /// An alarm of the broker stops publishing.
    pub is_blocked: bool,
    /// What is missing and why.
    pub faults: Vec<String>,
    pub(crate) not_ready_after: Duration,
    pub(crate) dead_after: Duration,
}

impl Health {
    pub fn is_ready(&self) -> bool {
        !self.is_starting && self.is_within(self.not_ready_after)
    }

    pub fn is_alive(&self) -> bool {
        self.is_within(self.dead_after)
    }

    fn is_within(&self, bound: Duration) -> bool {
        let is_recent = |since: Instant| since.elapsed() < bound;
        self.incomplete_since.is_none_or(is_recent) && is_recent(self.last_tick)
    }
}

/// A part that is there or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Connection,
    Consumer,
}

struct Part {
    kind: Kind,
    is_up: bool,
    was_up: bool,
    since: Instant,
    fault: String,
}

/// Where everybody writes down how they stand.
pub(crate) struct HealthBook {
    parts: Mutex<BTreeMap<String, Part>>,
    ticks: Mutex<BTreeMap<&'static str, Instant>>,
    started_at: Instant,
}

impl HealthBook {
    pub(crate) fn new() -> Self {
        Self { parts: Mutex::default(), ticks: Mutex::default(), started_at: Instant::now() }
    }

    fn parts(&self) -> MutexGuard<'_, BTreeMap<String, Part>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn up(&self, name: &str, kind: Kind) {
        self.set(name, kind, true, String::new());
    }

    pub(crate) fn down(&self, name: &str, kind: Kind, fault: impl Into<String>) {
        self.set(name, kind, false, fault.into());
    }

    fn set(&self, name: &str, kind: Kind, is_up: bool, fault: String) {
        let now = Instant::now();
        let mut parts = self.parts();
        let new = Part { kind, is_up, was_up: is_up, since: now, fault: String::new() };
        let part = parts.entry(name.to_owned()).or_insert(new);
        if part.is_up != is_up {
            (part.is_up, part.since) = (is_up, now);
        }
        part.was_up |= is_up;
        part.fault = fault;
    }

    /// The part is not wanted any more.
    pub(crate) fn forget(&self, name: &str) {
        self.parts().remove(name);
    }

    fn ticks(&self) -> MutexGuard<'_, BTreeMap<&'static str, Instant>> {
        self.ticks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tick(&self, loop_name: &'static str) {
        self.ticks().insert(loop_name, Instant::now());
    }

    pub(crate) fn snapshot(&self, is_blocked: bool, not_ready_after: Duration, dead_after: Duration) -> Health {
        let parts = self.parts();
        let consumers = || parts.values().filter(|part| part.kind == Kind::Consumer);
        let connections = || parts.values().filter(|part| part.kind == Kind::Connection);
        let is_connected = connections().all(|part| part.is_up);
        let down = || parts.iter().filter(|(_, part)| !part.is_up);
        Health {
            connected_since: connections().map(|part| part.since).max().filter(|_| is_connected),
            num_consumers_attached: consumers().filter(|part| part.is_up).count(),
            num_consumers_wanted: consumers().count(),
            incomplete_since: down().map(|(_, part)| part.since).min(),
            is_starting: parts.values().any(|part| !part.was_up),
            last_tick: self.ticks().values().min().copied().unwrap_or(self.started_at),
            is_blocked,
            faults: down().map(|(name, part)| format!("{name}: {}", part.fault)).collect(),
            not_ready_after,
            dead_after,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(book: &HealthBook) -> Health {
        book.snapshot(false, Duration::from_secs(10), Duration::from_secs(300))
    }

    #[test]
    fn every_wanted_part_counts() {
        let book = HealthBook::new();
        book.up("consuming", Kind::Connection);
        book.down("parse.bulk", Kind::Consumer, "no queue");
        let health = snapshot(&book);
        assert!(health.connected_since.is_some() && health.incomplete_since.is_some());
        assert_eq!((health.num_consumers_attached, health.num_consumers_wanted), (0, 1));
        assert_eq!(health.faults, ["parse.bulk: no queue"]);
        book.up("parse.bulk", Kind::Consumer);
        assert_eq!(snapshot(&book).incomplete_since, None);
        assert_eq!(snapshot(&book).num_consumers_attached, 1);
    }

    #[test]
    fn a_short_outage_is_neither_unready_nor_dead() {
        let check = |seconds: u64, expect: (bool, bool)| {
            let mut health = snapshot(&HealthBook::new());
            health.incomplete_since = Instant::now().checked_sub(Duration::from_secs(seconds));
            assert_eq!((health.is_ready(), health.is_alive()), expect, "{seconds}");
        };
        check(1, (true, true));
        check(11, (false, true));
        check(301, (false, false));
    }

    #[test]
    fn a_loop_that_stands_still_is_dead() {
        let mut health = snapshot(&HealthBook::new());
        assert!(health.is_alive());
        health.last_tick =
            Instant::now().checked_sub(Duration::from_secs(400)).expect("a machine that runs for a while");
        assert!(!health.is_alive());
    }
}
