//! Where repositories come from: git on disk, plain directories, remotes.

use cairn_domain::{BlobId, EntryKind, RepoPath, Revision, Source};

use crate::error::port_error;

port_error!(
    /// An error of reading a source. Says nothing of credentials.
    SourceError,
    "source"
);

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
}

/// How to read a source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// Branch to read in place of the default one (bare repositories and URLs).
    pub branch: Option<String>,
    /// What `SnapshotTree::stat_cache` gave after the last read of this source: saves hashing unchanged files.
    pub stat_cache: Option<Vec<u8>>,
}

/// The last commit that changed a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastChange {
    pub path: RepoPath,
    /// Time of the commit, in seconds since 1970.
    pub changed_at: i64,
    /// Name of the author, for people.
    pub author: String,
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

    /// Last changes by history, sorted by path, of those paths whose last change is among the newest `max_commits`
    /// commits. Empty where no history is at hand (directories, and clones one commit deep).
    fn last_changes(&self, max_commits: usize) -> Result<Vec<LastChange>, SourceError> {
        let _ = max_commits;
        Ok(Vec::new())
    }

    /// To be given to the next read of the same source; empty where it would not help.
    fn stat_cache(&self) -> Vec<u8>;
}

pub trait ContentReader: Send {
    /// The bytes of a file. Working trees: if they no longer match `entry.blob`, it is `Conflict` and the caller takes
    /// the tree again.
    fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError>;
}
