//! Manages the bare clone of a remote on disk.
//!
//! The content of a clone cannot control git or libgit2. Before each use, its configuration is written again,
//! and all files that could configure a command, a hook, an attribute or another object store are removed. A
//! clone with a link or a special file is discarded and fetched again.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use cairn_domain::BlobId;
use cairn_ports::{ErrorKind, SourceError, SyncMeter};

use super::child;
use crate::failure::{failure, from_io};
use crate::objects::repository::{OpenRepository, blob_of};

/// The extension of the file that is locked while a clone is opened.
pub(crate) const LOCK: &str = "lock";
/// The extension of the file that is locked while git writes into the clone.
const WRITE_LOCK: &str = "alone";

const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";
const HEAD: &str = "ref: refs/heads/main\n";

/// The entries of a clone that contain data. All other entries are written again or removed.
const DATA: &[&str] = &["objects", "refs", "packed-refs", "shallow"];

pub(crate) struct CloneDirectory<'k> {
    path: PathBuf,
    /// Identifies the remote in errors.
    key: &'k str,
}

impl<'k> CloneDirectory<'k> {
    pub(crate) fn new(path: PathBuf, key: &'k str) -> Self {
        Self { path, key }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn size_bytes(&self) -> u64 {
        child::size_of(&self.path)
    }

    /// Locks the clone, so that only one process at a time opens it. The modification time of the lock file
    /// is the time of the last use.
    pub(crate) fn lock(&self, patience: Duration, meter: &SyncMeter) -> Result<File, SourceError> {
        let path = self.path.with_extension(LOCK);
        let broken = |error| self.broken(error);
        let deadline = Instant::now() + patience;
        loop {
            meter.check("fetch", self.key)?;
            let file = File::create(&path).map_err(broken)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => {
                    file.set_modified(SystemTime::now()).map_err(broken)?;
                    return Ok(file);
                }
                // A sweep has removed the lock file before it was locked here, so the loop creates a new lock
                // file.
                Ok(()) => {}
                Err(fs::TryLockError::WouldBlock) if Instant::now() < deadline => {
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "the standard library cannot wait for a file lock with a deadline"
                    )]
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(fs::TryLockError::WouldBlock) => {
                    let message = "another process fetches the same repository";
                    return Err(failure(ErrorKind::Timeout, "fetch", self.key, message));
                }
                Err(fs::TryLockError::Error(error)) => return Err(broken(error)),
            }
        }
    }

    /// Waits until no other process fetches into the clone, and removes the lock files of a killed git
    /// process. Git does not remove such files, and refuses to work while they exist. When the calling
    /// process ends, the kernel releases the lock that this function takes.
    pub(super) fn lock_for_writing(&self) -> Result<File, SourceError> {
        let broken = |error| self.broken(error);
        let lock = File::create(self.path.with_extension(WRITE_LOCK)).map_err(broken)?;
        lock.lock().map_err(broken)?;
        remove_locks(&self.path, false);
        remove_locks(&self.path.join("refs"), true);
        Ok(lock)
    }

    /// Makes an existing clone safe to use: writes its configuration again and removes everything except
    /// data. Discards the clone if that is not possible. The caller must hold the lock.
    pub(crate) fn restore(&self) -> Result<(), SourceError> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            found => found.map(|_| ()).map_err(|error| self.broken(error))?,
        }
        match is_reduced_to_data(&self.path) {
            Ok(true) => self.write_settings(),
            Ok(false) => {
                tracing::warn!(clone = %self.path.display(), "the clone contains links or special files, so it is discarded");
                self.discard()
            }
            Err(error) => Err(self.broken(error)),
        }
    }

    /// Removes everything that exists at the path of the clone, and creates an empty clone there.
    pub(super) fn create(&self) -> Result<(), SourceError> {
        self.discard()?;
        for folder in ["objects/pack", "refs/heads"] {
            fs::create_dir_all(self.path.join(folder)).map_err(|error| self.broken(error))?;
        }
        self.write_settings()
    }

    fn write_settings(&self) -> Result<(), SourceError> {
        for (name, text) in [("config", CONFIG), ("HEAD", HEAD)] {
            replace(&self.path.join(name), text).map_err(|error| self.broken(error))?;
        }
        Ok(())
    }

    pub(super) fn discard(&self) -> Result<(), SourceError> {
        remove(&self.path).map_err(|error| self.broken(error))
    }

    /// The commit of an earlier fetch, if the clone contains the commit and its tree.
    pub(crate) fn commit(&self, branch: Option<&str>) -> Option<BlobId> {
        let repository = OpenRepository::open(&self.path).ok()?;
        let id = repository.find_reference(&local_reference(branch)).ok()?;
        let commit = repository.commit_behind(id).ok()?;
        commit.tree().ok()?;
        Some(blob_of(commit.id()))
    }

    fn broken(&self, error: io::Error) -> SourceError {
        from_io("fetch", self.key, error)
    }
}

/// The name of the reference in the clone that points to the fetched branch.
pub(super) fn local_reference(branch: Option<&str>) -> String {
    branch.map_or("refs/cairn/head".to_owned(), |branch| format!("refs/cairn/heads/{branch}"))
}

