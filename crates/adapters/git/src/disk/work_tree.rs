//! Lists working trees as they are on disk: tracked files, and untracked files that are not ignored.
//!
//! The walk applies `.gitignore`, `.git/info/exclude` and the user's global excludes. Tracked files that an
//! ignore rule hides are added from the index. Contents are the raw bytes on disk: no filter runs. Links are
//! recorded and never followed. Submodules and other nested repositories are recorded and never entered.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use cairn_config::SETTINGS_FILE;
use cairn_domain::{BlobId, EntryKind, Revision};
use cairn_ports::{ListingLimit, ReadOptions, SourceCache, SourceError, SyncMeter, plain_io};
use cairn_redaction::quoted;

use super::dirty::{DiskState, is_dirty};
use super::identify::identify;
use super::ignore_rules::{IGNORE_FILE, IgnoreFiles, IgnoreRules};
use super::root::{Root, leads_through_link};
use super::stat_cache::StatCache;
use super::tree::{DiskTree, FoundFile};
use crate::blob_id::NO_BLOB;
use crate::failure::from_io;
use crate::history::History;
use crate::listing::{self, Counter, excess_of};
use crate::objects::index_file::TrackedFile;
use crate::objects::repository::{CONFIG_FILE, OpenRepository, blob_of, kind_of_mode};
use crate::objects::tree::date;
use crate::settings::{GitSettings, Limits};

/// Each of these files of git is listed only if it cannot be read or used.
const INDEX_FILE: &[u8] = b".git/index";
const HEAD_FILE: &[u8] = b".git/HEAD";
const GIT: &[u8] = b".git";
const EXCLUDE_FILE: &[u8] = b".git/info/exclude";

/// The names of settings files that may be in any directory.
const SETTINGS_NAMES: &[&str] = &[IGNORE_FILE, ".gitattributes", ".cairnignore"];

const UNREADABLE_INDEX: &str = "the index of the working tree cannot be read, so tracked files that `.gitignore` \
    hides are missing; if `git status` reports that it is damaged, remove `.git/index` and run `git reset`";
const UNUSABLE_REPOSITORY: &str = "the repository of the working tree cannot be opened, so its commit, its branch \
    and tracked files that `.gitignore` hides are missing; run `git status`";
const UNUSABLE_HEAD: &str = "the commit of the working tree cannot be read, so the times at which its files were \
    changed are missing; run `git status`";

/// Lists a working tree. A damaged index or configuration of git does not stop the listing.
pub(crate) fn open(path: &str, options: &ReadOptions, settings: &GitSettings) -> Result<DiskTree, SourceError> {
    let started_at = SystemTime::now();
    let root = Root::open(path, false).map_err(|error| from_io("open", path, error))?;
    let git = GitState::read(&root, &settings.limits);
    let counter = Counter::new(path, settings.limits.max_entries, &options.listing, &options.meter);
    let mut walk = Walk::new(&root, path, &settings.limits, counter, &git.tracked);
    walk.run(&git.directory)?;
    walk.add_hidden_tracked(&git.tracked)?;
    walk.counter.check_complete()?;
    for (file, why) in &git.faults {
        walk.add(FoundFile::unreadable(file.to_vec(), why.clone()))?;
    }
    let num_faults = git.faults.len() + walk.num_exclude_faults;
    let files = walk.files;
    let cache = StatCache::decode(&options.cache.stats);
    let mut identified = identify(&root, files, &cache, settings, &options.meter, started_at);
    options.meter.check("open", path)?;
    listing::check_contents(&identified.entries, &options.listing)?;
    listing::sort(&mut identified.entries);
    let disk = DiskState { root: &root, entries: &identified.entries, num_faults };
    let dirty = match &git.repository {
        Some(repository) if git.has_index => {
            is_dirty(repository, &git.tracked, git.commit, &disk, &settings.limits, &options.meter)
        }
        _ => true,
    };
    let GitState { commit, branch, .. } = git;
    let revision = Revision::WorkTree { commit, dirty, tree: listing::digest(&identified.entries) };
    let saved = History::decode(&options.cache.history);
    let of = |commit| History::of(root.path(), commit, saved, &settings.limits, &options.meter);
    let history = commit.and_then(of);
    date(&mut identified.entries, history.as_ref());
    options.meter.check("open", path)?;
    let history = history.map(|history| history.encode()).unwrap_or_default();
    let cache = SourceCache { stats: identified.stat_cache, history };
    Ok(DiskTree { root: Arc::new(root), revision, branch, entries: identified.entries, cache })
}

