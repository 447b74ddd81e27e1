//! Errors that end a sync with a failed run, because the caller or the operator must change something before
//! another sync.

use cairn_pipeline::StageError;
use cairn_ports::{ErrorKind, FailureCode, SourceError};
use cairn_redaction::Message;

use super::ceiling::Ceiling;

/// Whether the error ends the sync with a failed run. Such an error occurs again in every retry until the
/// input changes.
pub(super) fn is_refusal(error: &StageError) -> bool {
    matches!(error.code, FailureCode::InvalidSettings | FailureCode::OverBudget)
}

/// The error for settings that cannot be used. A `Message` quotes every text from a repository, so that
/// readers cannot mistake such a text for Cairn's own words.
pub(crate) fn invalid(message: impl Into<Message>) -> StageError {
    StageError::permanent(FailureCode::InvalidSettings, message.into().as_str())
}

/// The error for a number (`figure`) that exceeds its limit. `what` names the counted things, for example
/// `chunks`.
pub(crate) fn over_budget(what: &'static str, figure: u64, limit: u64, ceiling: Ceiling) -> StageError {
    let (setting, advice) = (ceiling.setting(), ceiling.advice());
    StageError::permanent(
        FailureCode::OverBudget,
        format!("{figure} {what}; the limit is {limit} (`{setting}`): {advice}, or let the operator raise the limit"),
    )
}

/// Converts an error of a repository's source. If the host is down or throttles requests, only the sync of
/// this repository is postponed, and the worker does not pause.
pub(crate) fn of_source(error: SourceError) -> StageError {
    StageError::from(error).of_its_own()
}

/// Converts an error of opening a source. If a tree or a clone exceeds a limit, the result is `over_budget`;
/// all other errors are converted by `of_source`.
pub(super) fn of_opening(error: SourceError) -> StageError {
    if error.kind != ErrorKind::TooLarge {
        return of_source(error);
    }
    // A fetch transfers the whole history, so its cost does not depend on the current files.
    let advice = match error.operation {
        "open" => "remove files from the source, or, if you trust it, let the operator raise the limit",
        _ => "if you trust the repository, let the operator raise the limit",
    };
    StageError::permanent(FailureCode::OverBudget, format!("{}: {advice}", of_source(error).chain()))
}
