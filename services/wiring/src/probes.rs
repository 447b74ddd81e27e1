//! Checks whether the stores of a process reply. Each store gets a small request at an interval, and the last
//! result is stored, so that a readiness check never waits.
//!
//! Once a store has replied, it counts as unavailable only after two consecutive failures, so that a replica
//! is not taken out of service because of a single failure. One success makes the store available again.
//! Reports contain the name of the store, never its address.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cairn_ports::ErrorKind;
use tokio::time::{MissedTickBehavior, interval, timeout};

const EVERY: Duration = Duration::from_secs(2);
/// The time limit for a reply. A store that is slower than this counts as unavailable, because its callers
/// are also delayed.
const PATIENCE: Duration = Duration::from_secs(5);
const FAILURES: u32 = 2;

/// The stores of a process, with the state of each.
#[derive(Clone, Default)]
pub struct Probes(Arc<Mutex<BTreeMap<&'static str, ProbeStatus>>>);

impl Probes {
    /// Probes the store until the process ends. If a second probe is started for a store with the same name,
    /// it replaces the first probe.
    pub fn watch<F>(&self, store: &'static str, ask: impl Fn() -> F + Send + 'static)
    where
        F: Future<Output = Result<(), ErrorKind>> + Send,
    {
        self.statuses().insert(store, ProbeStatus::default());
        let probes = self.clone();
        tokio::spawn(async move {
            let mut turns = interval(EVERY);
            turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                turns.tick().await;
                let answer = match timeout(PATIENCE, ask()).await {
                    Ok(answer) => answer.map_err(|kind| format!("{store} does not answer ({})", kind.code())),
                    Err(_) => Err(format!("{store} does not answer within {} s", PATIENCE.as_secs())),
                };
                probes.heard(store, answer);
            }
        });
    }

    /// The reasons why the process cannot work: one line for each store that does not reply.
    pub fn reasons(&self) -> Vec<String> {
        let reason = |(store, status): (&&str, &ProbeStatus)| status.reason(store);
        self.statuses().iter().filter_map(reason).collect()
    }

    fn heard(&self, store: &'static str, answer: Result<(), String>) {
        let mut statuses = self.statuses();
        let status = statuses.entry(store).or_default();
        let before = status.fault.clone();
        status.heard(answer);
        match (&before, &status.fault) {
            (None, Some(fault)) => tracing::warn!(store, "{fault}"),
            (Some(_), None) => tracing::info!(store, "answers again"),
            _ => {}
        }
    }

    fn statuses(&self) -> MutexGuard<'_, BTreeMap<&'static str, ProbeStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The results of the recent probes of a store.
#[derive(Default)]
struct ProbeStatus {
    has_answered: bool,
    num_failures: u32,
    fault: Option<String>,
}

impl ProbeStatus {
    fn heard(&mut self, answer: Result<(), String>) {
        match answer {
            Ok(()) => *self = Self { has_answered: true, ..Self::default() },
            Err(fault) => {
                self.num_failures += 1;
                if self.num_failures >= FAILURES || !self.has_answered {
                    self.fault = Some(fault);
                }
            }
        }
    }

    fn reason(&self, store: &str) -> Option<String> {
        let not_yet = || (!self.has_answered).then(|| format!("{store} has not been probed yet"));
        self.fault.clone().or_else(not_yet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_probe_is_not_reported() {
        let mut status = ProbeStatus::default();
        let fails = || Err("Qdrant does not answer (unavailable)".to_owned());
        assert_eq!(status.reason("Qdrant").as_deref(), Some("Qdrant has not been probed yet"));
        status.heard(fails());
        assert!(
            status.reason("Qdrant").is_some_and(|reason| reason.contains("unavailable")),
            "a probe without an answer ends"
        );
        status.heard(Ok(()));
        assert_eq!(status.reason("Qdrant"), None);
        status.heard(fails());
        assert_eq!(status.reason("Qdrant"), None, "it flaps");
        status.heard(fails());
        assert!(status.reason("Qdrant").is_some());
        status.heard(Ok(()));
        status.heard(fails());
        assert_eq!(status.reason("Qdrant"), None, "failures before an answer count");
    }
}
