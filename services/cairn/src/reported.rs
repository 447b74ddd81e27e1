//! The error of a question, in the form that is common to all front ends.

use cairn_gateway::answers::{ErrorReport, SuggestedCall};
use cairn_gateway::question_of_request;

use crate::commands::command_line::command_line;

/// An error with details that help the user to run the next command.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct ReportedError(pub ErrorReport);

/// Adds a command to each suggested call in the report.
pub(crate) fn with_commands_in(mut report: ErrorReport) -> ErrorReport {
    report.details.tool_suggestions = with_commands(report.details.tool_suggestions);
    report
}

/// Adds to each call the command that has the same effect. Calls without such a command are omitted.
pub(crate) fn with_commands(calls: Vec<SuggestedCall>) -> Vec<SuggestedCall> {
    let with_command = |call: SuggestedCall| {
        let question = question_of_request(call.request.as_ref()?)?;
        let command = command_line(&question, std::env::args())?;
        Some(SuggestedCall { command: Some(command), ..call })
    };
    calls.into_iter().filter_map(with_command).collect()
}
