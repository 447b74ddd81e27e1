//! What takes the jobs that ask for a sync.

use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::RunId;
use cairn_wire::SyncJob;

use crate::StageError;

/// A sync may be asked for twice and stopped at any `await`: what it writes before its run begins is named by content.
#[async_trait]
pub trait Syncer: Send + Sync {
    /// Does what the request asks for, and answers it. Returns the run that it began, if anything was new.
    async fn sync(&self, job: &SyncJob) -> Result<Option<RunId>, StageError>;

    /// Whether somebody still waits for the answer.
    async fn is_awaited(&self, job: &SyncJob) -> Result<bool, StageError>;

    /// An attempt failed, and the job comes again after that.
    async fn postponed(&self, job: &SyncJob, code: String, message: String, after: Duration) -> Result<(), StageError>;

    /// Whether a failure tells anything new. It does not if a schedule asked for the sync and the one before failed so as well.
    async fn is_new_failure(&self, job: &SyncJob, code: &str) -> Result<bool, StageError>;

    /// Answers a request that cannot be met.
    async fn failed(&self, job: &SyncJob, code: String, message: String) -> Result<(), StageError>;
}
