//! Watches working trees, so that a question can find out that a tree has not changed without listing the
//! tree.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cairn_domain::RepositoryId;
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RenameMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::watch;

/// Maximum time for which a question waits until a watch has begun, until all earlier events have arrived, or
/// until new folders are watched. If it takes longer, the tree is listed.
const PATIENCE: Duration = Duration::from_millis(200);
/// Maximum number of watched trees: one question reads at most this many trees (`MAX_REPOSITORIES` in
/// `cairn-search`). Before a further watch begins, the watch ends that was used least recently.
const MAX_TREES: usize = 16;
/// The time after which a watch begins again if it could not begin, or if it no longer reports all changes. A
/// watch of many thousands of folders may lose events again and again.
const RETRY: Duration = Duration::from_secs(60);

/// Counts the changes in working trees. Watches nothing until `start` is called. Then each tree is watched
/// from the first question that reads it.
#[derive(Default)]
pub(crate) struct TreeWatch {
    /// Set by `start`.
    places: OnceLock<Places>,
    trees: Arc<Mutex<BTreeMap<RepositoryId, Tree>>>,
}

/// A tree for which a watch was requested.
struct Tree {
    root: PathBuf,
    used_at: Instant,
    begun_at: Instant,
    state: State,
}

enum State {
    Beginning,
    Watched(Arc<WatchedTree>),
    Failed,
}

/// Identifies the state of a tree: the number of changes since a watch has begun. If two marks of a tree are
/// equal, the tree did not change between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    watch: u64,
    num_changes: u64,
}

impl TreeWatch {
    /// Allows trees to be watched. `directory` is the index directory; changes in it are not counted.
    pub(crate) fn start(&self, directory: &Path) -> io::Result<()> {
        let directory = directory.canonicalize()?;
        let folder = directory.join("watch");
        fs::create_dir_all(&folder)?;
        self.places.get_or_init(|| Places { directory, folder });
        Ok(())
    }

    /// The state of a tree. It includes every change that was made before this call. `None` if the state is
    /// not known, because the tree is not watched.
    pub(crate) async fn mark(&self, repository: RepositoryId, root: &Path) -> Option<Mark> {
        self.watched(repository, root).await?.mark().await
    }

    /// The watch of the tree. Begins a watch if the tree has none.
    async fn watched(&self, repository: RepositoryId, root: &Path) -> Option<Arc<WatchedTree>> {
        let places = self.places.get()?.clone();
        {
            let mut trees = lock(&self.trees);
            if let Some(tree) = trees.get_mut(&repository).filter(|tree| tree.root == root) {
                tree.used_at = Instant::now();
                match &tree.state {
                    State::Beginning => return None,
                    State::Watched(watched) if watched.is_complete() => return Some(Arc::clone(watched)),
                    State::Failed | State::Watched(_) if tree.begun_at.elapsed() < RETRY => return None,
                    State::Failed | State::Watched(_) => {}
                }
            }
            trees.remove(&repository);
            if trees.len() >= MAX_TREES {
                let unused = trees.iter().min_by_key(|(_, tree)| tree.used_at).map(|(id, _)| *id);
                unused.and_then(|id| trees.remove(&id));
            }
            let now = Instant::now();
            let tree = Tree { root: root.to_owned(), used_at: now, begun_at: now, state: State::Beginning };
            trees.insert(repository, tree);
        }
        let (trees, root) = (Arc::clone(&self.trees), root.to_owned());
        // The beginning may take a long time, because each folder of the tree is registered with the system.
        let beginning = tokio::task::spawn_blocking(move || {
            let begun = WatchedTree::begin(&root, &places).map(Arc::new);
            let watched = begun
                .inspect_err(|error| tracing::warn!("the working tree {} is not watched: {error}", root.display()))
                .ok();
            if let Some(tree) = lock(&trees).get_mut(&repository).filter(|tree| tree.root == root) {
                tree.state = watched.clone().map_or(State::Failed, State::Watched);
            }
            watched
        });
        tokio::time::timeout(PATIENCE, beginning).await.ok()?.ok()?
    }
}

/// The index directory, and its folder for the beacons.
#[derive(Clone)]
struct Places {
    directory: PathBuf,
    folder: PathBuf,
}

