//! Exit codes of commands, and functions that print errors.

use std::process::ExitCode;

use cairn_config::{InvalidSettings, OperatorError};
use cairn_gateway::answers::ErrorReport;
use cairn_gateway::questions::{GuideQuestion, IndexQuestion, Nothing, Question, RepositoriesQuestion};
use cairn_gateway::{report_of_command, suggested_call};
use cairn_pipeline::StageError;
use cairn_ports::{FailureCode, plain};
use cairn_redaction::Own;
use cairn_search::{QueryError, QueryErrorCode};
use cairn_wiring::InvalidConfig;

use crate::output;
use crate::reported::{ReportedError, with_commands_in};

/// The exit codes that the help lists.
pub const WRONG_USAGE: u8 = 2;
pub const NOTHING_FOUND: u8 = 3;
pub const INVALID_SETTINGS: u8 = 4;
pub const RUN_INCOMPLETE: u8 = 5;
pub const CANCELLED: u8 = 130;

/// The result of a command: its exit code, or the error to print.
pub type CommandReply = anyhow::Result<ExitCode>;

/// The error for a command that is not valid.
pub(crate) fn wrong(message: impl Into<String>) -> QueryError {
    QueryError::new(QueryErrorCode::ValidationError, Own(message.into()))
}

/// Prints the error, the place where it occurred and, if known, what to do next.
pub(crate) fn report_error(error: &anyhow::Error, json: bool) -> ExitCode {
    report_shared(&report_of(error), json)
}

/// The error, with the commands that are suggested next.
pub(crate) fn report_of(error: &anyhow::Error) -> ErrorReport {
    if let Some(error) = error.downcast_ref::<QueryError>() {
        return with_commands_in(report_of_command(error));
    }
    if let Some(ReportedError(error)) = error.downcast_ref::<ReportedError>() {
        return error.clone();
    }
    let (code, message) = code_and_message(error);
    let mut report = ErrorReport::new(code, message);
    let calls = next_questions(error).into_iter().zip(1..);
    report.details.tool_suggestions =
        calls.map(|((reason, question), rank)| suggested_call(reason, &question, rank)).collect();
    with_commands_in(report)
}

/// A failure of a command that is not a question. The suggested commands depend on the reason for the failure
/// (`after`).
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct FailedCommand {
    message: String,
    after: After,
}

/// The reason why a command failed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum After {
    /// No repository is indexed.
    NothingIndexed,
    /// A path or a name belongs to no indexed repository.
    UnknownRepository,
}

impl FailedCommand {
    pub(crate) fn new(message: impl Into<String>, after: After) -> Self {
        Self { message: message.into(), after }
    }
}

/// The questions that are suggested after a command failed. They were not tried, but they can be answered
/// without an index. After an error of a connection or of the index directory, no question is suggested,
/// because every question would also fail.
fn next_questions(error: &anyhow::Error) -> Vec<(&'static str, Question)> {
    let first = match error.downcast_ref::<FailedCommand>().map(|failed| failed.after) {
        Some(After::NothingIndexed) => {
            let target = ".".to_owned();
            ("indexes the working directory", Question::Index(IndexQuestion { target, ..IndexQuestion::default() }))
        }
        Some(After::UnknownRepository) => {
            ("lists the indexed repositories", Question::Repositories(RepositoriesQuestion::default()))
        }
        None if error.is::<StageError>() => ("shows the state of the index and its runs", Question::Status(Nothing {})),
        None => return Vec::new(),
    };
    let topic = Some("recovering".to_owned());
    vec![first, ("explains what to do when calls fail", Question::Guide(GuideQuestion { topic }))]
}

/// The error code, which is also used in results and in `runbooks/`, and the message with all causes.
pub(crate) fn code_and_message(error: &anyhow::Error) -> (&str, String) {
    if let Some(error) = error.downcast_ref::<StageError>() {
        return (error.code.as_str(), error.chain());
    }
    if let Some(error) = error.downcast_ref::<QueryError>() {
        return (error.code.as_str(), error.message.to_string());
    }
    match error.downcast_ref::<ReportedError>() {
        Some(ReportedError(error)) => (&error.code, error.message.clone()),
        None if is_of_settings(error) => (FailureCode::InvalidSettings.as_str(), plain(error.as_ref())),
        None => ("failed", plain(error.as_ref())),
    }
}

/// Whether the error contains the faults of a settings file or of a list of repositories.
fn is_of_settings(error: &anyhow::Error) -> bool {
    let is_operators = matches!(error.downcast_ref(), Some(OperatorError::Invalid(_)));
    is_operators || error.is::<InvalidSettings>() || error.is::<InvalidConfig>()
}

/// Prints an error in the form that all front ends share.
fn report_shared(error: &ErrorReport, json: bool) -> ExitCode {
    if json {
        output::json(&serde_json::json!({ "error": error }));
    } else {
        print_shared(error);
    }
    ExitCode::from(match error.code.as_str() {
        "not_found" => NOTHING_FOUND,
        "validation_error" | "invalid_cursor" => WRONG_USAGE,
        "invalid_settings" => INVALID_SETTINGS,
        // Only a failed run has this code.
        "over_budget" => RUN_INCOMPLETE,
        _ => 1,
    })
}

pub(crate) fn print_shared(error: &ErrorReport) {
    output::error(&error.message);
    let details = &error.details;
    for (label, names) in [
        ("similar symbols", &details.similar_symbols),
        ("similar files", &details.similar_files),
        ("similar repositories", &details.similar_repositories),
    ] {
        if !names.is_empty() {
            output::note(&format!("  {label}: {}", names.join(", ")));
        }
    }
    if let Some(hint) = &details.next_action_hint {
        output::note(&format!("  {hint}"));
    }
    output::commands(&details.tool_suggestions);
}
