//! Whether the stores that a process uses answer now: each is asked something small, again and again, and what it said
//! last is kept, so that a check of readiness waits for nobody.
//!
//! What holds: a store that has answered counts as gone only after two failures in a row, so that one that stumbles takes
//! no replica out of service; one answer brings it back. What is told names the store, never its address.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cairn_ports::ErrorKind;
use tokio::time::{MissedTickBehavior, interval, timeout};

const EVERY: Duration = Duration::from_secs(2);
/// An answer that takes longer than this would keep callers waiting as well.
const PATIENCE: Duration = Duration::from_secs(5);
const FAILURES: u32 = 2;

/// The stores of a process, and how each stands.
#[derive(Clone, Default)]
pub struct Probes(Arc<Mutex<BTreeMap<&'static str, Standing>>>);

impl Probes {
    /// Asks the store until the process ends. A second one of the same name takes the place of the first.
    pub fn watch<F>(&self, store: &'static str, ask: impl Fn() -> F + Send + 'static)
    where
        F: Future<Output = Result<(), ErrorKind>> + Send,
    {
        self.standings().insert(store, Standing::default());
        let probes = self.clone();
        tokio::spawn(async move {
            let mut turns = interval(EVERY);
            turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                turns.tick().await;
                let answer = match timeout(PATIENCE, ask()).await {
                    Ok(answer) => answer.map_err(|kind| format!("{store} cannot be asked ({})", kind.code())),
                    Err(_) => Err(format!("{store} does not answer within {} s", PATIENCE.as_secs())),
                };
                probes.heard(store, answer);
            }
        });
    }

    /// What keeps the process from working: one line for each store that does not answer.
    pub fn reasons(&self) -> Vec<String> {
        let reason = |(store, standing): (&&str, &Standing)| standing.reason(store);
        self.standings().iter().filter_map(reason).collect()
    }

    fn heard(&self, store: &'static str, answer: Result<(), String>) {
        let mut standings = self.standings();
        let standing = standings.entry(store).or_default();
        let before = standing.fault.clone();
        standing.heard(answer);
        match (&before, &standing.fault) {
            (None, Some(fault)) => tracing::warn!(store, "{fault}"),
            (Some(_), None) => tracing::info!(store, "answers again"),
            _ => {}
        }
    }

    fn standings(&self) -> MutexGuard<'_, BTreeMap<&'static str, Standing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a store said of late.
#[derive(Default)]
struct Standing {
    has_answered: bool,
    num_failures: u32,
    fault: Option<String>,
}

impl Standing {
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
        let not_yet = || (!self.has_answered).then(|| format!("{store} was not asked yet"));
        self.fault.clone().or_else(not_yet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_is_no_fault_and_one_answer_ends_it() {
        let mut standing = Standing::default();
        let fails = || Err("Qdrant cannot be asked (unavailable)".to_owned());
        assert_eq!(standing.reason("Qdrant").as_deref(), Some("Qdrant was not asked yet"));
        standing.heard(fails());
        assert!(standing.reason("Qdrant").is_some_and(|reason| reason.contains("unavailable")), "nobody waits for it");
        standing.heard(Ok(()));
        assert_eq!(standing.reason("Qdrant"), None);
        standing.heard(fails());
        assert_eq!(standing.reason("Qdrant"), None, "it flaps");
        standing.heard(fails());
        assert!(standing.reason("Qdrant").is_some());
        standing.heard(Ok(()));
        standing.heard(fails());
        assert_eq!(standing.reason("Qdrant"), None, "failures before an answer count");
    }
}
