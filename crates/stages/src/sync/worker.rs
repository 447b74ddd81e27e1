//! The worker for sync jobs. The worker reads the request of a repository, syncs the repository, and records
//! the outcome.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{RunId, RunState, Scope};
use cairn_pipeline::{StageError, Syncer};
use cairn_ports::{Catalogue, Clock, FailureCode, LedgerRead, Requests, SourceCache};
use cairn_wire::SyncJob;

use super::refusal::is_refusal;
use super::{Sync, SyncRequest, Synced};

/// A sync job may be run twice and may be stopped at any point. If the request is already answered, the
/// second sync does nothing. If the first sync has begun a run, the second sync finds this run.
pub struct SyncWorker {
    pub sync: Sync,
    pub catalogue: Arc<dyn Catalogue>,
    pub requests: Arc<dyn Requests>,
    pub runs: Arc<dyn LedgerRead>,
    pub clock: Arc<dyn Clock>,
}

#[async_trait]
impl Syncer for SyncWorker {
    async fn sync(&self, job: &SyncJob) -> Result<Option<RunId>, StageError> {
        let Some(asked) = self.requests.asked(job.repository, job.request).await? else { return Ok(None) };
        let scope = Scope::only(job.tenant.clone(), [job.repository]);
        let Some(repository) = self.catalogue.repositories(&scope).await?.pop() else { return Ok(None) };
        let (cache, meter) = (SourceCache::default(), Arc::default());
        let request = SyncRequest { repository, cache, rebuild: asked.rebuild, lane: asked.lane, meter };
        let run = match self.sync.run_if(request, self.is_awaited(job)).await {
            Ok(Synced::Unchanged { .. }) => None,
            Ok(Synced::Begun { run, .. }) => Some(run),
            Err(error) if is_refusal(&error) => {
                // The failed run is already recorded. Without a change of the input, another attempt would
                // give the same error.
                self.answer(job, Some((error.code, error.chain()))).await?;
                return Ok(None);
            }
            // A request is dispatched only if the repository has no unfinished run. Therefore a process began
            // this run for the request, but died before it could record the outcome.
            Err(error) if error.code == FailureCode::Conflict => match self.unfinished(job).await? {
                Some(run) => Some(run),
                // The request was cancelled, and the sync lost its lease.
                None if !self.is_awaited(job).await? => return Ok(None),
                None => return Err(StageError::busy(error.chain())),
            },
            Err(error) => return Err(error),
        };
        self.answer(job, None).await?;
        Ok(run)
    }

    async fn is_awaited(&self, job: &SyncJob) -> Result<bool, StageError> {
        Ok(self.requests.asked(job.repository, job.request).await?.is_some())
    }

    async fn postponed(
        &self,
        job: &SyncJob,
        code: FailureCode,
        message: String,
        after: Duration,
    ) -> Result<(), StageError> {
        let now_ms = self.clock.now_ms();
        let until_ms = now_ms.saturating_add(i64::try_from(after.as_millis()).unwrap_or(i64::MAX));
        Ok(self.requests.postpone(job.repository, job.request, (code, message), now_ms, until_ms).await?)
    }

    async fn is_new_failure(&self, job: &SyncJob, code: FailureCode) -> Result<bool, StageError> {
        let asked = self.requests.asked(job.repository, job.request).await?;
        Ok(!asked.is_some_and(|asked| asked.is_scheduled) || !self.has_failed_so(job, code).await?)
    }

    async fn failed(&self, job: &SyncJob, code: FailureCode, message: String) -> Result<(), StageError> {
        self.answer(job, Some((code, message))).await
    }
}

impl SyncWorker {
    /// Whether the previous sync of the repository failed with this code.
    async fn has_failed_so(&self, job: &SyncJob, code: FailureCode) -> Result<bool, StageError> {
        let scope = Scope::only(job.tenant.clone(), [job.repository]);
        let last = self.catalogue.repositories(&scope).await?.pop().and_then(|repository| repository.last_sync);
        Ok(last.and_then(|last| last.failure).is_some_and(|(last_code, _)| last_code == code))
    }

    async fn unfinished(&self, job: &SyncJob) -> Result<Option<RunId>, StageError> {
        let newest = self.runs.runs(Some(job.repository), 1).await?.pop();
        Ok(newest.filter(|run| run.state == RunState::Running).map(|run| run.id))
    }

    async fn answer(&self, job: &SyncJob, failure: Option<(FailureCode, String)>) -> Result<(), StageError> {
        Ok(self.requests.answer(job.repository, job.request, failure, self.clock.now_ms()).await?)
    }
}
