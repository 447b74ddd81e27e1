//! Stores artifacts in S3, or in a server with the same protocol.
//!
//! The header `If-None-Match: *` makes a write create-only. If several writers write the same key, one writer
//! creates the object, and the others receive the reply that the object exists. Not every server supports
//! this header, so `self_test` checks it at the start of a service. Correctness does not depend only on this
//! header, because equal keys have equal bytes, and the catalogue decides which generation is published.
//!
//! The SDK does not retry requests. One loop in this crate (`attempts`) repeats requests that were
//! interrupted or temporarily refused. The loop repeats a request a few times, with jitter and within the
//! deadline of the operation. The caller decides about further retries.
//!
//! A read returns the complete body or an error. If the response to a write was lost, the repeated write may
//! find the object of the first attempt. The write then returns `AlreadyThere`.

mod attempts;
mod client;
mod config;
mod fault;
mod read;
mod secret;
mod self_test;
mod write;

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_s3::Client;
use bytes::Bytes;
use cairn_faults::fail_point;
use cairn_ports::{BadBlobKey, BlobMeta, BlobStore, BlobStoreError, ErrorKind, Put, check_blob_key, check_blob_prefix};

pub use config::{Checksums, InvalidS3Config, S3Config};
pub use secret::SecretReference;
pub use self_test::SelfTestError;

/// A bucket, or the objects in a bucket whose keys begin with a prefix.
#[derive(Clone, Debug)]
pub struct S3BlobStore {
    client: Client,
    bucket: String,
    region: String,
    /// Prefix of every key. The prefix is empty, or ends with a slash.
    prefix: String,
    deadline: Duration,
}

/// The reason why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum S3OpenError {
    #[error(transparent)]
    Invalid(#[from] InvalidS3Config),
    #[error("the S3 credentials cannot be read")]
    Credentials(#[from] cairn_config::SecretUnreadable),
}

impl S3BlobStore {
    /// Checks the settings and reads the credentials. The first operation connects to the server.
    pub fn open(config: &S3Config) -> Result<Self, S3OpenError> {
        config.validate()?;
        Ok(Self {
            client: client::build(config)?,
            bucket: config.bucket.clone(),
            region: config.region.clone(),
            prefix: if config.prefix.is_empty() { String::new() } else { format!("{}/", config.prefix) },
            deadline: Duration::from_millis(config.operation_timeout_ms),
        })
    }

    /// Returns the key of the object in the bucket.
    fn object(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }
}

#[async_trait]
impl BlobStore for S3BlobStore {
    async fn put(&self, key: &str, bytes: Bytes) -> Result<Put, BlobStoreError> {
        check_blob_key(key).map_err(|bad| bad_key("put", key, bad))?;
        fail_point!("s3::before_put", |message: String| Err(BlobStoreError::new(
            ErrorKind::ConnectionLost,
            "put",
            key
        )
        .because(message)));
        let put = self.create(key, &bytes).await?;
        fail_point!("s3::after_put", |message: String| Err(
            BlobStoreError::new(ErrorKind::ConnectionLost, "put", key).because(message)
        ));
        Ok(put)
    }

    async fn get(&self, key: &str) -> Result<Bytes, BlobStoreError> {
        check_blob_key(key).map_err(|bad| bad_key("get", key, bad))?;
        self.read(key).await
    }

    async fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes, BlobStoreError> {
        check_blob_key(key).map_err(|bad| bad_key("get_range", key, bad))?;
        self.read_range(key, range).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<BlobMeta>, BlobStoreError> {
        check_blob_prefix(prefix).map_err(|bad| bad_key("list", prefix, bad))?;
        self.read_list(prefix).await
    }

    async fn delete(&self, key: &str) -> Result<(), BlobStoreError> {
        check_blob_key(key).map_err(|bad| bad_key("delete", key, bad))?;
        self.remove(key).await
    }
}

fn bad_key(operation: &'static str, key: &str, bad: BadBlobKey) -> BlobStoreError {
    BlobStoreError::new(ErrorKind::Invalid, operation, key).because(bad)
}
