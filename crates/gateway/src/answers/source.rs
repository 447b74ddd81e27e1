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
    /// A known commit that is newer than `commit`. Null if `newer_state` is about a state whose commit is not
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer_commit: Option<String>,
    /// The progress of the newer state: `in_progress` (it is being indexed), `failed` or `cancelled` (its run
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
            newer_commit: stamp.newer.as_ref().and_then(|newer| newer.commit.clone()),
            newer_state: stamp.newer.as_ref().map(|newer| newer.state.as_str().to_owned()),
            reason: stamp.reason.clone(),
        }
    }

    /// The newer state that is known, as a text for users. `commit` shortens a commit.
    pub fn newer(&self, commit: impl Fn(&str) -> String) -> Option<String> {
        if self.newer_commit.is_none() && self.newer_state.is_none() {
            return self.run_in_progress.then(|| "a newer state is being indexed".to_owned());
        }
        let newer = match &self.newer_commit {
            Some(newer) => format!("newer commit {}", commit(newer)),
            None => "a newer state".to_owned(),
        };
        // Older servers report only commits that are being indexed.
        let state = match self.newer_state.as_deref() {
            Some("failed") => "could not be indexed",
            Some("cancelled") => "is not indexed: its run was cancelled",
            Some("not_indexed") => "is not indexed",
            Some("published") => "is published, and this page shows an older one",
            _ => "is being indexed",
        };
        Some(format!("{newer} {state}"))
    }

    pub fn all(stamps: &[Stamp]) -> Vec<Self> {
        stamps.iter().map(Self::of).collect()
    }
}

/// Shortens a commit id to its first 12 digits. Suffixes such as `-dirty` are kept. Labels that contain no
/// commit id, such as `content-…`, are not shortened.
pub fn short_commit(commit: &str) -> String {
    let (id, mark) = commit.split_at(commit.find('-').unwrap_or(commit.len()));
    if id.len() == 40 { format!("{}{mark}", &id[..12]) } else { commit.to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_shortened_and_marks_are_kept() {
        let check = |commit: &str, expect: &str| assert_eq!(short_commit(commit), expect);
        check("0123456789abcdef0123456789abcdef01234567", "0123456789ab");
        check("0123456789abcdef0123456789abcdef01234567-dirty", "0123456789ab-dirty");
        check("content-0123456789abcdef", "content-0123456789abcdef");
        check("uncommitted-0123456789abcdef", "uncommitted-0123456789abcdef");
    }

    #[test]
    fn newer_state_is_described_with_and_without_its_commit() {
        let check = |commit: Option<&str>, state: Option<&str>, expect: Option<&str>| {
            let stamp = SourceStamp {
                repository: "a".to_owned(),
                commit: "c1".to_owned(),
                indexed_at: String::new(),
                partial: false,
                run_in_progress: false,
                newer_commit: commit.map(str::to_owned),
                newer_state: state.map(str::to_owned),
                reason: None,
            };
            assert_eq!(stamp.newer(str::to_owned).as_deref(), expect);
        };
        check(None, None, None);
        check(Some("c2"), Some("failed"), Some("newer commit c2 could not be indexed"));
        check(None, Some("failed"), Some("a newer state could not be indexed"));
        check(None, Some("cancelled"), Some("a newer state is not indexed: its run was cancelled"));
    }
}
