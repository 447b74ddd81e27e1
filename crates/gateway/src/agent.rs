//! The service behind a gateway: a `Searcher` for questions, and the few operations that are not questions.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RunId};
use cairn_redaction::{Given, Message};
use cairn_search::{NOTHING_INDEXED, NextCall, QueryError, QueryErrorCode, Searcher};

use crate::index_call::{IndexCall, IndexStatus, IndexTicket, WatchIndexing};

/// A service that answers questions: the index of one directory, or a cluster.
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// The searcher that answers all questions, including questions about runs (`Searcher::ledger`).
    fn searcher(&self) -> &Searcher;

    /// Name of the repository in which the caller works, if it is indexed. In local mode this is the
    /// repository that contains the working directory. An MCP question that names no repository searches this
    /// repository.
    async fn default_repository(&self) -> Option<String>;

    /// Like `default_repository`, for questions about code. Local mode indexes a working tree that is not
    /// indexed yet, within limits, and reports the progress to `watch`.
    async fn working_repository(&self, watch: Arc<dyn WatchIndexing>) -> Option<String> {
        let _no_progress = watch;
        self.default_repository().await
    }

    /// Whether the caller works in a directory that neither a working tree nor a registered repository
    /// contains. Questions do not index such a directory. Only a service on the machine of the caller knows
    /// the directory.
    async fn works_outside_repositories(&self) -> bool {
        false
    }

    /// A message about an action that the service took for the last question, such as indexing. The message
    /// is returned only once.
    fn take_notice(&self) -> Option<Notice> {
        None
    }

    /// Indexes the current state of a repository. Local mode waits up to five minutes for the run, and then
    /// returns the state of the run. The run continues. A cluster returns at once. A second call for a
    /// repository that is being indexed joins that run.
    ///
    /// The message of a `ValidationError` contains the name of the wrong field; `NotFound` means that the
    /// target does not exist.
    async fn index(&self, call: IndexCall) -> Result<IndexStatus, QueryError>;

    /// Like `index`, and reports the progress to `watch`. A service whose index calls return at once has no
    /// progress to report.
    async fn index_watched(&self, call: IndexCall, watch: Arc<dyn WatchIndexing>) -> Result<IndexStatus, QueryError> {
        let _no_progress = watch;
        self.index(call).await
    }

    /// The state of a request that `index` returned. A service whose index calls wait for their runs has no
    /// requests.
    async fn progress(&self, request: IndexTicket) -> Result<IndexStatus, QueryError> {
        let message = Message::from("no sync of ").and(Given(&request.repository));
        let message = message.and(" was requested: in this service, a call to index waits for its run");
        Err(QueryError::new(QueryErrorCode::NotFound, message))
    }

    /// The index directory, if the index is on this machine.
    fn home(&self) -> Option<String> {
        None
    }

    /// Size of the index on disk, if the size is known.
    fn size_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether the caller has the `index` permission. Without this permission, answers do not suggest calls
    /// that index.
    fn may_index(&self) -> bool {
        true
    }

    /// A text that explains how to index a repository. The text is shown to a caller whose index is empty.
    fn how_to_index(&self) -> &'static str {
        "`cairn index PATH` indexes a repository"
    }

    /// The limits of one answer. Local mode has no limits.
    fn caps(&self) -> Caps {
        Caps { edges: usize::MAX, runs: usize::MAX, tokens: usize::MAX, entries: usize::MAX }
    }

    /// The maximum total time for trying the calls that an answer suggests.
    fn suggestion_time(&self) -> Duration {
        Duration::from_secs(3)
    }

    /// Whether the caller may read the causes of internal errors. The causes contain names of stores and
    /// files of the service.
    fn shows_causes(&self) -> bool {
        true
    }

    /// Cancels an unfinished run; the published state does not change. Returns false if the run had already
    /// ended.
    async fn cancel(&self, run: RunId) -> Result<bool, QueryError>;

    /// Cancels the pending sync requests of these repositories, and returns the repositories that had a
    /// pending request. A service whose index calls wait for their runs has no requests.
    async fn cancel_requests(&self, _repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, QueryError> {
        Ok(Vec::new())
    }
}

/// A message to the caller in addition to the answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    pub text: String,
    /// The suggested next call.
    pub next: Option<NextCall>,
}

/// Upper limits for the contents of one answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caps {
    pub edges: usize,
    pub runs: usize,
    pub tokens: usize,
    /// Maximum number of entries on one page of repositories, patterns, paths or secrets.
    pub entries: usize,
}

impl Caps {
    /// The limits of a service with many callers. These limits bound the memory that one answer uses.
    pub const OF_A_SERVICE: Self = Self { edges: 500, runs: 500, tokens: 200_000, entries: 10_000 };
}

impl dyn Agent + '_ {
    /// If the error has the hint for an empty index, adds a text that explains how to index a repository.
    /// Only the service behind the gateway can provide this text.
    pub(crate) fn with_way_to_index(&self, mut error: QueryError) -> QueryError {
        if error.hint.as_deref() == Some(NOTHING_INDEXED) {
            error.hint = Some(self.nothing_indexed());
        }
        error
    }

    pub(crate) fn nothing_indexed(&self) -> Message {
        Message::from(NOTHING_INDEXED).and(": ").and(self.how_to_index())
    }

    /// The error without the causes that the caller may not read.
    pub(crate) fn outward(&self, error: QueryError) -> QueryError {
        use QueryErrorCode::{Corrupt, InternalError, RateLimited, Timeout};
        let (code, message) = match error.code {
            _ if self.shows_causes() => return error,
            Corrupt | InternalError => {
                (InternalError, "an internal error; try again, or report it to the operator of this service")
            }
            Timeout => (Timeout, TOO_SLOW),
            RateLimited { .. } => (error.code, "the embedding provider accepts no more calls now; try again later"),
            _ => return error,
        };
        tracing::error!(code = error.code.as_str(), "{}", error.message);
        QueryError::new(code, message)
    }
}

/// The message that all front ends return if computing an answer takes too long.
pub(crate) const TOO_SLOW: &str = "the answer took too long; request less data (fewer repositories, a smaller limit)";
