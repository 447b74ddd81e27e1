//! Sweeps, merges and removes layers.
//!
//! As in search segments, names keep their generations when layers are merged. A merged layer lists the
//! layers that it replaces, and these are deleted later. Only settled generations are merged: generations
//! that the sweep has reported, and generations that were merged before. The sweep reports each generation
//! once, and often reports only one generation. If the layers of the generation are not merged at that time,
//! a mark is stored to record that it is settled.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{GenerationId, RepoPath, RepositoryId, Tenant};
use cairn_ports::{ErrorKind, Generations, MaintenanceError, NamesError};

use crate::encode::LayerContents;
use crate::format::DamagedLayer;
use crate::index::{NameIndex, damaged, generations, of_blobs};
use crate::keys;
use crate::layer::Layer;

/// Replaced layers are kept for this time, because readers may have listed these layers before the merge.
const REPLACED_KEPT_SECONDS: i64 = 60;
/// A merge leaves out the largest layer if two conditions hold. The group has at most this many layers, and
/// the other layers together are smaller than a quarter of the largest layer.
const MANY_SMALL: usize = 6;

type Named = Vec<(String, Arc<Layer>)>;
type Settled = BTreeSet<GenerationId>;

impl NameIndex {
    async fn reorganise(&self, repository: RepositoryId, published: &[GenerationId]) -> Result<u64, NamesError> {
        let (marks, keys): (Vec<String>, Vec<String>) =
            self.list_all(repository).await?.into_iter().partition(|key| keys::settled_of(key).is_some());
        let layers = self.layers(&keys).await?;
        self.remove_replaced(repository, &keys, &layers).await?;
        let (merged, staged): (Named, Named) = layers.iter().cloned().partition(|(key, _)| keys::is_merged(key));
        let marked: Settled = marks.iter().filter_map(|mark| keys::settled_of(mark)).collect();
        let mut settled = generations(&merged);
        settled.extend(published.iter().chain(&marked));
        let is_settled =
            |(_, layer): &&(String, Arc<Layer>)| layer.generations().all(|generation| settled.contains(&generation));
        let mut group: Named = merged.iter().chain(staged.iter().filter(is_settled)).cloned().collect();
        leave_out_large(&mut group);
        if group.len() < 2 {
            group.clear();
        }
        let left = staged.iter().filter(|(key, _)| group.iter().all(|(member, _)| member != key));
        let left: Settled = left.filter_map(|(key, _)| keys::generation_of(key)).collect();
        self.mark(repository, left.intersection(&settled).filter(|generation| !marked.contains(generation))).await?;
        // A mark is removed after its staged layers were replaced.
        let of_staged: Settled = staged.iter().filter_map(|(key, _)| keys::generation_of(key)).collect();
        for mark in marks.iter().filter(|mark| keys::settled_of(mark).is_some_and(|of| !of_staged.contains(&of))) {
            self.delete(mark).await?;
        }
        if group.is_empty() {
            return Ok(0);
        }
        let others: Vec<&Layer> = layers
            .iter()
            .filter(|(key, _)| group.iter().all(|(member, _)| member != key))
            .map(|(_, layer)| &**layer)
            .collect();
        let all: Vec<&Layer> = layers.iter().map(|(_, layer)| &**layer).collect();
        let (contents, num_removed) =
            merge(&group, &all, &others, &settled, &keys).map_err(|error| damaged(error, &keys::prefix(repository)))?;
        self.write(&contents, |bytes| keys::merged(repository, bytes)).await?;
        Ok(num_removed)
    }

    /// Writes marks, which record that the layers of these generations may be merged.
    async fn mark(
        &self,
        repository: RepositoryId,
        settled: impl Iterator<Item = &GenerationId> + Send,
    ) -> Result<(), NamesError> {
        for generation in settled {
            let key = keys::settled(repository, *generation);
            let put = self.blobs.put(&key, Bytes::from_static(b"settled")).await;
            put.map_err(|error| of_blobs(error, "mark", &key))?;
        }
        Ok(())
    }

