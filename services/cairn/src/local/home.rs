//! Finds and opens the index directory, and manages the files in the directory that do not belong to a store.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use cairn_config::Operator;
use cairn_domain::{RepositoryId, RepositoryName};
use cairn_faults::fail_point;
use cairn_git::{GitSettings, Limits, ReadingPlan, RemotePolicy, create_private_directory};
use cairn_ports::SourceCache;
use cairn_search::CursorKey;
use cairn_wire::RequestSettings;

/// An index directory.
pub struct Home {
    pub directory: PathBuf,
    pub cursor_key: CursorKey,
}

/// Finds the index directory. The index directory is the directory in `CAIRN_HOME` or `--home`; otherwise the
/// nearest existing `.cairn` in `start` or a parent directory; otherwise `.cairn` in `start`.
pub fn find_home(configured: Option<&Path>, start: &Path) -> PathBuf {
    if let Some(directory) = configured {
        return directory.to_owned();
    }
    let above = start.ancestors().map(|directory| directory.join(".cairn"));
    above.into_iter().find(|directory| directory.is_dir()).unwrap_or_else(|| start.join(".cairn"))
}

fn stats(directory: &Path, repository: RepositoryId) -> PathBuf {
    directory.join("stat").join(repository.to_string())
}

fn history(directory: &Path, repository: RepositoryId) -> PathBuf {
    directory.join("history").join(repository.to_string())
}

/// The cache of a repository's source, which was stored in the index directory after the source was last
/// read.
pub(super) fn source_cache(directory: &Path, repository: RepositoryId) -> SourceCache {
    let read = |path: PathBuf| fs::read(path).unwrap_or_default();
    SourceCache { stats: read(stats(directory, repository)), history: read(history(directory, repository)) }
}

impl Home {
    pub(super) fn open(directory: &Path) -> anyhow::Result<Self> {
        create_private_directory(directory).context("the index directory cannot be used")?;
        // The index may be inside a repository. This file prevents git from listing the index.
        write_once(&directory.join(".gitignore"), b"*\n")?;
        let key = directory.join("cursor.key");
        let mut fresh = [0; 32];
        fs::File::open("/dev/urandom")
            .and_then(|mut random| random.read_exact(&mut fresh))
            .context("cannot read random bytes")?;
        write_once(&key, &fresh)?;
        let bytes = fs::read(&key).with_context(|| format!("reading {}", key.display()))?;
        let key = <[u8; 32]>::try_from(bytes.as_slice());
        let key = key.ok().with_context(|| {
            format!(
                "{} is damaged; delete it, and the next command creates a new key",
                directory.join("cursor.key").display()
            )
        })?;
        Ok(Self { directory: directory.to_owned(), cursor_key: CursorKey(key) })
    }

    /// Writes the parts of the cache that have changed.
    pub(super) fn keep_source_cache(
        &self,
        repository: RepositoryId,
        before: &SourceCache,
        now: &SourceCache,
    ) -> anyhow::Result<()> {
        let files = [
            (self.stats(repository), &before.stats, &now.stats),
            (self.history(repository), &before.history, &now.history),
        ];
        for (path, before, now) in files {
            if before != now {
                replace(&path, now)?;
            }
        }
        Ok(())
    }

    /// The time of the last sweep of artifacts; `None` if it is not known.
    pub(super) fn artifacts_swept_at_ms(&self) -> Option<i64> {
        fs::read_to_string(self.artifacts_swept()).ok()?.trim().parse().ok()
    }

    pub(super) fn keep_artifacts_swept_at_ms(&self, at_ms: i64) -> anyhow::Result<()> {
        replace(&self.artifacts_swept(), format!("{at_ms}\n").as_bytes())
    }

    fn artifacts_swept(&self) -> PathBuf {
        self.directory.join("swept")
    }

    pub(super) fn stats(&self, repository: RepositoryId) -> PathBuf {
        stats(&self.directory, repository)
    }

    pub(super) fn history(&self, repository: RepositoryId) -> PathBuf {
        history(&self.directory, repository)
    }

    /// The name that `.cairn.yaml` declared when the repository was last indexed. `None` if the name of the
    /// repository does not come from this file.
    pub(super) fn declared_name(&self, repository: RepositoryId) -> Option<RepositoryName> {
        let name = fs::read_to_string(self.declared(repository)).ok()?;
        (!name.is_empty()).then(|| RepositoryName::new(name))
    }