/// Git's data about a working tree. Data that cannot be read is absent.
#[derive(Default)]
struct GitState {
    repository: Option<OpenRepository>,
    has_index: bool,
    tracked: Vec<TrackedFile>,
    /// The directory that contains `info/exclude`.
    directory: PathBuf,
    commit: Option<BlobId>,
    branch: Option<String>,
    /// The paths of git's files that cannot be read or used, and the reasons.
    faults: Vec<(&'static [u8], String)>,
}

impl GitState {
    fn read(root: &Root, limits: &Limits) -> Self {
        let repository = match OpenRepository::open(root.path()) {
            Ok(repository) => repository,
            Err(error) => {
                let file = if error.code() == git2::ErrorCode::NotFound { GIT } else { CONFIG_FILE };
                let fault = (file, format!("{UNUSABLE_REPOSITORY}: {}", quoted(error.message())));
                return Self { directory: root.path().join(".git"), faults: vec![fault], ..Self::default() };
            }
        };
        let (directory, faults) = (repository.common_directory().to_owned(), repository.faults());
        let mut state = Self { directory, faults, ..Self::default() };
        match repository.index(limits.max_entries) {
            Ok(tracked) => (state.has_index, state.tracked) = (true, tracked),
            Err(error) => {
                state.faults.push((INDEX_FILE, format!("{UNREADABLE_INDEX}: {}", quoted(error.message()))));
            }
        }
        if let Err(error) = state.read_head(&repository) {
            state.faults.push((HEAD_FILE, format!("{UNUSABLE_HEAD}: {}", quoted(error.message()))));
        }
        state.repository = Some(repository);
        state
    }

    /// Reads the commit and the branch. The commit is absent if the branch has no commit yet.
    fn read_head(&mut self, repository: &OpenRepository) -> Result<(), git2::Error> {
        let Some(head) = repository.head()? else { return Ok(()) };
        self.branch = head.branch;
        self.commit = Some(blob_of(repository.commit_behind(head.id)?.id()));
        Ok(())
    }
}

/// Lists the paths of a working tree without reading contents, and passes the number and total size of the
/// files to `limit`.
pub(crate) fn count(path: &str, limit: &ListingLimit, limits: &Limits) -> Result<(), SourceError> {
    let root = Root::open(path, false).map_err(|error| from_io("count", path, error))?;
    let git = GitState::read(&root, limits);
    let meter = SyncMeter::default();
    let counter = Counter::new(path, limits.max_entries, limit, &meter);
    let mut walk = Walk::new(&root, path, limits, counter, &git.tracked);
    walk.run(&git.directory)?;
    walk.add_hidden_tracked(&git.tracked)
}

/// A directory that is not listed yet, with the ignore rules that apply in it.
struct Pending {
    path: Vec<u8>,
    rules: Rc<IgnoreRules>,
}

/// Lists everything that git's ignore rules do not hide.
struct Walk<'r> {
    root: &'r Root,
    key: &'r str,
    limits: &'r Limits,
    counter: Counter<'r>,
    ignore_files: IgnoreFiles<'r>,
    submodules: HashMap<&'r [u8], BlobId>,
    pending: Vec<Pending>,
    files: Vec<FoundFile>,
    /// The number of entries that report that the excludes of git cannot be used.
    num_exclude_faults: usize,
}

impl<'r> Walk<'r> {
    fn new(root: &'r Root, key: &'r str, limits: &'r Limits, counter: Counter<'r>, tracked: &'r [TrackedFile]) -> Self {
        let is_submodule = |entry: &&TrackedFile| kind_of_mode(entry.mode) == Some(EntryKind::Submodule);
        let submodules = tracked.iter().filter(is_submodule);
        let submodules = submodules.map(|entry| (&*entry.path, blob_of(entry.id))).collect();
        let ignore_files = IgnoreFiles::new(root);
        let (pending, files) = (Vec::new(), Vec::new());
        Self { root, key, limits, counter, ignore_files, submodules, pending, files, num_exclude_faults: 0 }
    }

    fn run(&mut self, git_directory: &Path) -> Result<(), SourceError> {
        let (rules, fault) = IgnoreRules::of_repository(git_directory);
        if let Some(why) = fault {
            self.add(FoundFile::unreadable(EXCLUDE_FILE.to_vec(), why))?;
            self.num_exclude_faults = 1;
        }
        self.pending.push(Pending { path: Vec::new(), rules });
        while let Some(directory) = self.pending.pop() {
            self.counter.check_stopped()?;
            match self.root.names(&directory.path) {
                Ok(names) => self.list(directory, names)?,
                Err(error) if directory.path.is_empty() => return Err(from_io("open", self.key, error)),
                Err(error) => self.add(FoundFile::unreadable(directory.path, plain_io(&error)))?,
            }
        }
        Ok(())
    }

