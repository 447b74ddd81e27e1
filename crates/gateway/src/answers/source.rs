//! The parts that many answers share: the indexed state that an answer was computed from, and the position of
//! a page in a long list.

use cairn_search::Stamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::rfc3339;

/// The repository and the indexed state that an answer was computed from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SourceStamp {
    pub repository: String,
    /// Commit id, with `-dirty` for a changed working tree, or digest of the content.
    pub commit: String,
    pub indexed_at: String,
    /// True if some files are missing because they could not be parsed.
    pub partial: bool,
    /// True if a newer state is being indexed.
    pub run_in_progress: bool,
    /// A known commit that is newer than `commit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer_commit: Option<String>,
    /// The state of the newer commit: `in_progress` (it is being indexed), `failed` or `cancelled` (its run
    /// was aborted), `not_indexed`, or `published` (the answer is a page of an older state).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer_state: Option<String>,
    /// Why the repository has results, if a search covers several repositories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SourceStamp {
    pub fn of(stamp: &Stamp) -> Self {
        Self {
            repository: stamp.repository.clone(),
            commit: stamp.commit.clone(),
            indexed_at: rfc3339(stamp.indexed_at_ms),
            partial: stamp.partial,
            run_in_progress: stamp.run_in_progress,
            newer_commit: stamp.newer.as_ref().map(|newer| newer.commit.clone()),
            newer_state: stamp.newer.as_ref().map(|newer| newer.state.as_str().to_owned()),
            reason: stamp.reason.clone(),
        }
    }

    /// The newer state that is known, as a text for users. `commit` shortens a commit.
    pub fn newer(&self, commit: impl Fn(&str) -> String) -> Option<String> {
        let Some(newer) = &self.newer_commit else {
            return self.run_in_progress.then(|| "a newer state is being indexed".to_owned());
        };
        // Older servers report only commits that are being indexed.
        let state = match self.newer_state.as_deref() {
            Some("failed") => "could not be indexed",
            Some("cancelled") => "is not indexed: its run was cancelled",
            Some("not_indexed") => "is not indexed",
            Some("published") => "is published, and this page shows an older one",
            _ => "is being indexed",
        };
        Some(format!("newer commit {} {state}", commit(newer)))
    }

    pub fn all(stamps: &[Stamp]) -> Vec<Self> {
        stamps.iter().map(Self::of).collect()
    }
}

/// The position of a page in a long list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PageInfo {
    /// Number of entries before this page.
    pub offset: usize,
    /// Number of entries in the whole list.
    pub num_total: usize,
    /// `offset` of the next page. Null on the last page.
    pub next_offset: Option<usize>,
}
