//! Vectors by content: what was embedded once in a tenant is not embedded again.

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
    /// The cached vectors, in order; `None` where there is none.
    async fn get(&self, tenant: &Tenant, keys: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, VectorCacheError>;

    /// Adds vectors; a key that is there keeps its vector.
    async fn put(&self, tenant: &Tenant, entries: &[(VectorKey, DenseVector)]) -> Result<(), VectorCacheError>;

    /// Forgets what `is_live` refuses. Returns how many were removed.
    async fn sweep(
        &self,
        tenant: &Tenant,
        is_live: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError>;
}
