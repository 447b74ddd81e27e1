//! Lists a commit's tree, and reads the contents of its files.
//!
//! A tree is untrusted data: a dozen objects can represent a billion paths. So paths are counted before the
//! first entry is built, and each tree object is read only once for the count. Entries are then built one
//! after the other within the caller's limit. Each directory that is damaged, missing or too deep, and each
//! path that is too long, becomes one entry that contains the reason.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use cairn_domain::{BlobId, EntryKind, RepoPath, Revision};
use cairn_ports::{
    ContentReader, ErrorKind, ListedSoFar, ListingLimit, ReadOptions, SnapshotTree, SourceCache, SourceError,
    SyncMeter, TreeEntry,
};
use git2::{ObjectType, Oid};

use super::below::Below;
use super::memory::{Unread, Work};
use super::repository::{OpenRepository, blob_of, kind_of_mode};
use super::tree_bytes::Entries;
use super::tree_store::TreeStore;
use crate::blob_id::NO_BLOB;
use crate::failure::{failure, from_git, printable};
use crate::history::History;
use crate::listing::{self, Counter, Excess, excess_of};
use crate::settings::Limits;

/// A commit's tree.
pub(crate) struct ObjectTree {
    path: PathBuf,
    revision: Revision,
    branch: Option<String>,
    entries: Vec<TreeEntry>,
    cache: SourceCache,
    /// The total work of all readers of this tree.
    work: Arc<Work>,
}

impl ObjectTree {
    pub(crate) fn open(
        path: &Path,
        commit: BlobId,
        branch: Option<String>,
        options: &ReadOptions,
        limits: &Limits,
    ) -> Result<Self, SourceError> {
        let key = path.display().to_string();
        let wrap = |error: git2::Error| from_git("open", &key, &error);
        let repository = OpenRepository::open(path).map_err(wrap)?;
        let id = Oid::from_bytes(&commit.0).map_err(wrap)?;
        let root = repository.find_commit(id).map_err(wrap)?.tree_id();
        let trees = TreeStore::new(&repository).map_err(wrap)?;
        let counter = Counter::new(&key, limits.max_entries, &options.listing, &options.meter);
        let mut walk = Walk::new(trees, &key, limits, counter);
        let mut entries = walk.list(root)?;
        drop(walk);
        for (file, why) in repository.faults() {
            entries.extend(unreadable_at(file, &why));
        }
        listing::sort(&mut entries);
        let history = History::of(path, commit, History::decode(&options.cache.history), limits, &options.meter);
        date(&mut entries, history.as_ref());
        options.meter.check("open", &key)?;
        let history = history.map(|history| history.encode()).unwrap_or_default();
        // The ids come from the tree, so no stat data is stored.
        let cache = SourceCache { stats: Vec::new(), history };
        let work = Arc::new(repository.work());
        let (path, revision) = (path.to_owned(), Revision::Commit(commit));
        Ok(Self { path, revision, branch, entries, cache, work })
    }
}

/// Sets the time at which each entry got its content.
pub(crate) fn date(entries: &mut [TreeEntry], history: Option<&History>) {
    let Some(history) = history else { return };
    for entry in entries {
        entry.changed_at = entry.path.to_bytes().and_then(|path| history.changed_at(&path, entry.blob));
    }
}

impl SnapshotTree for ObjectTree {
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
        let key = self.path.display().to_string();
        let repository = OpenRepository::open(&self.path).map_err(|error| from_git("reader", &key, &error))?;
        Ok(Box::new(ObjectReader { repository, work: Arc::clone(&self.work) }))
    }

    fn cache(&self) -> &SourceCache {
        &self.cache
    }
}

struct ObjectReader {
    repository: OpenRepository,
    work: Arc<Work>,
}

/// Larger files are never read, because a small object can unpack to gigabytes.
const MAX_CONTENT_BYTES: u64 = 64 << 20;

impl ContentReader for ObjectReader {
    fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        let key = || printable(entry.path.as_str());
        if matches!(entry.kind, EntryKind::Submodule) || entry.unreadable.is_some() {
            return Err(failure(ErrorKind::NotFound, "read", &key(), "has no content in this repository"));
        }
        if entry.size_bytes > MAX_CONTENT_BYTES {
            let message = format!("has {} bytes; the limit is {MAX_CONTENT_BYTES}", entry.size_bytes);
            return Err(failure(ErrorKind::TooLarge, "read", &key(), message));
        }
        let read = || -> Result<Vec<u8>, Unread> {
            let id = Oid::from_bytes(&entry.blob.0).map_err(Unread::Git)?;
            self.work.read(&self.repository.odb().map_err(Unread::Git)?, id)
        };
        read().map_err(|unread| match unread {
            Unread::Git(error) => from_git("read", &key(), &error),
            Unread::TooLarge => {
                failure(ErrorKind::TooLarge, "read", &key(), "the object or one of its delta bases is too large")
            }
        })
    }
}

