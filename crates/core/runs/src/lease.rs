//! The lease for syncing a repository. Only one worker holds the lease at a time. The lease expires after
//! some time, because a holder may crash before it ends the lease.

use cairn_domain::SyncProgress;

use crate::Refusal;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeaseState {
    /// The epoch of the newest holder. Each new holder gets a higher epoch.
    pub epoch: u64,
    pub expires_at_ms: i64,
    /// False after the holder has ended the lease.
    pub is_held: bool,
    /// The progress that the holder last reported.
    pub progress: SyncProgress,
}

const LOST: Refusal = Refusal::Conflict("the lease has ended, or another worker holds the lease");

impl LeaseState {
    pub fn is_active(&self, now_ms: i64) -> bool {
        self.is_held && self.expires_at_ms > now_ms
    }

    /// Makes the caller the holder and returns its epoch.
    pub fn take(&mut self, now_ms: i64, ttl_ms: i64) -> Result<u64, Refusal> {
        if self.is_active(now_ms) {
            return Err(Refusal::Conflict("another worker holds the lease and is syncing the repository"));
        }
        // The epoch is at least the current time. Otherwise, a repository that was deleted and registered
        // again could reuse an epoch that an earlier holder still uses.
        let epoch = (self.epoch + 1).max(now_ms.max(0) as u64);
        let expires_at_ms = now_ms.saturating_add(ttl_ms);
        *self = Self { epoch, expires_at_ms, is_held: true, progress: SyncProgress::default() };
        Ok(epoch)
    }

    /// Renews the lease, or ends the lease if `ttl_ms` is 0. An expired lease can be renewed if no other
    /// worker has taken the lease.
    pub fn renew(&mut self, epoch: u64, now_ms: i64, ttl_ms: i64, progress: SyncProgress) -> Result<(), Refusal> {
        self.check(epoch)?;
        let is_held = ttl_ms > 0;
        let progress = if is_held { progress } else { SyncProgress::default() };
        *self = Self { epoch, expires_at_ms: now_ms.saturating_add(ttl_ms), is_held, progress };
        Ok(())
    }

    /// Ends the lease, although its holder has not ended it.
    pub fn revoke(&mut self, now_ms: i64) {
        if self.is_held {
            *self = Self { epoch: self.epoch + 1, expires_at_ms: now_ms, ..Self::default() };
        }
    }

    /// Accepts only the epoch of the current holder.
    pub fn check(&self, epoch: u64) -> Result<(), Refusal> {
        if self.is_held && self.epoch == epoch { Ok(()) } else { Err(LOST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: SyncProgress = SyncProgress { fetched_bytes: 7, num_files_read: 3 };

    #[test]
    fn progress_is_reset_with_the_lease() {
        let mut lease = LeaseState::default();
        let first = lease.take(0, 100).expect("free");
        lease.renew(first, 50, 100, FAR).expect("held");
        assert_eq!(lease.progress, FAR);
        let second = lease.take(200, 100).expect("expired");
        assert_eq!(lease.progress, SyncProgress::default());
        lease.renew(second, 210, 0, FAR).expect("held");
        assert_eq!(lease.progress, SyncProgress::default());
    }

    #[test]
    fn late_holder_is_refused() {
        let mut lease = LeaseState::default();
        let first = lease.take(0, 100).expect("free");
        assert!(lease.take(99, 100).is_err());
        assert_eq!(lease.renew(first, 99, 100, FAR), Ok(()));
        assert!(lease.take(198, 100).is_err());
        let second = lease.take(199, 100).expect("expired");
        assert!(second > first);
        assert_eq!(lease.renew(first, 200, 100, FAR), Err(LOST));
        assert_eq!(lease.check(first), Err(LOST));
        assert_eq!(lease.renew(second, 1000, 0, FAR), Ok(()));
        assert_eq!(lease.check(second), Err(LOST));
        assert!(lease.take(1000, 100).is_ok());
    }
}
