//! Keeps a list of the views that the readers of an index directory use. With this list, a sweep can remove
//! records that no view in use sees, without waiting for a grace period.
//!
//! A reader takes the newest view, or the view of a cursor. In both cases, the reader writes the file
//! `readers/<sequence number>`, whose modification time is the time of the last use of the view. A view
//! counts as in use for `USED_FOR` after this time. `USED_FOR` is longer than the lifetime of a cursor. A
//! sweep keeps the records that are visible in the newest view or in a view in use.
//!
//! A reader holds a shared lock from the moment it reads the view until it has written the file. A sweep
//! reads the files and the newest view under the exclusive lock. Therefore the sweep finds the file of every
//! older view in use. Every later reader takes a view that is at least as new as the newest view that the
//! sweep has read. The system releases the lock if the process ends.
//!
//! If the file cannot be written, for example because the disk is full, the question is still answered. In
//! the meantime, a sweep may remove records of the view that the question uses.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use async_trait::async_trait;
use cairn_domain::{GenerationId, PublishedSeq, RepositoryId, Scope, Tenant, View};
use cairn_metastore::Metastore;
use cairn_ports::{Catalogue, CatalogueError, MaySee, PublishedGeneration, RepositoryRecord};

/// The time for which a view counts as in use. A cursor is valid for ten minutes. The additional minute is
/// much longer than the time that a question takes.
const USED_FOR: Duration = Duration::from_secs(11 * 60);
const LOCK_FILE: &str = "lock";
/// Interval between two attempts to take the lock. A sweep holds the lock for only a few milliseconds.
const LOCK_POLL: Duration = Duration::from_millis(1);

/// The files of the readers of one index directory.
#[derive(Clone)]
pub struct Readers {
    directory: PathBuf,
    used_for: Duration,
}

impl Readers {
    /// `grace_ms` is the grace period of the sweep. It is shorter than the lifetime of a cursor only in
    /// tests.
    pub fn new(home: &Path, grace_ms: i64) -> Self {
        let grace = Duration::from_millis(grace_ms.max(0).unsigned_abs());
        Self { directory: home.join("readers"), used_for: USED_FOR.min(grace) }
    }

    fn lock_file(&self) -> io::Result<File> {
        let path = self.directory.join(LOCK_FILE);
        let open = || File::options().create(true).truncate(false).write(true).open(&path);
        match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&self.directory)?;
                open()
            }
            file => file,
        }
    }

    /// Takes the shared lock. The function does not block the thread while it waits, because the sweep that
    /// holds the lock may need this thread to release the lock.
    async fn shared(&self) -> io::Result<File> {
        let file = self.lock_file()?;
        loop {
            match file.try_lock_shared() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_POLL).await,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Takes the exclusive lock, on a separate thread that may block.
    async fn exclusive(&self) -> io::Result<File> {
        let file = self.lock_file()?;
        tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await.map_err(io::Error::other)?
    }

    fn mark(&self, view: &View) -> io::Result<()> {
        let path = self.directory.join(view.seq.0.to_string());
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        file.set_modified(SystemTime::now())
    }

    /// The views in use, and the newest view. Removes the files of views that are no longer in use.
    pub async fn views(&self, catalogue: &Metastore) -> anyhow::Result<Vec<View>> {
        let context = || format!("reading {}", self.directory.display());
        let lock = self.exclusive().await.with_context(context)?;
        let newest = catalogue.view().await?;
        let mut views = Vec::new();
        for seq in self.used().with_context(context)? {
            // If no view exists for this sequence number, all cursors with this number have expired.
            views.extend(catalogue.view_at(seq).await?.filter(|view| view.seq != newest.seq));
        }
        views.push(newest);
        drop(lock);
        Ok(views)
    }

    fn used(&self) -> io::Result<Vec<PublishedSeq>> {
        let mut used = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let Some(seq) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let age = entry.metadata()?.modified()?.elapsed();
            // If the time is in the future, the clock was changed. The file is kept, because the view may be
            // in use.
            if age.is_ok_and(|age| age >= self.used_for) {
                fs::remove_file(entry.path())?;
            } else {
                used.push(PublishedSeq(seq));
            }
        }
        Ok(used)
    }
}

