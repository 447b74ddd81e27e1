//! Lists, reads and writes layers.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use cairn_domain::{RepositoryId, Tenant, View};
use cairn_ports::{BlobMeta, BlobStore, BlobStoreError, ErrorKind, PortError};

use crate::cache::Cache;
use crate::{Layer, keys};

/// The maximum number of listings for one read. If a listed layer no longer exists, because layers were
/// merged after the listing, the layers are listed again.
const MAX_LISTINGS: usize = 5;

/// A layer with its key.
pub type NamedLayer<L> = (String, Arc<L>);

/// The layers of an index. Clones share the cache.
pub struct LayerStore<L> {
    blobs: Arc<dyn BlobStore>,
    cache: Arc<Mutex<Cache<L>>>,
}

impl<L> Clone for LayerStore<L> {
    fn clone(&self) -> Self {
        Self { blobs: Arc::clone(&self.blobs), cache: Arc::clone(&self.cache) }
    }
}

impl<L: Layer> LayerStore<L> {
    pub fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self { blobs, cache: Arc::default() }
    }

    fn cache(&self) -> MutexGuard<'_, Cache<L>> {
        // No method leaves the cache inconsistent, so the cache can be used after another thread has
        // panicked.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The layer with this key, from the cache or the blob store.
    pub async fn layer(&self, key: &str) -> Result<Arc<L>, L::Error> {
        let cached = self.cache().layers.get(key);
        if let Some(layer) = cached {
            return Ok(layer);
        }
        let bytes = self.bytes(key, "read").await?;
        let layer = Self::blocking("read", move || L::read(&bytes)).await?;
        let layer = Arc::new(layer.map_err(|damage| damaged::<L>(damage, key))?);
        self.cache().layers.add_always(key.to_owned(), Arc::clone(&layer), layer.size_bytes());
        Ok(layer)
    }

    /// The bytes that the blob store contains under this key.
    pub async fn bytes(&self, key: &str, operation: &'static str) -> Result<Bytes, L::Error> {
        self.blobs.get(key).await.map_err(|error| of_blobs(error, operation, key))
    }

    pub(crate) async fn blobs(&self, prefix: &str) -> Result<Vec<BlobMeta>, L::Error> {
        self.blobs.list(prefix).await.map_err(|error| of_blobs(error, "list", prefix))
    }

    /// Keys of the layers of a repository, or of all repositories, from the blob store.
    pub async fn list(&self, repository: Option<RepositoryId>) -> Result<Vec<String>, L::Error> {
        let prefix =
            repository.map_or_else(|| format!("{}/", L::FOLDER), |repository| keys::prefix(L::FOLDER, repository));
        let keys = self.blobs(&prefix).await?.into_iter().map(|blob| blob.key);
        Ok(keys.filter(|key| keys::settled_of(key).is_none()).collect())
    }

    /// Reads the layers of the keys, except the layers that another layer replaces.
    pub async fn layers(&self, keys: &[String]) -> Result<Vec<NamedLayer<L>>, L::Error> {
        let mut layers = Vec::new();
        for key in keys.iter().filter(|key| keys::is_merged(key)) {
            layers.push((key.clone(), self.layer(key).await?));
        }
        let replaced: BTreeSet<String> =
            layers.iter().flat_map(|(_, layer)| layer.replaces().iter().cloned()).collect();
        layers.retain(|(key, _)| !replaced.contains(key));
        for key in keys.iter().filter(|key| !keys::is_merged(key) && !replaced.contains(*key)) {
            layers.push((key.clone(), self.layer(key).await?));
        }
        Ok(layers)
    }

    /// Keys of the layers of a repository, or of all repositories. Uses the cached list if it is valid for
    /// the view, unless `is_refreshed` requests a new list.
    pub async fn keys(
        &self,
        repository: Option<RepositoryId>,
        view: &View,
        is_refreshed: bool,
    ) -> Result<Arc<Vec<String>>, L::Error> {
        let known = if is_refreshed { None } else { self.cache().keys(repository, view) };
        if let Some(keys) = known {
            return Ok(keys);
        }
        let keys = self.list(repository).await?;
        Ok(self.cache().set_keys(repository, view, keys))
    }

    /// The layers of a repository. `None` if the repository is not visible in the view, or belongs to another
    /// tenant.
    pub async fn visible(
        &self,
        view: &View,
        tenant: &Tenant,
        repository: RepositoryId,
    ) -> Result<Option<Vec<Arc<L>>>, L::Error> {
        if !view.sees_repository(repository) {
            return Ok(None);
        }
        let mut failed = None;
        for _ in 0..MAX_LISTINGS {
            let keys = self.keys(Some(repository), view, failed.is_some()).await?;
            match self.layers(&keys).await {
                // After the listing, another process merged the layers and deleted the replaced layers.
                Err(error) if error.kind() == ErrorKind::NotFound => failed = Some(error),
                Err(error) => return Err(error),
                Ok(layers) => {
                    let layers: Vec<Arc<L>> = layers.into_iter().map(|(_, layer)| layer).collect();
                    let is_own = layers.first().is_some_and(|layer| layer.tenant() == tenant.as_str());
                    return Ok(is_own.then_some(layers));
                }
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// Writes bytes. The caller must call `forget_keys` afterwards.
    pub async fn put(&self, key: &str, bytes: Bytes, operation: &'static str) -> Result<(), L::Error> {
        self.blobs.put(key, bytes).await.map(drop).map_err(|error| of_blobs(error, operation, key))
    }

    pub async fn delete(&self, key: &str) -> Result<(), L::Error> {
        self.blobs.delete(key).await.map(drop).map_err(|error| of_blobs(error, "delete", key))
    }

    /// Removes the cached lists that contain the repository.
    pub fn forget_keys(&self, repository: RepositoryId) {
        self.cache().forget_keys(repository);
    }

    /// Runs work on a thread that may block, because the work takes a long time and cannot be interrupted.
    pub async fn blocking<T: Send + 'static>(
        operation: &'static str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, L::Error> {
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => Ok(done),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(L::Error::of(ErrorKind::Cancelled, operation, format!("{}/", L::FOLDER), None)),
        }
    }
}

/// Converts an error of the blob store to an error of an index.
pub fn of_blobs<E: PortError>(error: BlobStoreError, operation: &'static str, key: &str) -> E {
    E::of(error.kind, operation, key.to_owned(), Some(error.into()))
}

/// The error for a damaged layer.
pub fn damaged<L: Layer>(damage: L::Damage, key: &str) -> L::Error {
    L::Error::of(ErrorKind::Corrupt, "read", key.to_owned(), Some(damage.into()))
}
