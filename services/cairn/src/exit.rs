//! Exit codes of commands, and functions that print errors.

use std::process::ExitCode;

use cairn_gateway::answers::ErrorReport;
use cairn_gateway::report_of_command;
use cairn_pipeline::StageError;
use cairn_search::{QueryError, QueryErrorCode};

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

/// The error for a mistake of the user.
pub(crate) fn wrong(message: impl Into<String>) -> QueryError {
    QueryError::new(QueryErrorCode::ValidationError, message)
}

/// Prints the error, the place where it occurred and, if known, what to do next.
pub(crate) fn report_error(error: &anyhow::Error, json: bool) -> ExitCode {
    if let Some(error) = error.downcast_ref::<QueryError>() {
        return report_shared(&with_commands_in(report_of_command(error)), json);
    }
    if let Some(ReportedError(error)) = error.downcast_ref::<ReportedError>() {
        return report_shared(error, json);
    }
    let (code, message) = code_and_message(error);
    if json {
        output::json(&serde_json::json!({ "error": { "code": code, "message": message } }));
    } else {
        output::error(&message);
    }
    ExitCode::from(if code == "invalid_settings" { INVALID_SETTINGS } else { 1 })
}

/// The error code, which is also used in results and in `runbooks/`, and the message with all causes.
pub(crate) fn code_and_message(error: &anyhow::Error) -> (&str, String) {
    if let Some(error) = error.downcast_ref::<StageError>() {
        return (error.code.as_str(), error.chain());
    }
    if let Some(error) = error.downcast_ref::<QueryError>() {
        return (error.code.as_str(), error.message.clone());
    }
    match error.downcast_ref::<ReportedError>() {
        Some(ReportedError(error)) => (&error.code, error.message.clone()),
        None => ("failed", format!("{error:#}")),
    }
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
        _ => 1,
    })
}

fn print_shared(error: &ErrorReport) {
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
