//! API keys: who may ask, what of it they may see, and until when. Only hashes are kept.

use async_trait::async_trait;
use cairn_domain::{Digest, Tenant};

use crate::error::port_error;

port_error!(
    /// An error of the store of API keys.
    KeyStoreError,
    "key store"
);

/// A key without its secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiKeyRecord {
    /// What people call the key, also its beginning: `cairn_1f0c…`. Unique.
    pub id: String,
    /// blake3 of the whole key. Unique.
    pub hash: Digest,
    pub tenant: Tenant,
    /// Full names of repositories, or globs over them; none: every repository of the tenant.
    pub repositories: Option<Vec<String>>,
    /// Whether the key may ask for index runs and cancel them.
    pub may_index: bool,
    /// Whom or what it is for, in the words of who made it.
    pub label: String,
    /// Milliseconds since 1970, as all times here.
    pub created_at_ms: i64,
    pub expires_at_ms: Option<i64>,
    pub revoked_at_ms: Option<i64>,
    /// Coarse: whoever checks keys tells it seldom.
    pub last_used_at_ms: Option<i64>,
}

impl ApiKeyRecord {
    /// Whether the key opens anything at that time.
    pub fn is_valid(&self, now_ms: i64) -> bool {
        let is_before = |end: Option<i64>| end.is_none_or(|end_ms| now_ms < end_ms);
        is_before(self.expires_at_ms) && is_before(self.revoked_at_ms)
    }
}

/// Records by id, and by hash. Each operation is one small transaction.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// `AlreadyExists` if the id or the hash is taken; then nothing is changed.
    async fn create(&self, key: ApiKeyRecord) -> Result<(), KeyStoreError>;

    /// Also keys that have expired or are revoked.
    async fn find(&self, hash: &Digest) -> Result<Option<ApiKeyRecord>, KeyStoreError>;

    /// The keys of a tenant, or of all, in the order of their ids; also expired and revoked ones.
    async fn list(&self, tenant: Option<&Tenant>) -> Result<Vec<ApiKeyRecord>, KeyStoreError>;

    /// The key opens nothing from `at_ms` on. Of two calls the earlier end stands. `NotFound` if there is no such key.
    async fn revoke(&self, id: &str, at_ms: i64) -> Result<(), KeyStoreError>;

    /// The key was used. The newest use stands. A key that is gone is no error.
    async fn touch(&self, id: &str, now_ms: i64) -> Result<(), KeyStoreError>;
}
