//! A seeded simulation of runs: ledger, barrier, lease, visibility, abort, sweep, deletion, re-adding, limiter.
//!
//! One seed is one run of a small world in which everything that may go wrong does: processes die or stand still between
//! any two steps, answers are lost, jobs come twice, late or not at all, people delete, register again and cancel at
//! any time. Then it heals, and all must come right within bounded time.
//!
//! What decides is the production code: `Command::apply` behind `cairn_metastore::Metastore`, `Registry::view`, `View::sees`,
//! `Staging::may_retire`, `Sweep::generations`, `while_active`, `settlement`, `Limiter`. Two shells could not be driven, since they wait on
//! tokio's clock: the runner and sync. `worker` and `cloner` repeat their order of calls and nothing else.
//!
//! What must hold is kept in `history`, which knows none of that code, and is checked after every command and write, by
//! readers that take their time, and at the end. `Mutant`s are bugs that some seed must show.

mod broker;
mod cloner;
mod environment;
mod history;
mod mutants;
mod quota;
mod reader;
mod records;
mod schedule;
mod scheduler;
mod source;
mod users;
mod worker;
mod world;

pub use mutants::Mutant;
pub use world::{Outcome, run};

/// The first of the seeds that shows a violation, and what it is.
pub fn first_violation(seeds: impl IntoIterator<Item = u64>, mutant: Option<Mutant>) -> Option<(u64, String)> {
    seeds.into_iter().find_map(|seed| Some((seed, run(seed, mutant, false).violation?)))
}
