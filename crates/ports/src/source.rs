//! The sources of repositories: git repositories on disk, plain directories, and remotes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cairn_domain::{BlobId, EntryKind, RepoPath, Revision, Source, SyncProgress, Tenant};

use crate::ErrorKind;
use crate::error::port_error;

port_error!(
    /// An error that occurred while a source was read. The error contains no credentials.
    SourceError,
    "source"
);

impl SourceError {
    /// Whether a chain of causes, given as text, begins with an error of a source. An error of a source is a
    /// problem of the repository, not of a store.
    pub fn begins(chain: &str) -> bool {
        chain.starts_with("source: ")
    }
}

/// A path of the tree: a file, a link or a submodule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeEntry {
    pub path: RepoPath,
    pub kind: EntryKind,
    /// Git's id of the content; zero if the content was not read.
    pub blob: BlobId,
    pub size_bytes: u64,
    /// The reason, as a text for users, why the entry cannot be read, for example a missing permission.
    /// `None` if the entry can be read.
    pub unreadable: Option<String>,
    /// The time at which this content was committed at this path, in seconds since 1970. `None` if the source
    /// has no full history (directories, shallow clones), or if the content is not committed.
    pub changed_at: Option<i64>,
}

/// Data that one read of a source returns, to speed up the next read of the same source. Only the adapter
/// knows the format. The data is optional. Without this data, or with the data of a different source, the
/// result is the same, but the read takes longer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceCache {
    /// With this data, the adapter need not hash unchanged files again. Empty for sources that do not need
    /// this data.
    pub stats: Vec<u8>,
    /// With this data, the adapter need not walk known commits again. Empty for sources that do not need this
    /// data.
    pub history: Vec<u8>,
}

/// Counts the progress of a sync, and asks its threads to stop. Repeated work is counted again.
#[derive(Default, Debug)]
pub struct SyncMeter {
    fetched_bytes: AtomicU64,
    num_files_read: AtomicU64,
    is_stopped: AtomicBool,
}

impl SyncMeter {
    /// Sets the number of bytes received from the remote if `num_bytes` is larger than the current number.
    pub fn fetched_so_far(&self, num_bytes: u64) {
        self.fetched_bytes.fetch_max(num_bytes, Ordering::Relaxed);
    }

    pub fn file_read(&self) {
        self.num_files_read.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the work of the sync, because its result is no longer needed. All threads that work for the sync
    /// return at their next check.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Returns an error if the sync was stopped. Work that may take long must call this method at intervals.
    pub fn check(&self, operation: &'static str, key: &str) -> Result<(), SourceError> {
        if self.is_stopped() { Err(SourceError::new(ErrorKind::Cancelled, operation, key)) } else { Ok(()) }
    }

    pub fn progress(&self) -> SyncProgress {
        SyncProgress {
            fetched_bytes: self.fetched_bytes.load(Ordering::Relaxed),
            num_files_read: self.num_files_read.load(Ordering::Relaxed),
        }
    }
}

/// The size of a listing so far. While entries are added, the numbers can only increase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ListedSoFar {
    pub num_paths: u64,
    /// Sum of the file sizes of these paths. A file with several paths is added once for each path.
    pub size_bytes: u64,
    /// Sum of the lengths of these paths, and of the paths of the directories that contain them.
    pub path_bytes: u64,
    /// Number of paths whose content is also at an earlier path. Files that were not read are not counted.
    /// The number is 0 until the contents of all paths are known.
    pub num_repeated: u64,
    /// Whether the numbers of paths and bytes cover the whole tree.
    pub is_complete: bool,
}

/// Decides whether a listing may continue. An error ends the listing, and `SourceReader::open` returns it.
pub type CheckListing = dyn Fn(ListedSoFar) -> Result<(), SourceError> + Send + Sync;

/// The caller's limit on a listing. By default, a listing has no limit.
///
/// A reader calls `check` for each path before it stores the entry, and for the complete listing. If a reader
/// knows the numbers of the whole tree in advance, it also calls `check` before it builds the first entry.
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

/// Options for reading a source.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The owner of the repository. The credentials of one tenant are never used for another tenant.
    pub tenant: Option<Tenant>,
    /// The branch, tag or commit id to read instead of the default branch (bare repositories and URLs).
    pub branch: Option<String>,
    /// `SnapshotTree::cache` of the last read of this source.
    pub cache: SourceCache,
    /// Receives the progress of the fetch. If the sync is stopped, the read returns an error of the kind
    /// `Cancelled`.
    pub meter: Arc<SyncMeter>,
    /// Ends the listing if the tree is too large for the caller.
    pub listing: ListingLimit,
}

/// Opens sources. The methods block the thread, so callers must call them on threads where blocking is
/// allowed.
pub trait SourceReader: Send + Sync {
    /// Reads the head without fetching content. A caller can use this method as a cheap check for new
    /// commits. `None` for sources without a head (working trees, directories).
    fn head(&self, source: &Source, options: &ReadOptions) -> Result<Option<BlobId>, SourceError>;

    /// Reads the tree. If the source is a URL, it is fetched first.
    fn open(&self, source: &Source, options: &ReadOptions) -> Result<Box<dyn SnapshotTree>, SourceError>;
}

/// One state of a source. The state stays readable and unchanged while this value exists. The exception is a
/// working tree, because other programs may change its files.
pub trait SnapshotTree: Send + Sync {
    fn revision(&self) -> &Revision;

    fn branch(&self) -> Option<&str>;

    /// Every path of the tree, sorted by path.
    fn entries(&self) -> &[TreeEntry];

    /// Creates a reader of file contents. Each thread needs its own reader.
    fn reader(&self) -> Result<Box<dyn ContentReader>, SourceError>;

    /// Data for the next read of the same source.
    fn cache(&self) -> &SourceCache;
}

pub trait ContentReader: Send {
    /// Returns the bytes of a file. In a working tree, the call fails with `Conflict` if the bytes no longer
    /// match `entry.blob`. The caller must then list the tree again.
    fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlobStoreError;

    #[test]
    fn source_errors_are_recognised() {
        assert!(SourceError::begins(&SourceError::new(ErrorKind::NotFound, "fetch", "https://h/x").to_string()));
        assert!(!SourceError::begins(&BlobStoreError::new(ErrorKind::NotFound, "get", "source: ").to_string()));
    }
}
