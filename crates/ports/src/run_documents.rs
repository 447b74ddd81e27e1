//! The store of the documents of the catalogue and the ledger. Each command changes documents in one
//! transaction.
//!
//! `cairn_runs` makes the decisions. An implementation only loads, locks and stores documents, so the
//! decisions are the same for all stores.

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
    /// The repositories of one tenant, or of all tenants, sorted by name. Deleted repositories are included.
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
    /// The runs of one repository, or of all repositories, newest first.
    Newest {
        repository: Option<RepositoryId>,
        limit: usize,
    },
    /// The newest runs, newest first: at most `of_each` runs of each repository, and at most `in_all` runs in
    /// total.
    NewestOfEach {
        repositories: Vec<RepositoryId>,
        of_each: usize,
        in_all: usize,
    },
    /// The unfinished runs, oldest first.
    Unfinished,
    /// Unfinished runs that have parts whose jobs the broker has not confirmed, oldest first.
    Unsent {
        limit: usize,
    },
    /// For each repository, the newest run that was published up to this sequence number. Newest first.
    PublishedAt {
        repositories: Vec<RepositoryId>,
        seq: PublishedSeq,
    },
    /// Runs that were published at or before this time, and whose retired records are not swept yet, oldest
    /// first.
    Retired {
        until_ms: i64,
    },
    /// The unfinished runs, and the published runs that had not been superseded by this time. Oldest first.
    Live {
        until_ms: i64,
    },
}

#[async_trait]
pub trait RunDocuments: Send + Sync {
    /// Loads the documents of the command under the write lock, applies the command, and stores the result
    /// durably. If the command returns an error (`NotFound`, `Conflict`, `Invalid`), nothing is stored.
    /// Commands on the same document are executed one at a time. If the transaction conflicts with another
    /// transaction, the command may be applied again.
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError>;

    async fn registry(&self) -> Result<Registry, RunDocumentsError>;

    /// The view that a publication created; `None` if the view was removed.
    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError>;

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError>;

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError>;

    /// The ended parts of a run, sorted by id.
    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError>;

    /// Removes the views of publications that were superseded before `until_ms`. `until_ms` is compared with
    /// the time of the later publication, because new questions used the view until that publication.
    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError>;
}
