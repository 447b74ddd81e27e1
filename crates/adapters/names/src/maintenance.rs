//! Sweeps, merges and removes layers.
//!
//! As in search segments, names keep their generations when layers are merged. A merged layer lists the
//! layers that it replaces, and the replaced layers are deleted later. Only layers of published generations
//! are merged: the generations that the sweep reports, and generations that were merged before. A call merges
//! at most one group of layers (`TIERS`), and the next call continues.
//!
//! A generation is *settled* if no view in use is older. The sweep reports each settled generation once. A
//! mark records that the generation is settled, until the layers of the generation are merged. Only the
//! newest mark is kept. One mark is sufficient: if a generation is settled, all earlier published generations
//! are settled too, and merged layers contain only published generations. The names of a path are removed
//! when a settled generation has replaced them. They are also removed when a published generation has
//! replaced them and no view in use sees them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{GenerationId, Interval, RepoPath, RepositoryId, Tenant, View};
use cairn_layered::{Layer as _, NamedLayer, damaged, keys, maintenance_error, replaced_by};
use cairn_ports::{Generations, MaintenanceError, NamesError};
use cairn_runs::{KnownGenerations, Size, Tiers};

use crate::encode::LayerContents;
use crate::format::DamagedLayer;
use crate::index::NameIndex;
use crate::layer::{Layer, contents};

/// The limits count each path and each symbol as one row.
const TIERS: Tiers = Tiers { step_rows: 32_768, dead_part: 4 };

type Named = Vec<NamedLayer<Layer>>;
type Settled = BTreeSet<GenerationId>;

/// `marked` are the generations that a mark or the sweep reports as settled.
fn known<'a>(
    marked: &Settled,
    layers: &Named,
    published: &'a [GenerationId],
    views: &'a [View],
) -> KnownGenerations<'a> {
    let (newest, mut settled) = (marked.last().copied(), marked.clone());
    for (key, layer) in layers.iter().filter(|(key, _)| keys::is_merged(key)) {
        // If the key of a merged layer contains no generation, the layer was written by an earlier release,
        // which merged only settled generations.
        let is_settled = |of: &GenerationId| keys::newest_of_merged(key).is_none() || Some(*of) <= newest;
        settled.extend(layer.generations().filter(is_settled));
    }
    KnownGenerations { settled, published, views }
}

/// For each path, the generations that replaced or removed its names.
struct Ends<'a> {
    of_path: BTreeMap<&'a str, Vec<GenerationId>>,
    known: &'a KnownGenerations<'a>,
}

impl<'a> Ends<'a> {
    fn of(layers: &'a Named, known: &'a KnownGenerations<'a>) -> Self {
        let mut of_path: BTreeMap<&str, Vec<GenerationId>> = BTreeMap::new();
        for (path, generation) in layers.iter().flat_map(|(_, layer)| &layer.header.ended) {
            of_path.entry(path).or_default().push(GenerationId(*generation));
        }
        Self { of_path, known }
    }

    /// Whether a reader sees the names that `gen_from` wrote for the path.
    fn is_alive(&self, gen_from: GenerationId, path: &str) -> bool {
        let mut ends = self.of_path.get(path).into_iter().flatten().filter(|end| **end > gen_from);
        !ends.any(|end| self.known.is_dead(Interval { gen_from, gen_to: *end }))
    }

    /// The size of a layer. The number of symbols that can be removed is estimated from the number of paths
    /// whose names can be removed.
    fn size_of(&self, layer: &Layer) -> Size {
        let (paths, rows) = (&layer.header.paths, layer.num_symbols() as usize + layer.header.paths.len());
        let num_dead = paths.iter().filter(|entry| !self.is_alive(GenerationId(entry.generation), &entry.path)).count();
        Size { rows: rows as u32, dead: (rows * num_dead).div_ceil(paths.len().max(1)) as u32 }
    }
}

