//! Claims on contents that a part in this process is embedding. A second part with the same contents waits
//! for their vectors, so that the provider charges only once for the same text.

use std::sync::{Mutex, MutexGuard, PoisonError};

use cairn_domain::{ContentHash, Tenant};
use rustc_hash::FxHashSet;
use tokio::sync::watch;

/// The claimed contents, each with its tenant. A claim applies only to one tenant, because tenants do not
/// share cached vectors.
type Taken = FxHashSet<(Tenant, ContentHash)>;

#[derive(Default)]
pub(crate) struct Claims {
    taken: Mutex<Taken>,
    num_ended: watch::Sender<u64>,
}

/// The contents that one part embeds. The claim on these contents ends when this value is dropped, even if
/// the part has failed.
pub(crate) struct Claim<'a> {
    claims: &'a Claims,
    own: Taken,
}

impl Claims {
    /// Claims the contents that no other part has claimed.
    pub fn take(&self, tenant: &Tenant, contents: impl Iterator<Item = ContentHash>) -> Claim<'_> {
        let mut taken = self.taken();
        let contents = contents.map(|content| (tenant.clone(), content));
        let own = contents.filter(|content| taken.insert(content.clone())).collect();
        Claim { claims: self, own }
    }

    /// Returns a receiver that is notified each time a claim ends after this call.
    pub fn ends(&self) -> watch::Receiver<u64> {
        self.num_ended.subscribe()
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claim<'_> {
    pub fn has(&self, tenant: &Tenant, content: ContentHash) -> bool {
        self.own.contains(&(tenant.clone(), content))
    }

    /// Keeps the claim on the contents that `is_kept` selects, and releases all other contents.
    pub fn keep(&mut self, is_kept: impl Fn(ContentHash) -> bool) {
        let mut taken = self.claims.taken();
        let before = self.own.len();
        self.own.retain(|content| is_kept(content.1) || !taken.remove(content));
        if self.own.len() < before {
            self.claims.num_ended.send_modify(|num_ended| *num_ended += 1);
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.keep(|_| false);
    }
}
