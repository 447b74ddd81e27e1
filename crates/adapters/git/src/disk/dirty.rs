//! Decides whether a working tree differs from `HEAD`.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use cairn_domain::{BlobId, EntryKind, RepoPath};
use cairn_ports::{SyncMeter, TreeEntry};
use git2::Oid;

use super::root::Root;
use crate::blob_id::NO_BLOB;
use crate::objects::below::Below;
use crate::objects::index_file::TrackedFile;
use crate::objects::repository::{OpenRepository, blob_of, kind_of_mode};
use crate::objects::tree::count_below;
use crate::objects::tree_bytes::Entries;
use crate::objects::tree_store::TreeStore;
use crate::settings::Limits;

/// The files that were found on disk. The check compares these files with the index.
pub(super) struct DiskState<'a> {
    pub(super) root: &'a Root,
    /// Sorted by path.
    pub(super) entries: &'a [TreeEntry],
    /// The number of entries that only report that git's own files cannot be used.
    pub(super) num_faults: usize,
}

impl DiskState<'_> {
    fn find(&self, path: &[u8]) -> Option<&TreeEntry> {
        let path = RepoPath::from_bytes(path).ok()?;
        self.entries.binary_search_by(|entry| entry.path.cmp(&path)).ok().map(|position| &self.entries[position])
    }
}

/// Whether the tree has staged, changed, missing or untracked files. If the sync was stopped, the answer is
/// true.
pub(super) fn is_dirty(
    repository: &OpenRepository,
    tracked: &[TrackedFile],
    commit: Option<BlobId>,
    disk: &DiskState<'_>,
    limits: &Limits,
    meter: &SyncMeter,
) -> bool {
    if !disk_equals_index(repository, tracked, disk, meter) {
        return true;
    }
    match commit {
        Some(commit) => !index_equals_commit(repository, tracked, commit, limits, meter),
        None => !tracked.is_empty(),
    }
}

/// Whether the files on disk are the files of the index, with the same contents. If the sync was stopped, the
/// answer is false.
fn disk_equals_index(
    repository: &OpenRepository,
    tracked: &[TrackedFile],
    disk: &DiskState<'_>,
    meter: &SyncMeter,
) -> bool {
    let modes_count = repository.tracks_modes();
    let index_written = fs::metadata(repository.index_path()).map_or(0, |metadata| metadata.mtime());
    let mut num_left_out = 0;
    for entry in tracked {
        if meter.is_stopped() {
            return false;
        }
        let Some(found) = disk.find(&entry.path) else {
            if !entry.is_left_out {
                return false;
            }
            num_left_out += 1;
            continue;
        };
        if !is_unchanged(entry, found, modes_count) && !is_clean_by_stat(disk.root, entry, index_written) {
            return false;
        }
    }
    // The index contains each path once (except for merge conflicts), so a different number of entries means
    // that files are untracked or missing.
    tracked.len() - num_left_out + disk.num_faults == disk.entries.len()
}

/// Whether the index contains the paths of the commit, with the same contents. The answer is false if the
/// commit cannot be read or exceeds the limits, or if the sync was stopped.
fn index_equals_commit(
    repository: &OpenRepository,
    tracked: &[TrackedFile],
    commit: BlobId,
    limits: &Limits,
    meter: &SyncMeter,
) -> bool {
    let id = Oid::from_bytes(&commit.0);
    let head = id.and_then(|id| repository.find_commit(id)).map(|commit| commit.tree_id());
    let Ok(head) = head else { return false };
    // Comparing the commit's tree with the index visits every directory of the tree. A few objects can
    // represent a billion directories, or gigabytes of paths. So paths and directories are counted first.
    let is_same_size = |below: Below| {
        let is_within = below.num_directories <= limits.max_entries as u64
            && below.path_bytes.max(below.directory_bytes) <= limits.max_total_path_bytes();
        is_within && below.num_paths == tracked.len() as u64
    };
    count_below(repository, head, limits, meter).is_ok_and(is_same_size)
        && equals_index(repository, head, tracked, meter).unwrap_or(false)
}

/// Whether every path of a tree is in the index with the same content. The tree must have as many paths as
/// the index. If the sync was stopped, the answer is false.
fn equals_index(
    repository: &OpenRepository,
    tree: Oid,
    tracked: &[TrackedFile],
    meter: &SyncMeter,
) -> Result<bool, git2::Error> {
    let tracked: HashMap<&[u8], &TrackedFile> = tracked.iter().map(|entry| (&*entry.path, entry)).collect();
    let mut trees = TreeStore::new(repository)?;
    let mut pending = vec![(tree, Vec::new())];
    while let Some((id, prefix)) = pending.pop() {
        if meter.is_stopped() {
            return Ok(false);
        }
        let tree = trees.read(id)?;
        for entry in Entries::new(&tree) {
            let path = [prefix.as_slice(), entry.name].concat();
            if entry.is_directory() {
                pending.push((entry.id, [path.as_slice(), b"/"].concat()));
                continue;
            }
            let is_same = |own: &&TrackedFile| own.id == entry.id && kind_of_mode(own.mode) == kind_of_mode(entry.mode);
            if tracked.get(path.as_slice()).is_none_or(|own| !is_same(own)) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Compares the content if the file was read, and only the size if it was not read.
fn is_unchanged(tracked: &TrackedFile, found: &TreeEntry, modes_count: bool) -> bool {
    let kind = kind_of_mode(tracked.mode);
    let is_file = |kind: EntryKind| matches!(kind, EntryKind::File | EntryKind::Executable);
    let same_kind = kind == Some(found.kind) || (!modes_count && kind.is_some_and(is_file) && is_file(found.kind));
    let not_read = found.blob == NO_BLOB && found.unreadable.is_none();
    let same_size = tracked.file_size == found.size_bytes as u32;
    same_kind && (blob_of(tracked.id) == found.blob || (not_read && same_size))
}

/// Filters (line endings, large files) can make the bytes of a clean file differ from its git object. Such a
/// file is compared with the stat data that git stored when the file was last clean. Stat data is not used if
/// the file changed in the second in which the index was written.
fn is_clean_by_stat(root: &Root, tracked: &TrackedFile, index_written: i64) -> bool {
    let Ok(metadata) = root.metadata(&tracked.path) else { return false };
    let same_kind = kind_of_mode(tracked.mode) == kind_of_mode(metadata.mode());
    // The index stores the low 32 bits.
    let same_time = metadata.mtime() as u32 == tracked.changed_at_seconds
        && metadata.mtime_nsec() as u32 == tracked.changed_at_nanoseconds;
    let same_size = metadata.size() as u32 == tracked.file_size;
    same_kind && same_time && same_size && metadata.mtime() < index_written
}
