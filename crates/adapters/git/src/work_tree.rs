//! Working trees as they are on disk: tracked files, and untracked ones that are not ignored.
//!
//! The walk obeys `.gitignore`, `.git/info/exclude` and the user's global excludes; tracked files that an ignore rule
//! hides are added from the index. Contents are the raw bytes on disk: no filter runs. Links are recorded, never
//! followed; submodules and other repositories inside are recorded, never entered.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cairn_domain::{BlobId, EntryKind, RepoPath, Revision};
use cairn_ports::{ErrorKind, ReadOptions, SourceCache, SourceError, TreeEntry};
use git2::{Index, IndexEntry, Repository};
use ignore::{DirEntry, WalkBuilder};

use crate::blob_id::NO_BLOB;
use crate::directory::DiskTree;
use crate::failure::{failure, from_git, from_io};
use crate::history::History;
use crate::objects::{blob_of, date, kind_of_mode, open_repository, resolve};
use crate::on_disk::{FoundFile, identify};
use crate::stat_cache::StatCache;
use crate::{GitSettings, Limits, listing};

pub(crate) fn open(path: &str, options: &ReadOptions, settings: &GitSettings) -> Result<DiskTree, SourceError> {
    let started_at = SystemTime::now();
    let root = fs::canonicalize(path).map_err(|error| from_io("open", path, error))?;
    let repository = open_repository(&root).map_err(|error| from_git("open", path, error))?;
    let index = repository.index().map_err(|error| from_git("open", path, error))?;
    let tracked: Vec<IndexEntry> = index.iter().collect();
    let mut files = walk(&root, path, &tracked, &settings.limits)?;
    add_hidden_tracked(&root, &tracked, &mut files);
    let cache = StatCache::decode(&options.cache.stats);
    let mut identified = identify(&root, &files, &cache, settings, started_at);
    listing::sort(&mut identified.entries);
    let head = resolve(&repository, path, None).ok();
    let disk = DiskState { root: &root, entries: &identified.entries };
    let dirty = is_dirty(&repository, &index, &tracked, &disk);
    let commit = head.as_ref().map(|(commit, _)| *commit);
    let revision = Revision::WorkTree { commit, dirty, tree: listing::digest(&identified.entries) };
    let branch = head.and_then(|(_, branch)| branch);
    let saved = History::decode(&options.cache.history);
    let history = commit.and_then(|commit| History::of(&root, commit, saved, &settings.limits));
    date(&mut identified.entries, history.as_ref());
    let history = history.map(|history| history.encode()).unwrap_or_default();
    let cache = SourceCache { stats: identified.stat_cache, history };
    Ok(DiskTree { root, revision, branch, entries: identified.entries, cache })
}

/// Everything that git's ignore rules do not hide.
fn walk(root: &Path, key: &str, tracked: &[IndexEntry], limits: &Limits) -> Result<Vec<FoundFile>, SourceError> {
    let submodules: HashMap<Vec<u8>, BlobId> = tracked
        .iter()
        .filter(|entry| kind_of_mode(entry.mode) == Some(EntryKind::Submodule))
        .map(|entry| (entry.path.clone(), blob_of(entry.id)))
        .collect();
    let nested: Arc<Mutex<Vec<FoundFile>>> = Arc::default();
    let enter = {
        let (root, nested) = (root.to_owned(), Arc::clone(&nested));
        move |entry: &DirEntry| enters(&root, entry, &submodules, &nested)
    };
    let mut builder = WalkBuilder::new(root);
    builder.hidden(false).ignore(false).parents(false).follow_links(false).filter_entry(enter);
    let mut files = Vec::new();
    for found in builder.build() {
        match found {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {}
            // Pipes, sockets and devices are nothing to git unless it tracks a file of that name.
            Ok(entry) if entry.file_type().is_some_and(|kind| !kind.is_file() && !kind.is_symlink()) => {}
            Ok(entry) => {
                if let Some(bytes) = relative(root, entry.path()) {
                    files.extend(FoundFile::new(root, bytes, &fs::symlink_metadata(entry.path())));
                }
            }
            Err(error) => files.extend(unreadable_directory(root, &error)),
        }
        if files.len() > limits.max_entries {
            let message = format!("the working tree has more than {} paths", limits.max_entries);
            return Err(failure(ErrorKind::TooLarge, "open", key, message));
        }
    }
    files.append(&mut nested.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(files)
}

/// Whether the walk goes on into (or lists) an entry; notes submodules and repositories inside.
fn enters(
    root: &Path,
    entry: &DirEntry,
    submodules: &HashMap<Vec<u8>, BlobId>,
    nested: &Mutex<Vec<FoundFile>>,
) -> bool {
    if entry.file_name() == ".git" {
        return false;
    }
    if entry.depth() == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    let Some(bytes) = relative(root, entry.path()) else { return true };
    let commit = match submodules.get(&bytes) {
        Some(commit) => *commit,
        None if is_repository(entry.path()) => NO_BLOB,
        None => return true,
    };
    nested.lock().unwrap_or_else(PoisonError::into_inner).extend(FoundFile::submodule(bytes, commit));
    false
}

fn is_repository(directory: &Path) -> bool {
    let git = directory.join(".git");
    match fs::symlink_metadata(&git) {
        Ok(metadata) if metadata.is_dir() => git.join("HEAD").exists(),
        Ok(metadata) => metadata.is_file(),
        Err(_) => false,
    }
}

fn relative(root: &Path, path: &Path) -> Option<Vec<u8>> {
    Some(path.strip_prefix(root).ok()?.as_os_str().as_bytes().to_vec())
}

/// The walk reports directories that it cannot enter; faults of ignore files are no concern of the listing.
fn unreadable_directory(root: &Path, error: &ignore::Error) -> Option<FoundFile> {
    match error {
        ignore::Error::WithPath { path, err } => {
            let why = err.io_error().map_or_else(|| err.to_string(), ToString::to_string);
            FoundFile::unreadable(relative(root, path)?, why)
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            unreadable_directory(root, err)
        }
        _ => None,
    }
}

/// Adds tracked files that an ignore rule hides from the walk.
fn add_hidden_tracked(root: &Path, tracked: &[IndexEntry], files: &mut Vec<FoundFile>) {
    let seen: HashSet<&[u8]> = files.iter().map(|file| file.bytes.as_slice()).collect();
    let mut added = Vec::new();
    let mut linked = HashMap::new();
    for entry in tracked {
        if seen.contains(entry.path.as_slice()) || is_below_link(root, &entry.path, &mut linked) {
            continue;
        }
        let metadata = fs::symlink_metadata(root.join(OsStr::from_bytes(&entry.path)));
        let is_submodule = kind_of_mode(entry.mode) == Some(EntryKind::Submodule);
        match &metadata {
            Ok(found) if found.is_dir() && is_submodule => {
                added.extend(FoundFile::submodule(entry.path.clone(), blob_of(entry.id)));
            }
            Ok(found) if found.is_dir() => {}
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {}
            _ => added.extend(FoundFile::new(root, entry.path.clone(), &metadata)),
        }
    }
    files.append(&mut added);
}

/// A tracked path below a directory that has become a link is gone for git: what is there lies elsewhere.
fn is_below_link<'p>(root: &Path, path: &'p [u8], known: &mut HashMap<&'p [u8], bool>) -> bool {
    let Some(slash) = path.iter().rposition(|byte| *byte == b'/') else { return false };
    let parent = &path[..slash];
    if let Some(linked) = known.get(parent) {
        return *linked;
    }
    let is_link =
        fs::symlink_metadata(root.join(OsStr::from_bytes(parent))).is_ok_and(|metadata| metadata.is_symlink());
    let linked = is_link || is_below_link(root, parent, known);
    known.insert(parent, linked);
    linked
}

