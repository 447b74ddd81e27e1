//! A seeded simulation of runs. The simulation covers the ledger, the barrier, the lease, visibility, abort,
//! sweep, deletion, registration after a deletion, and the limiter.
//!
//! One seed is one simulation of a small world in which everything can fail. Processes die or stop for some
//! time between any two steps. Answers are lost. Jobs arrive twice, late or never. Users delete repositories,
//! register them again, and cancel syncs at any time. After some time, all faults end, and the index must
//! become correct within a limited time.
//!
//! The production code makes the decisions: `Command::apply` behind `cairn_metastore::Metastore`,
//! `Registry::view`, `View::sees`, `Staging::may_retire`, `Sweep::generations`, `while_active`, `settlement`,
//! `Limiter`. The simulation cannot drive the production runner and sync, because they wait on tokio's clock.
//! Therefore `worker` and `cloner` only make the same calls in the same order as the runner and the sync.
//!
//! `history` contains the invariants and uses none of the production code. The invariants are checked after
//! every command and write, and at the end. Slow readers also check the invariants. A `Mutant` is a planted
//! bug that at least one seed must reveal.

mod broker;
mod cloner;
mod environment;
mod history;
mod mutants;
mod quota;
mod reader;
mod records;
mod rows;
mod run;
mod runner;
mod schedule;
mod scheduler;
mod source;
mod users;
mod worker;
mod world;

pub use mutants::Mutant;
pub use run::{RunSummary, run};

/// Returns the first seed that shows a violation, with the violation.
pub fn first_violation(seeds: impl IntoIterator<Item = u64>, mutant: Option<Mutant>) -> Option<(u64, String)> {
    seeds.into_iter().find_map(|seed| Some((seed, run(seed, mutant, false).violation?)))
}
