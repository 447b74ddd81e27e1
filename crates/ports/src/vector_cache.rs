//! The vector cache. The keys contain the hash of the embedded content, so that equal content is embedded
//! only once per tenant.

use async_trait::async_trait;
use cairn_domain::{DenseVector, Tenant, VectorKey};

use crate::error::port_error;

port_error!(
    /// An error of the vector cache.
    VectorCacheError,
    "vector cache"
);

#[async_trait]
pub trait VectorCache: Send + Sync {
    /// Returns the cached vectors in the order of the keys, with `None` for a key without a vector.
    async fn get(&self, tenant: &Tenant, keys: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, VectorCacheError>;

    /// Adds vectors. If a key exists, its vector is not changed.
    async fn put(&self, tenant: &Tenant, entries: &[(VectorKey, DenseVector)]) -> Result<(), VectorCacheError>;

    /// Removes each vector if `is_live` returns false for its key. Returns the number of removed vectors.
    async fn sweep(
        &self,
        tenant: &Tenant,
        is_live: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError>;
}
