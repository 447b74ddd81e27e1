//! What may happen to runs: leases, plans and their barriers, publication, views, aborting, sweeping, deletion.
//!
//! State machines, as values: each function takes the states that it decides about, changes them, and says what came of
//! it, or refuses and leaves them as they are. A store loads the states under its write lock, calls one function and
//! writes what it changed, all in one transaction; so SQLite, Neo4j and the simulation run the same decisions.
//!
//! - `Registry`: the head of the catalogue. Allots generations, counts publications, knows what every view must hide.
//! - `RepositoryState`: a repository's lease, its published generation, its unfinished run, what was asked of it.
//! - `RunLedger`: one run's plan as sets of parts, and what has become of them.
//! - `Command`: each change as data, with the documents that it reaches.

mod command;
mod documents;
mod lease;
mod parts;
mod refusal;
mod registry;
mod repository;
mod requests;
mod run;

pub use command::{Answer, Command, Publishing};
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
pub use run::{Beginning, Ended, RunLedger};
