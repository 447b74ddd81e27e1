//! Lists plain directories: all files below the root. Links whose targets are inside the root are followed.
//!
//! The listing follows a link if its target is inside the root and is not a directory that the path already
//! contains. Every other link (target outside, missing, or a cycle) is recorded as a link. Even without a
//! cycle, a few links to directories can lead to a huge number of paths, so a separate limit applies to the
//! entries that are found through such links. After this limit is reached, links to directories are recorded
//! and no longer followed.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use cairn_domain::Revision;
use cairn_ports::{ErrorKind, ListingLimit, ReadOptions, SourceCache, SourceError, SyncMeter, plain_io};

use super::identify::identify;
use super::root::Root;
use super::stat_cache::StatCache;
use super::tree::{DiskTree, FoundFile};
use crate::failure::{failure, from_io};
use crate::listing::{self, Counter, excess_of};
use crate::settings::{GitSettings, Limits};

/// Maximum number of entries and directories that are found through links to directories.
const MAX_LINKED_ENTRIES: usize = 20_000;

/// Lists a plain directory.
pub(crate) fn open(path: &str, options: &ReadOptions, settings: &GitSettings) -> Result<DiskTree, SourceError> {
    let started_at = SystemTime::now();
    let root = Root::open(path, true).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotADirectory => failure(ErrorKind::Invalid, "open", path, "is not a directory"),
        _ => from_io("open", path, error),
    })?;
    let counter = Counter::new(path, settings.limits.max_entries, &options.listing, &options.meter);
    let files = Walk::new(&root, path, &settings.limits, counter)?.run()?;
    let cache = StatCache::decode(&options.cache.stats);
    let mut identified = identify(&root, files, &cache, settings, &options.meter, started_at);
    options.meter.check("open", path)?;
    listing::check_contents(&identified.entries, &options.listing)?;
    listing::sort(&mut identified.entries);
    let revision = Revision::Directory { tree: listing::digest(&identified.entries) };
    let cache = SourceCache { stats: identified.stat_cache, history: Vec::new() };
    Ok(DiskTree { root: Arc::new(root), revision, branch: None, entries: identified.entries, cache })
}

/// Lists the paths of a plain directory without reading contents, and passes the number and total size of the
/// files to `limit`.
pub(crate) fn count(path: &str, limit: &ListingLimit, limits: &Limits) -> Result<(), SourceError> {
    let root = Root::open(path, true).map_err(|error| from_io("count", path, error))?;
    let meter = SyncMeter::default();
    let counter = Counter::new(path, limits.max_entries, limit, &meter);
    Walk::new(&root, path, limits, counter)?.run().map(drop)
}

/// The identity of a directory: its device and its inode.
type DirectoryId = (u64, u64);

struct Pending {
    path: Vec<u8>,
    /// The path of this directory with all links resolved.
    real: Vec<u8>,
    passed: Rc<Passed>,
    /// If the path leads through a link: the path with all links resolved, except a link in its last name.
    linked: Option<Vec<u8>>,
}

/// The directories along a path, from this directory up to the root.
struct Passed {
    id: DirectoryId,
    above: Option<Rc<Passed>>,
}

impl Passed {
    fn contains(&self, id: DirectoryId) -> bool {
        std::iter::successors(Some(self), |passed| passed.above.as_deref()).any(|passed| passed.id == id)
    }
}

struct Walk<'r> {
    root: &'r Root,
    key: &'r str,
    limits: &'r Limits,
    counter: Counter<'r>,
    pending: Vec<Pending>,
    files: Vec<FoundFile>,
    num_linked: usize,
}

impl<'r> Walk<'r> {
    fn new(root: &'r Root, key: &'r str, limits: &'r Limits, counter: Counter<'r>) -> Result<Self, SourceError> {
        let metadata = root.metadata(b"").map_err(|error| from_io("open", key, error))?;
        let passed = Rc::new(Passed { id: id_of(&metadata), above: None });
        let top = Pending { path: Vec::new(), real: Vec::new(), passed, linked: None };
        Ok(Self { root, key, limits, counter, pending: vec![top], files: Vec::new(), num_linked: 0 })
    }

    fn run(mut self) -> Result<Vec<FoundFile>, SourceError> {
        while let Some(directory) = self.pending.pop() {
            self.counter.check_stopped()?;
            if self.num_linked >= MAX_LINKED_ENTRIES
                && let Some(real) = &directory.linked
            {
                let metadata = self.root.metadata(real);
                self.add(FoundFile::new(self.root, directory.path, real, &metadata))?;
                continue;
            }
            // The names are sorted, so that the limit of linked entries is reached at the same entry in each
            // run.
            match self.root.names(&directory.real) {
                Ok(names) => {
                    for name in names {
                        self.visit(&directory, &name)?;
                    }
                }
                Err(error) if directory.path.is_empty() => return Err(from_io("open", self.key, error)),
                Err(error) => self.add(FoundFile::unreadable(directory.path, plain_io(&error)))?,
            }
        }
        self.counter.check_complete()?;
        Ok(self.files)
    }

    fn visit(&mut self, directory: &Pending, name: &[u8]) -> Result<(), SourceError> {
        let (path, named) = (child(&directory.path, name), child(&directory.real, name));
        let metadata = self.root.metadata(&named);
        let is_link = metadata.as_ref().is_ok_and(Metadata::is_symlink);
        let target = if is_link { self.target_inside(&named) } else { None };
        let through_link = directory.linked.is_some() || is_link;
        let found = match (&target, &metadata) {
            (Some((target, metadata)), _) if metadata.is_dir() => Some((target.clone(), id_of(metadata))),
            (None, Ok(metadata)) if metadata.is_dir() => Some((named.clone(), id_of(metadata))),
            _ => None,
        };
        if let Some((real, id)) = found {
            let may_follow = !through_link || self.num_linked < MAX_LINKED_ENTRIES;
            if may_follow && !directory.passed.contains(id) {
                if let Some(excess) = excess_of(&path, true, self.limits) {
                    return self.add(FoundFile::beyond(excess));
                }
                self.num_linked += usize::from(through_link);
                self.counter.add_directory(&path)?;
                let passed = Rc::new(Passed { id, above: Some(Rc::clone(&directory.passed)) });
                self.pending.push(Pending { path, real, passed, linked: through_link.then_some(named) });
                return Ok(());
            }
        }
        // A followed link to a file gets the metadata of that file. Every other link is recorded as a link.
        let shown = target.map(|(_, metadata)| metadata).filter(Metadata::is_file).map_or(metadata, Ok);
        self.num_linked += usize::from(directory.linked.is_some());
        self.add(match excess_of(&path, false, self.limits) {
            Some(excess) => FoundFile::beyond(excess),
            None => FoundFile::new(self.root, path, &named, &shown),
        })
    }

    fn add(&mut self, file: Option<FoundFile>) -> Result<(), SourceError> {
        if let Some(file) = file {
            self.counter.add(&file.path, file.size_bytes())?;
            self.files.push(file);
        }
        Ok(())
    }

    /// The path and the metadata of a link's target, if the target is inside the root.
    fn target_inside(&self, link: &[u8]) -> Option<(Vec<u8>, Metadata)> {
        let target = self.root.resolve(link)?;
        let metadata = self.root.metadata(&target).ok()?;
        Some((target, metadata))
    }
}

fn child(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}

fn id_of(metadata: &Metadata) -> DirectoryId {
    (metadata.dev(), metadata.ino())
}
