//! Plain directories: everything that is below the root, links followed as far as they stay inside.
//!
//! A link is followed if its target lies inside the root and is not a directory that the path already passed through.
//! All else (targets outside, missing, cycles) is recorded as a link. Links among directories can multiply without a
//! cycle, so what is found through links to directories is bounded on its own; past that bound links are recorded.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cairn_domain::Revision;
use cairn_ports::{ContentReader, ErrorKind, ReadOptions, SnapshotTree, SourceCache, SourceError, TreeEntry};

use crate::failure::{failure, from_io};
use crate::on_disk::{DiskReader, FoundFile, identify};
use crate::stat_cache::StatCache;
use crate::{GitSettings, Limits, listing};

/// Entries that may be found through links to directories.
const MAX_LINKED_ENTRIES: usize = 20_000;

/// The state of files on disk when they were listed; of a plain directory or a working tree.
pub(crate) struct DiskTree {
    pub(crate) root: PathBuf,
    pub(crate) revision: Revision,
    pub(crate) branch: Option<String>,
    pub(crate) entries: Vec<TreeEntry>,
    pub(crate) cache: SourceCache,
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
        Ok(Box::new(DiskReader { root: self.root.clone() }))
    }

    fn cache(&self) -> &SourceCache {
        &self.cache
    }
}

/// Lists a plain directory.
pub(crate) fn open(path: &str, options: &ReadOptions, settings: &GitSettings) -> Result<DiskTree, SourceError> {
    let started_at = SystemTime::now();
    let root = fs::canonicalize(path).map_err(|error| from_io("open", path, error))?;
    let files = Walk::new(&root, path, &settings.limits)?.run()?;
    let cache = StatCache::decode(&options.cache.stats);
    let mut identified = identify(&root, &files, &cache, settings, started_at);
    listing::sort(&mut identified.entries);
    let revision = Revision::Directory { tree: listing::digest(&identified.entries) };
    let cache = SourceCache { stats: identified.stat_cache, history: Vec::new() };
    Ok(DiskTree { root, revision, branch: None, entries: identified.entries, cache })
}

/// A directory, by device and inode.
type DirectoryId = (u64, u64);

struct Pending {
    path: Vec<u8>,
    /// The directories that lead to it, itself included.
    passed: Vec<DirectoryId>,
    through_link: bool,
}

struct Walk<'r> {
    root: &'r Path,
    key: &'r str,
    limits: &'r Limits,
    pending: Vec<Pending>,
    files: Vec<FoundFile>,
    num_linked: usize,
}

impl<'r> Walk<'r> {
    fn new(root: &'r Path, key: &'r str, limits: &'r Limits) -> Result<Self, SourceError> {
        let metadata = fs::metadata(root).map_err(|error| from_io("open", key, error))?;
        if !metadata.is_dir() {
            return Err(failure(ErrorKind::Invalid, "open", key, "is not a directory"));
        }
        let top = Pending { path: Vec::new(), passed: vec![id_of(&metadata)], through_link: false };
        Ok(Self { root, key, limits, pending: vec![top], files: Vec::new(), num_linked: 0 })
    }

    fn run(mut self) -> Result<Vec<FoundFile>, SourceError> {
        while let Some(directory) = self.pending.pop() {
            match self.names(&directory.path) {
                Ok(names) => {
                    for name in names {
                        self.visit(&directory, &name)?;
                    }
                }
                Err(error) if directory.path.is_empty() => return Err(from_io("open", self.key, error)),
                Err(error) => self.files.extend(FoundFile::unreadable(directory.path, error.to_string())),
            }
        }
        Ok(self.files)
    }

    /// Sorted, so that the bound on linked entries falls at the same place in every run.
    fn names(&self, directory: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let entries = fs::read_dir(self.root.join(OsStr::from_bytes(directory)))?;
        let mut names = Vec::new();
        for entry in entries {
            names.push(entry?.file_name().as_bytes().to_vec());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn visit(&mut self, directory: &Pending, name: &[u8]) -> Result<(), SourceError> {
        let mut path = directory.path.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        let full = self.root.join(OsStr::from_bytes(&path));
        let metadata = fs::symlink_metadata(&full);
        let is_link = metadata.as_ref().is_ok_and(Metadata::is_symlink);
        let target = if is_link { self.target_inside(&full) } else { None };
        let through_link = directory.through_link || is_link;
        let directory_id = match (&target, &metadata) {
            (Some(target), _) if target.is_dir() => Some(id_of(target)),
            (None, Ok(metadata)) if metadata.is_dir() => Some(id_of(metadata)),
            _ => None,
        };
        if let Some(id) = directory_id {
            let may_follow = !through_link || self.num_linked < MAX_LINKED_ENTRIES;
            if may_follow && !directory.passed.contains(&id) {
                let mut passed = directory.passed.clone();
                passed.push(id);
                self.check_depth(passed.len(), path.len())?;
                self.pending.push(Pending { path, passed, through_link });
                return Ok(());
            }
        }
        // A followed link to a file is that file; every other link is recorded as a link.
        let shown = target.filter(Metadata::is_file).map_or(metadata, Ok);
        self.num_linked += usize::from(directory.through_link);
        self.files.extend(FoundFile::new(self.root, path, &shown));
        self.check_count()
    }

    /// What a link leads to, if that is inside the root.
    fn target_inside(&self, link: &Path) -> Option<Metadata> {
        let target = fs::canonicalize(link).ok()?;
        if target.starts_with(self.root) { fs::metadata(&target).ok() } else { None }
    }

    fn check_depth(&self, depth: usize, path_bytes: usize) -> Result<(), SourceError> {
        if depth > self.limits.max_depth || path_bytes > self.limits.max_path_bytes {
            return Err(failure(ErrorKind::TooLarge, "open", self.key, "the directories are nested too deeply"));
        }
        Ok(())
    }

    fn check_count(&self) -> Result<(), SourceError> {
        if self.files.len() <= self.limits.max_entries {
            return Ok(());
        }
        let message = format!("the directory has more than {} paths", self.limits.max_entries);
        Err(failure(ErrorKind::TooLarge, "open", self.key, message))
    }
}

fn id_of(metadata: &Metadata) -> DirectoryId {
    (metadata.dev(), metadata.ino())
}
