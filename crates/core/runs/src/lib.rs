//! The lifecycle of runs: leases, plans and the barriers between their stages, publication, views, aborting,
//! sweeping, and deletion.
//!
//! The state machines are plain values. Each function takes the states that it needs. The function either
//! changes the states and returns a result, or returns a refusal and leaves the states unchanged. In one
//! transaction, a store loads the states under its write lock, calls one function and writes the changed
//! states. So SQLite, Neo4j and the simulation make the same decisions.
//!
//! - `Registry`: the state that all repositories share. `Registry` allots generations, counts publications,
//!   and lists the generations that every view must hide.
//! - `RepositoryState`: a repository's lease, published generation, unfinished run, and requests.
//! - `RunLedger`: the plan of one run as sets of parts, and the state of each part.
//! - `Command`: a change as data, and the documents that the change needs.
//! - `KnownGenerations`: the published generations, whose records the maintenance of a store may change.
//! - `Tiers`: the files of a store that one step of maintenance rewrites.

mod apply;
mod command;
mod deletion;
mod dispatch;
mod documents;
mod known_generations;
mod lease;
mod parts;
mod refusal;
mod registry;
mod repository;
mod requests;
mod run;
mod tiers;

pub use command::{Command, CommandReply, Publishing};
pub use documents::{
    Documents, EndedPart, Publication, Reach, RepositoryDetails, RepositoryDocument, RunDetails, RunDocument,
    SyncOutcome,
};
pub use known_generations::KnownGenerations;
pub use lease::LeaseState;
pub use parts::{PartSet, StageParts};
pub use refusal::Refusal;
pub use registry::{Deletion, Registry};
pub use repository::RepositoryState;
pub use requests::{Dispatched, HANDED_OVER_WITHIN_MS, Requests, Wanted};
pub use run::{Beginning, Ended, PostponedPart, RunLedger};
pub use tiers::{Size, Tiers};
