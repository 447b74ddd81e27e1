//! Stores artifacts in memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use cairn_ports::{BlobMeta, BlobStore, BlobStoreError, ErrorKind, Put};

/// A blob store for tests of stages. The store satisfies the port's contract except for durability.
#[derive(Debug, Default)]
pub struct MemoryBlobs {
    objects: Mutex<BTreeMap<String, Bytes>>,
}

/// The modification time of every object. This time is fixed, because times from a clock would differ between
/// runs.
const MODIFIED_AT: i64 = 1_700_000_000;

impl MemoryBlobs {
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Bytes>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn object(&self, operation: &'static str, key: &str) -> Result<Bytes, BlobStoreError> {
        check(operation, key)?;
        let found = self.lock().get(key).cloned();
        found.ok_or_else(|| BlobStoreError::new(ErrorKind::NotFound, operation, key))
    }
}

fn is_bad_part(part: &str) -> bool {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    part.is_empty() || part.starts_with('.') || !part.chars().all(is_allowed)
}

fn check(operation: &'static str, key: &str) -> Result<(), BlobStoreError> {
    if key.split('/').any(is_bad_part) { Err(BlobStoreError::new(ErrorKind::Invalid, operation, key)) } else { Ok(()) }
}

#[async_trait]
impl BlobStore for MemoryBlobs {
    async fn put(&self, key: &str, bytes: Bytes) -> Result<Put, BlobStoreError> {
        check("put", key)?;
        let mut objects = self.lock();
        if objects.contains_key(key) {
            return Ok(Put::AlreadyThere);
        }
        objects.insert(key.to_owned(), bytes);
        Ok(Put::Created)
    }

    async fn get(&self, key: &str) -> Result<Bytes, BlobStoreError> {
        self.object("get", key)
    }

    async fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes, BlobStoreError> {
        let object = self.object("get_range", key)?;
        if range.start > range.end || range.end > object.len() as u64 {
            return Err(BlobStoreError::new(ErrorKind::Invalid, "get_range", key));
        }
        Ok(object.slice(range.start as usize..range.end as usize))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<BlobMeta>, BlobStoreError> {
        // A prefix may end in the middle of a path part, or right after a part.
        check("list", &format!("{prefix}x"))?;
        let objects = self.lock();
        let found = objects.iter().filter(|(key, _)| key.starts_with(prefix));
        let meta = |(key, bytes): (&String, &Bytes)| BlobMeta {
            key: key.clone(),
            size_bytes: bytes.len() as u64,
            modified_at: MODIFIED_AT,
        };
        Ok(found.map(meta).collect())
    }

    async fn delete(&self, key: &str) -> Result<(), BlobStoreError> {
        check("delete", key)?;
        self.lock().remove(key);
        Ok(())
    }
}
