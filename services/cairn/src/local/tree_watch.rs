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

/// Maximum number of trees that are watched. Further trees are listed for each question that needs their files.
const MAX_TREES: usize = 64;

/// A watched tree, or a tree that cannot be watched.
struct Tree {
    root: PathBuf,
    /// The number of changes in the tree. `None` while the tree is not watched.
    num_changes: Option<u64>,
    /// The number of changes when the tree was last read.
    read_at: Option<u64>,
}

/// The trees for which a watch was requested.
type Trees = BTreeMap<RepositoryId, Tree>;

/// Counts the changes in working trees. Watches nothing until `start` is called. Then each tree is watched from
/// the first question that reads it.
#[derive(Default)]
pub(crate) struct TreeWatch {
    trees: Arc<Mutex<Trees>>,
    started: Mutex<Option<Started>>,
}

struct Started {
    watcher: Arc<Mutex<RecommendedWatcher>>,
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
    /// Allows trees to be watched. `directory` is the index directory; changes in it are not counted.
    pub(crate) fn start(&self, directory: &Path) -> notify::Result<()> {
        let folder = directory.join("watch");
        fs::create_dir_all(&folder)?;
        let directory = directory.canonicalize()?;
        let beacons = Beacons { folder: folder.canonicalize()?, prefix: format!("{}-", std::process::id()) };
        let (sender, seen) = watch::channel(0);
        let (trees, own_beacons) = (Arc::clone(&self.trees), beacons.clone());
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else {
                // After an error, events may have been lost, so every tree may have changed.
                return lock(&trees).values_mut().for_each(Tree::count_change);
            };
            for path in event.paths.iter().filter(|_| is_change(event.kind)) {
                if let Some(number) = own_beacons.number(path) {
                    sender.send_replace(number);
                } else if !is_own(path, &directory) {
                    let mut trees = lock(&trees);
                    trees.values_mut().filter(|tree| path.starts_with(&tree.root)).for_each(Tree::count_change);
                }
            }
        })?;
        watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        let watcher = Arc::new(Mutex::new(watcher));
        *lock(&self.started) = Some(Started { watcher, beacons, num_beacons: 0, seen });
        Ok(())
    }

    /// Watches a tree, if trees may be watched and this tree is not yet watched. A tree that cannot be watched
    /// is listed for each question that needs its files.
    pub(crate) async fn include(&self, repository: RepositoryId, root: &Path) {
        let Some(watcher) = lock(&self.started).as_ref().map(|started| Arc::clone(&started.watcher)) else { return };
        let replaced = {
            let mut trees = lock(&self.trees);
            let known = trees.get(&repository);
            if known.is_some_and(|known| known.root == root) || (known.is_none() && trees.len() >= MAX_TREES) {
                return;
            }
            let tree = Tree { root: root.to_owned(), num_changes: None, read_at: None };
            trees.insert(repository, tree).map(|replaced| replaced.root)
        };
        let (trees, root) = (Arc::clone(&self.trees), root.to_owned());
        // This call may block for a long time, because it registers each folder of the tree with the system.
        let watching = tokio::task::spawn_blocking(move || {
            let mut watcher = lock(&watcher);
            if let Some(replaced) = replaced {
                // A tree that could not be watched has no watch that could end.
                watcher.unwatch(&replaced).ok();
            }
            if let Err(error) = watcher.watch(&root, RecursiveMode::Recursive) {
                tracing::warn!("the working tree {} is not watched: {error}", root.display());
                watcher.unwatch(&root).ok();
                return;
            }
            if let Some(tree) = lock(&trees).get_mut(&repository).filter(|tree| tree.root == root) {
                tree.num_changes = Some(0);
            }
        });
        // If the task panics, the tree is not watched.
        watching.await.ok();
    }

    /// The state of a tree. It includes every change that was made before this call.
    pub(crate) async fn mark(&self, repository: RepositoryId) -> Mark {
        let is_delivered = self.events_are_delivered().await;
        let trees = lock(&self.trees);
        let tree = trees.get(&repository);
        let num_changes = tree.and_then(|tree| tree.num_changes).filter(|_| is_delivered);
        let is_unchanged = num_changes.is_some() && num_changes == tree.and_then(|tree| tree.read_at);
        Mark { is_unchanged, num_changes }
    }

    /// Records that the tree was read after `mark` was created.
    pub(crate) fn mark_read(&self, repository: RepositoryId, mark: Mark) {
        if let (Some(tree), Some(number)) = (lock(&self.trees).get_mut(&repository), mark.num_changes) {
            tree.read_at = Some(number);
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

impl Tree {
    fn count_change(&mut self) {
        self.num_changes = self.num_changes.map(|number| number + 1);
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
        watch.start(home.path()).expect("started");
        watch.include(id, &root).await;
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

    #[tokio::test]
    async fn each_tree_is_watched_separately() {
        let (first, second) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let home = tempfile::tempdir().expect("a folder");
        let ids = ["first", "second", "missing"]
            .map(|name| RepositoryId::derive(&Tenant::local(), &RepositoryName::new(name)));
        let watch = TreeWatch::default();
        watch.start(home.path()).expect("started");
        let missing = home.path().join("missing");
        for (id, root) in ids.into_iter().zip([first.path(), second.path(), &missing]) {
            watch.include(id, root).await;
            let mark = watch.mark(id).await;
            watch.mark_read(id, mark);
        }
        fs::write(first.path().join("file"), "text").expect("written");
        let mut unchanged = Vec::new();
        for id in ids {
            unchanged.push(watch.mark(id).await.is_unchanged);
        }
        assert_eq!(unchanged, [false, true, false], "the first tree has changed, and the last one cannot be watched");
    }

    #[tokio::test]
    async fn moved_tree_is_watched_at_its_new_place() {
        let (old, new) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let home = tempfile::tempdir().expect("a folder");
        let id = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("moved"));
        let watch = TreeWatch::default();
        watch.start(home.path()).expect("started");
        for root in [old.path(), new.path()] {
            watch.include(id, root).await;
            let mark = watch.mark(id).await;
            assert!(!mark.is_unchanged, "the tree was not read at its new place");
            watch.mark_read(id, mark);
        }
        fs::write(old.path().join("file"), "text").expect("written");
        assert!(watch.mark(id).await.is_unchanged, "a change at the old place is not counted");
        fs::write(new.path().join("file"), "text").expect("written");
        assert!(!watch.mark(id).await.is_unchanged, "a change at the new place is counted");
    }
}
