//! Sweeps, merges and removes layers.
//!
//! Files keep their generations when layers are merged. A merged layer lists the layers that it replaces, and
//! the replaced layers are deleted later. Only settled generations are merged: generations that the sweep has
//! reported, and generations that were merged before. The sweep reports each generation once. If the layers
//! of the generation are not merged at that time, a mark is stored to record that the generation is settled.
//!
//! Layers are merged in tiers by size. A call merges at most one group of layers, so the cost of a call is
//! limited. A file is rewritten at most once for each tier of its repository.

use std::collections::BTreeSet;

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{GenerationId, RepositoryId, Tenant};
use cairn_layered::{Layer as _, LayerStore, NamedLayer, damaged, keys, maintenance_error, replaced_by};
use cairn_ports::{Generations, MaintenanceError, TextsError};

use crate::format::{DamagedLayer, FileEntry};
use crate::index::TextIndex;
use crate::layer::Layer;
use crate::merge::{MergedHeader, merge_layers};

/// The layers of each tier are up to four times as large as the layers of the previous tier. If a tier
/// contains this number of layers, the layers of the tier are merged with all smaller layers.
const TIER_LAYERS: usize = 4;
/// A layer is merged if more than a quarter of its files are invisible to all views.
const REMOVED_PART: usize = 4;

type Named = Vec<NamedLayer<Layer>>;
type Settled = BTreeSet<GenerationId>;

impl TextIndex {
    async fn reorganise(&self, repository: RepositoryId, published: &[GenerationId]) -> Result<u64, TextsError> {
        let stored = self.store.stored(repository).await?;
        let layers = self.store.layers(&stored.keys).await?;
        self.store.remove_replaced(&stored, &layers).await?;
        let (merged, staged): (Named, Named) = layers.iter().cloned().partition(|(key, _)| keys::is_merged(key));
        let mut settled: Settled =
            merged.iter().flat_map(|(_, layer)| layer.generations().collect::<Vec<_>>()).collect();
        settled.extend(published.iter().chain(&stored.marked));
        let is_settled =
            |(_, layer): &&NamedLayer<Layer>| layer.generations().all(|generation| settled.contains(&generation));
        let candidates: Named = merged.iter().chain(staged.iter().filter(is_settled)).cloned().collect();
        let (all, settled_of_task) = (layers.clone(), settled.clone());
        let choose = move || group_to_merge(candidates, &all, &settled_of_task);
        let group = LayerStore::<Layer>::blocking("merge", choose).await?;
        let left = staged.iter().filter(|(key, _)| group.iter().all(|(member, _)| member != key));
        let left: Settled = left.filter_map(|(key, _)| keys::generation_of(key)).collect();
        let is_new = |generation: &&GenerationId| !stored.marked.contains(generation);
        self.store.mark(repository, left.intersection(&settled).filter(is_new)).await?;
        // The mark of a generation is removed after the staged layers of the generation have been replaced.
        let of_staged: Settled = staged.iter().filter_map(|(key, _)| keys::generation_of(key)).collect();
        self.store.unmark(repository, stored.marked.difference(&of_staged)).await?;
        if group.is_empty() {
            return Ok(0);
        }
        let merge = move || merge(&group, &layers, &settled, &stored.keys);
        let merged = LayerStore::<Layer>::blocking("merge", merge).await?;
        let damaged = |damage| damaged::<Layer>(damage, &keys::prefix(Layer::FOLDER, repository));
        let (bytes, num_removed) = merged.map_err(damaged)?;
        let key = keys::merged(Layer::FOLDER, repository, None, &bytes);
        self.write(repository, key, bytes).await?;
        Ok(num_removed)
    }

    async fn remove(&self, tenant: &Tenant, repository: RepositoryId, before: GenerationId) -> Result<(), TextsError> {
        for key in self.store.remove_before(repository, before).await? {
            self.remove_from_merged(tenant, &key, before).await?;
        }
        self.store.forget_keys(repository);
        Ok(())
    }

    /// Removes the texts of generations before `before` from a merged layer. The layer can also contain texts
    /// of later generations if the repository was indexed again before this removal.
    async fn remove_from_merged(&self, tenant: &Tenant, key: &str, before: GenerationId) -> Result<(), TextsError> {
        // The texts of an unreadable layer cannot be kept, and the repository is being removed in any case.
        let Some(layer) = self.store.readable(key).await? else { return self.store.delete(key).await };
        if layer.generations().any(|generation| generation >= before) {
            let repository = layer.repository();
            // The new layer must list all replaced layers that still exist, so that they stay replaced.
            let replaces = std::iter::once(key.to_owned()).chain(layer.header.replaces.iter().cloned()).collect();
            let ended = layer.header.ended.iter().filter(|(_, generation)| *generation >= before.0).cloned().collect();
            let target = MergedHeader { tenant: tenant.clone(), repository, replaces, ended };
            let rest = move || merge_layers(target, &[&layer], |file| file.generation >= before.0);
            let rest = LayerStore::<Layer>::blocking("remove", rest).await?;
            let (bytes, _) = rest.map_err(|damage| damaged::<Layer>(damage, key))?;
            let new_key = keys::merged(Layer::FOLDER, repository, None, &bytes);
            self.write(repository, new_key, bytes).await?;
        }
        self.store.delete(key).await
    }

