//! Identifies the caller of a request by its `Authorization` header.
//!
//! Valid keys are cached for a few seconds. So a revoked key stops working after a few seconds. Invalid keys
//! are not cached, so a new key works at once, and guessed keys cannot fill the cache.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cairn_domain::Digest;
use cairn_ports::{ApiKeyRecord, Clock, KeyStore, KeyStoreError};
use tokio::sync::Semaphore;

use super::key::{hash_of, is_key};

/// Maximum number of cached keys.
const MAX_REMEMBERED: usize = 10_000;
/// Maximum number of concurrent lookups in the key store. Callers with invalid keys share this limit, so they
/// cannot block other uses of the store.
const NUM_LOOKUPS: usize = 4;
/// Minimum time between two writes of a key's last use to the store.
const TOUCH_EVERY_MS: i64 = 60_000;

/// The reason why no caller was identified for a request.
#[derive(Debug)]
pub enum Refused {
    /// The request has no key or an invalid key. The response does not reveal whether the key is missing or
    /// invalid.
    Unauthenticated,
    /// The store failed.
    Store(KeyStoreError),
}

struct Remembered {
    key: Arc<ApiKeyRecord>,
    until: Duration,
}

/// Identifies callers by their keys.
pub struct Authenticator {
    store: Arc<dyn KeyStore>,
    clock: Arc<dyn Clock>,
    remember_for: Duration,
    remembered: Mutex<HashMap<Digest, Remembered>>,
    lookups: Semaphore,
}

impl Authenticator {
    pub fn new(store: Arc<dyn KeyStore>, clock: Arc<dyn Clock>, remember_for: Duration) -> Self {
        Self { store, clock, remember_for, remembered: Mutex::default(), lookups: Semaphore::new(NUM_LOOKUPS) }
    }

    /// Looks up the key of a header `Bearer cairn_…`.
    pub async fn key_of(&self, authorization: Option<&str>) -> Result<Arc<ApiKeyRecord>, Refused> {
        let bearer = authorization.and_then(|header| header.split_once(' '));
        let (_, text) =
            bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).ok_or(Refused::Unauthenticated)?;
        if !is_key(text) {
            return Err(Refused::Unauthenticated);
        }
        let hash = hash_of(text);
        let key = match self.recalled(&hash) {
            Some(key) => key,
            None => self.found(&hash).await?,
        };
        if !key.is_valid(self.clock.now_ms()) {
            return Err(Refused::Unauthenticated);
        }
        Ok(key)
    }

    fn recalled(&self, hash: &Digest) -> Option<Arc<ApiKeyRecord>> {
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let known = remembered.get(hash).filter(|known| self.clock.monotonic() < known.until)?;
        Some(Arc::clone(&known.key))
    }

    async fn found(&self, hash: &Digest) -> Result<Arc<ApiKeyRecord>, Refused> {
        // The semaphore is never closed.
        let _turn = self.lookups.acquire().await.ok();
        if let Some(key) = self.recalled(hash) {
            return Ok(key);
        }
        // The clock is read before the store, so that a key that is revoked during the lookup is not cached
        // for too long.
        let now = self.clock.monotonic();
        let found = self.store.find(hash).await.map_err(Refused::Store)?;
        // The store may compare hashes in a time that depends on the data. This second comparison takes
        // constant time.
        let is_same = |key: &ApiKeyRecord| blake3::Hash::from(key.hash.0) == blake3::Hash::from(hash.0);
        let key = Arc::new(found.filter(is_same).ok_or(Refused::Unauthenticated)?);
        let now_ms = self.clock.now_ms();
        if key.is_valid(now_ms) && key.last_used_at_ms.is_none_or(|used_ms| now_ms - used_ms >= TOUCH_EVERY_MS) {
            // The time of the last use is shown only to the operator. So an error or a delay here must not
            // affect the request.
            let (store, id) = (Arc::clone(&self.store), key.id.clone());
            tokio::spawn(async move { store.touch(&id, now_ms).await });
        }
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= MAX_REMEMBERED {
            remembered.retain(|_, known| now < known.until);
        }
        if remembered.len() < MAX_REMEMBERED {
            remembered.insert(*hash, Remembered { key: Arc::clone(&key), until: now + self.remember_for });
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::Tenant;
    use cairn_testkit::{ManualClock, MemoryKeys};

    use super::*;
    use crate::auth::{KeyRequest, NewKey, issue};

    fn request(expires_at_ms: Option<i64>) -> KeyRequest {
        KeyRequest {
            tenant: Tenant::local(),
            repositories: None,
            may_index: false,
            label: String::new(),
            expires_at_ms,
        }
    }

    async fn with_key(expires_at_ms: Option<i64>) -> (Arc<ManualClock>, Arc<MemoryKeys>, Authenticator, NewKey) {
        let (clock, keys) = (Arc::new(ManualClock::new(1_000_000)), Arc::new(MemoryKeys::default()));
        let key = issue(request(expires_at_ms), 1_000_000);
        keys.create(key.record.clone()).await.expect("created");
        let authenticator = Authenticator::new(keys.clone(), clock.clone(), Duration::from_secs(5));
        (clock, keys, authenticator, key)
    }

    #[tokio::test]
    async fn only_a_valid_bearer_key_is_accepted() {
        let (_, keys, authenticator, key) = with_key(None).await;
        let opened = authenticator.key_of(Some(&format!("bearer {}", key.text))).await.expect("opened");
        assert_eq!(opened.id, key.record.id);
        let stranger = issue(request(None), 1_000_000);
        let wrong = [
            None,
            Some(key.text.clone()),
            Some(format!("Basic {}", key.text)),
            Some(format!("Bearer {}0", key.text)),
            Some(format!("Bearer {}", stranger.text)),
            Some("Bearer ".to_owned()),
        ];
        for header in wrong {
            let refused = authenticator.key_of(header.as_deref()).await;
            assert!(matches!(refused, Err(Refused::Unauthenticated)), "{header:?}");
        }
        tokio::task::yield_now().await;
        let used = keys.find(&key.record.hash).await.expect("read").expect("a key").last_used_at_ms;
        assert_eq!(used, Some(1_000_000));
    }

    #[tokio::test]
    async fn keys_are_refused_after_revocation_and_expiry() {
        let (clock, keys, authenticator, key) = with_key(Some(1_007_000)).await;
        let header = format!("Bearer {}", key.text);
        assert!(authenticator.key_of(Some(&header)).await.is_ok());
        keys.revoke(&key.record.id, 1_000_000).await.expect("revoked");
        clock.advance(Duration::from_secs(6));
        assert!(authenticator.key_of(Some(&header)).await.is_err());
        let (clock, _, authenticator, key) = with_key(Some(1_003_000)).await;
        let header = format!("Bearer {}", key.text);
        assert!(authenticator.key_of(Some(&header)).await.is_ok());
        clock.advance(Duration::from_secs(3));
        assert!(authenticator.key_of(Some(&header)).await.is_err(), "an expired key was accepted from the cache");
    }
}