/// The catalogue that readers use. This catalogue records that the views that it returns are in use.
pub struct ReadersCatalogue {
    pub catalogue: Arc<Metastore>,
    pub readers: Readers,
}

impl ReadersCatalogue {
    async fn recorded<Found>(
        &self,
        read: impl Future<Output = Result<Found, CatalogueError>>,
        view: impl Fn(&Found) -> Option<&View>,
    ) -> Result<Found, CatalogueError> {
        let lock = self.readers.shared().await;
        let found = read.await?;
        let marked = lock.and_then(|_lock| view(&found).map_or(Ok(()), |view| self.readers.mark(view)));
        if let Err(error) = marked {
            tracing::warn!(%error, "the use of a view cannot be recorded; a sweep may remove records of this view while they are read");
        }
        Ok(found)
    }
}

#[async_trait]
impl Catalogue for ReadersCatalogue {
    async fn register(&self, repository: RepositoryRecord) -> Result<(), CatalogueError> {
        self.catalogue.register(repository).await
    }

    async fn register_listed(&self, repository: RepositoryRecord) -> Result<(), CatalogueError> {
        self.catalogue.register_listed(repository).await
    }

    async fn change_settings(
        &self,
        repository: RepositoryId,
        expected: &str,
        settings: &str,
    ) -> Result<(), CatalogueError> {
        self.catalogue.change_settings(repository, expected, settings).await
    }

    async fn repositories(&self, scope: &Scope) -> Result<Vec<RepositoryRecord>, CatalogueError> {
        self.catalogue.repositories(scope).await
    }

    async fn visible(&self, tenant: &Tenant, may_see: &MaySee<'_>) -> Result<Vec<RepositoryRecord>, CatalogueError> {
        self.catalogue.visible(tenant, may_see).await
    }

    async fn view(&self) -> Result<View, CatalogueError> {
        self.recorded(self.catalogue.view(), |view| Some(view)).await
    }

    async fn view_at(&self, seq: PublishedSeq) -> Result<Option<View>, CatalogueError> {
        self.recorded(self.catalogue.view_at(seq), Option::as_ref).await
    }

    async fn published_of(
        &self,
        view: &View,
        repositories: &[RepositoryId],
    ) -> Result<Vec<PublishedGeneration>, CatalogueError> {
        self.catalogue.published_of(view, repositories).await
    }

    async fn publish(&self, published: PublishedGeneration) -> Result<PublishedSeq, CatalogueError> {
        self.catalogue.publish(published).await
    }

    async fn delete(&self, repository: RepositoryId, now_ms: i64) -> Result<GenerationId, CatalogueError> {
        self.catalogue.delete(repository, now_ms).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(seq: u64) -> View {
        View { seq: PublishedSeq(seq), ..View::default() }
    }

    #[test]
    fn views_are_in_use_for_a_limited_time() {
        let home = tempfile::tempdir().expect("a directory");
        let readers = Readers::new(home.path(), i64::MAX);
        fs::create_dir_all(&readers.directory).expect("created");
        for seq in [3, 5, 9] {
            readers.mark(&view(seq)).expect("written");
        }
        let set = |seq: u64, at: SystemTime| {
            let file = File::options().write(true).open(home.path().join(format!("readers/{seq}")));
            file.expect("opened").set_modified(at).expect("changed");
        };
        let now = SystemTime::now();
        set(3, now - USED_FOR);
        set(5, now + USED_FOR);
        let used = || {
            let mut used: Vec<u64> = readers.used().expect("read").iter().map(|seq| seq.0).collect();
            used.sort_unstable();
            used
        };
        assert_eq!(used(), [5, 9]);
        set(5, now - USED_FOR);
        assert_eq!(used(), [9]);
        readers.mark(&view(3)).expect("written");
        assert_eq!(used(), [3, 9]);
        assert_eq!(Readers::new(home.path(), 0).used().expect("read"), Vec::new());
    }
}