    async fn verify_all(&self, repository: RepositoryId) -> Result<(), TextsError> {
        for key in self.store.list(Some(repository)).await? {
            let bytes = self.store.bytes(&key, "verify").await?;
            let verified = LayerStore::<Layer>::blocking("verify", move || verify(&bytes)).await?;
            verified.map_err(|damage| damaged::<Layer>(damage, &key))?;
        }
        Ok(())
    }
}

fn verify(bytes: &Bytes) -> Result<(), DamagedLayer> {
    let layer = Layer::read(bytes)?;
    for entry in layer.lists(0) {
        let (_, list) = entry?;
        layer.files_of(list)?;
    }
    Ok(())
}

fn weight(layer: &Layer) -> usize {
    layer.num_files() + layer.header.ended.len()
}

fn tier(layer: &Layer) -> u32 {
    weight(layer).checked_ilog(TIER_LAYERS).unwrap_or(0)
}

/// Chooses the layers to merge. Returns an empty group if no merge is due.
fn group_to_merge(mut candidates: Named, all: &Named, settled: &Settled) -> Named {
    candidates.sort_by_key(|(_, layer)| weight(layer));
    for (index, (_, layer)) in candidates.iter().enumerate() {
        let num_removed = layer.header.files.iter().filter(|file| !is_alive(file, all, settled)).count();
        if num_removed * REMOVED_PART > layer.num_files() {
            candidates.truncate(index + 1);
            return candidates;
        }
    }
    let due = candidates
        .iter()
        .map(|(_, layer)| tier(layer))
        .find(|wanted| candidates.iter().filter(|(_, layer)| tier(layer) == *wanted).count() >= TIER_LAYERS);
    match due {
        Some(due) => candidates.retain(|(_, layer)| tier(layer) <= due),
        None => candidates.clear(),
    }
    candidates
}

/// Whether a view may see the file.
fn is_alive(file: &FileEntry, all: &Named, settled: &Settled) -> bool {
    let ends = |generation: GenerationId| generation.0 > file.generation && settled.contains(&generation);
    !all.iter().any(|(_, layer)| layer.ends_of(&file.path).any(ends))
}

/// Returns the bytes of one layer that replaces the group, and the number of removed files.
fn merge(group: &Named, all: &Named, settled: &Settled, keys: &[String]) -> Result<(Vec<u8>, u64), DamagedLayer> {
    let others = || all.iter().filter(|(key, _)| group.iter().all(|(member, _)| member != key));
    let is_needed = |(path, generation): &&(String, u64)| {
        others().any(|(_, layer)| has_before(layer, path, GenerationId(*generation)))
    };
    let ended = group.iter().flat_map(|(_, layer)| &layer.header.ended).filter(is_needed).cloned().collect();
    let Some((_, first)) = group.first() else { return Err(DamagedLayer("the group to merge contains no layers")) };
    let target = MergedHeader {
        tenant: Tenant::new(first.header.tenant.clone()),
        repository: first.repository(),
        replaces: replaced_by(group, keys),
        ended,
    };
    let layers: Vec<&Layer> = group.iter().map(|(_, layer)| &**layer).collect();
    let (bytes, num_kept) = merge_layers(target, &layers, |file| is_alive(file, all, settled))?;
    let num_files: usize = layers.iter().map(|layer| layer.num_files()).sum();
    Ok((bytes, num_files.saturating_sub(num_kept) as u64))
}

fn has_before(layer: &Layer, path: &str, generation: GenerationId) -> bool {
    let first = layer.header.files.partition_point(|file| file.path.as_str() < path);
    let mut of_path = layer.header.files[first..].iter().take_while(|file| file.path == path);
    of_path.any(|file| file.generation < generation.0)
}

#[async_trait]
impl Generations for TextIndex {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        self.reorganise(repository, published)
            .await
            .map_err(|error| maintenance_error(error, "sweep_retired", repository))
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
        let compacted = self.reorganise(repository, &[]).await;
        compacted.map(|_| false).map_err(|error| maintenance_error(error, "compact", repository))
    }

    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        self.verify_all(repository).await.map_err(|error| maintenance_error(error, "verify", repository))
    }
}