    async fn remove_replaced(
        &self,
        repository: RepositoryId,
        keys: &[String],
        layers: &Named,
    ) -> Result<(), NamesError> {
        let prefix = keys::prefix(repository);
        let blobs = self.blobs.list(&prefix).await.map_err(|error| of_blobs(error, "list", &prefix))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64);
        for (key, layer) in layers {
            let is_old =
                |blob: &cairn_ports::BlobMeta| blob.key == *key && blob.modified_at + REPLACED_KEPT_SECONDS <= now;
            if blobs.iter().any(is_old) {
                for replaced in layer.header.replaces.iter().filter(|replaced| keys.contains(replaced)) {
                    self.delete(replaced).await?;
                }
            }
        }
        Ok(())
    }

    async fn delete(&self, key: &str) -> Result<(), NamesError> {
        self.blobs.delete(key).await.map_err(|error| of_blobs(error, "delete", key))
    }

    async fn remove(&self, tenant: &Tenant, repository: RepositoryId, before: GenerationId) -> Result<(), NamesError> {
        for key in self.list_all(repository).await? {
            match keys::generation_of(&key).or_else(|| keys::settled_of(&key)) {
                Some(generation) if generation >= before => {}
                Some(_) => self.delete(&key).await?,
                None => self.remove_from_merged(tenant, &key, before).await?,
            }
        }
        self.cache().forget_keys(repository);
        Ok(())
    }

    /// Removes the names of generations before `before` from a merged layer. The layer may also contain later
    /// names, if the repository was indexed again before its removal.
    async fn remove_from_merged(&self, tenant: &Tenant, key: &str, before: GenerationId) -> Result<(), NamesError> {
        let layer = match self.layer(key).await {
            // The names of an unreadable layer cannot be kept, and the repository is being removed in any
            // case.
            Err(error) if matches!(error.kind, ErrorKind::Corrupt | ErrorKind::NotFound) => {
                return self.delete(key).await;
            }
            layer => layer?,
        };
        if layer.generations().any(|generation| generation >= before) {
            let mut contents =
                contents(&layer, |generation, _| generation >= before).map_err(|error| damaged(error, key))?;
            contents.tenant = tenant.clone();
            contents.ended.retain(|(_, generation)| *generation >= before);
            // The new layer must list all replaced layers that still exist, so that they stay replaced.
            contents.replaces = vec![key.to_owned()];
            contents.replaces.extend(layer.header.replaces.iter().cloned());
            self.write(&contents, |bytes| keys::merged(layer.repository(), bytes)).await?;
        }
        self.delete(key).await
    }

    async fn sweep(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, NamesError> {
        for key in self.list(Some(repository)).await? {
            if keys::generation_of(&key) == Some(aborted) {
                self.delete(&key).await?;
            }
        }
        self.cache().forget_keys(repository);
        let left = self.list(Some(repository)).await?;
        Ok(left.iter().filter(|key| keys::generation_of(key) == Some(aborted)).count() as u64)
    }

    async fn verify_all(&self, repository: RepositoryId) -> Result<(), NamesError> {
        for key in self.list(Some(repository)).await? {
            let bytes = self.blobs.get(&key).await.map_err(|error| of_blobs(error, "verify", &key))?;
            let layer = Layer::read(&bytes).map_err(|error| damaged(error, &key))?;
            contents(&layer, |_, _| true).map_err(|error| damaged(error, &key))?;
        }
        Ok(())
    }
}

/// Removes the largest layer from the group while the other layers are few and small. Without this rule,
/// every sweep would write the largest layer again.
fn leave_out_large(group: &mut Named) {
    let weight = |layer: &Layer| u64::from(layer.num_symbols()) + layer.header.paths.len() as u64;
    let total: u64 = group.iter().map(|(_, layer)| weight(layer)).sum();
    let Some(largest) = (0..group.len()).max_by_key(|index| weight(&group[*index].1)) else { return };
    let of_others = total - weight(&group[largest].1);
    if group.len() <= MANY_SMALL && of_others * 4 < weight(&group[largest].1) {
        group.remove(largest);
    }
}

