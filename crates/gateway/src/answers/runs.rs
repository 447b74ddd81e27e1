//! Answers about index runs and about the requests that start them.

use cairn_domain::RunState;
use cairn_ports::PostponedPart;
use cairn_search::KnownRun;
use cairn_wire::{FailureName, FileError, RunResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::{Priority, SuggestedCall, SuggestedRequest};
use super::syncs::RepositorySync;
use crate::index_call::IndexStatus;
use crate::time::rfc3339;

/// One run with its result, or a list of runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunsAnswer {
    One(Box<RunDetails>),
    List(RunList),
}

/// Runs, newest first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunList {
    pub runs: Vec<RunReport>,
    /// Repositories whose sync has not ended or has failed.
    pub syncs: Vec<RepositorySync>,
}

/// A run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    pub run_id: String,
    pub repository: String,
    pub state: RunStateName,
    pub commit: String,
    pub num_parts: u32,
    pub num_ended: u32,
    pub num_failed: u32,
    pub started_at: String,
    pub ended_at: Option<String>,
    /// The reason why the run failed or was cancelled.
    pub message: Option<String>,
    /// Parts that are waiting for their next attempt.
    #[serde(default)]
    pub retries: Vec<PartRetry>,
}

/// A part whose last attempt failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PartRetry {
    pub part: String,
    /// Error code of the failed attempt.
    pub code: FailureName,
    pub next_attempt_at: String,
}

/// A run with its result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunDetails {
    #[serde(flatten)]
    pub run: RunReport,
    pub result: RunResult,
}

/// The state of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStateName {
    Running,
    Published,
    Partial,
    Failed,
    Cancelled,
}

/// The cancelled runs and requests.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cancellation {
    /// Ids of the cancelled runs.
    pub cancelled: Vec<String>,
    /// Repositories whose sync request was cancelled before its run began.
    pub requests: Vec<String>,
}

/// The state of a request to index.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct IndexProgress {
    pub repository: String,
    /// Null if the repository had not changed, or if the run has not begun.
    pub run_id: Option<String>,
    /// Number of the request that is waiting for its run.
    pub request: Option<u64>,
    /// Id of the newest run before the request.
    pub previous_run_id: Option<String>,
    pub state: RequestState,
    /// The reason why the run failed or was cancelled.
    pub message: Option<String>,
    pub num_parts: u32,
    pub num_ended: u32,
    /// The progress of the sync for which the request is waiting.
    pub sync: Option<String>,
    #[serde(flatten)]
    pub indexed: IndexedFiles,
    pub result: RunResult,
}

/// The files that an `index` call has indexed, and the settings that it used. The fields are a summary of the
/// result, in the form of the tool `index_repository`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IndexedFiles {
    /// The location of the source.
    pub path: String,
    pub files_indexed: u64,
    pub files_failed: u64,
    pub include_patterns: Vec<String>,
    pub exclude_patterns: Vec<String>,
    /// In bytes.
    pub max_file_size: u64,
    /// Null if nothing has been indexed yet.
    #[schemars(extend("format" = "date-time"))]
    pub indexed_at: Option<String>,
    /// The first 100 errors.
    pub errors: Vec<FailedFile>,
}

/// A file that could not be indexed, and the reason.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FailedFile {
    pub file: String,
    pub error: String,
    /// The suggested calls, at most two. The list is empty if the run is not published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_suggestions: Vec<SuggestedCall>,
}

impl FailedFile {
    fn of(error: &FileError, result: &RunResult, state: RequestState) -> Self {
        let is_published = matches!(state, RequestState::Published | RequestState::Partial);
        // A call that explains the outcome of a file does not help for a settings file, because its outcome
        // does not contain the error.
        let is_of_settings = result.settings_errors.contains(error);
        let explained = (!is_of_settings).then(|| explanation_of(&result.repository, &error.file));
        let calls = explained.into_iter().chain([indexed_again(&result.repository)]);
        let ranked = (1..).zip(calls).map(|(rank, call)| SuggestedCall { priority: Some(Priority::of(rank)), ..call });
        let tool_suggestions = if is_published { ranked.collect() } else { Vec::new() };
        Self { file: error.file.clone(), error: error.message.clone(), tool_suggestions }
    }
}

/// The call that explains the outcome of a file.
fn explanation_of(repository: &str, file: &str) -> SuggestedCall {
    let reason = "explains the outcome of the file";
    suggested("index_status", reason, ("/v1/coverage", "why"), [("repository", repository), ("path", file)])
}

/// The call to make after the file has been repaired.
fn indexed_again(repository: &str) -> SuggestedCall {
    let reason = "indexes the repository again; repair the file first";
    suggested("index_repository", reason, ("/v1/index", "target"), [("path", repository)])
}

