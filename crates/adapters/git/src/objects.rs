//! Trees and contents as they are in git, read with libgit2 from the object store and never checked out.
//!
//! A tree is data of a stranger: a dozen objects can stand for a billion paths. So trees are parsed once each, paths
//! are counted before they are listed (the count of a tree is kept by its id), and depth and length are bounded.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Once;

use cairn_domain::{BlobId, EntryKind, RepoPath, Revision};
use cairn_ports::{ContentReader, ErrorKind, SnapshotTree, SourceCache, SourceError, TreeEntry};
use git2::{ObjectType, Odb, Oid, Repository, RepositoryOpenFlags};

use crate::Limits;
use crate::blob_id::NO_BLOB;
use crate::failure::{failure, from_git};
use crate::history::History;
use crate::listing;

/// Opens the repository at exactly this path: no search in the directories above it.
pub(crate) fn open_repository(path: &Path) -> Result<Repository, git2::Error> {
    static CONFIGURED: Once = Once::new();
    CONFIGURED.call_once(|| {
        // SAFETY: runs once, before this process opens a repository through this adapter; it writes one global flag.
        // Ownership matters where git runs what a repository's configuration says; libgit2 only reads here.
        let _unused = unsafe { git2::opts::set_verify_owner_validation(false) };
    });
    Repository::open_ext(path, RepositoryOpenFlags::NO_SEARCH, std::iter::empty::<&OsStr>())
}

pub(crate) fn blob_of(id: Oid) -> BlobId {
    let mut bytes = [0; 20];
    let length = id.as_bytes().len().min(20);
    bytes[..length].copy_from_slice(&id.as_bytes()[..length]);
    BlobId(bytes)
}

/// What a mode of git stands for; `None` for directories.
pub(crate) fn kind_of_mode(mode: u32) -> Option<EntryKind> {
    match mode & 0o170_000 {
        0o040_000 => None,
        0o120_000 => Some(EntryKind::Symlink),
        0o160_000 => Some(EntryKind::Submodule),
        _ if mode & 0o111 != 0 => Some(EntryKind::Executable),
        _ => Some(EntryKind::File),
    }
}

/// The commit that a branch of a repository on disk is at, and the branch's name. Without a branch: `HEAD`.
pub(crate) fn resolve(
    repository: &Repository,
    key: &str,
    branch: Option<&str>,
) -> Result<(BlobId, Option<String>), SourceError> {
    let found = match branch {
        Some(branch) => [format!("refs/heads/{branch}"), format!("refs/remotes/origin/{branch}")]
            .iter()
            .find_map(|name| repository.find_reference(name).ok())
            .ok_or_else(|| failure(ErrorKind::NotFound, "resolve", key, format!("there is no branch `{branch}`")))?,
        None => repository.head().map_err(|error| match error.code() {
            git2::ErrorCode::UnbornBranch | git2::ErrorCode::NotFound => {
                failure(ErrorKind::NotFound, "resolve", key, "the repository has no commit yet")
            }
            _ => from_git("resolve", key, error),
        })?,
    };
    let commit = found.peel_to_commit().map_err(|error| from_git("resolve", key, error))?;
    let name = branch.map(str::to_owned).or_else(|| found.shorthand().ok().map(str::to_owned));
    Ok((blob_of(commit.id()), name.filter(|name| name != "HEAD")))
}

/// A commit's tree.
pub(crate) struct ObjectTree {
    path: PathBuf,
    revision: Revision,
    branch: Option<String>,
    entries: Vec<TreeEntry>,
    cache: SourceCache,
}

impl ObjectTree {
    pub(crate) fn open(
        path: &Path,
        commit: BlobId,
        branch: Option<String>,
        cache: &SourceCache,
        limits: &Limits,
    ) -> Result<Self, SourceError> {
        let key = path.display().to_string();
        let wrap = |error| from_git("open", &key, error);
        let repository = open_repository(path).map_err(wrap)?;
        let id = Oid::from_bytes(&commit.0).map_err(wrap)?;
        let tree = repository.find_commit(id).and_then(|commit| commit.tree()).map_err(wrap)?;
        let odb = repository.odb().map_err(wrap)?;
        let mut walk = Walk { repository: &repository, odb, key: &key, limits, trees: HashMap::new() };
        let mut entries = walk.list(tree.id())?;
        listing::sort(&mut entries);
        drop(walk);
        let history = History::of(path, commit, History::decode(&cache.history), limits);
        date(&mut entries, history.as_ref());
        let history = history.map(|history| history.encode()).unwrap_or_default();
        // Ids come from the tree: there is nothing to save of them.
        let cache = SourceCache { stats: Vec::new(), history };
        Ok(Self { path: path.to_owned(), revision: Revision::Commit(commit), branch, entries, cache })
    }
}

/// Tells each entry when its content came to its path.
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
        let repository = open_repository(&self.path).map_err(|error| from_git("reader", &key, error))?;
        Ok(Box::new(ObjectReader { repository }))
    }

    fn cache(&self) -> &SourceCache {
        &self.cache
    }
}

struct ObjectReader {
    repository: Repository,
}

/// Contents above this are never asked for; a small object can unpack to gigabytes.
const MAX_CONTENT_BYTES: u64 = 64 << 20;