/// Returns the contents of one layer that replaces the group, and the number of removed symbols.
fn merge(
    group: &Named,
    all: &[&Layer],
    others: &[&Layer],
    settled: &Settled,
    keys: &[String],
) -> Result<(LayerContents, u64), DamagedLayer> {
    let is_alive = |began: GenerationId, path: &str| {
        let ends = |generation: GenerationId| generation > began && settled.contains(&generation);
        !all.iter().any(|layer| layer.ends_of(path).any(ends))
    };
    let mut parts = Vec::new();
    let mut num_symbols = 0;
    for (_, layer) in group {
        num_symbols += u64::from(layer.num_symbols());
        parts.push(contents(layer, is_alive)?);
    }
    let mut merged = parts.remove(0);
    for part in parts {
        merged.files.extend(part.files);
        merged.symbols.extend(part.symbols);
        merged.ended.extend(part.ended);
    }
    merged.ended.retain(|(path, generation)| others.iter().any(|layer| has_before(layer, path, *generation)));
    let still_there = group.iter().flat_map(|(_, layer)| &layer.header.replaces).filter(|key| keys.contains(key));
    let replaces: BTreeSet<String> = group.iter().map(|(key, _)| key).chain(still_there).cloned().collect();
    merged.replaces = replaces.into_iter().collect();
    let num_removed = num_symbols - merged.symbols.len() as u64;
    Ok((merged, num_removed))
}

fn has_before(layer: &Layer, path: &RepoPath, generation: GenerationId) -> bool {
    let first = layer.header.paths.partition_point(|entry| entry.path.as_str() < path.as_str());
    let mut of_path = layer.header.paths[first..].iter().take_while(|entry| entry.path == path.as_str());
    of_path.any(|entry| entry.generation < generation.0)
}

/// Returns the contents of a layer, but only the entries whose generation and path `keep` accepts.
fn contents(layer: &Layer, keep: impl Fn(GenerationId, &str) -> bool) -> Result<LayerContents, DamagedLayer> {
    let path = |text: &str| RepoPath::parse(text).map_err(|_| DamagedLayer("a path is not valid"));
    let mut files = Vec::new();
    for entry in layer.header.paths.iter().filter(|entry| entry.is_file) {
        if keep(GenerationId(entry.generation), &entry.path) {
            files.push((path(&entry.path)?, GenerationId(entry.generation)));
        }
    }
    let mut symbols = Vec::new();
    for number in 0..layer.num_symbols() {
        let (symbol, entry) = layer.symbol(number)?;
        if keep(GenerationId(entry.generation), &entry.path) {
            symbols.push((symbol, GenerationId(entry.generation)));
        }
    }
    let mut ended = Vec::new();
    for (text, generation) in &layer.header.ended {
        ended.push((path(text)?, GenerationId(*generation)));
    }
    let tenant = Tenant::new(layer.header.tenant.clone());
    Ok(LayerContents { tenant, repository: layer.repository(), replaces: Vec::new(), files, symbols, ended })
}

fn of_names(error: NamesError, operation: &'static str, repository: RepositoryId) -> MaintenanceError {
    MaintenanceError::new(error.kind, operation, repository.to_string()).because(error)
}

#[async_trait]
impl Generations for NameIndex {
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError> {
        self.reorganise(repository, published).await.map_err(|error| of_names(error, "sweep_retired", repository))
    }

    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError> {
        self.sweep(repository, aborted).await.map_err(|error| of_names(error, "sweep_aborted", repository))
    }

    async fn remove_repository(
        &self,
        tenant: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError> {
        let removed = self.remove(tenant, repository, before).await;
        removed.map_err(|error| of_names(error, "remove_repository", repository))
    }

    async fn compact(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        self.reorganise(repository, &[]).await.map(drop).map_err(|error| of_names(error, "compact", repository))
    }

    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError> {
        self.verify_all(repository).await.map_err(|error| of_names(error, "verify", repository))
    }
}
