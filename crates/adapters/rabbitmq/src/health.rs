//! State of the connections and consumers, for readiness, liveness and gauges.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The state of all components. An open socket alone does not prove that the process works. The process is
/// healthy if its supervising loops run and every component that it needs is up: two connections, and the
/// consumers of its stages.
#[derive(Clone, PartialEq, Debug)]
pub struct Health {
    /// Both connections have been up since this time; `None` if a connection is down.
    pub connected_since: Option<Instant>,
    pub num_consumers_attached: usize,
    pub num_consumers_wanted: usize,
    /// At least one component has been down since this time; `None` if all components are up.
    pub incomplete_since: Option<Instant>,
    /// True if a component has not been up yet since the process started.
    pub is_starting: bool,
    /// Each connection has a supervising loop, which records the time of its last iteration. The field
    /// contains the older of the two times.
    pub last_tick: Instant,
    /// True if an alarm of the broker blocks publishing.
    pub is_blocked: bool,
    /// Each component that is down, with the reason.
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

/// The kind of a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Connection,
    Consumer,
}

struct Component {
    kind: Kind,
    is_up: bool,
    was_up: bool,
    since: Instant,
    fault: String,
}

/// Records the state of every component.
pub(crate) struct HealthBook {
    components: Mutex<BTreeMap<String, Component>>,
    ticks: Mutex<BTreeMap<&'static str, Instant>>,
    started_at: Instant,
}

impl HealthBook {
    pub(crate) fn new() -> Self {
        Self { components: Mutex::default(), ticks: Mutex::default(), started_at: Instant::now() }
    }

    fn components(&self) -> MutexGuard<'_, BTreeMap<String, Component>> {
        self.components.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn up(&self, name: &str, kind: Kind) {
        self.set(name, kind, true, String::new());
    }

    pub(crate) fn down(&self, name: &str, kind: Kind, fault: impl Into<String>) {
        self.set(name, kind, false, fault.into());
    }

    fn set(&self, name: &str, kind: Kind, is_up: bool, fault: String) {
        let now = Instant::now();
        let mut components = self.components();
        let new = Component { kind, is_up, was_up: is_up, since: now, fault: String::new() };
        let component = components.entry(name.to_owned()).or_insert(new);
        if component.is_up != is_up {
            (component.is_up, component.since) = (is_up, now);
        }
        component.was_up |= is_up;
        component.fault = fault;
    }

    /// Removes a component that is no longer needed.
    pub(crate) fn forget(&self, name: &str) {
        self.components().remove(name);
    }

    fn ticks(&self) -> MutexGuard<'_, BTreeMap<&'static str, Instant>> {
        self.ticks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tick(&self, loop_name: &'static str) {
        self.ticks().insert(loop_name, Instant::now());
    }

    pub(crate) fn snapshot(&self, is_blocked: bool, not_ready_after: Duration, dead_after: Duration) -> Health {
        let components = self.components();
        let consumers = || components.values().filter(|component| component.kind == Kind::Consumer);
        let connections = || components.values().filter(|component| component.kind == Kind::Connection);
        let is_connected = connections().all(|component| component.is_up);
        let down = || components.iter().filter(|(_, component)| !component.is_up);
        Health {
            connected_since: connections().map(|component| component.since).max().filter(|_| is_connected),
            num_consumers_attached: consumers().filter(|component| component.is_up).count(),
            num_consumers_wanted: consumers().count(),
            incomplete_since: down().map(|(_, component)| component.since).min(),
            is_starting: components.values().any(|component| !component.was_up),
            last_tick: self.ticks().values().min().copied().unwrap_or(self.started_at),
            is_blocked,
            faults: down().map(|(name, component)| format!("{name}: {}", component.fault)).collect(),
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
    fn one_missing_component_makes_health_incomplete() {
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
    fn outage_ends_readiness_before_liveness() {
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
    fn stopped_loop_is_not_alive() {
        let mut health = snapshot(&HealthBook::new());
        assert!(health.is_alive());
        health.last_tick =
            Instant::now().checked_sub(Duration::from_secs(400)).expect("the machine has run for 400 seconds");
        assert!(!health.is_alive());
    }
}
