//! Artifacts in S3 or a server that speaks its protocol.
//!
//! A write is create-only by `If-None-Match: *`: of any number of writers one creates the object, the others learn that
//! it is there. Not every server honours that header, so `self_test` asks the server at the start of a service. Still no
//! correctness rests on it alone: equal keys have equal bytes, and what is published is decided by the catalogue.
//!
//! The SDK retries nothing. One loop here repeats what was interrupted or refused for the moment, a few times with
//! jitter and within the deadline of the operation (`attempts`); the rest is the caller's ladder. A body is whole or an
//! error. A write that was repeated because its answer was lost may find its own object: it then says `AlreadyThere`.

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

/// A bucket, or what lies in it below a prefix.
#[derive(Clone, Debug)]
pub struct S3BlobStore {
    client: Client,
    bucket: String,
    region: String,
    /// Before every key: empty, or ends with a slash.
    prefix: String,
    deadline: Duration,
}

/// The settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum S3OpenError {
    #[error(transparent)]
    Invalid(#[from] InvalidS3Config),
    #[error("the credentials of S3 cannot be read")]
    Credentials(#[from] cairn_config::SecretUnreadable),
}

impl S3BlobStore {
    /// Checks the settings and reads the credentials. Connects when it is first used.
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

    /// The name of the object in the bucket.
    fn object(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }
}

#[async_trait]
impl BlobStore for S3BlobStore {
    async fn put(&self, key: &str, bytes: Bytes) -> Result<Put, BlobStoreError> {
        check_blob_key(key).map_err(|bad| bad_key("put", key, bad))?;
        fail_point!("s3::before_put", |said: String| Err(
            BlobStoreError::new(ErrorKind::ConnectionLost, "put", key).because(said)
        ));
        let put = self.create(key, &bytes).await?;
        fail_point!("s3::after_put", |said: String| Err(
            BlobStoreError::new(ErrorKind::ConnectionLost, "put", key).because(said)
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
