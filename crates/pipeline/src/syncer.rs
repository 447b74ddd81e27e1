//! The interface to the code that runs sync jobs.

use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::RunId;
use cairn_ports::FailureCode;
use cairn_wire::SyncJob;

use crate::StageError;

/// Runs sync jobs. A sync may be requested twice, and may be stopped at any `await`. A repetition is safe,
/// because all artifacts that a sync writes before its run begins are named by their content.
#[async_trait]
pub trait Syncer: Send + Sync {
    /// Syncs the repository and answers the request. If the source has changed, returns the run that the sync
    /// began.
    async fn sync(&self, job: &SyncJob) -> Result<Option<RunId>, StageError>;

    /// Whether the request is still open.
    async fn is_awaited(&self, job: &SyncJob) -> Result<bool, StageError>;

    /// Stores the failure of an attempt. The job is delivered again after the time `after`.
    async fn postponed(
        &self,
        job: &SyncJob,
        code: FailureCode,
        message: String,
        after: Duration,
    ) -> Result<(), StageError>;

    /// Whether the failure differs from the last outcome. If a scheduled sync fails with the same code as the
    /// previous sync, this is not a new failure.
    async fn is_new_failure(&self, job: &SyncJob, code: FailureCode) -> Result<bool, StageError>;

    /// Stores the reason why a request cannot be fulfilled.
    async fn failed(&self, job: &SyncJob, code: FailureCode, message: String) -> Result<(), StageError>;
}
