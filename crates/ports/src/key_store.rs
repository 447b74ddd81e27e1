//! API keys: their permissions, the repositories that they may see, and their expiry. Only hashes are stored.

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
    /// The public name of the key, which is also its beginning: `cairn_1f0c…`. Unique.
    pub id: String,
    /// blake3 of the whole key. Unique.
    pub hash: Digest,
    pub tenant: Tenant,
    /// Full names of repositories, or globs over them. None: every repository of the tenant.
    pub repositories: Option<Vec<String>>,
    /// Whether the key may request and cancel index runs.
    pub may_index: bool,
    /// The purpose or the holder of the key, in the words of its creator.
    pub label: String,
    /// Milliseconds since 1970, like all times here.
    pub created_at_ms: i64,
    pub expires_at_ms: Option<i64>,
    pub revoked_at_ms: Option<i64>,
    /// Coarse: the services that check keys record a use only now and then.
    pub last_used_at_ms: Option<i64>,
}

impl ApiKeyRecord {
    /// Whether the key is valid at that time.
    pub fn is_valid(&self, now_ms: i64) -> bool {
        let is_before = |end: Option<i64>| end.is_none_or(|end_ms| now_ms < end_ms);
        is_before(self.expires_at_ms) && is_before(self.revoked_at_ms)
    }
}

/// Records by id, and by hash. Each operation is one small transaction.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// `AlreadyExists` if the id or the hash exists; nothing is changed then.
    async fn create(&self, key: ApiKeyRecord) -> Result<(), KeyStoreError>;

    /// Also returns keys that have expired or are revoked.
    async fn find(&self, hash: &Digest) -> Result<Option<ApiKeyRecord>, KeyStoreError>;

    /// The keys of a tenant, or of all tenants, sorted by id; also expired and revoked ones.
    async fn list(&self, tenant: Option<&Tenant>) -> Result<Vec<ApiKeyRecord>, KeyStoreError>;

    /// Revokes the key from `at_ms` on. If it is revoked twice, the earlier time holds. `NotFound` if the key
    /// does not exist.
    async fn revoke(&self, id: &str, at_ms: i64) -> Result<(), KeyStoreError>;

    /// Records a use of the key. The newest use is kept. A key that does not exist is not an error.
    async fn touch(&self, id: &str, now_ms: i64) -> Result<(), KeyStoreError>;
}
