//! Ends the work of a sync at its deadline.
//!
//! The work of a sync runs on threads, which cannot be ended from outside. So the code on these threads
//! checks the meter of the sync at intervals, and returns if the sync was stopped.

use std::sync::Arc;
use std::time::Duration;

use cairn_pipeline::StageError;
use cairn_ports::SyncMeter;
use tokio::time::Instant;

use super::ceiling::Ceiling;
use super::refusal::over_budget;

/// The time at which a sync must end.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    began_at: Instant,
    limit_seconds: u64,
}

impl Deadline {
    pub(super) fn new(began_at: Instant, limit_seconds: u64) -> Self {
        Self { began_at, limit_seconds }
    }

    /// Runs a part of the sync. If the deadline passes, the threads that work for the sync are stopped. The
    /// threads are also stopped if the caller drops the future, for example because the lease is lost.
    pub(super) async fn limit<T>(
        self,
        meter: &Arc<SyncMeter>,
        part: impl Future<Output = Result<T, StageError>>,
    ) -> Result<T, StageError> {
        let mut stopping = StopUnlessEnded { meter, has_ended: false };
        let ends_at = self.began_at + Duration::from_secs(self.limit_seconds);
        let result = tokio::time::timeout_at(ends_at, part).await;
        stopping.has_ended = result.is_ok();
        result.unwrap_or_else(|_| Err(self.passed()))
    }

    fn passed(self) -> StageError {
        let figure = self.began_at.elapsed().as_secs();
        over_budget("seconds of wall time", figure, self.limit_seconds, Ceiling::SyncTimeout)
    }
}

struct StopUnlessEnded<'m> {
    meter: &'m Arc<SyncMeter>,
    has_ended: bool,
}

impl Drop for StopUnlessEnded<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.meter.stop();
        }
    }
}

/// Returns an error if the sync was stopped.
pub(super) fn check_stopped(meter: &SyncMeter) -> Result<(), StageError> {
    if meter.is_stopped() { Err(StageError::cancelled()) } else { Ok(()) }
}
