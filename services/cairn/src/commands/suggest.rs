//! Answers a question of the command line. An error and an empty answer contain the commands that may follow.

use cairn_gateway::answers::{ErrorReport, SuggestedCall};
use cairn_gateway::questions::{self, Question};
use cairn_gateway::{Agent, after_empty, after_error, question_of_request, report_of};

use super::command_line::command_line;
use super::print;
use crate::exit::CommandReply;
use crate::reported::ReportedError;

/// Answers the question and prints the answer.
pub(crate) async fn answered(agent: &dyn Agent, question: &Question, json: bool) -> CommandReply {
    match questions::answer(agent, question).await {
        Ok(answer) => {
            let suggestions = if answer.is_empty() { after_empty(agent, question).await } else { Vec::new() };
            Ok(print::answer(question, &answer, &with_commands(suggestions), json))
        }
        Err(error) => {
            let suggestions = after_error(agent, question, &error).await;
            Err(ReportedError(with_commands_in(report_of(&error, suggestions))).into())
        }
    }
}

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
