//! Vectors by content: a content is embedded once for a tenant.

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
    /// The cached vectors, in the order of the keys; `None` for a key without a vector.
    async fn get(&self, tenant: &Tenant, keys: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, VectorCacheError>;

    /// Adds vectors. An existing key keeps its vector.
    async fn put(&self, tenant: &Tenant, entries: &[(VectorKey, DenseVector)]) -> Result<(), VectorCacheError>;

    /// Removes the vectors that `is_live` refuses. Returns their number.
    async fn sweep(
        &self,
        tenant: &Tenant,
        is_live: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError>;
}