/// The watch of one tree. It ends when this value is dropped. Each tree has a separate watcher: in a common
/// watcher, the end of one watch would also end the watches of trees inside this tree.
struct WatchedTree {
    /// A number that no other watch of this process has.
    number: u64,
    watcher: Arc<Mutex<RecommendedWatcher>>,
    /// The root without symbolic links, and the device and inode that it had at the beginning.
    root: PathBuf,
    identity: (u64, u64),
    changes: Arc<Changes>,
    beacons: Beacons,
    last_beacon: AtomicU64,
    /// The number of the last beacon whose event has arrived.
    seen: watch::Receiver<u64>,
}

#[derive(Default)]
struct Changes {
    num_changes: AtomicU64,
    /// The number of events after which a folder may not be watched.
    num_unwatched: AtomicU64,
    /// The number of these events, counted from the first, whose folders are watched again.
    num_watched_again: AtomicU64,
    /// Whether events may have been lost, or the watch has ended.
    is_incomplete: AtomicBool,
}

impl WatchedTree {
    fn begin(root: &Path, places: &Places) -> notify::Result<Self> {
        static NUM_WATCHES: AtomicU64 = AtomicU64::new(0);
        let number = NUM_WATCHES.fetch_add(1, Ordering::Relaxed);
        let root = root.canonicalize()?;
        let identity = identity(&root)?;
        let beacons = Beacons { folder: places.folder.clone(), prefix: format!("{}-{number}-", std::process::id()) };
        let changes = Arc::new(Changes::default());
        let (sender, seen) = watch::channel(0);
        let on_event = {
            let (root, directory) = (root.clone(), places.directory.clone());
            let (changes, beacons) = (Arc::clone(&changes), beacons.clone());
            move |event: notify::Result<Event>| {
                let newest = event.as_ref().ok().and_then(|event| beacons.newest(event));
                changes.add(event, &root, &directory);
                if let Some(number) = newest {
                    sender.send_replace(number);
                }
            }
        };
        // Links are not followed: a folder inside the tree would have only one watch under two paths, and the
        // index contains no files outside the tree.
        let config = notify::Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(on_event, config)?;
        watcher.watch(&root, RecursiveMode::Recursive)?;
        watcher.watch(&places.folder, RecursiveMode::NonRecursive)?;
        let watcher = Arc::new(Mutex::new(watcher));
        let last_beacon = AtomicU64::new(0);
        Ok(Self { number, watcher, root, identity, changes, beacons, last_beacon, seen })
    }

    /// Whether the watch reports all changes. It no longer does so after events were lost, or after the root
    /// was removed, renamed or replaced.
    fn is_complete(&self) -> bool {
        !self.changes.is_incomplete.load(Ordering::Acquire)
            && identity(&self.root).is_ok_and(|identity| identity == self.identity)
    }

    /// Writes a beacon and waits for its event. The events of a watcher arrive in order, so all earlier
    /// events have then arrived.
    async fn mark(&self) -> Option<Mark> {
        let number = self.last_beacon.fetch_add(1, Ordering::Relaxed) + 1;
        self.beacons.write(number).ok()?;
        let mut seen = self.seen.clone();
        tokio::time::timeout(PATIENCE, seen.wait_for(|seen| *seen >= number)).await.ok()?.ok()?;
        // If a folder is created after this number is read, the next mark differs from this mark.
        let num_changes = self.changes.num_changes.load(Ordering::Acquire);
        self.watch_new_folders().await?;
        self.is_complete().then_some(Mark { watch: self.number, num_changes })
    }

    /// Waits until the folders are watched whose events have arrived. On Linux, the watcher registers each
    /// folder separately. It first delivers all events that it has read, and then registers the folders that
    /// these events report. It ignores most errors of this registration, and loses the registration of a
    /// folder that is moved into a new folder. So the whole tree is registered again. The watcher executes
    /// this call after its own registration.
    async fn watch_new_folders(&self) -> Option<()> {
        let Changes { num_unwatched, num_watched_again, .. } = &*self.changes;
        let num_folders = num_unwatched.load(Ordering::Acquire);
        if num_watched_again.load(Ordering::Acquire) >= num_folders {
            return Some(());
        }
        let (watcher, root, changes) = (Arc::clone(&self.watcher), self.root.clone(), Arc::clone(&self.changes));
        // The number is also stored if the question does not wait for the end of the call.
        let call = tokio::task::spawn_blocking(move || {
            let watched = lock(&watcher).watch(&root, RecursiveMode::Recursive);
            if watched.is_ok() {
                changes.num_watched_again.fetch_max(num_folders, Ordering::AcqRel);
            }
            watched
        });
        tokio::time::timeout(PATIENCE, call).await.ok()?.ok()?.ok()
    }
}

