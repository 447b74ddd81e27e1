//! Marks settled generations, and deletes layers that no reader needs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use cairn_domain::{GenerationId, RepositoryId};
use cairn_ports::{ErrorKind, MaintenanceError, PortError};

use crate::{Layer, LayerStore, NamedLayer, keys};

/// The layers and marks of a repository in the blob store.
pub struct Stored {
    /// The keys of the layers.
    pub keys: Vec<String>,
    /// The generations with a mark.
    pub marked: BTreeSet<GenerationId>,
    /// Old layers. They were written before every listing that a reader still uses, so all these listings
    /// contain them.
    old: BTreeSet<String>,
}

impl<L: Layer> LayerStore<L> {
    /// Lists the layers and marks of a repository.
    pub async fn stored(&self, repository: RepositoryId) -> Result<Stored, L::Error> {
        let blobs = self.blobs(&keys::prefix(L::FOLDER, repository)).await?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64);
        let old = blobs.iter().filter(|blob| blob.modified_at + L::REPLACED_KEPT_SECONDS <= now);
        let old = old.map(|blob| blob.key.clone()).collect();
        let (marks, keys): (Vec<String>, Vec<String>) =
            blobs.into_iter().map(|blob| blob.key).partition(|key| keys::settled_of(key).is_some());
        let marked = marks.iter().filter_map(|mark| keys::settled_of(mark)).collect();
        Ok(Stored { keys, marked, old })
    }

    /// Deletes the layers that were replaced by a layer that every reader already sees (`Stored::old`).
    pub async fn remove_replaced(&self, stored: &Stored, layers: &[NamedLayer<L>]) -> Result<(), L::Error> {
        for (_, layer) in layers.iter().filter(|(key, _)| stored.old.contains(key)) {
            for replaced in layer.replaces().iter().filter(|replaced| stored.keys.contains(replaced)) {
                self.delete(replaced).await?;
            }
        }
        Ok(())
    }

    /// Writes marks for these generations, which are settled.
    pub async fn mark(
        &self,
        repository: RepositoryId,
        settled: impl Iterator<Item = &GenerationId> + Send,
    ) -> Result<(), L::Error> {
        for generation in settled {
            let key = keys::settled(L::FOLDER, repository, *generation);
            self.put(&key, Bytes::from_static(b"settled"), "mark").await?;
        }
        Ok(())
    }

    /// Deletes the marks of these generations.
    pub async fn unmark(
        &self,
        repository: RepositoryId,
        generations: impl Iterator<Item = &GenerationId> + Send,
    ) -> Result<(), L::Error> {
        for generation in generations {
            self.delete(&keys::settled(L::FOLDER, repository, *generation)).await?;
        }
        Ok(())
    }

    /// Deletes the layers of an unpublished generation. Returns the number of layers of this generation that
    /// remain.
    pub async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, L::Error> {
        for key in self.list(Some(repository)).await? {
            if keys::generation_of(&key) == Some(aborted) {
                self.delete(&key).await?;
            }
        }
        self.forget_keys(repository);
        let left = self.list(Some(repository)).await?;
        Ok(left.iter().filter(|key| keys::generation_of(key) == Some(aborted)).count() as u64)
    }

    /// Deletes the staged layers and the marks of generations before `before`. Returns the keys of the merged
    /// layers, which it does not delete.
    pub async fn remove_before(&self, repository: RepositoryId, before: GenerationId) -> Result<Vec<String>, L::Error> {
        let mut merged = Vec::new();
        for blob in self.blobs(&keys::prefix(L::FOLDER, repository)).await? {
            match keys::generation_of(&blob.key).or_else(|| keys::settled_of(&blob.key)) {
                Some(generation) if generation >= before => {}
                Some(_) => self.delete(&blob.key).await?,
                None => merged.push(blob.key),
            }
        }
        Ok(merged)
    }

    /// The layer with this key. `None` if the layer does not exist or cannot be read.
    pub async fn readable(&self, key: &str) -> Result<Option<Arc<L>>, L::Error> {
        match self.layer(key).await {
            Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::NotFound) => Ok(None),
            layer => layer.map(Some),
        }
    }
}

/// The keys of the layers that are replaced when `group` is merged into one layer: the layers of the group,
/// and the layers that they have replaced, if these still exist.
pub fn replaced_by<L: Layer>(group: &[NamedLayer<L>], keys: &[String]) -> Vec<String> {
    let still_there = group.iter().flat_map(|(_, layer)| layer.replaces()).filter(|key| keys.contains(key));
    let replaced: BTreeSet<String> = group.iter().map(|(key, _)| key).chain(still_there).cloned().collect();
    replaced.into_iter().collect()
}

/// Converts an error of an index to the error type that its maintenance returns.
pub fn maintenance_error(error: impl PortError, operation: &'static str, repository: RepositoryId) -> MaintenanceError {
    MaintenanceError::new(error.kind(), operation, repository.to_string()).because(error)
}
