//! Defines the history of a commit: the last change of each path of its tree.

use cairn_domain::BlobId;
use git2::Oid;

use crate::objects::repository::blob_of;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct History {
    pub(super) commit: BlobId,
    /// Digest of the commits at which a shallow clone ends. This digest distinguishes a shallow clone from a
    /// deeper clone of the same commit.
    pub(super) boundary: [u8; 32],
    /// Number of commits: the commit itself and all its ancestors.
    pub(super) num_commits: u64,
    /// Sorted by path.
    pub(super) paths: Vec<PathHistory>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PathHistory {
    /// The path in the bytes that git stores.
    pub(super) path: Vec<u8>,
    pub(super) blob: BlobId,
    /// Time of the commit that last changed the path, in seconds since 1970. `None` if a shallow clone ends
    /// before that commit.
    pub(super) changed_at: Option<i64>,
}

impl PathHistory {
    /// A path of the listing whose last change is not known yet.
    pub(super) fn undated(path: Vec<u8>, id: Oid) -> Self {
        Self { path, blob: blob_of(id), changed_at: None }
    }
}

impl History {
    /// The time at which the path got this content. `None` if the commit does not contain the path with this
    /// content, for example because the file on disk was edited after the commit.
    pub(crate) fn changed_at(&self, path: &[u8], blob: BlobId) -> Option<i64> {
        let found = self.paths.binary_search_by(|known| known.path.as_slice().cmp(path)).ok()?;
        Some(&self.paths[found]).filter(|known| known.blob == blob)?.changed_at
    }
}
