//! The port: opens whatever kind of source it is given.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use cairn_domain::{BlobId, Source};
use cairn_ports::{ErrorKind, ReadOptions, SnapshotTree, SourceError, SourceReader};

use crate::failure::{failure, from_git, from_io};
use crate::fetch::{Remote, Resolve, resolve_by_system};
use crate::objects::{ObjectTree, open_repository, resolve};
use crate::{GitSettings, directory, work_tree};

/// What the files beside a clone end with: the lock of who opens it, and that of who fetches into it.
const LOCK: &str = "lock";
pub(crate) const ALONE: &str = "alone";

/// How long a remote may take to say where its head is, unless a fetch may not even take that long.
const HEAD_PATIENCE: Duration = Duration::from_secs(120);

/// Reads sources with git and from disk.
pub struct GitSources {
    settings: GitSettings,
    resolve: Box<Resolve>,
}

impl GitSources {
    pub fn new(settings: GitSettings) -> Self {
        Self { settings, resolve: Box::new(resolve_by_system) }
    }

    /// Where the bare clone of a remote lies. Named by the URL's hash: a URL is data, not a path.
    pub fn clone_directory(&self, url: &str) -> PathBuf {
        let name = &blake3::hash(url.as_bytes()).to_hex()[..32];
        self.settings.clones.join(format!("{name}.git"))
    }

    /// Removes the clones of all URLs but `live`, unless one was opened within `unused_for` or is being fetched into. Returns how
    /// many. One that cannot be removed holds up no other; the error is the first of all.
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

    /// The clone of a URL, which nobody opens while it is held; None if there is none, or somebody does.
    pub fn unused(&self, url: &str) -> Result<Option<UnusedClone>, SourceError> {
        let lock = self.clone_directory(url).with_extension(LOCK);
        UnusedClone::lock(&lock, Duration::ZERO).map_err(|error| from_io("sweep", &lock.display().to_string(), error))
    }

    fn remote<'s>(
        &'s self,
        url: &str,
        options: &'s ReadOptions,
        patience: Duration,
    ) -> Result<Remote<'s>, SourceError> {
        Remote::new(url, options.tenant.as_ref(), &self.settings, self.resolve.as_ref(), patience)
    }

    /// Fetches unless the clone is at the remote's head already.
    fn open_remote(&self, url: &str, options: &ReadOptions) -> Result<ObjectTree, SourceError> {
        let remote = self.remote(url, options, self.settings.limits.fetch_timeout)?;
        let branch = options.branch.as_deref();
        let clone = self.clone_directory(url);
        let lock = self.lock(&clone, remote.time_left())?;
        let head = remote.head(branch)?;
        let commit = match remote.fetched(&clone, branch) {
            Some(commit) if commit == head.commit => commit,
            _ => remote.fetch(&clone, branch, &options.meter)?,
        };
        let tree = ObjectTree::open(&clone, commit, head.branch, &options.cache, &self.settings.limits);
        // It is read from now on.
        lock.set_modified(SystemTime::now()).map_err(|error| from_io("fetch", url, error))?;
        tree
    }

    /// One process fetches into a clone at a time. The lock's file tells when that was.
    fn lock(&self, clone: &Path, patience: Duration) -> Result<File, SourceError> {
        let path = clone.with_extension(LOCK);
        let key = path.display().to_string();
        let broken = |error| from_io("fetch", &key, error);
        fs::create_dir_all(&self.settings.clones).map_err(broken)?;
        let deadline = Instant::now() + patience;
        loop {
            let file = File::create(&path).map_err(broken)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => {
                    file.set_modified(SystemTime::now()).map_err(broken)?;
                    return Ok(file);
                }
                // A sweep was faster.
                Ok(()) => {}
                Err(fs::TryLockError::WouldBlock) if Instant::now() < deadline => {
                    #[expect(clippy::disallowed_methods, reason = "a lock of files has no wait with a deadline")]
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(fs::TryLockError::WouldBlock) => {
                    return Err(failure(
                        ErrorKind::Timeout,
                        "fetch",
                        &key,
                        "another process fetches the same repository",
                    ));
                }
                Err(fs::TryLockError::Error(error)) => return Err(broken(error)),
            }
        }
    }
}

/// Whether the file is still the one at that path.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().map(identity).ok().is_some_and(|own| fs::metadata(path).map(identity).ok() == Some(own))
}

/// A clone that is locked, and not being fetched into.
#[derive(Debug)]
pub struct UnusedClone {
    path: PathBuf,
    _lock: File,
}

impl UnusedClone {
    fn lock(path: &Path, unused_for: Duration) -> std::io::Result<Option<Self>> {
        let lock = match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            lock => lock?,
        };
        if lock.try_lock().is_err() || !is_at(&lock, path) {
            return Ok(None);
        }
        let age = lock.metadata()?.modified()?.elapsed().unwrap_or_default();
        Ok((age >= unused_for).then(|| Self { path: path.to_owned(), _lock: lock }))
    }

    /// The lock goes at last: who waits for it finds that it is gone and makes another.
    pub fn remove(self) -> std::io::Result<()> {
        for path in [self.path.with_extension("git"), self.path.with_extension(ALONE), self.path.clone()] {
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match removed {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl SourceReader for GitSources {
    fn head(&self, source: &Source, options: &ReadOptions) -> Result<Option<BlobId>, SourceError> {
        let branch = options.branch.as_deref();
        match source {
            Source::WorkTree { .. } | Source::Directory { .. } => Ok(None),
            Source::Bare { path } => {
                let repository = open_repository(Path::new(path)).map_err(|error| from_git("head", path, error))?;
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
            Source::WorkTree { path } => Ok(Box::new(work_tree::open(path, options, &self.settings)?)),
            Source::Directory { path } => Ok(Box::new(directory::open(path, options, &self.settings)?)),
            Source::Bare { path } => {
                let repository = open_repository(Path::new(path)).map_err(|error| from_git("open", path, error))?;
                let (commit, branch) = resolve(&repository, path, options.branch.as_deref())?;
                let tree = ObjectTree::open(Path::new(path), commit, branch, &options.cache, &self.settings.limits)?;
                Ok(Box::new(tree))
            }
            Source::Url { url } => Ok(Box::new(self.open_remote(url, options)?)),
        }
    }
}