/// A call of a tool, and the same call over HTTP. The HTTP request has a different name for the argument
/// `path`.
fn suggested<const N: usize>(
    tool: &str,
    reason: &str,
    (route, name_of_path): (&str, &str),
    arguments: [(&str, &str); N],
) -> SuggestedCall {
    let value = |text: &str| serde_json::Value::from(text);
    let in_body = |name: &str| if name == "path" { name_of_path.to_owned() } else { name.to_owned() };
    let request = SuggestedRequest {
        method: "POST".to_owned(),
        path: route.to_owned(),
        body: arguments.iter().map(|(name, text)| (in_body(name), value(text))).collect(),
    };
    SuggestedCall {
        tool: tool.to_owned(),
        reason: reason.to_owned(),
        arguments: arguments.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect(),
        priority: None,
        request: Some(request),
        command: None,
    }
}

impl IndexedFiles {
    /// The summary of the result of a run with this state.
    pub fn of(result: &RunResult, state: RequestState) -> Self {
        let failed = result.files.iter().filter(|(outcome, _)| outcome.starts_with("failed"));
        Self {
            path: result.path.clone(),
            files_indexed: result.files_indexed,
            files_failed: failed.map(|(_, count)| count).sum(),
            include_patterns: result.include.clone(),
            exclude_patterns: result.exclude.clone(),
            max_file_size: result.max_file_size,
            indexed_at: (result.indexed_at_ms > 0).then(|| rfc3339(result.indexed_at_ms)),
            errors: result.errors.iter().map(|error| FailedFile::of(error, result, state)).collect(),
        }
    }
}

/// The state of a request, or of its run if the run has begun. `requested` means that the run has not begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    Requested,
    Running,
    Published,
    Partial,
    Failed,
    Cancelled,
}

impl RunStateName {
    pub fn of(state: RunState) -> Self {
        match state {
            RunState::Running => Self::Running,
            RunState::Published => Self::Published,
            RunState::Partial => Self::Partial,
            RunState::Failed => Self::Failed,
            RunState::Cancelled => Self::Cancelled,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Published => "published",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl RequestState {
    pub fn of(state: RunState) -> Self {
        match state {
            RunState::Running => Self::Running,
            RunState::Published => Self::Published,
            RunState::Partial => Self::Partial,
            RunState::Failed => Self::Failed,
            RunState::Cancelled => Self::Cancelled,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Running => "running",
            Self::Published => "published",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl RunReport {
    pub fn of(known: &KnownRun) -> Self {
        let run = &known.record;
        Self {
            run_id: known.id.clone(),
            repository: known.repository.clone(),
            state: RunStateName::of(run.state),
            commit: run.revision.clone(),
            num_parts: run.num_parts,
            num_ended: run.num_ended,
            num_failed: run.num_failed,
            started_at: rfc3339(run.started_at_ms),
            ended_at: run.ended_at_ms.map(rfc3339),
            message: run.message.clone(),
            retries: run.postponed.iter().map(PartRetry::of).collect(),
        }
    }
}

impl PartRetry {
    fn of(postponed: &PostponedPart) -> Self {
        let next_attempt_at = rfc3339(postponed.until_ms);
        Self { part: postponed.part.to_string(), code: postponed.code.into(), next_attempt_at }
    }
}

impl RunDetails {
    pub fn of(known: &KnownRun) -> Self {
        Self { run: RunReport::of(known), result: known.record.result.clone() }
    }
}

impl IndexProgress {
    pub fn of(status: IndexStatus) -> Self {
        let state = if status.request.is_some() { RequestState::Requested } else { RequestState::of(status.state) };
        Self {
            repository: status.repository,
            run_id: status.run,
            request: status.request,
            previous_run_id: status.previous_run,
            state,
            message: status.message,
            num_parts: status.num_parts,
            num_ended: status.num_ended,
            sync: status.sync,
            indexed: IndexedFiles::of(&status.result, state),
            result: status.result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_lists_the_codes_of_a_retry() {
        let schema = serde_json::to_value(schemars::schema_for!(PartRetry)).expect("a schema").to_string();
        for code in cairn_domain::FailureCode::ALL {
            assert!(schema.contains(&format!("\"{code}\"")), "{code}: {schema}");
        }
    }

    #[test]
    fn state_names_equal_those_of_the_domain() {
        for state in RunState::ALL {
            let expect = serde_json::json!(state.as_str());
            let name = RunStateName::of(*state);
            assert_eq!((serde_json::json!(name), name.as_str()), (expect.clone(), state.as_str()));
            let request = RequestState::of(*state);
            assert_eq!((serde_json::json!(request), request.as_str()), (expect, state.as_str()));
        }
        assert_eq!(serde_json::json!(RequestState::Requested), RequestState::Requested.as_str());
    }
}
