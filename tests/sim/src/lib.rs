//! A seeded simulation of runs: ledger, barrier, lease, visibility, abort, sweep, deletion, re-adding,
//! limiter.
//!
//! One seed is one run of a small world in which everything can fail. Processes die or stop for a while
//! between any two steps. Answers are lost. Jobs arrive twice, late or never. Users delete, register again
//! and cancel at any time. Then all faults end, and the index must become correct within a bounded time.
//!
//! The production code makes the decisions: `Command::apply` behind `cairn_metastore::Metastore`,
//! `Registry::view`, `View::sees`, `Staging::may_retire`, `Sweep::generations`, `while_active`, `settlement`,
//! `Limiter`. The simulation cannot drive the runner and the sync, because they wait on tokio's clock.
//! Therefore `worker` and `cloner` repeat the order of their calls, and nothing else.
//!
//! `history` contains the invariants and knows none of that code. They are checked after every command and
//! write, by slow readers, and at the end. A `Mutant` is a bug that at least one seed must show.

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

/// The first seed that shows a violation, and the violation.
pub fn first_violation(seeds: impl IntoIterator<Item = u64>, mutant: Option<Mutant>) -> Option<(u64, String)> {
    seeds.into_iter().find_map(|seed| Some((seed, run(seed, mutant, false).violation?)))
}