impl ContentReader for ObjectReader {
    fn read(&mut self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        let key = entry.path.as_str();
        if matches!(entry.kind, EntryKind::Submodule) || entry.unreadable.is_some() {
            return Err(failure(ErrorKind::NotFound, "read", key, "has no content in this repository"));
        }
        if entry.size_bytes > MAX_CONTENT_BYTES {
            return Err(failure(ErrorKind::TooLarge, "read", key, format!("{} bytes", entry.size_bytes)));
        }
        let read = || -> Result<Vec<u8>, git2::Error> {
            let id = Oid::from_bytes(&entry.blob.0)?;
            Ok(self.repository.odb()?.read(id)?.data().to_vec())
        };
        read().map_err(|error| from_git("read", key, error))
    }
}

/// A tree object, parsed.
struct ParsedTree {
    entries: Vec<RawEntry>,
    /// Paths below it, all levels.
    num_paths: usize,
}

struct RawEntry {
    name: Vec<u8>,
    id: Oid,
    /// `None`: a directory.
    kind: Option<EntryKind>,
}

struct Walk<'r> {
    repository: &'r Repository,
    odb: Odb<'r>,
    key: &'r str,
    limits: &'r Limits,
    trees: HashMap<Oid, Rc<ParsedTree>>,
}

impl Walk<'_> {
    fn list(&mut self, root: Oid) -> Result<Vec<TreeEntry>, SourceError> {
        let tree = self.parse(root, 0)?;
        let mut entries = Vec::with_capacity(tree.num_paths);
        self.flatten(&tree, &mut Vec::new(), &mut entries)?;
        Ok(entries)
    }

    /// Parses the tree and those below it, each once, and counts their paths.
    fn parse(&mut self, id: Oid, depth: usize) -> Result<Rc<ParsedTree>, SourceError> {
        if depth > self.limits.max_depth {
            return Err(self.too_large(&format!("more than {} levels of directories", self.limits.max_depth)));
        }
        if let Some(tree) = self.trees.get(&id) {
            return Ok(Rc::clone(tree));
        }
        let tree = self.repository.find_tree(id).map_err(|error| from_git("open", self.key, error))?;
        let mut entries = Vec::with_capacity(tree.len());
        let mut num_paths = 0usize;
        for entry in &tree {
            let kind = kind_of_mode(u32::try_from(entry.filemode_raw()).unwrap_or(0));
            let below = if kind.is_none() { self.parse(entry.id(), depth + 1)?.num_paths } else { 1 };
            num_paths = num_paths.saturating_add(below);
            entries.push(RawEntry { name: entry.name_bytes().to_vec(), id: entry.id(), kind });
        }
        if num_paths > self.limits.max_entries {
            return Err(self.too_large(&format!("more than {} paths", self.limits.max_entries)));
        }
        let parsed = Rc::new(ParsedTree { entries, num_paths });
        self.trees.insert(id, Rc::clone(&parsed));
        Ok(parsed)
    }

    fn flatten(
        &self,
        tree: &ParsedTree,
        prefix: &mut Vec<u8>,
        entries: &mut Vec<TreeEntry>,
    ) -> Result<(), SourceError> {
        let length = prefix.len();
        for raw in &tree.entries {
            prefix.truncate(length);
            prefix.extend_from_slice(&raw.name);
            if prefix.len() > self.limits.max_path_bytes {
                return Err(self.too_large(&format!("a path of more than {} bytes", self.limits.max_path_bytes)));
            }
            match raw.kind {
                Some(kind) => entries.extend(self.entry(prefix, raw.id, kind)),
                None => {
                    prefix.push(b'/');
                    if let Some(below) = self.trees.get(&raw.id) {
                        self.flatten(below, prefix, entries)?;
                    }
                }
            }
        }
        prefix.truncate(length);
        Ok(())
    }

    fn entry(&self, path: &[u8], id: Oid, kind: EntryKind) -> Option<TreeEntry> {
        let path = match RepoPath::from_bytes(path) {
            Ok(path) => path,
            // Git itself refuses such names; only a forged tree has one, and no record can stand for it.
            Err(error) => {
                tracing::warn!(repository = self.key, %error, "a tree has a name that cannot be a path");
                return None;
            }
        };
        if kind == EntryKind::Submodule {
            return Some(TreeEntry {
                path,
                kind,
                blob: blob_of(id),
                size_bytes: 0,
                unreadable: None,
                changed_at: None,
            });
        }
        Some(match self.odb.read_header(id) {
            Ok((size, ObjectType::Blob)) => {
                TreeEntry { path, kind, blob: blob_of(id), size_bytes: size as u64, unreadable: None, changed_at: None }
            }
            Ok(_) => unreadable(path, kind, "the object is not a file"),
            Err(_) => unreadable(path, kind, "the object is missing or damaged"),
        })
    }

    fn too_large(&self, what: &str) -> SourceError {
        failure(ErrorKind::TooLarge, "open", self.key, format!("the tree has {what}"))
    }
}

fn unreadable(path: RepoPath, kind: EntryKind, why: &str) -> TreeEntry {
    TreeEntry { path, kind, blob: NO_BLOB, size_bytes: 0, unreadable: Some(why.to_owned()), changed_at: None }
}
