//! The cache over a cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{DenseVector, ModelId, Tenant, VectorKey};
use cairn_faults::fail_point;
use cairn_ports::{BlobMeta, BlobStore, BlobStoreError, ErrorKind, VectorCache, VectorCacheError};

use crate::batch;

/// Vectors that are put into the inner cache at once when it is filled again.
const RESTORED_AT_ONCE: usize = 1_000;

type Entry = (VectorKey, DenseVector);

/// Keeps in the blob store what goes into the inner cache.
pub struct DurableVectorCache {
    blobs: Arc<dyn BlobStore>,
    cache: Arc<dyn VectorCache>,
}

impl DurableVectorCache {
    pub fn new(blobs: Arc<dyn BlobStore>, cache: Arc<dyn VectorCache>) -> Self {
        Self { blobs, cache }
    }

    /// Fills the inner cache with the vectors of a model that a tenant was ever given and that were not swept. What is
    /// in the cache stays. Returns how many vectors were read. May be run again, and while others put.
    pub async fn restore(&self, tenant: &Tenant, model: &ModelId) -> Result<u64, VectorCacheError> {
        let mut artifacts = self.list("restore", &batch::folder(tenant, model)).await?;
        // If a content was embedded twice, the first vector is the one that the cache had.
        artifacts.sort_by(|left, right| (left.modified_at, &left.key).cmp(&(right.modified_at, &right.key)));
        let mut num_restored = 0;
        for artifact in artifacts {
            let entries = self.read("restore", &artifact.key).await?;
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

    /// Nothing if somebody else removed the artifact meanwhile.
    async fn read(&self, operation: &'static str, key: &str) -> Result<Vec<Entry>, VectorCacheError> {
        let bytes = match self.blobs.get(key).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(Vec::new()),
            bytes => bytes.map_err(|error| of_blobs(operation, key, error))?,
        };
        let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
        batch::decode(name, &bytes).ok_or_else(|| {
            let advice = "the artifact is damaged; delete it, and what was in it is embedded again";
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
        self.cache.get(tenant, keys).await
    }

    async fn put(&self, tenant: &Tenant, entries: &[Entry]) -> Result<(), VectorCacheError> {
        check(entries)?;
        self.write(tenant, entries).await?;
        fail_point!("vectors::written", |said: String| Err(
            VectorCacheError::new(ErrorKind::Io, "put", "").because(said)
        ));
        self.cache.put(tenant, entries).await
    }

    /// Also removes the artifacts of which nothing is live. Reads all artifacts of the tenant.
    async fn sweep(
        &self,
        tenant: &Tenant,
        is_live: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError> {
        let num_swept = self.cache.sweep(tenant, is_live).await?;
        for artifact in self.list("sweep", &batch::folder_of_tenant(tenant)).await? {
            let entries = self.read("sweep", &artifact.key).await?;
            if !entries.iter().any(|(key, _)| is_live(key)) {
                self.blobs.delete(&artifact.key).await.map_err(|error| of_blobs("sweep", &artifact.key, error))?;
            }
        }
        Ok(num_swept)
    }
}
