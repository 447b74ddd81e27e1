//! Converts domain values to the values that statements use.

use cairn_domain::{Lane, RunState, StageName};

use crate::fault::Fault;

/// Value of `superseded_at_ms` for a run without a successor.
pub(super) const NEVER: i64 = i64::MAX;

/// The sort number of a lane. Interactive jobs come first.
pub(super) fn lane_number(lane: Lane) -> i64 {
    match lane {
        Lane::Interactive => 0,
        Lane::Bulk => 1,
    }
}

pub(super) fn is_published(state: RunState) -> bool {
    matches!(state, RunState::Published | RunState::Partial)
}

pub(super) fn stage(word: &str) -> Result<StageName, Fault> {
    let found = StageName::ALL.iter().copied().find(|stage| stage.as_str() == word);
    found.ok_or_else(|| Fault::damaged(format!("the stage `{word}` does not exist")))
}
