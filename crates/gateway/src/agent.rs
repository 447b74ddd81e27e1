//! The service behind a gateway: a `Searcher` for questions, and the few operations that are not questions.

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RunId};
use cairn_search::{NOTHING_INDEXED, QueryError, QueryErrorCode, Searcher};

use crate::index_call::{IndexCall, IndexStatus, IndexTicket};

/// A service that answers questions: the index of one directory, or a cluster.
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// Answers all questions, including those about runs (`Searcher::ledger`).
    fn searcher(&self) -> &Searcher;

    /// Name of the repository that the caller works in, if it is indexed. In local mode it contains the
    /// working directory. An MCP question without a repository searches this one.
    async fn default_repository(&self) -> Option<String>;

    /// Brings a repository up to date. Local mode waits up to five minutes, then returns the state of the
    /// run, and the run goes on. A cluster returns at once. A second call for a repository that is being
    /// indexed joins that run.
    ///
    /// `ValidationError` names the wrong field of the call; `NotFound` means that the target does not exist.
    async fn index(&self, call: IndexCall) -> Result<IndexStatus, QueryError>;

    /// The state of a request that `index` returned. Services whose calls wait for their runs have no
    /// requests.
    async fn progress(&self, request: IndexTicket) -> Result<IndexStatus, QueryError> {
        let message =
            format!("no sync of `{}` was requested: calls to index wait for their runs here", request.repository);
        Err(QueryError::new(QueryErrorCode::NotFound, message))
    }

    /// The index directory, if the index is on this machine.
    fn home(&self) -> Option<String> {
        None
    }

    /// Size of the index on disk, if it is known.
    fn size_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether the caller has the `index` permission. Calls without permission are not suggested.
    fn may_index(&self) -> bool {
        true
    }

    /// How to index a repository, for a caller whose index is empty.
    fn how_to_index(&self) -> &'static str {
        "`cairn index PATH` indexes a repository"
    }

    /// Bounds of one answer. Local mode has none.
    fn caps(&self) -> Caps {
        Caps { edges: usize::MAX, runs: usize::MAX, tokens: usize::MAX, entries: usize::MAX }
    }

    /// Whether the caller may read the causes of internal errors: they name stores and files of the service.
    fn shows_causes(&self) -> bool {
        true
    }

    /// Cancels an unfinished run; the published state stays. False if the run had ended.
    async fn cancel(&self, run: RunId) -> Result<bool, QueryError>;

    /// Cancels the pending sync requests of these repositories, and returns the repositories that had one.
    /// Services whose calls wait for their runs have no requests.
    async fn cancel_requests(&self, _repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, QueryError> {
        Ok(Vec::new())
    }
}

/// Bounds of one answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caps {
    pub edges: usize,
    pub runs: usize,
    pub tokens: usize,
    /// Entries of one page: repositories, patterns, paths, secrets.
    pub entries: usize,
}

impl Caps {
    /// For a service with many callers: bounds the memory of one answer.
    pub const OF_A_SERVICE: Self = Self { edges: 500, runs: 500, tokens: 200_000, entries: 10_000 };
}

impl dyn Agent + '_ {
    /// Completes the hint for an empty index: only the service behind the gateway knows how to index.
    pub(crate) fn with_way_to_index(&self, mut error: QueryError) -> QueryError {
        if error.hint.as_deref() == Some(NOTHING_INDEXED) {
            error.hint = Some(self.nothing_indexed());
        }
        error
    }

    pub(crate) fn nothing_indexed(&self) -> String {
        format!("{NOTHING_INDEXED}: {}", self.how_to_index())
    }

    /// The error in the form that the caller may read.
    pub(crate) fn outward(&self, error: QueryError) -> QueryError {
        use QueryErrorCode::{Corrupt, InternalError, ModelMismatch, RateLimited, Timeout};
        let (code, message) = match error.code {
            _ if self.shows_causes() => return error,
            Corrupt | InternalError | ModelMismatch => {
                (InternalError, "an internal error; try again, or report it to the operator of this service")
            }
            Timeout => (Timeout, TOO_SLOW),
            RateLimited { .. } => {
                (error.code, "the embedding provider accepts no more calls at present; try again later")
            }
            _ => return error,
        };
        tracing::error!(code = error.code.as_str(), "{}", error.message);
        QueryError::new(code, message)
    }
}

/// The message for an answer that took too long, for all front ends.
pub(crate) const TOO_SLOW: &str = "the answer took too long; ask for less (fewer repositories, a smaller limit)";
