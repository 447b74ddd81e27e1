//! Caches the layers and the lists of keys that were read from the blob store.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{RepositoryId, View};
use cairn_recent::Recent;

/// Maximum memory of the cached layers.
const MAX_CACHED_BYTES: usize = 512 << 20;

/// A list of keys with the view for which it was made.
///
/// All layers that the view needs were staged before the list was made. So the list is also valid for older
/// views.
struct Listing {
    seq: u64,
    next_gen: u64,
    keys: Arc<Vec<String>>,
}

/// The most recently used layers, and the lists of keys.
pub(crate) struct Cache<L> {
    pub(crate) layers: Recent<String, Arc<L>>,
    /// The lists of keys, by repository. The list for all repositories has the key `None`.
    listings: BTreeMap<Option<RepositoryId>, Listing>,
}

impl<L> Default for Cache<L> {
    fn default() -> Self {
        Self { layers: Recent::new(MAX_CACHED_BYTES), listings: BTreeMap::new() }
    }
}

impl<L> Cache<L> {
    pub(crate) fn keys(&self, repository: Option<RepositoryId>, view: &View) -> Option<Arc<Vec<String>>> {
        let listing = self.listings.get(&repository)?;
        let serves = listing.seq >= view.seq.0 && listing.next_gen >= view.next_gen;
        serves.then(|| Arc::clone(&listing.keys))
    }

    pub(crate) fn set_keys(
        &mut self,
        repository: Option<RepositoryId>,
        view: &View,
        keys: Vec<String>,
    ) -> Arc<Vec<String>> {
        let keys = Arc::new(keys);
        let listing = Listing { seq: view.seq.0, next_gen: view.next_gen, keys: Arc::clone(&keys) };
        self.listings.insert(repository, listing);
        keys
    }

    /// Removes the cached lists that contain the repository.
    pub(crate) fn forget_keys(&mut self, repository: RepositoryId) {
        self.listings.remove(&Some(repository));
        self.listings.remove(&None);
    }
}
