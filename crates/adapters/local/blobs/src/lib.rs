//! Stores artifacts as files. Objects are create-only, complete or absent, and durable when a write returns.
//!
//! An object is written to a separate file in `.tmp`, synced, and then linked to its name. The link makes the
//! store create-only: if several writers, in one process or in several, write the same key, exactly one
//! succeeds. A reader never sees an incomplete object. The directory is synced before the write returns. Keys
//! cannot leave the root, because each part of a key is checked and must not start with a dot.

mod files;

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bytes::Bytes;
use cairn_ports::{BlobMeta, BlobStore, BlobStoreError, ErrorKind, Put, check_blob_key, check_blob_prefix};

/// The fail points of a write, in the order in which the write reaches them, followed by the fail point of a
/// deletion.
pub const FAIL_POINTS: [&str; 5] = ["blobs::write", "blobs::sync", "blobs::link", "blobs::linked", "blobs::delete"];

/// A directory that contains objects.
#[derive(Clone, Debug)]
pub struct LocalBlobs {
    root: PathBuf,
}

/// The error that is returned if the directory of the store cannot be created or read.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the artifacts in `{root}`")]
pub struct OpenError {
    pub root: PathBuf,
    pub source: io::Error,
}

impl LocalBlobs {
    /// Opens the store in `root`, creates it if it does not exist, and removes the temporary files of killed
    /// writers. Blocks.
    pub fn open(root: &Path) -> Result<Self, OpenError> {
        files::prepare(root).map_err(|source| OpenError { root: root.to_owned(), source })?;
        Ok(Self { root: root.to_owned() })
    }

    async fn run<T: Send + 'static>(
        &self,
        operation: &'static str,
        key: &str,
        work: impl FnOnce(&Path, &str) -> io::Result<T> + Send + 'static,
    ) -> Result<T, BlobStoreError> {
        let (root, owned_key) = (self.root.clone(), key.to_owned());
        let result = match tokio::task::spawn_blocking(move || work(&root, &owned_key)).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => return Err(BlobStoreError::new(ErrorKind::Cancelled, operation, key)),
        };
        result.map_err(|error| BlobStoreError::new(kind_of(&error), operation, key).because(error))
    }

    async fn run_on_object<T: Send + 'static>(
        &self,
        operation: &'static str,
        key: &str,
        work: impl FnOnce(&Path, &str) -> io::Result<T> + Send + 'static,
    ) -> Result<T, BlobStoreError> {
        check_blob_key(key).map_err(|error| BlobStoreError::new(ErrorKind::Invalid, operation, key).because(error))?;
        self.run(operation, key, work).await
    }
}

#[async_trait]
impl BlobStore for LocalBlobs {
    async fn put(&self, key: &str, bytes: Bytes) -> Result<Put, BlobStoreError> {
        self.run_on_object("put", key, move |root, key| files::put(root, key, &bytes)).await
    }

    async fn get(&self, key: &str) -> Result<Bytes, BlobStoreError> {
        self.run_on_object("get", key, files::get).await
    }

    async fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes, BlobStoreError> {
        self.run_on_object("get_range", key, move |root, key| files::get_range(root, key, &range)).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<BlobMeta>, BlobStoreError> {
        check_blob_prefix(prefix)
            .map_err(|error| BlobStoreError::new(ErrorKind::Invalid, "list", prefix).because(error))?;
        self.run("list", prefix, files::list).await
    }

    async fn delete(&self, key: &str) -> Result<(), BlobStoreError> {
        self.run_on_object("delete", key, files::delete).await
    }
}

fn kind_of(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => ErrorKind::Forbidden,
        // The key is also the directory of another key, or the file system refuses the name.
        io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::InvalidFilename
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::UnexpectedEof => ErrorKind::Invalid,
        io::ErrorKind::FileTooLarge => ErrorKind::TooLarge,
        _ => ErrorKind::Io,
    }
}
