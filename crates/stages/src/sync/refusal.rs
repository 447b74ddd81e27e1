//! Errors that end a sync with a failed run: the caller or the operator must change something first.

use cairn_pipeline::StageError;
use cairn_ports::{ErrorKind, FailureCode, SourceError};

/// Whether the error ends the sync with a failed run. A retry without a change would give the same error.
pub(super) fn is_refusal(error: &StageError) -> bool {
    matches!(error.code, FailureCode::InvalidSettings | FailureCode::OverBudget)
}

pub(super) fn invalid(error: impl std::fmt::Display) -> StageError {
    StageError::permanent(FailureCode::InvalidSettings, error.to_string())
}

/// `what` is the plural noun of the figure, for example `chunks`; `setting` is the operator's.
pub(crate) fn over_budget(what: &str, figure: u64, limit: u64, setting: &str) -> StageError {
    let advice = "exclude files in `.cairn.yaml`, or let the operator raise the limit";
    StageError::permanent(
        FailureCode::OverBudget,
        format!("{figure} {what}; the limit is {limit} (`{setting}`): {advice}"),
    )
}

/// An error of this repository's source. Syncs of other repositories do not wait for a host that is down or
/// throttles.
pub(crate) fn of_source(error: SourceError) -> StageError {
    StageError::from(error).of_its_own()
}

/// The same for opening a source: a tree or a clone that exceeds a limit is over budget.
pub(super) fn of_opening(error: SourceError) -> StageError {
    if error.kind != ErrorKind::TooLarge {
        return of_source(error);
    }
    let advice = "the operator can raise the limits in `sources`";
    StageError::permanent(FailureCode::OverBudget, format!("{}; {advice}", of_source(error).chain()))
}