impl NameIndex {
    /// Removes replaced layers, and merges one group of layers. Returns the number of removed symbols; `None`
    /// if there was no group.
    async fn step(
        &self,
        repository: RepositoryId,
        settled: &[GenerationId],
        published: &[GenerationId],
        views: &[View],
    ) -> Result<Option<u64>, NamesError> {
        let stored = self.store.stored(repository).await?;
        let layers = self.store.layers(&stored.keys).await?;
        self.store.remove_replaced(&stored, &layers).await?;
        let marked: Settled = stored.marked.iter().chain(settled).copied().collect();
        let known = known(&marked, &layers, published, views);
        let group = group(&layers, &known);
        let is_left = |key: &&String| !keys::is_merged(key) && group.iter().all(|(member, _)| member != *key);
        let left: Settled =
            layers.iter().map(|(key, _)| key).filter(is_left).filter_map(|key| keys::generation_of(key)).collect();
        let of_staged: Settled = stored.keys.iter().filter_map(|key| keys::generation_of(key)).collect();
        // If there are no layers, no mark is needed.
        let newest = marked.last().filter(|_| !layers.is_empty());
        let is_new = |generation: &&GenerationId| !stored.marked.contains(generation);
        self.store.mark(repository, marked.intersection(&left).chain(newest).filter(is_new)).await?;
        // A mark is removed after the staged layers of its generation have been replaced. Only the newest
        // mark remains.
        let is_done = |of: &&GenerationId| !of_staged.contains(of) && newest != Some(*of);
        self.store.unmark(repository, stored.marked.iter().filter(is_done)).await?;
        if group.is_empty() {
            return Ok(None);
        }
        let (contents, num_removed) =
            merge(&group, &layers, &known, &stored.keys).map_err(|damage| damaged_index(damage, repository))?;
        self.write_merged(&contents, newest_of(&group)).await?;
        Ok(Some(num_removed))
    }

    /// Writes a layer that replaces other layers. `newest` is the newest generation whose names were ever in
    /// these layers. The new layer need not contain a name of this generation.
    async fn write_merged(&self, contents: &LayerContents, newest: GenerationId) -> Result<String, NamesError> {
        self.write(contents, |bytes| keys::merged(Layer::FOLDER, contents.repository, Some(newest), bytes)).await
    }

    async fn remove(&self, tenant: &Tenant, repository: RepositoryId, before: GenerationId) -> Result<(), NamesError> {
        for key in self.store.remove_before(repository, before).await? {
            self.remove_from_merged(tenant, &key, before).await?;
        }
        self.store.forget_keys(repository);
        Ok(())
    }

    /// Removes the names of generations before `before` from a merged layer. The layer can also contain names
    /// of later generations if the repository was indexed again before this removal.
    async fn remove_from_merged(&self, tenant: &Tenant, key: &str, before: GenerationId) -> Result<(), NamesError> {
        // The names of an unreadable layer cannot be kept, and the repository is being removed in any case.
        let Some(layer) = self.store.readable(key).await? else { return self.store.delete(key).await };
        if layer.generations().any(|generation| generation >= before) {
            let mut contents = contents(&layer, |generation, _| generation >= before)
                .map_err(|damage| damaged::<Layer>(damage, key))?;
            contents.tenant = tenant.clone();
            contents.ended.retain(|(_, generation)| *generation >= before);
            // The new layer must list all replaced layers that still exist, so that readers continue to
            // ignore them.
            contents.replaces = vec![key.to_owned()];
            contents.replaces.extend(layer.header.replaces.iter().cloned());
            self.write_merged(&contents, newest_of(&[(key.to_owned(), Arc::clone(&layer))])).await?;
        }
        self.store.delete(key).await
    }

    async fn verify_all(&self, repository: RepositoryId) -> Result<(), NamesError> {
        for key in self.store.list(Some(repository)).await? {
            let bytes = self.store.bytes(&key, "verify").await?;
            let all = Layer::read(&bytes).and_then(|layer| contents(&layer, |_, _| true));
            all.map_err(|damage| damaged::<Layer>(damage, &key))?;
        }
        Ok(())
    }
}

fn damaged_index(damage: DamagedLayer, repository: RepositoryId) -> NamesError {
    damaged::<Layer>(damage, &keys::prefix(Layer::FOLDER, repository))
}

/// The newest generation whose names were ever in the layers, even if these names were removed later.
fn newest_of(layers: &[NamedLayer<Layer>]) -> GenerationId {
    let of_layer = layers.iter().flat_map(|(_, layer)| layer.generations().collect::<Vec<_>>());
    let of_keys = layers.iter().filter_map(|(key, _)| keys::newest_of_merged(key));
    of_layer.chain(of_keys).max().unwrap_or(GenerationId(0))
}

