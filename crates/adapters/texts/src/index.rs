//! Implements the ports of the text index with layers in a blob store.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{RepositoryId, RunId, Scope, Tenant, View};
use cairn_exact::GramQuery;
use cairn_faults::fail_point;
use cairn_ports::{BlobStore, BlobStoreError, ErrorKind, StagedTexts, TextFile, Texts, TextsError};

use crate::cache::Cache;
use crate::encode::staged_layer;
use crate::format::DamagedLayer;
use crate::keys;
use crate::layer::Layer;
use crate::texts::RepositoryTexts;

/// Maximum memory of the cached layers.
const MAX_CACHED_BYTES: usize = 512 << 20;
/// Layers may be merged between a listing and the read. In this case they are listed again. This is the
/// maximum number of listings.
const MAX_LISTINGS: usize = 5;

/// An index of the trigrams of texts in a blob store. Cloning is cheap, and clones share the cache.
#[derive(Clone)]
pub struct TextIndex {
    pub(crate) blobs: Arc<dyn BlobStore>,
    cache: Arc<Mutex<Cache>>,
}

impl TextIndex {
    pub fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self { blobs, cache: Arc::new(Mutex::new(Cache::new(MAX_CACHED_BYTES))) }
    }

    pub(crate) fn cache(&self) -> MutexGuard<'_, Cache> {
        // No method leaves the cache inconsistent, so it can be used after a panic of another thread.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The layer of a key, from the cache or the blob store.
    pub(crate) async fn layer(&self, key: &str) -> Result<Arc<Layer>, TextsError> {
        if let Some(layer) = self.cache().layer(key) {
            return Ok(layer);
        }
        let bytes = self.blobs.get(key).await.map_err(|error| of_blobs(error, "read", key))?;
        let layer = blocking("read", move || Layer::read(&bytes)).await?.map_err(|error| damaged(error, key))?;
        let layer = Arc::new(layer);
        self.cache().add_layer(key, &layer);
        Ok(layer)
    }

    /// Keys of the layers and of the settled marks of a repository, from the blob store.
    pub(crate) async fn list_all(&self, repository: RepositoryId) -> Result<Vec<String>, TextsError> {
        let prefix = keys::prefix(repository);
        let blobs = self.blobs.list(&prefix).await.map_err(|error| of_blobs(error, "list", &prefix))?;
        Ok(blobs.into_iter().map(|blob| blob.key).collect())
    }

    /// Keys of the layers of a repository, from the blob store.
    pub(crate) async fn list(&self, repository: RepositoryId) -> Result<Vec<String>, TextsError> {
        let mut keys = self.list_all(repository).await?;
        keys.retain(|key| keys::settled_of(key).is_none());
        Ok(keys)
    }

    /// Reads the layers of the keys, except the layers that another layer replaces. Returns each layer with
    /// its key.
    pub(crate) async fn layers(&self, keys: &[String]) -> Result<Vec<(String, Arc<Layer>)>, TextsError> {
        let mut layers = Vec::new();
        for key in keys.iter().filter(|key| keys::is_merged(key)) {
            layers.push((key.clone(), self.layer(key).await?));
        }
        let replaced: BTreeSet<String> =
            layers.iter().flat_map(|(_, layer)| layer.header.replaces.iter().cloned()).collect();
        layers.retain(|(key, _)| !replaced.contains(key));
        for key in keys.iter().filter(|key| !keys::is_merged(key) && !replaced.contains(*key)) {
            layers.push((key.clone(), self.layer(key).await?));
        }
        Ok(layers)
    }

    /// Keys of the layers of a repository. Uses the cached list if it is valid for the view, unless `anew`
    /// requests a new list.
    async fn keys(&self, repository: RepositoryId, view: &View, anew: bool) -> Result<Arc<Vec<String>>, TextsError> {
        let known = if anew { None } else { self.cache().keys(repository, view) };
        if let Some(keys) = known {
            return Ok(keys);
        }
        let keys = self.list(repository).await?;
        Ok(self.cache().set_keys(repository, view, keys))
    }

    /// The texts of a repository. `None` if the view does not see the repository, or if it belongs to another
    /// tenant.
    async fn texts_of(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
    ) -> Result<Option<RepositoryTexts>, TextsError> {
        if !scope.contains(repository) || !view.sees_repository(repository) {
            return Ok(None);
        }
        let mut failed = None;
        for _ in 0..MAX_LISTINGS {
            let keys = self.keys(repository, view, failed.is_some()).await?;
            match self.layers(&keys).await {
                // Another process merged the layers after the listing.
                Err(error) if error.kind == ErrorKind::NotFound => failed = Some(error),
                Err(error) => return Err(error),
                Ok(layers) => {
                    let layers: Vec<Arc<Layer>> = layers.into_iter().map(|(_, layer)| layer).collect();
                    let is_own = layers.first().is_some_and(|layer| layer.header.tenant == scope.tenant.as_str());
                    return Ok(is_own.then_some(RepositoryTexts { layers }));
                }
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// Writes a layer and returns its key.
    pub(crate) async fn write(
        &self,
        repository: RepositoryId,
        key: String,
        bytes: Vec<u8>,
    ) -> Result<String, TextsError> {
        fail_point!("texts::before_write", |message: String| Err(
            TextsError::new(ErrorKind::Io, "write", &key).because(message)
        ));
        self.blobs.put(&key, Bytes::from(bytes)).await.map_err(|error| of_blobs(error, "write", &key))?;
        fail_point!("texts::after_write", |message: String| Err(
            TextsError::new(ErrorKind::Io, "write", &key).because(message)
        ));
        self.cache().forget_keys(repository);
        Ok(key)
    }
}

#[async_trait]
impl Texts for TextIndex {
    async fn stage(&self, tenant: &Tenant, run: RunId, staged: StagedTexts) -> Result<(), TextsError> {
        if staged.replaced.is_empty() && staged.texts.is_empty() {
            return Ok(());
        }
        let (tenant, repository) = (tenant.clone(), run.repository);
        let bytes = blocking("stage", move || staged_layer(&tenant, run, staged)).await?;
        let bytes = bytes
            .map_err(|error| TextsError::new(ErrorKind::Invalid, "encode", keys::prefix(repository)).because(error))?;
        let key = keys::staged(repository, run.generation, &bytes);
        self.write(repository, key, bytes).await.map(drop)
    }

    async fn candidates(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        query: &GramQuery,
    ) -> Result<Vec<TextFile>, TextsError> {
        let Some(texts) = self.texts_of(view, scope, repository).await? else { return Ok(Vec::new()) };
        let (view, query) = (view.clone(), query.clone());
        let found = blocking("read", move || texts.candidates(&view, &query)).await?;
        found.map_err(|error| damaged(error, &keys::prefix(repository)))
    }
}

/// Runs work on a thread that may block, because it takes long and cannot be interrupted.
pub(crate) async fn blocking<T: Send + 'static>(
    operation: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TextsError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(TextsError::new(ErrorKind::Cancelled, operation, keys::ROOT)),
    }
}

pub(crate) fn of_blobs(error: BlobStoreError, operation: &'static str, key: &str) -> TextsError {
    TextsError::new(error.kind, operation, key).because(error)
}

pub(crate) fn damaged(error: DamagedLayer, key: &str) -> TextsError {
    TextsError::new(ErrorKind::Corrupt, "read", key).because(error)
}
