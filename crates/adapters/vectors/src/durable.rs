//! Implements a durable vector cache on top of another cache.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{ContentHash, DenseVector, ModelId, Tenant, VectorKey};
use cairn_faults::fail_point;
use cairn_ports::{BlobMeta, BlobStore, BlobStoreError, ErrorKind, VectorCache, VectorCacheError};

use tokio::sync::Mutex;

use crate::batch;

/// Number of vectors that a refill puts into the inner cache with one call.
const RESTORED_AT_ONCE: usize = 1_000;

type Entry = (VectorKey, DenseVector);

/// The marks of complete caches are stored under this tenant. No real tenant has this name.
const MARKS: &str = "cairn:whole";

/// A cache that also writes every vector of the inner cache to the blob store, and refills an inner cache
/// that was lost.
///
/// The inner cache contains a mark for each tenant and model whose vectors are complete. The mark is checked
/// when a requested vector is missing and when a vector is stored. If the mark is missing, the inner cache is
/// new. It is then refilled, so that a provider is not paid twice for the same vector.
#[derive(Clone)]
pub struct DurableVectorCache {
    blobs: Arc<dyn BlobStore>,
    cache: Arc<dyn VectorCache>,
    /// The mutex is locked while the cache is refilled. A second caller waits and finds the cache complete.
    filling: Arc<Mutex<()>>,
}

impl DurableVectorCache {
    pub fn new(blobs: Arc<dyn BlobStore>, cache: Arc<dyn VectorCache>) -> Self {
        Self { blobs, cache, filling: Arc::default() }
    }

    /// Refills the cache if it lost the tenant's vectors of one of the models.
    async fn make_whole(
        &self,
        tenant: &Tenant,
        models: impl Iterator<Item = &ModelId> + Send,
    ) -> Result<(), VectorCacheError> {
        for model in models.cloned().collect::<BTreeSet<ModelId>>() {
            if !self.is_whole(tenant, &model).await? {
                let (cache, tenant) = (self.clone(), tenant.clone());
                // The refill runs in a separate task. If the caller stops waiting, the task continues, so the
                // next caller waits for less time.
                let filling = tokio::spawn(async move { cache.fill(&tenant, &model).await });
                filling.await.map_err(|error| VectorCacheError::new(ErrorKind::Io, "restore", "").because(error))??;
            }
        }
        Ok(())
    }

    async fn fill(&self, tenant: &Tenant, model: &ModelId) -> Result<(), VectorCacheError> {
        let _alone = self.filling.lock().await;
        if self.is_whole(tenant, model).await? {
            return Ok(());
        }
        let num_restored = self.restore(tenant, model).await?;
        self.cache.put(&Tenant::new(MARKS), &[mark(tenant, model)]).await?;
        if num_restored > 0 {
            tracing::warn!(%tenant, model = model.name, num_restored, "the vector cache was empty and was refilled");
        }
        Ok(())
    }

    async fn is_whole(&self, tenant: &Tenant, model: &ModelId) -> Result<bool, VectorCacheError> {
        let (mark, _) = mark(tenant, model);
        let found = self.cache.get(&Tenant::new(MARKS), &[mark]).await?;
        Ok(found.iter().any(Option::is_some))
    }

    /// Refills the inner cache with all vectors that the tenant has received for a model, except swept
    /// vectors. Vectors that are already in the cache are not replaced. Returns the number of vectors that
    /// were read. This function may run several times, and at the same time as `put`. If an artifact is
    /// damaged, only the vectors of this artifact are lost.
    async fn restore(&self, tenant: &Tenant, model: &ModelId) -> Result<u64, VectorCacheError> {
        let mut artifacts = self.list("restore", &batch::folder(tenant, model)).await?;
        // The oldest artifact is read first, because a vector in the cache is not replaced. If the same
        // content was embedded twice, the lost cache also contained the older vector.
        artifacts.sort_by(|left, right| (left.modified_at, &left.key).cmp(&(right.modified_at, &right.key)));
        let mut num_restored = 0;
        for artifact in artifacts {
            let entries = match self.read("restore", &artifact.key).await {
                Err(error) if error.kind == ErrorKind::Corrupt => {
                    tracing::warn!(
                        artifact = artifact.key,
                        "the artifact is damaged: its texts will be embedded again"
                    );
                    continue;
                }
                entries => entries?,
            };
            num_restored += entries.len() as u64;
            for some in entries.chunks(RESTORED_AT_ONCE) {
                self.cache.put(tenant, some).await?;
            }
        }
        Ok(num_restored)
    }

    async fn list(&self, operation: &'static str, folder: &str) -> Result<Vec<BlobMeta>, VectorCacheError> {
        self.blobs.list(folder).await.map_err(|error| of_blobs(operation, folder, error))
    }

