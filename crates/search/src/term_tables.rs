//! The term counts of the repositories that a question searches.
//!
//! The manifest of a generation lists the layers of its counts. Layers never change, so they are cached by
//! key. A question reads only the layers of its own scope: a repository that the caller may not see changes
//! no weight.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_domain::{ArtifactRef, TermCounts};
use cairn_ports::BlobStoreExt;
use cairn_ranking::ScopeFrequencies;
use cairn_wire::{ArtifactKind, decode};
use futures::{StreamExt, TryStreamExt, stream};

use crate::code::damaged;
use crate::repositories::KnownRepository;
use crate::{QueryError, Searcher};

/// Maximum memory of the cached layers.
const MAX_CACHED_BYTES: usize = 256 << 20;
/// Maximum number of generations whose lists of layers are cached.
const MAX_LISTS: usize = 20_000;
/// Number of repositories whose layers are read at the same time.
const READS_AT_ONCE: usize = 16;

/// A cache of layers. All questions of a process share it.
#[derive(Default)]
pub struct TermTables(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    clock: u64,
    num_bytes: usize,
    /// The layers by key, each with the time of its last use.
    layers: BTreeMap<String, (Arc<TermCounts>, u64)>,
    /// The layers of each generation, by the key of its manifest.
    lists: BTreeMap<String, Arc<Vec<ArtifactRef>>>,
}

impl TermTables {
    fn cached(&self) -> MutexGuard<'_, Cached> {
        // No method leaves the cache inconsistent, so it can be used after a panic of another thread.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cached {
    fn layer(&mut self, key: &str) -> Option<Arc<TermCounts>> {
        self.clock += 1;
        let (layer, used) = self.layers.get_mut(key)?;
        *used = self.clock;
        Some(Arc::clone(layer))
    }

    fn add_layer(&mut self, key: &str, layer: &Arc<TermCounts>) {
        self.clock += 1;
        if self.layers.insert(key.to_owned(), (Arc::clone(layer), self.clock)).is_none() {
            self.num_bytes += size_bytes(layer);
        }
        while self.num_bytes > MAX_CACHED_BYTES && self.layers.len() > 1 {
            let least = self.layers.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            let Some((removed, _)) = least.and_then(|key| self.layers.remove(&key)) else { return };
            self.num_bytes -= size_bytes(&removed);
        }
    }

    fn add_list(&mut self, manifest: &str, layers: &Arc<Vec<ArtifactRef>>) {
        if self.lists.len() >= MAX_LISTS {
            self.lists.clear();
        }
        self.lists.insert(manifest.to_owned(), Arc::clone(layers));
    }
}

fn size_bytes(layer: &TermCounts) -> usize {
    size_of_val(layer.terms.as_slice())
}

impl Searcher {
    /// The frequencies of the question's terms in the repositories.
    pub(crate) async fn frequencies(
        &self,
        selected: &[KnownRepository],
        question: &str,
    ) -> Result<ScopeFrequencies, QueryError> {
        let mut frequencies = ScopeFrequencies::of(question);
        let tables_of = |index: usize| self.tables_of(&selected[index]);
        let mut all = stream::iter(0..selected.len()).map(tables_of).buffered(READS_AT_ONCE);
        while let Some(tables) = all.try_next().await? {
            frequencies.add(&tables);
        }
        Ok(frequencies)
    }

    /// The layers of a repository. Empty if it is not published, or if an older release indexed it.
    pub(crate) async fn tables_of(&self, known: &KnownRepository) -> Result<Vec<Arc<TermCounts>>, QueryError> {
        let mut tables = Vec::new();
        for reference in self.layers_of(known).await?.iter() {
            tables.push(self.layer(reference).await?);
        }
        Ok(tables)
    }

    async fn layers_of(&self, known: &KnownRepository) -> Result<Arc<Vec<ArtifactRef>>, QueryError> {
        let Some(published) = &known.published else { return Ok(Arc::default()) };
        let key = &published.manifest.key;
        let cached = self.term_tables.cached().lists.get(key).map(Arc::clone);
        if let Some(layers) = cached {
            return Ok(layers);
        }
        let layers = Arc::new(self.manifest(known).await?.map(|manifest| manifest.terms).unwrap_or_default());
        self.term_tables.cached().add_list(key, &layers);
        Ok(layers)
    }

    async fn layer(&self, reference: &ArtifactRef) -> Result<Arc<TermCounts>, QueryError> {
        let cached = self.term_tables.cached().layer(&reference.key);
        if let Some(layer) = cached {
            return Ok(layer);
        }
        let bytes = self.blobs.get_artifact(reference).await?;
        let table = decode(ArtifactKind::TermCounts, &bytes).map_err(|error| damaged(&reference.key, &error))?;
        let table = Arc::new(table);
        self.term_tables.cached().add_layer(&reference.key, &table);
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_used_layers_leave_the_cache() {
        let terms = vec![(0, 1); MAX_CACHED_BYTES / size_of::<(u32, i32)>() / 2];
        let large = Arc::new(TermCounts { num_chunks: 1, terms });
        let mut cached = Cached::default();
        cached.add_layer("a", &large);
        cached.add_layer("b", &large);
        assert!(cached.layer("a").is_some());
        cached.add_layer("c", &large);
        let found = ["a", "b", "c"].map(|key| cached.layer(key).is_some());
        assert_eq!(found, [true, false, true]);
        assert!(cached.num_bytes <= MAX_CACHED_BYTES);
    }
}
