//! Where repositories come from: git on disk, plain directories, remotes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cairn_domain::{BlobId, EntryKind, RepoPath, Revision, Source, SyncProgress, Tenant};

use crate::error::port_error;

port_error!(
    /// An error of reading a source. Says nothing of credentials.
    SourceError,
    "source"
);

impl SourceError {
    /// Whether a chain of causes, as text, begins with an error of a source: it tells of the repository, and of no store.
    pub fn begins(chain: &str) -> bool {
        chain.starts_with("source: ")
    }
}

/// A path of the tree, whatever it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeEntry {
    pub path: RepoPath,
    pub kind: EntryKind,
    /// Git's id of the content; zero for what cannot be read.
    pub blob: BlobId,
    pub size_bytes: u64,
    /// Set if the entry cannot be read (permission); the reason for people.
    pub unreadable: Option<String>,
    /// When this content came to this path: time of the last commit that changed it, in seconds since 1970. None where no
    /// history is at hand (directories, shallow clones) and for what is not committed as it is.
    pub changed_at: Option<i64>,
}

/// What a read of a source leaves to the next one of the same source. Opaque to all but the adapter, and never needed:
/// without it, and with one of another source, the same is read at a higher cost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceCache {
    /// Saves hashing unchanged files; empty where it would not help.
    pub stats: Vec<u8>,
    /// Saves walking commits that were walked before; empty where it would not help.
    pub history: Vec<u8>,
}

/// Counts what a sync has done, while it does it. What it does again counts again.
#[derive(Default, Debug)]
pub struct SyncMeter {
    fetched_bytes: AtomicU64,
    num_files_read: AtomicU64,
}

impl SyncMeter {
    /// So much has come from the remote so far.
    pub fn fetched_so_far(&self, num_bytes: u64) {
        self.fetched_bytes.fetch_max(num_bytes, Ordering::Relaxed);
    }

    pub fn file_read(&self) {
        self.num_files_read.fetch_add(1, Ordering::Relaxed);
    }

    pub fn progress(&self) -> SyncProgress {
        SyncProgress {
            fetched_bytes: self.fetched_bytes.load(Ordering::Relaxed),
            num_files_read: self.num_files_read.load(Ordering::Relaxed),
        }
    }
}

/// The size of a listing so far. Both numbers only grow while a tree is listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ListedSoFar {
    pub num_paths: u64,
    /// Sum of the sizes of these paths; a file with several paths counts once per path.
    pub size_bytes: u64,
}

/// Decides whether a listing may go on. An error ends the listing, and `SourceReader::open` returns it.
pub type CheckListing = dyn Fn(ListedSoFar) -> Result<(), SourceError> + Send + Sync;

/// The caller's limit on a listing. The default has no limit.
///
/// A reader calls `check` for each path before it keeps the entry. A reader that knows the number of paths in advance
/// also calls it once with that number, before it builds the first entry.
#[derive(Clone, Default)]
pub struct ListingLimit(Option<Arc<CheckListing>>);

impl ListingLimit {
    pub fn new(check: impl Fn(ListedSoFar) -> Result<(), SourceError> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(check)))
    }

    pub fn check(&self, listed: ListedSoFar) -> Result<(), SourceError> {
        self.0.as_ref().map_or(Ok(()), |check| check(listed))
    }
}

impl fmt::Debug for ListingLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "ListingLimit(set)" } else { "ListingLimit(none)" })
    }
}

/// How to read a source.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Whose repository it is: what authenticates one tenant reads nothing for another.
    pub tenant: Option<Tenant>,
    /// Branch to read in place of the default one (bare repositories and URLs).
    pub branch: Option<String>,
    /// What `SnapshotTree::cache` gave after the last read of this source.
    pub cache: SourceCache,
    /// Told what was fetched.
    pub meter: Arc<SyncMeter>,
    /// Ends the listing of a tree that is too large for the caller.
    pub listing: ListingLimit,
}

/// Opens sources. Blocking: callers run it where blocking is allowed.
pub trait SourceReader: Send + Sync {
    /// Reads the head without fetching content: cheap answer to "is there anything new?". `None` if the kind of source
    /// cannot tell (working trees, directories).
    fn head(&self, source: &Source, options: &ReadOptions) -> Result<Option<BlobId>, SourceError>;

    /// Reads the tree. For URLs it fetches first.
    fn open(&self, source: &Source, options: &ReadOptions) -> Result<Box<dyn SnapshotTree>, SourceError>;
}

/// One state of a source. Stays readable and unchanged while it is held (working trees: as far as nobody writes).
pub trait SnapshotTree: Send + Sync {
    fn revision(&self) -> &Revision;

    fn branch(&self) -> Option<&str>;

    /// Every path of the tree, sorted by path.
    fn entries(&self) -> &[TreeEntry];

    /// A reader of contents; each thread takes its own.
    fn reader(&self) -> Result<Box<dyn ContentReader>, SourceError>;

    /// To be given to the next read of the same source.
    fn cache(&self) -> &SourceCache;
}

pub trait ContentReader: Send {
    /// The bytes of a file. Working trees: if they no longer match `entry.blob`, it is `Conflict` and the caller takes
    /// the tree again.
    fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlobStoreError, ErrorKind};

    #[test]
    fn errors_of_sources_are_told_from_others() {
        assert!(SourceError::begins(&SourceError::new(ErrorKind::NotFound, "fetch", "https://h/x").to_string()));
        assert!(!SourceError::begins(&BlobStoreError::new(ErrorKind::NotFound, "get", "source: ").to_string()));
    }
}
