//! Implements the port: opens every kind of source.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cairn_domain::{BlobId, Source};
use cairn_ports::{ErrorKind, ReadOptions, SnapshotTree, SourceError, SourceReader};

use crate::disk::{open_directory, open_work_tree};
use crate::failure::{from_git, from_io};
use crate::objects::repository::{OpenRepository, resolve};
use crate::objects::tree::ObjectTree;
use crate::private_directory::{NotPrivate, create_private_directory};
use crate::remote::clone::{CloneDirectory, LOCK, UnusedClone};
use crate::remote::fetch::{Remote, Resolve, resolve_by_system};
use crate::settings::GitSettings;

/// The time within which a remote must return its head, unless `fetch_timeout` is shorter.
const HEAD_PATIENCE: Duration = Duration::from_secs(120);

/// Reads sources from disk and from remotes.
pub struct GitSources {
    settings: GitSettings,
    resolve: Box<Resolve>,
}

impl GitSources {
    pub fn new(settings: GitSettings) -> Self {
        Self { settings, resolve: Box::new(resolve_by_system) }
    }

    /// The directory of a remote's bare clone. Its name is a hash of the URL, because a URL must not be used
    /// as a path.
    pub fn clone_directory(&self, url: &str) -> PathBuf {
        let name = &blake3::hash(url.as_bytes()).to_hex()[..32];
        self.settings.clones.join(format!("{name}.git"))
    }

    /// Removes the clones of all URLs that are not in `live`. Keeps clones that were opened within
    /// `unused_for` or are in use. Returns the number of removed clones. If a clone cannot be removed, the
    /// sweep continues with the next clone, and returns the first error at the end.
    pub fn sweep(&self, live: &BTreeSet<String>, unused_for: Duration) -> Result<u64, SourceError> {
        let key = self.settings.clones.display().to_string();
        let live: BTreeSet<PathBuf> = live.iter().map(|url| self.clone_directory(url).with_extension(LOCK)).collect();
        let entries = match fs::read_dir(&self.settings.clones) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            entries => entries.map_err(|error| from_io("sweep", &key, error))?,
        };
        let locks = entries.flatten().map(|entry| entry.path());
        let dead = locks.filter(|path| path.extension().is_some_and(|found| found == LOCK) && !live.contains(path));
        let (mut num_removed, mut first_error) = (0, None);
        for lock in dead {
            match UnusedClone::lock(&lock, unused_for).and_then(|clone| clone.map(UnusedClone::remove).transpose()) {
                Ok(removed) => num_removed += u64::from(removed.is_some()),
                Err(error) => drop(first_error.get_or_insert(from_io("sweep", &lock.display().to_string(), error))),
            }
        }
        first_error.map_or(Ok(num_removed), Err)
    }

    /// Locks the clone of a URL, so that no other process opens it. Returns `None` if the clone does not
    /// exist or is in use.
    pub fn unused(&self, url: &str) -> Result<Option<UnusedClone>, SourceError> {
        let lock = self.clone_directory(url).with_extension(LOCK);
        UnusedClone::lock(&lock, Duration::ZERO).map_err(|error| from_io("sweep", &lock.display().to_string(), error))
    }

    /// The commit that a source on disk is at: the HEAD of a working tree, or the branch of a bare
    /// repository. `None` for other sources, and before the first commit.
    pub fn commit_on_disk(&self, source: &Source, branch: Option<&str>) -> Result<Option<BlobId>, SourceError> {
        let (path, branch) = match source {
            Source::WorkTree { path } => (path, None),
            Source::Bare { path } => (path, branch),
            Source::Directory { .. } | Source::Url { .. } => return Ok(None),
        };
        let repository = OpenRepository::open(Path::new(path)).map_err(|error| from_git("head", path, &error))?;
        match resolve(&repository, path, branch) {
            Ok((commit, _)) => Ok(Some(commit)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn remote<'s>(
        &'s self,
        url: &str,
        options: &'s ReadOptions,
        patience: Duration,
    ) -> Result<Remote<'s>, SourceError> {
        Remote::new(url, options, &self.settings, self.resolve.as_ref(), patience)
    }

    /// Opens the tree of a remote. Fetches first, unless the clone already contains the remote's head.
    fn open_remote(&self, url: &str, options: &ReadOptions) -> Result<ObjectTree, SourceError> {
        let remote = self.remote(url, options, self.settings.limits.fetch_timeout)?;
        let branch = options.branch.as_deref();
        create_private_directory(&self.settings.clones).map_err(|error| not_private(url, error))?;
        let clone = CloneDirectory::new(self.clone_directory(url), url);
        let lock = clone.lock(remote.time_left(), &options.meter)?;
        clone.restore()?;
        let head = remote.head(branch)?;
        let commit = match clone.commit(branch) {
            Some(commit) if commit == head.commit => commit,
            _ => remote.fetch(&clone, (branch, &head))?,
        };
        let tree = ObjectTree::open(clone.path(), commit, head.branch, options, &self.settings.limits);
        // Sets the time of the last use to now, because the caller now begins to read the clone.
        lock.set_modified(SystemTime::now()).map_err(|error| from_io("fetch", url, error))?;
        tree
    }
}

fn not_private(url: &str, error: NotPrivate) -> SourceError {
    let kind = match &error {
        NotPrivate::Io { .. } => ErrorKind::Io,
        NotPrivate::ForeignOwner { .. } | NotPrivate::ReplaceableByOthers { .. } | NotPrivate::NotADirectory(_) => {
            ErrorKind::Forbidden
        }
    };
    SourceError::new(kind, "open", url).because(error)
}

impl SourceReader for GitSources {
    fn head(&self, source: &Source, options: &ReadOptions) -> Result<Option<BlobId>, SourceError> {
        let branch = options.branch.as_deref();
        match source {
            Source::WorkTree { .. } | Source::Directory { .. } => Ok(None),
            Source::Bare { path } => {
                let repository =
                    OpenRepository::open(Path::new(path)).map_err(|error| from_git("head", path, &error))?;
                resolve(&repository, path, branch).map(|(commit, _)| Some(commit))
            }
            Source::Url { url } => {
                let remote = self.remote(url, options, self.settings.limits.fetch_timeout.min(HEAD_PATIENCE))?;
                remote.head(branch).map(|head| Some(head.commit))
            }
        }
    }

    fn open(&self, source: &Source, options: &ReadOptions) -> Result<Box<dyn SnapshotTree>, SourceError> {
        match source {
            Source::WorkTree { path } => Ok(Box::new(open_work_tree(path, options, &self.settings)?)),
            Source::Directory { path } => Ok(Box::new(open_directory(path, options, &self.settings)?)),
            Source::Bare { path } => {
                let repository =
                    OpenRepository::open(Path::new(path)).map_err(|error| from_git("open", path, &error))?;
                let (commit, branch) = resolve(&repository, path, options.branch.as_deref())?;
                let tree = ObjectTree::open(Path::new(path), commit, branch, options, &self.settings.limits)?;
                Ok(Box::new(tree))
            }
            Source::Url { url } => Ok(Box::new(self.open_remote(url, options)?)),
        }
    }
}
