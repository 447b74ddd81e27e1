//! What a gateway needs of the service behind it: questions by a `Searcher`, and the few things that a question cannot do.

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RunId, RunState};
use cairn_search::{NOTHING_INDEXED, QueryError, QueryErrorCode, Searcher};
use cairn_wire::RunResult;

use crate::AskedFor;

/// A service that answers agents: one directory's index, or a cluster.
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// Answers all questions, also those about runs (`Searcher::ledger`).
    fn searcher(&self) -> &Searcher;

    /// Name of the repository that the caller works in (locally: the one of the working directory), if it is known and
    /// indexed. Questions that name no repository are about this one.
    async fn default_repository(&self) -> Option<String>;

    /// Brings a repository up to date. Locally it waits up to five minutes, then answers with the run as it is while the
    /// run goes on; a cluster answers at once. A second call for a repository that is being indexed joins that run.
    ///
    /// `ValidationError` names the field of the call that is wrong; `NotFound` says that there is nothing at the target.
    async fn index(&self, call: IndexCall) -> Result<IndexStatus, QueryError>;

    /// How a request stands that `index` answered with. Where calls wait for their runs, there is none.
    async fn progress(&self, asked: AskedFor) -> Result<IndexStatus, QueryError> {
        let message = format!("`{}` was not asked for: runs are waited for here", asked.repository);
        Err(QueryError::new(QueryErrorCode::NotFound, message))
    }

    /// Where the index is, if that is a place of this machine.
    fn home(&self) -> Option<String> {
        None
    }

    /// What the index takes on disk, if that is known.
    fn size_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether the caller may ask for runs: calls that they may not make are not suggested.
    fn may_index(&self) -> bool {
        true
    }

    /// What somebody does who finds nothing indexed.
    fn how_to_index(&self) -> &'static str {
        "`cairn index PATH` indexes a repository"
    }

    /// How much one answer may hold. Whoever asks their own machine may ask for anything.
    fn caps(&self) -> Caps {
        Caps { edges: usize::MAX, runs: usize::MAX, tokens: usize::MAX, entries: usize::MAX }
    }

    /// Whether the caller may read causes of our own faults: they name inner things.
    fn shows_causes(&self) -> bool {
        true
    }

    /// Ends an unfinished run; what was published before stays. False if it had ended.
    async fn cancel(&self, run: RunId) -> Result<bool, QueryError>;

    /// Takes back what was asked of these and has not begun; returns those of which something was asked. Where calls wait
    /// for their runs, nothing is.
    async fn cancel_requests(&self, _repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, QueryError> {
        Ok(Vec::new())
    }
}

/// The most that one answer holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caps {
    pub edges: usize,
    pub runs: usize,
    pub tokens: usize,
    /// Of lists that come in parts: repositories, patterns, paths, secrets.
    pub entries: usize,
}

impl Caps {
    /// Of a service that many ask: what it holds in memory for one answer is bounded.
    pub const OF_A_SERVICE: Self = Self { edges: 500, runs: 500, tokens: 200_000, entries: 10_000 };
}

impl dyn Agent + '_ {
    /// Says to who finds nothing indexed what they can do about it, which only the service behind the gateway knows.
    pub(crate) fn with_way_to_index(&self, mut error: QueryError) -> QueryError {
        if error.hint.as_deref() == Some(NOTHING_INDEXED) {
            error.hint = Some(self.nothing_indexed());
        }
        error
    }

    pub(crate) fn nothing_indexed(&self) -> String {
        format!("{NOTHING_INDEXED}: {}", self.how_to_index())
    }

    /// An error as the caller may read it.
    pub(crate) fn outward(&self, error: QueryError) -> QueryError {
        use QueryErrorCode::{Corrupt, InternalError, ModelMismatch, RateLimited, Timeout};
        let (code, message) = match error.code {
            _ if self.shows_causes() => return error,
            Corrupt | InternalError | ModelMismatch => {
                (InternalError, "an internal error; try again, or tell whoever runs this service")
            }
            Timeout => (Timeout, TOO_SLOW),
            RateLimited { .. } => (error.code, "the provider of embeddings takes no more for now; try again later"),
            _ => return error,
        };
        tracing::error!(code = error.code.as_str(), "{}", error.message);
        QueryError::new(code, message)
    }
}

/// What a caller reads whose answer took too long, whichever way it asked.
pub(crate) const TOO_SLOW: &str = "the answer took too long; ask for less (fewer repositories, a smaller limit)";

/// What to index. `Default` brings the repository at the target up to date with the settings that it had.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IndexCall {
    /// Path, URL, or name of an indexed repository.
    pub target: String,
    /// Globs, as `.cairn.yaml` has them. Empty: as before.
    pub include_patterns: Vec<String>,
    pub exclude_patterns: Vec<String>,
    /// Bytes; 0 is the hard cap. None: as before.
    pub max_file_size: Option<u64>,
    /// Files that the caller has just edited, relative to the repository's root. They are read again even if their size
    /// and time look unchanged, and the repository is brought up to date.
    pub changed_files: Vec<String>,
}

/// How an index call ended, or stands.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexStatus {
    pub repository: String,
    /// What callers call the run (`Searcher::run_id`). None if nothing had changed, so that no run was needed, or if the
    /// run is yet to begin.
    pub run: Option<String>,
    /// Number of the repository's request that waits for its run to begin.
    pub request: Option<u64>,
    /// With a request: what callers call the run that was the newest before it.
    pub previous_run: Option<String>,
    /// `Running` if the call stopped waiting and the run goes on.
    pub state: RunState,
    /// Of the finished run, or what is known so far.
    pub result: RunResult,
    /// Why it failed or was cancelled.
    pub message: Option<String>,
    /// Of the run, and how many of them have ended.
    pub num_parts: u32,
    pub num_ended: u32,
    /// What is worth saying of the sync that the request waits for.
    pub sync: Option<String>,
}