/// Counts the paths and directories below a tree of a repository. Each tree object is read once.
pub(crate) fn count_below(
    repository: &OpenRepository,
    tree: Oid,
    limits: &Limits,
    meter: &SyncMeter,
) -> Result<Below, SourceError> {
    let key = repository.common_directory().display().to_string();
    let trees = TreeStore::new(repository).map_err(|error| from_git("open", &key, &error))?;
    let limit = ListingLimit::default();
    let counter = Counter::new(&key, limits.max_entries, &limit, meter);
    Walk::new(trees, &key, limits, counter).count(tree, 0)
}

/// Maximum total size of the tree objects that are parsed for one tree, in bytes for each path that the tree
/// may have. A tree object counts each time it is parsed. Without this limit, a large damaged object could be
/// parsed once for each of a million paths.
const MAX_TREE_BYTES_PER_PATH: u64 = 1_024;

/// Maximum number of cached headers. The cache is useful because one blob can have many paths.
const MAX_KEPT_HEADERS: usize = 1 << 16;

struct Walk<'r> {
    trees: TreeStore<'r>,
    key: &'r str,
    limits: &'r Limits,
    counter: Counter<'r>,
    counts: HashMap<Oid, Below>,
    /// The ids of the file contents that were found. `None` if they are not collected.
    contents: Option<HashSet<Oid>>,
    headers: HashMap<Oid, Option<(usize, ObjectType)>>,
    /// The number of directories that were entered, including the root.
    num_entered: u64,
    num_parsed_bytes: u64,
}

/// A directory of the walk: its tree object, the number of bytes that are already processed, and the length
/// of its path.
struct Level {
    tree: Rc<Vec<u8>>,
    num_done_bytes: usize,
    prefix_bytes: usize,
}

impl<'r> Walk<'r> {
    fn new(trees: TreeStore<'r>, key: &'r str, limits: &'r Limits, counter: Counter<'r>) -> Self {
        let (counts, headers) = (HashMap::new(), HashMap::new());
        Self { trees, key, limits, counter, counts, contents: None, headers, num_entered: 0, num_parsed_bytes: 0 }
    }

    fn list(&mut self, root: Oid) -> Result<Vec<TreeEntry>, SourceError> {
        // If the root tree of a commit cannot be read, the repository is damaged, and the listing fails.
        self.trees.read(root).map_err(|error| from_git("open", self.key, &error))?;
        if self.directory(root).is_none() {
            return Err(failure(ErrorKind::Corrupt, "open", self.key, "the root tree of the commit is damaged"));
        }
        let num_paths = self.expect(root)?;
        let mut entries = Vec::with_capacity(usize::try_from(num_paths).unwrap_or(0).min(self.limits.max_entries));
        self.build(root, &mut entries)?;
        self.counter.check_complete()?;
        Ok(entries)
    }

    /// Checks the numbers of the whole tree, and returns the number of its paths.
    fn expect(&mut self, root: Oid) -> Result<u64, SourceError> {
        self.contents = Some(HashSet::new());
        let Below { num_paths, path_bytes, .. } = self.count(root, 0)?;
        let num_contents = self.contents.take().map_or(0, |contents| contents.len() as u64);
        let num_repeated = num_paths.saturating_sub(num_contents);
        self.counter.expect(ListedSoFar { num_paths, path_bytes, num_repeated, ..ListedSoFar::default() })?;
        Ok(num_paths)
    }

    /// Counts the paths and directories below a tree. Each tree object is read once. A tree object that is
    /// first found at too great a depth is counted as one path. So the count can be too small if the same
    /// tree object is also used at a smaller depth. The limits are checked again when the entries are built.
    fn count(&mut self, id: Oid, depth: usize) -> Result<Below, SourceError> {
        if depth > self.limits.max_depth {
            return Ok(Below::ONE_PATH);
        }
        if let Some(below) = self.counts.get(&id) {
            return Ok(*below);
        }
        let mut below = Below::default();
        match self.directory(id) {
            Some(tree) => {
                for entry in Entries::new(&tree) {
                    if entry.is_directory() {
                        below.add_directory(entry.name, self.count(entry.id, depth + 1)?);
                    } else {
                        below.add_path(entry.name);
                        self.add_content(entry.id);
                    }
                }
            }
            None => {
                below = Below::ONE_PATH;
                self.add_content(id);
            }
        }
        // A tree with too many paths is refused here, before all its paths are counted.
        self.counter.check_entries(below.num_paths)?;
        self.counter.check_directories(below.num_filled_directories)?;
        self.counts.insert(id, below);
        Ok(below)
    }

    fn add_content(&mut self, id: Oid) {
        if let Some(contents) = &mut self.contents {
            contents.insert(id);
        }
    }

    /// The bytes of a well-formed tree object. `None` if the object is missing or damaged.
    fn directory(&mut self, id: Oid) -> Option<Rc<Vec<u8>>> {
        let tree = self.trees.read(id).ok()?;
        self.num_parsed_bytes += tree.len() as u64;
        let mut entries = Entries::new(&tree);
        entries.by_ref().for_each(drop);
        entries.rest().is_empty().then(|| Rc::clone(&tree))
    }

