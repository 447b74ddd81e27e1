//! Caches the layers and the lists of keys that were read from the blob store.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{RepositoryId, View};

use crate::layer::Layer;

/// A list of keys with the view for which it was made.
///
/// All layers that the view needs were staged before the list was made. So the list is also valid for older
/// views.
struct Listing {
    seq: u64,
    next_gen: u64,
    keys: Arc<Vec<String>>,
}

/// The most recently used layers, up to a memory limit, and the lists of keys.
pub(crate) struct Cache {
    max_bytes: usize,
    num_bytes: usize,
    clock: u64,
    layers: BTreeMap<String, (Arc<Layer>, u64)>,
    listings: BTreeMap<RepositoryId, Listing>,
}

impl Cache {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, num_bytes: 0, clock: 0, layers: BTreeMap::new(), listings: BTreeMap::new() }
    }

    pub(crate) fn keys(&self, repository: RepositoryId, view: &View) -> Option<Arc<Vec<String>>> {
        let listing = self.listings.get(&repository)?;
        let serves = listing.seq >= view.seq.0 && listing.next_gen >= view.next_gen;
        serves.then(|| Arc::clone(&listing.keys))
    }

    pub(crate) fn set_keys(&mut self, repository: RepositoryId, view: &View, keys: Vec<String>) -> Arc<Vec<String>> {
        let keys = Arc::new(keys);
        let listing = Listing { seq: view.seq.0, next_gen: view.next_gen, keys: Arc::clone(&keys) };
        self.listings.insert(repository, listing);
        keys
    }

    pub(crate) fn forget_keys(&mut self, repository: RepositoryId) {
        self.listings.remove(&repository);
    }

    pub(crate) fn layer(&mut self, key: &str) -> Option<Arc<Layer>> {
        self.clock += 1;
        let (layer, used) = self.layers.get_mut(key)?;
        *used = self.clock;
        Some(Arc::clone(layer))
    }

    pub(crate) fn add_layer(&mut self, key: &str, layer: &Arc<Layer>) {
        self.clock += 1;
        self.num_bytes += layer.size_bytes();
        if let Some((old, _)) = self.layers.insert(key.to_owned(), (Arc::clone(layer), self.clock)) {
            self.num_bytes -= old.size_bytes();
        }
        while self.num_bytes > self.max_bytes && self.layers.len() > 1 {
            self.drop_least_used();
        }
    }

    fn drop_least_used(&mut self) {
        let least = self.layers.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
        if let Some((layer, _)) = least.and_then(|key| self.layers.remove(&key)) {
            self.num_bytes -= layer.size_bytes();
        }
    }
}
