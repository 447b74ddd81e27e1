//! Exchanges, queues, bindings and policies as data, and the code that creates them.
//!
//! Only the command `cairn topology apply` calls `apply`; workers only call `check`. The type of a queue is
//! an argument of its declaration and can never be changed. All other properties are policies, which can be
//! changed. An incompatible change needs a new `version`: both topologies exist until the old queues are
//! empty.

mod apply;
mod check;
mod inspect;
mod names;
mod plan;

use std::time::Duration;

use serde::Deserialize;

pub use apply::{Applied, TopologyError, apply};
pub use check::check;
pub(crate) use check::passive;
pub use inspect::{Inspected, inspect};
pub(crate) use names::{Names, Source, parse_routing_key, routing_key};
pub use plan::Topology;

/// The key that the coordinator owns. The topology always contains this key, which belongs to no provider.
pub const COORDINATOR: &str = "coordinator";

/// Settings of the topology.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TopologyConfig {
    /// First part of every name. The prefix distinguishes installations on one broker.
    pub prefix: String,
    /// Last part of every name. A new value creates a second topology; the old topology remains.
    pub version: String,
    /// Maximum number of waiting jobs in one queue; publishing to a full queue waits. Retries are never
    /// refused.
    pub capacity: u32,
    /// Delays of retries, shortest first. Each stage has one queue per delay.
    pub retry_delays_ms: Vec<u64>,
    /// Names of provider keys that one process at a time may own.
    pub owned_keys: Vec<String>,
}

impl Default for TopologyConfig {
    fn default() -> Self {
        Self {
            prefix: "cairn".to_owned(),
            version: "v1".to_owned(),
            capacity: 100_000,
            retry_delays_ms: [10, 60, 600, 3600].map(|seconds| seconds * 1000).to_vec(),
            owned_keys: Vec::new(),
        }
    }
}

impl TopologyConfig {
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let is_word =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        let words = [("prefix", &self.prefix), ("version", &self.version)];
        let keys = self.owned_keys.iter().map(|key| ("owned_keys", key));
        for (name, _) in words.into_iter().chain(keys).filter(|(_, word)| !is_word(word)) {
            faults.push(format!(
                "`topology.{name}` must not be empty, and may contain only letters, digits, `-` and `_`"
            ));
        }
        if self.owned_keys.iter().any(|key| key == COORDINATOR) {
            faults.push(format!(
                "`topology.owned_keys`: `{COORDINATOR}` is reserved for the coordinator; use another name"
            ));
        }
        if self.capacity == 0 {
            faults.push("`topology.capacity` must be at least 1".to_owned());
        }
        let delays = &self.retry_delays_ms;
        if delays.is_empty() || delays[0] == 0 || !delays.is_sorted_by(|left, right| left < right) {
            faults.push(
                "`topology.retry_delays_ms` must be a list of positive delays, each longer than the previous delay"
                    .to_owned(),
            );
        }
        faults
    }

    /// Returns the shortest delay that is at least `after`. If all delays are shorter, returns the longest
    /// delay.
    pub(crate) fn rung(&self, after: Duration) -> u64 {
        let wanted = after.as_millis();
        let long_enough = self.retry_delays_ms.iter().find(|delay| u128::from(**delay) >= wanted);
        long_enough.or(self.retry_delays_ms.last()).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_is_rounded_up_to_a_configured_delay() {
        let config = TopologyConfig::default();
        let check = |seconds: u64, expect: u64| assert_eq!(config.rung(Duration::from_secs(seconds)), expect * 1000);
        check(0, 10);
        check(10, 10);
        check(11, 60);
        check(3600, 3600);
        check(9999, 3600);
    }
}