    /// Builds the entries below a tree, one directory at a time.
    fn build(&mut self, root: Oid, entries: &mut Vec<TreeEntry>) -> Result<(), SourceError> {
        let mut prefix = Vec::new();
        let mut levels = Vec::new();
        self.enter(root, &mut prefix, &mut levels, entries)?;
        while let Some(level) = levels.last_mut() {
            let tree = Rc::clone(&level.tree);
            prefix.truncate(level.prefix_bytes);
            let mut rest = Entries::new(&tree[level.num_done_bytes..]);
            let Some(found) = rest.next() else {
                levels.pop();
                continue;
            };
            level.num_done_bytes = tree.len() - rest.rest().len();
            prefix.extend_from_slice(found.name);
            let kind = kind_of_mode(found.mode);
            // Directories without paths are not entered, because a few objects can represent a billion such
            // directories.
            if kind.is_none() && self.counts.get(&found.id).is_some_and(|below| below.num_paths == 0) {
                continue;
            }
            if let Some(Excess { path, why }) = excess_of(&prefix, kind.is_none(), self.limits) {
                self.add(unreadable_at(&path, &why), entries)?;
                continue;
            }
            match kind {
                Some(kind) => {
                    let entry = self.entry(&prefix, found.id, kind);
                    self.add(entry, entries)?;
                }
                None => self.enter(found.id, &mut prefix, &mut levels, entries)?,
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        id: Oid,
        prefix: &mut Vec<u8>,
        levels: &mut Vec<Level>,
        entries: &mut Vec<TreeEntry>,
    ) -> Result<(), SourceError> {
        self.counter.check_directories(self.num_entered)?;
        self.num_entered += 1;
        let tree = self.directory(id);
        self.check_parsed_bytes()?;
        match tree {
            Some(tree) => {
                if !prefix.is_empty() {
                    prefix.push(b'/');
                }
                levels.push(Level { tree, num_done_bytes: 0, prefix_bytes: prefix.len() });
                Ok(())
            }
            None => {
                let why = "the tree object of this directory is missing or damaged";
                self.add(unreadable_at(prefix, why), entries)
            }
        }
    }

    fn check_parsed_bytes(&self) -> Result<(), SourceError> {
        let (figure, limit) = (self.num_parsed_bytes, self.limits.max_entries as u64 * MAX_TREE_BYTES_PER_PATH);
        if figure <= limit {
            return Ok(());
        }
        let message = format!(
            "the tree objects of the source have at least {figure} bytes; the limit is {limit}, which is \
             {MAX_TREE_BYTES_PER_PATH} bytes for each path of `sources.max_entries`"
        );
        Err(failure(ErrorKind::TooLarge, "open", self.key, message))
    }

    fn add(&mut self, entry: Option<TreeEntry>, entries: &mut Vec<TreeEntry>) -> Result<(), SourceError> {
        if let Some(entry) = entry {
            self.counter.add(&entry.path, entry.size_bytes)?;
            entries.push(entry);
        }
        Ok(())
    }

    fn entry(&mut self, path: &[u8], id: Oid, kind: EntryKind) -> Option<TreeEntry> {
        let path = match RepoPath::from_bytes(path) {
            Ok(path) => path,
            // Git itself refuses such names, so only a forged tree contains one. Records cannot contain such
            // a name.
            Err(error) => {
                tracing::warn!(repository = self.key, %error, "an entry of a tree is ignored, because its name cannot be used in a path");
                return None;
            }
        };
        let entry = |size_bytes: u64| TreeEntry {
            path: path.clone(),
            kind,
            blob: blob_of(id),
            size_bytes,
            unreadable: None,
            changed_at: None,
        };
        if kind == EntryKind::Submodule {
            return Some(entry(0));
        }
        Some(match self.header(id) {
            Some((size, ObjectType::Blob)) => entry(size as u64),
            Some(_) => unreadable(path, kind, "the object is not a file"),
            None => unreadable(path, kind, "the object is missing or damaged"),
        })
    }

    fn header(&mut self, id: Oid) -> Option<(usize, ObjectType)> {
        if let Some(header) = self.headers.get(&id) {
            return *header;
        }
        let header = self.trees.header(id).ok();
        if self.headers.len() >= MAX_KEPT_HEADERS {
            self.headers.clear();
        }
        self.headers.insert(id, header);
        header
    }
}

fn unreadable_at(path: &[u8], why: &str) -> Option<TreeEntry> {
    RepoPath::from_bytes(path).ok().map(|path| unreadable(path, EntryKind::File, why))
}

fn unreadable(path: RepoPath, kind: EntryKind, why: &str) -> TreeEntry {
    TreeEntry { path, kind, blob: NO_BLOB, size_bytes: 0, unreadable: Some(why.to_owned()), changed_at: None }
}