    /// Reads the entries of an artifact. Returns no entries if another process has removed the artifact.
    async fn read(&self, operation: &'static str, key: &str) -> Result<Vec<Entry>, VectorCacheError> {
        let bytes = match self.blobs.get(key).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(Vec::new()),
            bytes => bytes.map_err(|error| of_blobs(operation, key, error))?,
        };
        let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
        batch::decode(name, &bytes).ok_or_else(|| {
            let advice = "the artifact is damaged; delete it, and its texts are embedded again";
            VectorCacheError::new(ErrorKind::Corrupt, operation, key).because(advice)
        })
    }

    async fn write(&self, tenant: &Tenant, entries: &[Entry]) -> Result<(), VectorCacheError> {
        let mut by_model: BTreeMap<&ModelId, Vec<(&VectorKey, &DenseVector)>> = BTreeMap::new();
        for (key, vector) in entries {
            by_model.entry(&key.model).or_default().push((key, vector));
        }
        for (model, entries) in by_model {
            let folder = batch::folder(tenant, model);
            let bytes = batch::encode(model, &entries)
                .map_err(|error| VectorCacheError::new(ErrorKind::Invalid, "put", &folder).because(error))?;
            let key = format!("{folder}{}", batch::name(&bytes));
            self.blobs.put(&key, bytes).await.map_err(|error| of_blobs("put", &key, error))?;
        }
        Ok(())
    }
}

/// The entry that marks the cache as complete for a tenant and a model.
fn mark(tenant: &Tenant, model: &ModelId) -> Entry {
    let content = ContentHash::of(tenant.as_str());
    (VectorKey { model: model.clone(), content }, DenseVector(vec![0; model.dimensions.into()]))
}

fn of_blobs(operation: &'static str, key: &str, error: BlobStoreError) -> VectorCacheError {
    VectorCacheError::new(error.kind, operation, key).because(error)
}

fn check(entries: &[Entry]) -> Result<(), VectorCacheError> {
    let wrong = entries.iter().find(|(key, vector)| vector.0.len() != usize::from(key.model.dimensions));
    let Some((key, vector)) = wrong else { return Ok(()) };
    let cause = format!("a vector of {} dimensions for model `{}`", vector.0.len(), key.model.name);
    Err(VectorCacheError::new(ErrorKind::Invalid, "put", "").because(cause))
}

#[async_trait]
impl VectorCache for DurableVectorCache {
    async fn get(&self, tenant: &Tenant, keys: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, VectorCacheError> {
        let mut found = self.cache.get(tenant, keys).await?;
        let places: Vec<usize> = (0..keys.len()).filter(|at| found[*at].is_none()).collect();
        if places.is_empty() {
            return Ok(found);
        }
        let missing: Vec<VectorKey> = places.iter().map(|at| keys[*at].clone()).collect();
        self.make_whole(tenant, missing.iter().map(|key| &key.model)).await?;
        // The missing vectors are read again even if the cache was complete, because another process may have
        // refilled it after the first read.
        for (at, again) in places.into_iter().zip(self.cache.get(tenant, &missing).await?) {
            found[at] = again;
        }
        Ok(found)
    }

    async fn put(&self, tenant: &Tenant, entries: &[Entry]) -> Result<(), VectorCacheError> {
        check(entries)?;
        self.make_whole(tenant, entries.iter().map(|(key, _)| &key.model)).await?;
        self.write(tenant, entries).await?;
        fail_point!("vectors::written", |message: String| Err(
            VectorCacheError::new(ErrorKind::Io, "put", "").because(message)
        ));
        self.cache.put(tenant, entries).await
    }

    /// Also removes dead vectors from the artifacts, and removes damaged artifacts. The texts of removed
    /// vectors can be embedded again, so no content is lost. Reads all artifacts of the tenant.
    async fn sweep(
        &self,
        tenant: &Tenant,
        is_live: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError> {
        let num_swept = self.cache.sweep(tenant, is_live).await?;
        for artifact in self.list("sweep", &batch::folder_of_tenant(tenant)).await? {
            let entries = match self.read("sweep", &artifact.key).await {
                Err(error) if error.kind == ErrorKind::Corrupt => {
                    tracing::warn!(
                        key = artifact.key,
                        "the artifact is damaged and is removed: its texts will be embedded again"
                    );
                    Vec::new()
                }
                entries => entries?,
            };
            let num_entries = entries.len();
            let live: Vec<Entry> = entries.into_iter().filter(|(key, _)| is_live(key)).collect();
            if live.is_empty() || live.len() < num_entries {
                self.write(tenant, &live).await?;
                self.blobs.delete(&artifact.key).await.map_err(|error| of_blobs("sweep", &artifact.key, error))?;
            }
        }
        Ok(num_swept)
    }
}