/// The layers that the next step merges into one layer.
fn group(layers: &Named, known: &KnownGenerations<'_>) -> Named {
    let ends = Ends::of(layers, known);
    let is_published = |key: &str, layer: &Layer| {
        keys::is_merged(key) || layer.generations().all(|generation| known.is_published(generation))
    };
    let published: Vec<&NamedLayer<Layer>> = layers.iter().filter(|(key, layer)| is_published(key, layer)).collect();
    let sizes: Vec<Size> = published.iter().map(|(_, layer)| ends.size_of(layer)).collect();
    TIERS.next_group(&sizes).into_iter().map(|number| published[number].clone()).collect()
}

/// Returns the contents of one layer that replaces the group, and the number of removed symbols.
fn merge(
    group: &Named,
    layers: &Named,
    known: &KnownGenerations<'_>,
    keys: &[String],
) -> Result<(LayerContents, u64), DamagedLayer> {
    let ends = Ends::of(layers, known);
    let mut parts = Vec::new();
    let mut num_symbols = 0;
    for (_, layer) in group {
        num_symbols += u64::from(layer.num_symbols());
        parts.push(contents(layer, |generation, path| ends.is_alive(generation, path))?);
    }
    let mut merged = parts.remove(0);
    for part in parts {
        merged.files.extend(part.files);
        merged.symbols.extend(part.symbols);
        merged.ended.extend(part.ended);
    }
    let is_other = |key: &str| group.iter().all(|(member, _)| member != key);
    let others: Vec<&Layer> = layers.iter().filter(|(key, _)| is_other(key)).map(|(_, layer)| &**layer).collect();
    let mut first: BTreeMap<RepoPath, GenerationId> = BTreeMap::new();
    let of_symbols = merged.symbols.iter().map(|(symbol, generation)| (&symbol.path, *generation));
    for (path, generation) in of_symbols.chain(merged.files.iter().map(|(path, generation)| (path, *generation))) {
        let known = first.entry(path.clone()).or_insert(generation);
        *known = generation.min(*known);
    }
    merged.ended.retain(|(path, generation)| {
        first.get(path).is_some_and(|first| first < generation)
            || others.iter().any(|layer| has_before(layer, path, *generation))
    });
    merged.replaces = replaced_by(group, keys);
    let num_removed = num_symbols - merged.symbols.len() as u64;
    Ok((merged, num_removed))
}

fn has_before(layer: &Layer, path: &RepoPath, generation: GenerationId) -> bool {
    let first = layer.header.paths.partition_point(|entry| entry.path.as_str() < path.as_str());
    let mut of_path = layer.header.paths[first..].iter().take_while(|entry| entry.path == path.as_str());
    of_path.any(|entry| entry.generation < generation.0)
}

#[async_trait]
impl Generations for NameIndex {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        let swept = self.step(repository, published, &[], &[]).await;
        swept.map(Option::unwrap_or_default).map_err(|error| maintenance_error(error, "sweep_retired", repository))
    }

    async fn sweep_unseen(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
        views: &[View],
    ) -> Result<u64, MaintenanceError> {
        let swept = self.step(repository, &[], published, views).await;
        swept.map(Option::unwrap_or_default).map_err(|error| maintenance_error(error, "sweep_unseen", repository))
    }

    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError> {
        self.store
            .sweep_aborted(repository, aborted)
            .await
            .map_err(|error| maintenance_error(error, "sweep_aborted", repository))
    }

    async fn remove_repository(
        &self,
        tenant: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError> {
        let removed = self.remove(tenant, repository, before).await;
        removed.map_err(|error| maintenance_error(error, "remove_repository", repository))
    }

    async fn compact(&self, repository: RepositoryId) -> Result<bool, MaintenanceError> {
        let compacted = self.step(repository, &[], &[], &[]).await;
        compacted.map(|removed| removed.is_some()).map_err(|error| maintenance_error(error, "compact", repository))
    }

    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        self.verify_all(repository).await.map_err(|error| maintenance_error(error, "verify", repository))
    }
}
