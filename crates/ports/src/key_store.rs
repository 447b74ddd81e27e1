//! The store of API keys, with their permissions, their repositories and their expiry. The store contains the
//! hash of each key, not the key.

use async_trait::async_trait;
use cairn_domain::{Digest, Tenant};

use crate::error::port_error;

port_error!(
    /// An error of the store of API keys.
    KeyStoreError,
    "key store"
);

/// The stored data of a key, without its secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiKeyRecord {
    /// The unique public name of the key, which is also the beginning of the key: `cairn_1f0c…`.
    pub id: String,
    /// The unique blake3 hash of the whole key.
    pub hash: Digest,
    pub tenant: Tenant,
    /// Full names of repositories, or globs that match full names. `None` means every repository of the
    /// tenant.
    pub repositories: Option<Vec<String>>,
    /// Whether the key may request and cancel index runs.
    pub may_index: bool,
    /// The purpose or the holder of the key, as its creator described it.
    pub label: String,
    /// Milliseconds since 1970, like all times in this record.
    pub created_at_ms: i64,
    pub expires_at_ms: Option<i64>,
    pub revoked_at_ms: Option<i64>,
    /// This time is approximate, because services do not record every use of a key.
    pub last_used_at_ms: Option<i64>,
}

impl ApiKeyRecord {
    /// Whether the key is valid at the time `now_ms`.
    pub fn is_valid(&self, now_ms: i64) -> bool {
        let is_before = |end: Option<i64>| end.is_none_or(|end_ms| now_ms < end_ms);
        is_before(self.expires_at_ms) && is_before(self.revoked_at_ms)
    }
}

/// Stores the records of keys, and finds them by id or by hash. Each operation is one small transaction.
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// Adds a key. If the id or the hash exists, fails with `AlreadyExists` and changes nothing.
    async fn create(&self, key: ApiKeyRecord) -> Result<(), KeyStoreError>;

    /// Finds a key by its hash. Keys that have expired or are revoked are also returned.
    async fn find(&self, hash: &Digest) -> Result<Option<ApiKeyRecord>, KeyStoreError>;

    /// Returns the keys of a tenant, or of all tenants, sorted by id. Expired and revoked keys are included.
    async fn list(&self, tenant: Option<&Tenant>) -> Result<Vec<ApiKeyRecord>, KeyStoreError>;

    /// Revokes the key from `at_ms` on. If a key is revoked twice, the earlier time applies. `NotFound` if
    /// the key does not exist.
    async fn revoke(&self, id: &str, at_ms: i64) -> Result<(), KeyStoreError>;

    /// Records a use of the key. The record contains only the time of the newest use. It is not an error if
    /// the key does not exist.
    async fn touch(&self, id: &str, now_ms: i64) -> Result<(), KeyStoreError>;
}