    fn list(&mut self, mut directory: Pending, names: Vec<Vec<u8>>) -> Result<(), SourceError> {
        let mut fault = None;
        if names.iter().any(|name| name == IGNORE_FILE.as_bytes()) {
            (directory.rules, fault) = self.ignore_files.enter(&directory.path, &directory.rules);
        }
        for name in names {
            match fault.take_if(|_| name == IGNORE_FILE.as_bytes()) {
                Some(why) => self.add(FoundFile::unreadable(child(&directory.path, &name), why))?,
                None => self.visit(&directory, &name)?,
            }
        }
        Ok(())
    }

    fn visit(&mut self, directory: &Pending, name: &[u8]) -> Result<(), SourceError> {
        if name == b".git" {
            return Ok(());
        }
        let path = child(&directory.path, name);
        let metadata = self.root.metadata(&path);
        let is_directory = metadata.as_ref().is_ok_and(|metadata| metadata.is_dir());
        // Matching many patterns takes a long time, so each name is a point at which a sync can be stopped.
        let is_hidden = directory.rules.hide(&path, is_directory, &|| self.counter.is_stopped());
        self.counter.check_stopped()?;
        if is_hidden {
            return Ok(());
        }
        if is_directory {
            return self.enter(directory, path);
        }
        match &metadata {
            // Git ignores pipes, sockets and devices, unless it tracks a file of the same name. If such a
            // file has the name of a settings file, it is listed with the reason, because its rules are
            // missing.
            Ok(found) if !found.is_file() && !found.is_symlink() && !is_settings(&path) => Ok(()),
            // A directory of the path was replaced with a link, so the path is no longer part of the tree.
            Err(error) if leads_through_link(error) => Ok(()),
            _ => self.add_found(&path, &metadata),
        }
    }

    fn add_found(&mut self, path: &[u8], metadata: &io::Result<Metadata>) -> Result<(), SourceError> {
        self.add(match excess_of(path, false, self.limits) {
            Some(excess) => FoundFile::beyond(excess),
            None => FoundFile::new(self.root, path.to_vec(), path, metadata),
        })
    }

    /// Records submodules and nested repositories, and enters all other directories.
    fn enter(&mut self, above: &Pending, path: Vec<u8>) -> Result<(), SourceError> {
        if let Some(commit) = self.submodules.get(path.as_slice()) {
            let commit = *commit;
            return self.add(FoundFile::submodule(path, commit));
        }
        if self.is_repository(&path) {
            return self.add(FoundFile::submodule(path, NO_BLOB));
        }
        if let Some(excess) = excess_of(&path, true, self.limits) {
            return self.add(FoundFile::beyond(excess));
        }
        self.counter.add_directory(&path)?;
        self.pending.push(Pending { path, rules: Rc::clone(&above.rules) });
        Ok(())
    }

    fn is_repository(&self, directory: &[u8]) -> bool {
        let git = child(directory, b".git");
        match self.root.metadata(&git) {
            Ok(metadata) if metadata.is_dir() => self.root.metadata(&child(&git, b"HEAD")).is_ok(),
            Ok(metadata) => metadata.is_file(),
            Err(_) => false,
        }
    }

    fn add(&mut self, file: Option<FoundFile>) -> Result<(), SourceError> {
        if let Some(file) = file {
            self.counter.add(&file.path, file.size_bytes())?;
            self.files.push(file);
        }
        Ok(())
    }

    /// Adds tracked files that an ignore rule hides from the walk. A tracked path is skipped if one of its
    /// directories was replaced with a link, because git then treats the path as missing.
    fn add_hidden_tracked(&mut self, tracked: &[TrackedFile]) -> Result<(), SourceError> {
        let seen: HashSet<&[u8]> = self.files.iter().map(|file| file.bytes.as_slice()).collect();
        let hidden: Vec<&TrackedFile> = tracked.iter().filter(|entry| !seen.contains(&*entry.path)).collect();
        drop(seen);
        for entry in hidden {
            self.counter.check_stopped()?;
            let metadata = self.root.metadata(&entry.path);
            let is_submodule = kind_of_mode(entry.mode) == Some(EntryKind::Submodule);
            match &metadata {
                Ok(found) if found.is_dir() && is_submodule => {
                    self.add(FoundFile::submodule(entry.path.to_vec(), blob_of(entry.id)))?;
                }
                Ok(found) if found.is_dir() => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound || leads_through_link(error) => {}
                _ => self.add_found(&entry.path, &metadata)?,
            }
        }
        Ok(())
    }
}

/// Whether the path refers to a settings file of git or of Cairn.
fn is_settings(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next();
    SETTINGS_NAMES.iter().any(|settings| name == Some(settings.as_bytes())) || path == SETTINGS_FILE.as_bytes()
}

fn child(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}
