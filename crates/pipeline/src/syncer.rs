//! The worker of jobs that request a sync.

use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::RunId;
use cairn_ports::FailureCode;
use cairn_wire::SyncJob;

use crate::StageError;

/// A sync may be requested twice and stopped at any `await`: everything that it writes before its run begins
/// is named by content.
#[async_trait]
pub trait Syncer: Send + Sync {
    /// Syncs the repository and answers the request. Returns the run that it began, if anything was new.
    async fn sync(&self, job: &SyncJob) -> Result<Option<RunId>, StageError>;

    /// Whether the request is still open.
    async fn is_awaited(&self, job: &SyncJob) -> Result<bool, StageError>;

    /// Records that an attempt failed and that the job is delivered again after that time.
    async fn postponed(
        &self,
        job: &SyncJob,
        code: FailureCode,
        message: String,
        after: Duration,
    ) -> Result<(), StageError>;

    /// Whether the failure differs from the last outcome. A scheduled sync that fails with the same code as
    /// the sync before it is not a new failure.
    async fn is_new_failure(&self, job: &SyncJob, code: FailureCode) -> Result<bool, StageError>;

    /// Answers a request that cannot be fulfilled.
    async fn failed(&self, job: &SyncJob, code: FailureCode, message: String) -> Result<(), StageError>;
}
