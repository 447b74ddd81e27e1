//! Reads the current commit of each source on this machine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::RepositoryId;
use cairn_git::GitSources;
use cairn_ports::{Clock, RepositoryRecord};
use cairn_search::Heads;

/// The time for which questions use the current commit of a source before it is read again.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The current commits of sources, each with the monotonic time just before it was read.
pub(super) struct SourceHeads {
    sources: Arc<GitSources>,
    clock: Arc<dyn Clock>,
    known: Mutex<BTreeMap<RepositoryId, (Duration, Option<String>)>>,
}

impl SourceHeads {
    pub(super) fn new(sources: Arc<GitSources>, clock: Arc<dyn Clock>) -> Self {
        Self { sources, clock, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<RepositoryId, (Duration, Option<String>)>> {
        // No method leaves the map inconsistent, so it can be used after another thread has panicked.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(&self, repository: &RepositoryRecord) -> Option<String> {
        let (sources, source, branch) =
            (Arc::clone(&self.sources), repository.source.clone(), repository.branch.clone());
        let read = tokio::task::spawn_blocking(move || sources.commit_on_disk(&source, branch.as_deref()));
        match read.await {
            Ok(Ok(commit)) => commit.map(|commit| commit.to_string()),
            Ok(Err(error)) => {
                tracing::debug!(repository = %repository.name, "the head cannot be read: {error}");
                None
            }
            Err(_) => None,
        }
    }
}

#[async_trait]
impl Heads for SourceHeads {
    async fn head(&self, repository: &RepositoryRecord) -> Option<String> {
        let now = self.clock.monotonic();
        if let Some((read_at, head)) = self.known().get(&repository.id)
            && now.saturating_sub(*read_at) < MAX_AGE
        {
            return head.clone();
        }
        let head = self.read(repository).await;
        self.known().insert(repository.id, (now, head.clone()));
        head
    }
}
