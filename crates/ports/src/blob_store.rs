//! The blob store, which stores each artifact as an object under a key. An object is created once and never
//! overwritten.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::ArtifactRef;

use crate::ErrorKind;
use crate::error::port_error;

port_error!(
    /// An error of the blob store.
    BlobStoreError,
    "blob store"
);

/// Whether a create-only write stored the object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Put {
    Created,
    /// An object with this key exists; it is unchanged.
    AlreadyThere,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlobMeta {
    pub key: String,
    pub size_bytes: u64,
    /// Seconds since 1970.
    pub modified_at: i64,
}

/// Stores objects by key. Every key must pass `check_blob_key`. No key may be the folder of another key (`a`
/// and `a/b`), because a file system cannot store both. A store on a file system returns `Invalid` if it
/// already contains the other key.
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Writes the object atomically. If the key exists, the existing object stays unchanged. The object is
    /// durable when the call returns.
    async fn put(&self, key: &str, bytes: Bytes) -> Result<Put, BlobStoreError>;

    /// `NotFound` if the key does not exist.
    async fn get(&self, key: &str) -> Result<Bytes, BlobStoreError>;

    /// Returns the bytes of `range`. `Invalid` if the range ends after the end of the object.
    async fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes, BlobStoreError>;

    /// All objects whose key starts with `prefix`, sorted by key.
    async fn list(&self, prefix: &str) -> Result<Vec<BlobMeta>, BlobStoreError>;

    /// Removes the object. It is not an error if the key does not exist.
    async fn delete(&self, key: &str) -> Result<(), BlobStoreError>;
}

/// Claim checks (references to artifacts) for any blob store.
#[async_trait]
pub trait BlobStoreExt: BlobStore {
    /// Writes an artifact and returns its claim check. `Conflict` if the key exists with different bytes.
    async fn put_artifact(&self, key: &str, bytes: Bytes) -> Result<ArtifactRef, BlobStoreError> {
        let reference =
            ArtifactRef { key: key.to_owned(), size_bytes: bytes.len() as u64, hash: *blake3::hash(&bytes).as_bytes() };
        if self.put(key, bytes).await? == Put::AlreadyThere {
            let there = self.get(key).await?;
            if *blake3::hash(&there).as_bytes() != reference.hash {
                return Err(BlobStoreError::new(ErrorKind::Conflict, "put", key));
            }
        }
        Ok(reference)
    }

    /// Reads an artifact and verifies its length and hash.
    async fn get_artifact(&self, reference: &ArtifactRef) -> Result<Bytes, BlobStoreError> {
        let bytes = self.get(&reference.key).await?;
        if bytes.len() as u64 != reference.size_bytes || *blake3::hash(&bytes).as_bytes() != reference.hash {
            return Err(BlobStoreError::new(ErrorKind::Corrupt, "get", &reference.key));
        }
        Ok(bytes)
    }

    /// Removes an object that `list` returned. Keeps the object if it was written again after this call of
    /// `list`, because the later writer needs the object. Returns whether the object was removed.
    async fn delete_listed(&self, listed: &BlobMeta) -> Result<bool, BlobStoreError> {
        let found = self.list(&listed.key).await?;
        if found.iter().any(|now| now.key == listed.key && now.modified_at > listed.modified_at) {
            return Ok(false);
        }
        self.delete(&listed.key).await?;
        Ok(true)
    }
}

impl<T: BlobStore + ?Sized> BlobStoreExt for T {}
