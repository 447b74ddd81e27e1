//! The error of a question, in the form that all front ends share.

use cairn_gateway::answers::{ErrorReport, SuggestedCall};
use cairn_gateway::question_of_request;

use crate::commands::command_line::command_line;

/// An error with the details that help to make the next call.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct ReportedError(pub ErrorReport);

/// The report with a command for each suggested call.
pub(crate) fn with_commands_in(mut report: ErrorReport) -> ErrorReport {
    report.details.tool_suggestions = with_commands(report.details.tool_suggestions);
    report
}

/// The calls with their commands. Calls that no command can make are omitted.
pub(crate) fn with_commands(calls: Vec<SuggestedCall>) -> Vec<SuggestedCall> {
    let with_command = |call: SuggestedCall| {
        let question = question_of_request(call.request.as_ref()?)?;
        let command = command_line(&question, std::env::args())?;
        Some(SuggestedCall { command: Some(command), ..call })
    };
    calls.into_iter().filter_map(with_command).collect()
}
