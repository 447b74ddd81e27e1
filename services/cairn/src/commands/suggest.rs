//! Answers a question from the command line. Errors and empty answers contain suggested commands.

use cairn_gateway::questions::{self, Question};
use cairn_gateway::{Agent, after_empty, after_error, report_of};

use super::print;
use crate::exit::CommandReply;
use crate::reported::{ReportedError, with_commands, with_commands_in};

/// Answers the question, and prints the answer with suggested commands. If the command named no repository
/// (`is_named` is false), the answer may come from a repository other than the one in the question.
pub(crate) async fn answered(agent: &dyn Agent, question: &Question, is_named: bool, json: bool) -> CommandReply {
    let answer = match is_named {
        true => questions::answer(agent, question).await,
        false => questions::answer_here(agent, question).await,
    };
    match answer {
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
