//! The lifecycle of runs: leases, plans and their barriers, publication, views, aborting, sweeping, deletion.
//!
//! State machines as values: each function takes the states that it decides about, changes them and returns
//! the result, or refuses and leaves them unchanged. A store loads the states under its write lock, calls one
//! function and writes the changed states, all in one transaction. So SQLite, Neo4j and the simulation run
//! the same decisions.
//!
//! - `Registry`: the head of the catalogue. Allots generations, counts publications, and lists the
//!   generations that every view must hide.
//! - `RepositoryState`: a repository's lease, published generation, unfinished run, and requests.
//! - `RunLedger`: one run's plan as sets of parts, and the state of each part.
//! - `Command`: each change as data, with the documents that it reaches.

mod command;
mod deletion;
mod dispatch;
mod documents;
mod lease;
mod parts;
mod refusal;
mod registry;
mod repository;
mod requests;
mod run;

pub use command::{Command, CommandReply, Publishing};
pub use documents::{
    Documents, EndedPart, Publication, Reach, RepositoryDetails, RepositoryDocument, RunDetails, RunDocument,
    SyncOutcome,
};
pub use lease::LeaseState;
pub use parts::{PartSet, StageParts};
pub use refusal::Refusal;
pub use registry::{Deletion, Registry};
pub use repository::RepositoryState;
pub use requests::{Dispatched, HANDED_OVER_WITHIN_MS, Requests, Wanted};
pub use run::{Beginning, Ended, PostponedPart, RunLedger};
