//! The listing of a tree of files on disk, and the files on disk from which the listing is built.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::Arc;

use cairn_domain::{BlobId, EntryKind, RepoPath, Revision};
use cairn_ports::{ContentReader, SnapshotTree, SourceCache, SourceError, TreeEntry, plain_io};

use super::reader::DiskReader;
use super::root::Root;
use super::stat_cache::Stat;
use crate::blob_id::{NO_BLOB, blob_id};
use crate::listing::Excess;

/// A tree of files on disk, in its state at the time of the listing.
pub(crate) struct DiskTree {
    pub(super) root: Arc<Root>,
    pub(super) revision: Revision,
    pub(super) branch: Option<String>,
    pub(super) entries: Vec<TreeEntry>,
    pub(super) cache: SourceCache,
}

impl SnapshotTree for DiskTree {
    fn revision(&self) -> &Revision {
        &self.revision
    }

    fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.entries
    }

    fn reader(&self) -> Result<Box<dyn ContentReader>, SourceError> {
        Ok(Box::new(DiskReader { root: Arc::clone(&self.root) }))
    }

    fn cache(&self) -> &SourceCache {
        &self.cache
    }
}

/// A path that was found, before its content is read.
pub(super) struct FoundFile {
    /// The path relative to the root, in the bytes that the file system stores.
    pub(super) bytes: Vec<u8>,
    pub(super) path: RepoPath,
    pub(super) state: FoundState,
}

pub(super) enum FoundState {
    /// The file is read and hashed if the reading plan allows it.
    Readable { kind: EntryKind, stat: Stat },
    /// The entry is recorded without reading a file: a link, a submodule, or a path that cannot be read.
    Settled { kind: EntryKind, blob: BlobId, size_bytes: u64, unreadable: Option<String> },
}

impl FoundFile {
    /// `real` is the path with all links to directories resolved. Returns `None` for a name that cannot be a
    /// path.
    pub(super) fn new(root: &Root, bytes: Vec<u8>, real: &[u8], metadata: &io::Result<Metadata>) -> Option<Self> {
        let path = RepoPath::from_bytes(&bytes).ok()?;
        let state = match metadata {
            Ok(metadata) if metadata.is_file() => {
                let kind = if metadata.mode() & 0o111 != 0 { EntryKind::Executable } else { EntryKind::File };
                FoundState::Readable { kind, stat: Stat::of(metadata) }
            }
            Ok(metadata) if metadata.is_symlink() => link_state(root, real),
            Ok(metadata) => unreadable(format!("not a file but a {}", special_kind(metadata))),
            Err(error) => unreadable(plain_io(error)),
        };
        Some(Self { bytes, path, state })
    }

    pub(super) fn unreadable(bytes: Vec<u8>, why: String) -> Option<Self> {
        let path = RepoPath::from_bytes(&bytes).ok()?;
        Some(Self { bytes, path, state: unreadable(why) })
    }

    /// The entry of a path that exceeds a limit.
    pub(super) fn beyond(excess: Excess) -> Option<Self> {
        Self::unreadable(excess.path, excess.why)
    }

    pub(super) fn submodule(bytes: Vec<u8>, commit: BlobId) -> Option<Self> {
        let path = RepoPath::from_bytes(&bytes).ok()?;
        let kind = EntryKind::Submodule;
        Some(Self { bytes, path, state: FoundState::Settled { kind, blob: commit, size_bytes: 0, unreadable: None } })
    }

    pub(super) fn size_bytes(&self) -> u64 {
        match &self.state {
            FoundState::Readable { stat, .. } => stat.size_bytes,
            FoundState::Settled { size_bytes, .. } => *size_bytes,
        }
    }
}

fn unreadable(why: String) -> FoundState {
    FoundState::Settled { kind: EntryKind::File, blob: NO_BLOB, size_bytes: 0, unreadable: Some(why) }
}

/// The content of a link is the text of its target, as in git.
fn link_state(root: &Root, real: &[u8]) -> FoundState {
    match root.link_text(real) {
        Ok(text) => FoundState::Settled {
            kind: EntryKind::Symlink,
            blob: blob_id(&text),
            size_bytes: text.len() as u64,
            unreadable: None,
        },
        Err(error) => unreadable(plain_io(&error)),
    }
}

fn special_kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    match () {
        () if kind.is_fifo() => "pipe",
        () if kind.is_socket() => "socket",
        () if kind.is_dir() => "directory",
        () => "device",
    }
}