/// Removes every entry of the clone except `config`, `HEAD` and the entries in `DATA`. Returns false if the
/// data contains anything except files and directories.
fn is_reduced_to_data(clone: &Path) -> io::Result<bool> {
    if !fs::symlink_metadata(clone)?.is_dir() {
        return Ok(false);
    }
    for entry in fs::read_dir(clone)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_data = name.to_str().is_some_and(|name| DATA.contains(&name));
        let is_plain = entry.file_type()?.is_file() && (name == "config" || name == "HEAD");
        if !is_data && !is_plain {
            remove(&entry.path())?;
        }
    }
    // The folder `objects/info` can contain the file `alternates`, which lists other object stores. A fetch
    // does not need any file in this folder.
    remove(&clone.join("objects/info"))?;
    for name in DATA {
        let path = clone.join(name);
        let kind = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found?.file_type(),
        };
        let is_sound = if kind.is_dir() { has_only_files(&path)? } else { kind.is_file() };
        if !is_sound {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_only_files(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let is_sound = if kind.is_dir() { has_only_files(&entry.path())? } else { kind.is_file() };
        if !is_sound {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes a file atomically, unless it already has this content.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    let temporary = path.with_extension("new");
    remove(&temporary)?;
    File::create_new(&temporary)?.write_all(text.as_bytes())?;
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        fs::remove_dir_all(path)?;
    }
    fs::rename(&temporary, path)
}

/// Removes a file, a link or a directory, if it exists.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes git's lock files in a folder. If a file cannot be removed, git reports it later.
fn remove_locks(folder: &Path, with_folders: bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if with_folders && path.is_dir() {
            remove_locks(&path, true);
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether the path still refers to this open file.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().map(identity).ok().is_some_and(|own| fs::metadata(path).map(identity).ok() == Some(own))
}

/// A clone that this process has locked and that no other process uses.
#[derive(Debug)]
pub struct UnusedClone {
    lock_path: PathBuf,
    _lock: File,
}

impl UnusedClone {
    /// Returns `None` if the lock file does not exist, is locked by another process, or was used within
    /// `unused_for`.
    pub(crate) fn lock(lock_path: &Path, unused_for: Duration) -> io::Result<Option<Self>> {
        let lock = match File::open(lock_path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            lock => lock?,
        };
        if lock.try_lock().is_err() || !is_at(&lock, lock_path) {
            return Ok(None);
        }
        let age = lock.metadata()?.modified()?.elapsed().unwrap_or_default();
        Ok((age >= unused_for).then(|| Self { lock_path: lock_path.to_owned(), _lock: lock }))
    }

    /// Removes the clone, and the lock file last. A process that waits for the lock then finds no file at the
    /// path and creates a new lock file.
    pub fn remove(self) -> io::Result<()> {
        for extension in ["git", WRITE_LOCK] {
            remove(&self.lock_path.with_extension(extension))?;
        }
        remove(&self.lock_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restored_clone_drops_planted_files() {
        let directory = tempfile::tempdir().expect("directory");
        let clone = CloneDirectory::new(directory.path().join("a.git"), "url");
        clone.restore().expect("nothing to restore");
        clone.create().expect("created");
        let path = |name: &str| clone.path().join(name);
        for folder in ["hooks", "info", "objects/info", "worktrees/x"] {
            fs::create_dir_all(path(folder)).expect("folders");
        }
        let planted =
            ["config.worktree", "hooks/post-checkout", "info/attributes", "objects/info/alternates", "commondir"];
        for name in planted {
            fs::write(path(name), "planted").expect("written");
        }
        fs::write(path("config"), "[core]\n\talternateRefsCommand = touch x\n").expect("written");
        fs::write(path("HEAD"), "ref: refs/planted\n").expect("written");
        fs::write(path("shallow"), "data").expect("written");
        clone.restore().expect("restored");
        let mut names: Vec<_> =
            fs::read_dir(clone.path()).expect("names").map(|entry| entry.expect("entry").file_name()).collect();
        names.sort();
        assert_eq!(names, ["HEAD", "config", "objects", "refs", "shallow"]);
        assert!(!path("objects/info").exists());
        assert_eq!(fs::read_to_string(path("config")).expect("read"), CONFIG);
        assert_eq!(fs::read_to_string(path("HEAD")).expect("read"), HEAD);
        fs::remove_file(path("config")).expect("removed");
        std::os::unix::fs::symlink("/etc/passwd", path("config")).expect("linked");
        clone.restore().expect("restored");
        assert!(fs::symlink_metadata(path("config")).expect("metadata").is_file());
    }

    #[test]
    fn clone_with_links_in_its_data_is_discarded() {
        let directory = tempfile::tempdir().expect("directory");
        let clone = CloneDirectory::new(directory.path().join("a.git"), "url");
        for link in ["objects/pack/x", "refs/heads/main", "shallow"] {
            clone.create().expect("created");
            std::os::unix::fs::symlink("/etc/passwd", clone.path().join(link)).expect("linked");
            clone.restore().expect("restored");
            assert!(!clone.path().exists(), "{link}");
        }
        std::os::unix::fs::symlink(directory.path(), clone.path()).expect("linked");
        clone.restore().expect("restored");
        assert!(fs::symlink_metadata(clone.path()).is_err() && directory.path().exists());
    }
}
