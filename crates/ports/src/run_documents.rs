//! Where the documents of catalogue and ledger are kept: changed by commands, each in one transaction.
//!
//! The decisions are those of `cairn_runs`; who implements this port only loads, locks and keeps. So every store of runs
//! decides alike.

use async_trait::async_trait;
use cairn_domain::{PublishedSeq, RepositoryId, RunId, Tenant, View};
use cairn_runs::{Command, CommandReply, EndedPart, Registry, RepositoryDocument, RunDocument};

use crate::error::port_error;

port_error!(
    /// An error of the store of runs.
    RunDocumentsError,
    "store of runs"
);

/// Which repositories are asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RepositoryQuery {
    One(RepositoryId),
    /// Those of a tenant (or of all), sorted by name; also deleted ones.
    OfTenant(Option<Tenant>),
    /// Those with a request that is not answered, in the order of `Requests::place`: interactive ones first, then by time.
    Asked {
        limit: usize,
    },
}

/// Which runs are asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunQuery {
    One(RunId),
    /// Of a repository (or of all), newest first.
    Newest {
        repository: Option<RepositoryId>,
        limit: usize,
    },
    /// Of each of the repositories at most so many, and of all; newest first.
    NewestOfEach {
        repositories: Vec<RepositoryId>,
        of_each: usize,
        in_all: usize,
    },
    /// Oldest first.
    Unfinished,
    /// Unfinished, with parts that the broker does not have; oldest first.
    Unsent {
        limit: usize,
    },
    /// The newest published one of each of the repositories at a seq; newest first.
    PublishedAt {
        repositories: Vec<RepositoryId>,
        seq: PublishedSeq,
    },
    /// Published until that time, and what they retired is not swept; oldest first.
    Retired {
        until_ms: i64,
    },
    /// Unfinished, or published and not superseded until that time; oldest first.
    Live {
        until_ms: i64,
    },
}

#[async_trait]
pub trait RunDocuments: Send + Sync {
    /// Loads what the command reaches under the write lock, applies it, and keeps the outcome durably: all of it, or
    /// nothing where the command refuses (`NotFound`, `Conflict`, `Invalid`). Commands that reach the same document are
    /// one after the other. May apply the command again where the transaction lost against another.
    async fn change(&self, command: Command) -> Result<CommandReply, RunDocumentsError>;

    async fn registry(&self) -> Result<Registry, RunDocumentsError>;

    /// The view that a publication made, as it was then; `None` for one that was forgotten.
    async fn publication(&self, seq: PublishedSeq) -> Result<Option<View>, RunDocumentsError>;

    async fn repositories(&self, query: RepositoryQuery) -> Result<Vec<RepositoryDocument>, RunDocumentsError>;

    async fn runs(&self, query: RunQuery) -> Result<Vec<RunDocument>, RunDocumentsError>;

    /// The ended parts of a run, in the order of their ids.
    async fn parts(&self, run: RunId) -> Result<Vec<EndedPart>, RunDocumentsError>;

    /// Forgets the views of publications that were followed by another one before `until_ms`: until then, each was what
    /// questions saw.
    async fn forget_publications(&self, until_ms: i64) -> Result<(), RunDocumentsError>;
}