/// What was found on disk, to be compared with the index.
struct DiskState<'a> {
    root: &'a Path,
    entries: &'a [TreeEntry],
}

impl DiskState<'_> {
    fn find(&self, path: &[u8]) -> Option<&TreeEntry> {
        let path = RepoPath::from_bytes(path).ok()?;
        self.entries.binary_search_by(|entry| entry.path.cmp(&path)).ok().map(|position| &self.entries[position])
    }
}

/// Whether the tree on disk differs from `HEAD`: staged changes, changed or missing or untracked files.
fn is_dirty(repository: &Repository, index: &Index, tracked: &[IndexEntry], disk: &DiskState<'_>) -> bool {
    let modes_count = repository.config().and_then(|config| config.get_bool("core.filemode")).unwrap_or(true);
    let index_written = fs::metadata(repository.path().join("index")).map_or(0, |metadata| metadata.mtime());
    for entry in tracked {
        let Some(found) = disk.find(&entry.path) else { return true };
        if !is_unchanged(entry, found, modes_count) && !is_clean_by_stat(disk.root, entry, index_written) {
            return true;
        }
    }
    // Paths that are not UTF-8 and merge conflicts aside, a path is tracked once: more entries are untracked ones.
    if tracked.len() != disk.entries.len() {
        return true;
    }
    let head = repository.head().ok().and_then(|head| head.peel_to_tree().ok());
    let Some(head) = head else { return !tracked.is_empty() };
    repository.diff_tree_to_index(Some(&head), Some(index), None).map_or(true, |diff| diff.deltas().len() > 0)
}

/// By content where it was read, by size where it was not.
fn is_unchanged(tracked: &IndexEntry, found: &TreeEntry, modes_count: bool) -> bool {
    let kind = kind_of_mode(tracked.mode);
    let is_file = |kind: EntryKind| matches!(kind, EntryKind::File | EntryKind::Executable);
    let same_kind = kind == Some(found.kind) || (!modes_count && kind.is_some_and(is_file) && is_file(found.kind));
    let not_read = found.blob == NO_BLOB && found.unreadable.is_none();
    let same_size = u64::from(tracked.file_size) == found.size_bytes & 0xffff_ffff;
    same_kind && (blob_of(tracked.id) == found.blob || (not_read && same_size))
}

/// Filters (line ends, large files) make the bytes on disk differ from the object of a clean file. Then what git noted
/// of the file when it was last clean decides, unless it changed in the second in which the index was written.
fn is_clean_by_stat(root: &Path, tracked: &IndexEntry, index_written: i64) -> bool {
    let Ok(metadata) = fs::symlink_metadata(root.join(OsStr::from_bytes(&tracked.path))) else { return false };
    let same_kind = kind_of_mode(tracked.mode) == kind_of_mode(metadata.mode());
    let same_time = metadata.mtime() == i64::from(tracked.mtime.seconds())
        && metadata.mtime_nsec() == i64::from(tracked.mtime.nanoseconds());
    let same_size = u64::from(tracked.file_size) == metadata.size() & 0xffff_ffff;
    same_kind && same_time && same_size && metadata.mtime() < index_written
}
