//! Stores API keys in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cairn_domain::{Digest, Tenant};
use cairn_ports::{ApiKeyRecord, ErrorKind, KeyStore, KeyStoreError};

/// The API keys, by id.
#[derive(Default)]
pub struct MemoryKeys(Mutex<BTreeMap<String, ApiKeyRecord>>);

impl MemoryKeys {
    fn keys(&self) -> MutexGuard<'_, BTreeMap<String, ApiKeyRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl KeyStore for MemoryKeys {
    async fn create(&self, key: ApiKeyRecord) -> Result<(), KeyStoreError> {
        let mut keys = self.keys();
        if keys.values().any(|known| known.id == key.id || known.hash == key.hash) {
            return Err(KeyStoreError::new(ErrorKind::AlreadyExists, "create", key.id));
        }
        keys.insert(key.id.clone(), key);
        Ok(())
    }

    async fn find(&self, hash: &Digest) -> Result<Option<ApiKeyRecord>, KeyStoreError> {
        Ok(self.keys().values().find(|key| key.hash == *hash).cloned())
    }

    async fn list(&self, tenant: Option<&Tenant>) -> Result<Vec<ApiKeyRecord>, KeyStoreError> {
        let keys = self.keys();
        let of_tenant = keys.values().filter(|key| tenant.is_none_or(|tenant| key.tenant == *tenant));
        Ok(of_tenant.cloned().collect())
    }

    async fn revoke(&self, id: &str, at_ms: i64) -> Result<(), KeyStoreError> {
        let mut keys = self.keys();
        let key = keys.get_mut(id).ok_or_else(|| KeyStoreError::new(ErrorKind::NotFound, "revoke", id))?;
        key.revoked_at_ms = Some(key.revoked_at_ms.map_or(at_ms, |earlier_ms| earlier_ms.min(at_ms)));
        Ok(())
    }

    async fn touch(&self, id: &str, now_ms: i64) -> Result<(), KeyStoreError> {
        if let Some(key) = self.keys().get_mut(id) {
            key.last_used_at_ms = key.last_used_at_ms.max(Some(now_ms));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cairn_conformance::{key_store, suite};

    use super::*;

    #[tokio::test]
    async fn memory_keys_pass_the_suite() {
        let open = async || Ok(Box::new(MemoryKeys::default()) as Box<dyn KeyStore>);
        suite::passes(&key_store::checks(), open).await.expect("passes");
        suite::catches(&key_store::checks(), &key_store::faults(), open).await.expect("catches");
    }
}
