//! The store of the documents of catalogue and ledger. Commands change them, each in one transaction.
//!
//! `cairn_runs` makes the decisions. An implementation only loads, locks and stores, so the decisions are the
//! same in all stores.

use async_trait::async_trait;
use cairn_domain::{PublishedSeq, RepositoryId, RunId, Tenant, View};
use cairn_runs::{Command, CommandReply, EndedPart, Registry, RepositoryDocument, RunDocument};

use crate::error::port_error;

port_error!(
    /// An error of the store of runs.
    RunDocumentsError,
    "store of runs"
);

/// A selection of repositories.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RepositoryQuery {
    One(RepositoryId),
    /// The repositories of a tenant (or of all), sorted by name, also deleted ones.
    OfTenant(Option<Tenant>),
    /// Repositories with an unanswered request, in the order of `Requests::place`: interactive requests
    /// first, then by time.
    Asked {
        limit: usize,
    },
}

/// A selection of runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunQuery {
    One(RunId),
    /// The runs of a repository (or of all), newest first.
    Newest {
        repository: Option<RepositoryId>,
        limit: usize,
    },
    /// At most this many runs of each repository, and of all together; newest first.
    NewestOfEach {
        repositories: Vec<RepositoryId>,
        of_each: usize,
        in_all: usize,
    },
    /// Oldest first.
    Unfinished,
    /// Unfinished runs with parts that the broker does not have, oldest first.
    Unsent {
        limit: usize,
    },
    /// The newest run of each repository that is published at this seq, newest first.
    PublishedAt {
        repositories: Vec<RepositoryId>,
        seq: PublishedSeq,
    },
    /// Runs that were published until this time and whose retired records are not swept, oldest first.
    Retired {
        until_ms: i64,
    },
    /// Runs that are unfinished, or published and not superseded at this time; oldest first.
    Live {
        until_ms: i64,
    },
}

#[async_trait]
pub trait RunDocuments: Send + Sync {
    /// Loads the documents of the command under the write lock, applies it, and stores the result durably: as
    /// a whole, or not at all if the command refuses (`NotFound`, `Conflict`, `Invalid`). Commands on the
    /// same document run one after the other. The command may be applied again if the transaction lost
    /// against another one.
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError>;

    async fn registry(&self) -> Result<Registry, RunDocumentsError>;

    /// The view that a publication made; `None` if it was removed.
    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError>;

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError>;

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError>;

    /// The ended parts of a run, sorted by id.
    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError>;

    /// Removes the views of publications that were superseded before `until_ms`. Until then, questions saw
    /// them.
    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError>;
}