    /// Stores the name of a repository if its `.cairn.yaml` declares this name. If `.cairn.yaml` later
    /// declares a different name, the repository is renamed.
    pub(super) fn keep_declared_name(
        &self,
        repository: RepositoryId,
        name: Option<&RepositoryName>,
    ) -> anyhow::Result<()> {
        match name {
            name if self.declared_name(repository).as_ref() == name => Ok(()),
            Some(name) => replace(&self.declared(repository), name.as_str().as_bytes()),
            None => remove_if_exists(&self.declared(repository)),
        }
    }

    fn declared(&self, repository: RepositoryId) -> PathBuf {
        self.directory.join("declared").join(repository.to_string())
    }

    /// Removes the caches of all repositories that are not in `live`.
    pub(super) fn keep_source_caches_of(&self, live: &[RepositoryId]) -> anyhow::Result<()> {
        let live: BTreeSet<String> = live.iter().map(ToString::to_string).collect();
        for folder in ["stat", "history", "declared"].map(|folder| self.directory.join(folder)) {
            for path in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
                // A file with an extension is a temporary file that a process is still writing, so it is
                // kept.
                let is_live = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| live.contains(name));
                if path.extension().is_none() && !is_live {
                    remove_if_exists(&path)?;
                }
            }
        }
        Ok(())
    }
}

pub(super) fn remove_if_exists(path: &Path) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Writes a file atomically. Does nothing if the file exists.
fn write_once(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if path.exists() {
        return Ok(());
    }
    fail_point!("home::create", |message: String| Err(anyhow::anyhow!("create: {message}")));
    let temporary = path.with_extension(format!("tmp{}", std::process::id()));
    let written =
        fs::File::create(&temporary).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.with_context(|| format!("writing {}", temporary.display()))?;
    match fs::hard_link(&temporary, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(error).with_context(|| format!("writing {}", path.display()));
        }
        _ => {}
    }
    fs::remove_file(&temporary).with_context(|| format!("removing {}", temporary.display()))
}

/// Replaces a file atomically.
fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).with_context(|| format!("creating {}", directory.display()))?;
    let temporary = path.with_extension(format!("tmp{}", std::process::id()));
    fs::write(&temporary, bytes).with_context(|| format!("writing {}", temporary.display()))?;
    fail_point!("home::replace", |message: String| Err(anyhow::anyhow!("replace: {message}")));
    fs::rename(&temporary, path).with_context(|| format!("writing {}", path.display()))
}

/// Decides which files on disk may be opened. For paths, names and sizes, the same rules apply as in the sync
/// of the whole tree. If the settings are invalid, no file may be opened, and sync reports the faults of the
/// settings.
fn reading_plan(operator: &Arc<Operator>, requested: &Requested) -> Arc<ReadingPlan> {
    let (operator, requested) = (Arc::clone(operator), Arc::clone(requested));
    Arc::new(move |files, meter| {
        let files = files.iter().map(|file| (file.path.clone(), file.bytes.clone())).collect();
        let requested = requested.lock().unwrap_or_else(PoisonError::into_inner);
        match cairn_stages::path_rules(files, &operator, &requested, meter) {
            Ok(rules) => Box::new(move |path, kind, size_bytes| rules.decide_path(path, kind, size_bytes).is_none()),
            Err(_) => Box::new(|_, _, _| false),
        }
    })
}

/// The settings of the current index call, which apply in addition to the settings in the repository.
pub(super) type Requested = Arc<Mutex<RequestSettings>>;

pub(super) fn git_settings(home: &Home, operator: &Arc<Operator>, requested: &Requested) -> GitSettings {
    GitSettings {
        clones: home.directory.join("clones"),
        remotes: RemotePolicy::from(&operator.sources),
        limits: Limits::from(&operator.sources),
        reading_plan: Some(reading_plan(operator, requested)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn index_directory_becomes_private() {
        let directory = tempfile::tempdir().expect("directory");
        let (old, new) = (directory.path().join("old"), directory.path().join("new"));
        fs::create_dir(&old).expect("created");
        fs::set_permissions(&old, fs::Permissions::from_mode(0o777)).expect("opened");
        for path in [old, new] {
            Home::open(&path).expect("opened");
            assert_eq!(fs::metadata(&path).expect("metadata").permissions().mode() & 0o777, 0o700);
        }
    }
}
