//! A call to index a repository, and the state of its request.

use cairn_domain::RunState;
use cairn_wire::{GivenSettings, RunResult};

/// The repository to index, and its new settings. The default values do not change the current settings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IndexCall {
    /// Path, URL, or name of an indexed repository.
    pub target: String,
    /// Globs in the form of `.cairn.yaml`. `None` does not change the stored patterns. An empty list removes
    /// the stored patterns.
    pub include_patterns: Option<Vec<String>>,
    pub exclude_patterns: Option<Vec<String>>,
    /// Maximum size of an indexed file, in bytes; 0 selects the hard cap. `None` selects the value of the
    /// settings, or the default.
    pub max_file_size: Option<u64>,
    /// Files that the caller has just edited, relative to the root of the repository. The run reads them
    /// again even if their size and time are unchanged. The run also indexes all other changes.
    pub changed_files: Vec<String>,
}

impl IndexCall {
    /// The settings that the call contains.
    pub fn settings(&self) -> GivenSettings {
        GivenSettings {
            include: self.include_patterns.clone(),
            exclude: self.exclude_patterns.clone(),
            include_override: None,
            max_file_size: self.max_file_size,
        }
    }
}

/// Receives the progress of an index call.
pub trait WatchIndexing: Send + Sync {
    /// Another hundred files were read. `num_files` is the number of files so far.
    fn files_read(&self, num_files: u64);
    /// Another part of the run has ended.
    fn parts_ended(&self, num_ended: u32, num_parts: u32);
}

/// The request that an index call made. With this value, `Agent::progress` returns the state of the request.
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
    /// Id of the run (`Searcher::run_id`). `None` if the run has not begun, or if no run was needed because
    /// nothing had changed.
    pub run: Option<String>,
    /// Number of the request that is waiting for its run.
    pub request: Option<u64>,
    /// If `request` is set: id of the newest run before the request.
    pub previous_run: Option<String>,
    /// `Running` if the call stopped waiting before the run ended.
    pub state: RunState,
    /// The result of the finished run, or the result so far.
    pub result: RunResult,
    /// The reason why the run failed or was cancelled.
    pub message: Option<String>,
    pub num_parts: u32,
    /// Number of parts that have ended.
    pub num_ended: u32,
    /// A note about the sync for which the request is waiting.
    pub sync: Option<String>,
}
