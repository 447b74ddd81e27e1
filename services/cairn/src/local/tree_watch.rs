//! Watches working trees, so that a question can find out that a tree has not changed without listing the
//! tree.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cairn_domain::RepositoryId;
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::watch;

/// Maximum time for which a question waits until all earlier events have arrived. If events arrive later, the
/// tree is listed.
const LONGEST_DELIVERY: Duration = Duration::from_millis(200);

/// The state of the watched trees.
#[derive(Default)]
struct State {
    /// The number of changes in each watched tree.
    num_changes: BTreeMap<RepositoryId, u64>,
    /// The number of changes in each tree when the tree was last read.
    read_at: BTreeMap<RepositoryId, u64>,
}

/// Working trees whose changes are counted. Empty until `start` is called.
#[derive(Default)]
pub(crate) struct TreeWatch {
    state: Arc<Mutex<State>>,
    started: Mutex<Option<Started>>,
}

struct Started {
    /// The watcher is stored because dropping it would end the watch.
    _watcher: RecommendedWatcher,
    beacons: Beacons,
    num_beacons: u64,
    seen: watch::Receiver<u64>,
}

/// Files in the index directory. The event for such a file shows that all earlier events were delivered. Each
/// file has its own number: if one file were written again and again, an earlier event could be mistaken for
/// the event of the last write.
#[derive(Clone)]
struct Beacons {
    folder: PathBuf,
    /// The beginning of the names of the files of this process.
    prefix: String,
}

impl Beacons {
    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{}{number}", self.prefix))
    }

    fn number(&self, path: &Path) -> Option<u64> {
        path.strip_prefix(&self.folder).ok()?.to_str()?.strip_prefix(&self.prefix)?.parse().ok()
    }

    /// Creates and removes the file with this number.
    fn write(&self, number: u64) -> io::Result<()> {
        let path = self.path(number);
        fs::write(&path, "")?;
        fs::remove_file(path)
    }
}

/// The state of a tree before it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    /// Whether no change was reported since the tree was last read.
    pub(crate) is_unchanged: bool,
    num_changes: Option<u64>,
}

impl TreeWatch {
    /// Watches the trees. `directory` is the index directory; changes in it are not counted.
    pub(crate) fn start(&self, roots: &[(RepositoryId, PathBuf)], directory: &Path) -> notify::Result<()> {
        let folder = directory.join("watch");
        fs::create_dir_all(&folder)?;
        let directory = directory.canonicalize()?;
        let beacons = Beacons { folder: folder.canonicalize()?, prefix: format!("{}-", std::process::id()) };
        let (sender, seen) = watch::channel(0);
        let (state, of_roots, own_beacons) = (Arc::clone(&self.state), roots.to_vec(), beacons.clone());
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else {
                // After an error, events may have been lost, so every tree may have changed.
                return lock(&state).num_changes.values_mut().for_each(|number| *number += 1);
            };
            for path in event.paths.iter().filter(|_| is_change(event.kind)) {
                if let Some(number) = own_beacons.number(path) {
                    sender.send_replace(number);
                } else if !is_own(path, &directory) {
                    let touched = of_roots.iter().filter(|(_, root)| path.starts_with(root));
                    let mut state = lock(&state);
                    touched.for_each(|(id, _)| *state.num_changes.entry(*id).or_default() += 1);
                }
            }
        })?;
        watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        for (id, root) in roots {
            watcher.watch(root, RecursiveMode::Recursive)?;
            lock(&self.state).num_changes.insert(*id, 0);
        }
        *lock(&self.started) = Some(Started { _watcher: watcher, beacons, num_beacons: 0, seen });
        Ok(())
    }

    pub(crate) fn watches(&self, repository: RepositoryId) -> bool {
        lock(&self.state).num_changes.contains_key(&repository)
    }

    /// The state of a tree. It includes every change that was made before this call.
    pub(crate) async fn mark(&self, repository: RepositoryId) -> Mark {
        let is_delivered = self.events_are_delivered().await;
        let state = lock(&self.state);
        let num_changes = state.num_changes.get(&repository).copied().filter(|_| is_delivered);
        let is_unchanged = num_changes.is_some() && num_changes == state.read_at.get(&repository).copied();
        Mark { is_unchanged, num_changes }
    }

    /// Records that the tree was read after `mark` was created.
    pub(crate) fn mark_read(&self, repository: RepositoryId, mark: Mark) {
        if let Some(number) = mark.num_changes {
            lock(&self.state).read_at.insert(repository, number);
        }
    }

    /// Writes a beacon and waits for its event. The events of one watcher arrive in order, so all earlier
    /// events have then arrived.
    async fn events_are_delivered(&self) -> bool {
        let (wanted, mut seen) = {
            let mut started = lock(&self.started);
            let Some(started) = started.as_mut() else { return false };
            started.num_beacons += 1;
            if started.beacons.write(started.num_beacons).is_err() {
                return false;
            }
            (started.num_beacons, started.seen.clone())
        };
        let arrives = seen.wait_for(|number| *number >= wanted);
        matches!(tokio::time::timeout(LONGEST_DELIVERY, arrives).await, Ok(Ok(_)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No method leaves the state inconsistent, so the state can be used after another thread has panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether an event is a change. Reading a file also causes an event. This event must not count as a change,
/// because indexing reads all files.
pub(crate) fn is_change(kind: EventKind) -> bool {
    !kind.is_access() || kind == EventKind::Access(AccessKind::Close(AccessMode::Write))
}

/// Whether Cairn itself writes the file, or the file is internal to git. Changes of such files are not
/// counted. Files that a commit or a checkout changes (`HEAD`, `refs`) are not internal.
pub(crate) fn is_own(path: &Path, home: &Path) -> bool {
    if path.starts_with(home) {
        return true;
    }
    let parts: Vec<_> = path.iter().collect();
    let Some(git) = parts.iter().position(|part| *part == ".git") else { return false };
    !matches!(parts.get(git + 1).and_then(|part| part.to_str()), Some("HEAD" | "refs"))
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryName, Tenant};

    use super::*;

    #[tokio::test]
    async fn changes_are_seen_at_once() {
        let (tree, home) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let id = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("watched"));
        let root = tree.path().canonicalize().expect("a path");
        let watch = TreeWatch::default();
        assert!(!watch.mark(id).await.is_unchanged, "the tree is treated as unchanged before it is watched");
        watch.start(&[(id, root.clone())], home.path()).expect("watched");
        for round in 0..20 {
            let mark = watch.mark(id).await;
            assert!(!mark.is_unchanged, "the change before round {round} was not reported");
            watch.mark_read(id, mark);
            assert!(
                watch.mark(id).await.is_unchanged,
                "the tree is treated as changed after it was read in round {round}"
            );
            fs::write(root.join(format!("file{round}")), "text").expect("written");
        }
    }
}
