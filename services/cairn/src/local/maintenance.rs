//! Removes data that is no longer needed: data that no reader sees, and removed repositories.

use anyhow::Context;
use cairn_domain::{RepositoryId, Source, SyncProgress, Tenant};
use cairn_ports::{Catalogue, ErrorKind, Ledger, RepositoryRecord};

use super::{LONGEST_PART, Local};

/// Duration of the lease under which artifacts are deleted.
const PURGE_LEASE_MS: i64 = 60_000;

impl Local {
    /// Removes data that no reader sees, and executes one step of the stores' maintenance. Clones and cached
    /// vectors are checked only once per grace period, because this check is equally expensive after a small
    /// change and after a large change.
    pub(super) async fn sweep(&self) -> anyhow::Result<()> {
        let views = self.readers.views(&self.runs).await?;
        self.sweep.unseen_by(&views).await?;
        let (now_ms, last_ms) = (self.clock.now_ms(), self.home.artifacts_swept_at_ms());
        let is_due = |last_ms: i64| now_ms < last_ms || now_ms.saturating_sub(last_ms) >= self.sweep.grace_ms;
        if last_ms.is_none_or(is_due) {
            self.sweep.artifacts().await?;
            self.sweep_vectors().await?;
            self.sources.sweep(&self.runs.urls().await?, LONGEST_PART)?;
            let live = self.runs.all_repositories().await?;
            self.home.keep_source_caches_of(&live)?;
            self.home.keep_artifacts_swept_at_ms(now_ms)?;
        } else {
            self.sweep.artifacts_unseen_by(&views, &self.runs.all_repositories().await?).await?;
        }
        Ok(())
    }

    /// Continues the maintenance of the stores if a sweep of this process did not finish the maintenance. A
    /// failure is logged, and the next call tries again.
    pub async fn go_on(&self) {
        if let Err(error) = self.sweep.go_on().await {
            tracing::warn!(code = %error.code, "the maintenance of the stores failed: {}", error.chain());
        }
    }

    /// Makes `go_on` check all repositories, because other processes may not have finished their maintenance.
    pub async fn check_maintenance(&self) {
        match self.runs.all_repositories().await {
            Ok(repositories) => self.sweep.go_on_with(repositories),
            Err(error) => tracing::warn!(%error, "the repositories cannot be listed for the maintenance of the stores"),
        }
    }

    /// Sweeps the cached vectors if their number is much larger than the number of chunks. The sweep reads
    /// the facts of all files, so it is not executed after every change.
    async fn sweep_vectors(&self) -> anyhow::Result<()> {
        let (view, all) = (self.runs.view().await?, self.runs.all_repositories().await?);
        let num_chunks: u64 = self.runs.published_of(&view, &all).await?.iter().map(|of| of.result.chunks).sum();
        if self.store.num_vectors().await? > num_chunks + num_chunks / 2 + 1_000 {
            self.sweep.vectors(&Tenant::local()).await?;
        }
        Ok(())
    }

    /// Hides a repository at once, then removes all its data. The record of the repository is removed by a
    /// later sweep, after every handler of its runs has ended. Data that other processes are still using now
    /// is also removed by that later sweep. If one step fails, the other steps still run, and the first error
    /// is returned.
    pub async fn remove(&self, record: &RepositoryRecord) -> anyhow::Result<()> {
        self.runs.delete(record.id, self.clock.now_ms()).await?;
        let swept = self.sweep_generations().await;
        let purged = self.purge(record.id).await;
        let forgotten = self.forget_clone(record).await;
        let caches = self.runs.all_repositories().await.map_err(anyhow::Error::from);
        let caches = caches.and_then(|live| self.home.keep_source_caches_of(&live));
        swept.and(purged).and(forgotten).and(caches)
    }

    async fn sweep_generations(&self) -> anyhow::Result<()> {
        let views = self.readers.views(&self.runs).await?;
        self.sweep.unseen_by(&views).await?;
        Ok(())
    }

    /// Deletes the artifacts of a removed repository. If another process indexes the repository again at the
    /// same time, the artifacts of that process are not deleted: either that process holds the lease, and
    /// this function deletes nothing, or that process waits until this function releases the lease.
    async fn purge(&self, repository: RepositoryId) -> anyhow::Result<()> {
        let lease = match self.runs.lease(repository, self.clock.now_ms(), PURGE_LEASE_MS).await {
            Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => return Ok(()),
            lease => lease?,
        };
        let purged = async {
            if !self.runs.all_repositories().await?.contains(&repository) {
                self.artifacts.purge(repository).await?;
            }
            Ok(())
        };
        let purged = purged.await;
        // This call releases the lease. An error is ignored, because the lease also expires without this
        // call.
        let _given_back = self.runs.renew(lease, self.clock.now_ms(), 0, SyncProgress::default()).await;
        purged
    }

    async fn forget_clone(&self, record: &RepositoryRecord) -> anyhow::Result<()> {
        let Source::Url { url } = &record.source else { return Ok(()) };
        let Some(clone) = self.sources.unused(url)? else { return Ok(()) };
        // If a process registers the URL after this check, the process waits for the lock of the clone.
        if !self.runs.urls().await?.contains(url) {
            clone.remove().with_context(|| format!("cannot remove the clone of {}", record.name))?;
        }
        Ok(())
    }
}
