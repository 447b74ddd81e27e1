//! Renews the lease of a running sync.

use std::time::Duration;

use cairn_pipeline::StageError;
use cairn_ports::{ErrorKind, Lease, SyncMeter};
use tokio::time::Instant;

use super::Sync;

/// The pause between two attempts to renew a lease while the ledger is unavailable.
const HEARTBEAT_AGAIN: Duration = Duration::from_secs(1);

impl Sync {
    /// Renews the lease and records the progress of the sync. Returns only if the lease is lost: another
    /// holder has taken the lease, or the lease expired while the ledger was unavailable.
    pub(super) async fn heartbeat(&self, lease: Lease, asked_at: Instant, meter: &SyncMeter) -> StageError {
        let lasts = Duration::from_millis(self.lease_ms as u64);
        let (mut held_until, mut pause) = (asked_at + lasts, lasts / 4);
        loop {
            tokio::time::sleep(pause).await;
            let asked_at = Instant::now();
            let renewing = self.ledger.renew(lease, self.clock.now_ms(), self.lease_ms, meter.progress());
            // If this process was held up until the lease had expired, the ledger decides: it renews the
            // lease unless another holder has taken the lease.
            match tokio::time::timeout_at(held_until.max(asked_at + lasts / 4), renewing).await {
                Ok(Ok(())) => (held_until, pause) = (asked_at + lasts, lasts / 4),
                Ok(Err(error)) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => {
                    return error.into();
                }
                Ok(Err(error)) => {
                    let error = StageError::from(error);
                    if Instant::now() >= held_until {
                        return error;
                    }
                    tracing::warn!(repository = %lease.repository, "the lease is not renewed yet: {}", error.chain());
                    pause = HEARTBEAT_AGAIN.min(lasts / 4);
                }
                Err(_) => return StageError::timed_out(lasts),
            }
        }
    }
}