impl Changes {
    /// Counts the changes that an event reports. Changes in the index directory are not counted.
    fn add(&self, event: notify::Result<Event>, root: &Path, directory: &Path) {
        let event = match event {
            Ok(event) if !event.need_rescan() => event,
            _ => return self.is_incomplete.store(true, Ordering::Release),
        };
        let is_removal = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From | RenameMode::Both))
        );
        if is_removal && event.paths.iter().any(|path| root.starts_with(path)) {
            self.is_incomplete.store(true, Ordering::Release);
        }
        let is_in_tree = |path: &PathBuf| path.starts_with(root) && !path.starts_with(directory);
        if may_unwatch_folder(event.kind) && event.paths.iter().any(is_in_tree) {
            self.num_unwatched.fetch_add(1, Ordering::AcqRel);
        }
        let is_counted = |path: &PathBuf| path.starts_with(root) && !is_own(path, directory);
        if is_change(event.kind) && event.paths.iter().any(is_counted) {
            self.num_changes.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// The device and the inode of a folder.
fn identity(folder: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(folder).map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Files in the index directory. The event for such a file shows that all earlier events were delivered. Each
/// file has its own number: if one file were written again and again, an earlier event could be mistaken for
/// the event of the last write.
#[derive(Clone)]
struct Beacons {
    folder: PathBuf,
    /// The beginning of the names of the files of one watch.
    prefix: String,
}

impl Beacons {
    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{}{number}", self.prefix))
    }

    /// The greatest number of the beacons in an event.
    fn newest(&self, event: &Event) -> Option<u64> {
        let number =
            |path: &PathBuf| path.strip_prefix(&self.folder).ok()?.to_str()?.strip_prefix(&self.prefix)?.parse().ok();
        event.paths.iter().filter_map(number).max()
    }

    /// Creates and removes the file with this number.
    fn write(&self, number: u64) -> io::Result<()> {
        let path = self.path(number);
        fs::write(&path, "")?;
        fs::remove_file(path)
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

/// Whether an event may report a folder that is not watched yet, or that is no longer watched.
fn may_unwatch_folder(kind: EventKind) -> bool {
    matches!(kind, EventKind::Create(CreateKind::Any | CreateKind::Folder) | EventKind::Modify(ModifyKind::Name(_)))
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
    use notify::event::{Flag, RemoveKind};
    use tempfile::TempDir;

    use super::*;

    fn folder() -> TempDir {
        tempfile::tempdir().expect("a folder")
    }

    fn id(name: &str) -> RepositoryId {
        RepositoryId::derive(&Tenant::local(), &RepositoryName::new(name))
    }

    fn started(home: &Path) -> TreeWatch {
        let watch = TreeWatch::default();
        watch.start(home).expect("started");
        watch
    }

    /// The mark of a tree. A busy machine may need several attempts until the watch has begun.
    async fn marked(watch: &TreeWatch, name: &str, root: &Path) -> Mark {
        for _ in 0..100 {
            if let Some(mark) = watch.mark(id(name), root).await {
                return mark;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the tree {name} is not watched")
    }

    #[tokio::test]
    async fn no_tree_is_watched_before_the_start() {
        let tree = folder();
        assert_eq!(TreeWatch::default().mark(id("tree"), tree.path()).await, None);
    }

    #[tokio::test]
    async fn changes_are_seen_at_once() {
        let (tree, home) = (folder(), folder());
        let watch = started(home.path());
        for round in 0..20 {
            let before = marked(&watch, "tree", tree.path()).await;
            assert_eq!(marked(&watch, "tree", tree.path()).await, before, "nothing changed in round {round}");
            fs::write(tree.path().join(format!("file{round}")), "text").expect("written");
            assert_ne!(marked(&watch, "tree", tree.path()).await, before, "the change of round {round} is unknown");
        }
    }

    #[tokio::test]
    async fn changes_in_new_folders_are_seen() {
        let (tree, home) = (folder(), folder());
        let watch = started(home.path());
        marked(&watch, "tree", tree.path()).await;
        for round in 0..100 {
            let new = tree.path().join(format!("new{round}"));
            fs::create_dir_all(new.join("inner")).expect("created");
            let before = marked(&watch, "tree", tree.path()).await;
            fs::write(new.join("inner/file"), "text").expect("written");
            assert_ne!(marked(&watch, "tree", tree.path()).await, before, "the file of round {round} is unknown");
        }
        // Folders that are renamed, and folders that are moved into a new folder.
        for round in 0..20 {
            let outer = tree.path().join(format!("outer{round}"));
            fs::create_dir(&outer).expect("created");
            fs::rename(tree.path().join(format!("new{round}")), outer.join("moved")).expect("moved");
            let before = marked(&watch, "tree", tree.path()).await;
            fs::write(outer.join("moved/inner/file"), "other text").expect("written");
            assert_ne!(marked(&watch, "tree", tree.path()).await, before, "the file of round {round} is unknown");
        }
    }

    #[tokio::test]
    async fn trees_inside_trees_are_counted_separately() {
        let (outer, home) = (folder(), folder());
        let inner = outer.path().join("inner");
        fs::create_dir(&inner).expect("created");
        let watch = started(home.path());
        let of_inner = marked(&watch, "inner", &inner).await;
        let of_outer = marked(&watch, "outer", outer.path()).await;
        fs::write(outer.path().join("file"), "text").expect("written");
        assert_eq!(marked(&watch, "inner", &inner).await, of_inner);
        assert_ne!(marked(&watch, "outer", outer.path()).await, of_outer);
        // The watch of the outer tree ends, but the watch of the inner tree does not.
        marked(&watch, "outer", home.path()).await;
        fs::write(inner.join("file"), "text").expect("written");
        assert_ne!(marked(&watch, "inner", &inner).await, of_inner);
    }

    #[tokio::test]
    async fn linked_tree_is_counted_under_its_own_path() {
        let (library, app, home) = (folder(), folder(), folder());
        let watch = started(home.path());
        let before = marked(&watch, "library", library.path()).await;
        std::os::unix::fs::symlink(library.path(), app.path().join("library")).expect("linked");
        marked(&watch, "app", app.path()).await;
        fs::write(library.path().join("file"), "text").expect("written");
        assert_ne!(marked(&watch, "library", library.path()).await, before);
    }

    #[tokio::test]
    async fn replaced_root_is_watched_again() {
        let (parent, home) = (folder(), folder());
        let root = parent.path().join("root");
        let watch = started(home.path());
        let mut marks = Vec::new();
        for _ in 0..3 {
            fs::create_dir(&root).expect("created");
            marks.push(marked(&watch, "tree", &root).await);
            fs::write(root.join("file"), "text").expect("written");
            marks.push(marked(&watch, "tree", &root).await);
            fs::rename(&root, parent.path().join(format!("old{}", marks.len()))).expect("renamed");
            assert_eq!(watch.mark(id("tree"), &root).await, None, "no folder has the path of the tree");
            // The next attempt to begin a watch must not wait.
            lock(&watch.trees).clear();
        }
        let distinct: Vec<_> = marks.windows(2).filter(|pair| pair[0] != pair[1]).collect();
        assert_eq!(distinct.len(), marks.len() - 1, "each change gives another mark: {marks:?}");
    }

    #[tokio::test]
    async fn index_directory_inside_the_tree_is_not_counted() {
        let tree = folder();
        let home = tree.path().join(".cairn");
        fs::create_dir(&home).expect("created");
        let watch = started(&home);
        let before = marked(&watch, "tree", tree.path()).await;
        fs::write(home.join("cairn.db"), "text").expect("written");
        assert_eq!(marked(&watch, "tree", tree.path()).await, before);
    }

    #[tokio::test]
    async fn least_recently_used_watch_ends() {
        let (home, roots) = (folder(), [(); MAX_TREES + 1].map(|()| folder()));
        let watch = started(home.path());
        for (number, root) in roots.iter().enumerate() {
            marked(&watch, &number.to_string(), root.path()).await;
        }
        let trees = lock(&watch.trees);
        assert_eq!(trees.len(), MAX_TREES);
        assert!(!trees.contains_key(&id("0")) && trees.contains_key(&id("1")));
    }

    #[test]
    fn lost_events_make_the_watch_incomplete() {
        let root = Path::new("/tree");
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        let removed = Event::new(EventKind::Remove(RemoveKind::Folder)).add_path(root.to_owned());
        for event in [Ok(overflow), Ok(removed), Err(notify::Error::generic("no more watches"))] {
            let changes = Changes::default();
            changes.add(event, root, Path::new("/home"));
            assert!(changes.is_incomplete.load(Ordering::Acquire));
        }
    }
}
