//! A call to index a repository, and the state of its request.

use cairn_domain::RunState;
use cairn_wire::{GivenSettings, RunResult};

/// What to index. `Default` brings the repository up to date with its present settings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IndexCall {
    /// Path, URL, or name of an indexed repository.
    pub target: String,
    /// Globs in the form of `.cairn.yaml`. None: unchanged. An empty list removes the stored patterns.
    pub include_patterns: Option<Vec<String>>,
    pub exclude_patterns: Option<Vec<String>>,
    /// Bytes; 0 is the hard cap. None: unchanged.
    pub max_file_size: Option<u64>,
    /// Files that the caller has just edited, relative to the root of the repository. They are read again
    /// even if their size and time look unchanged, and the repository is brought up to date.
    pub changed_files: Vec<String>,
}

impl IndexCall {
    /// The settings that the call gives.
    pub fn settings(&self) -> GivenSettings {
        GivenSettings {
            include: self.include_patterns.clone(),
            exclude: self.exclude_patterns.clone(),
            include_override: None,
            max_file_size: self.max_file_size,
        }
    }
}

/// The request that an index call made. It identifies the run of this request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexTicket {
    /// Full name.
    pub repository: String,
    pub request: u64,
    /// Id of the newest run of the repository when the request was made.
    pub previous_run: Option<String>,
}

/// The state of an index call.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexStatus {
    pub repository: String,
    /// Id of the run (`Searcher::run_id`). None if nothing had changed, so that no run was needed, or if the
    /// run has not begun.
    pub run: Option<String>,
    /// Number of the request that waits for its run.
    pub request: Option<u64>,
    /// With a request: id of the newest run before it.
    pub previous_run: Option<String>,
    /// `Running` if the call stopped waiting while the run goes on.
    pub state: RunState,
    /// The result of the finished run, or the result so far.
    pub result: RunResult,
    /// Why it failed or was cancelled.
    pub message: Option<String>,
    pub num_parts: u32,
    /// Parts that have ended.
    pub num_ended: u32,
    /// A note about the sync that the request waits for.
    pub sync: Option<String>,
}
