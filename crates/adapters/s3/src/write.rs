//! Creates objects without overwriting, deletes objects, and creates the bucket.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_s3::types::{BucketLocationConstraint, CreateBucketConfiguration, MetadataDirective};
use bytes::Bytes;
use cairn_ports::{BlobStoreError, ErrorKind, Put};

use crate::S3BlobStore;
use crate::fault::Fault;

/// Maximum number of times that a write starts again because the existing object disappeared.
const NUM_ROUNDS: usize = 4;
/// An object of at most this age needs no new modification time.
const NEW_FOR: Duration = Duration::from_secs(2);
/// Region that must not be named in a request to create a bucket.
const FIRST_REGION: &str = "us-east-1";

impl S3BlobStore {
    /// Creates the bucket if it does not exist. Only setup and tests call this function; services use an
    /// existing bucket.
    pub async fn prepare(&self) -> Result<(), BlobStoreError> {
        let created = self.attempt("prepare", &self.bucket, || self.create_bucket()).await;
        match created {
            Err(error) if error.kind == ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    /// Returns whether the bucket exists.
    pub async fn has_bucket(&self) -> Result<bool, BlobStoreError> {
        self.attempt("has_bucket", &self.bucket, || async {
            match self.client.head_bucket().bucket(&self.bucket).send().await {
                Ok(_) => Ok(true),
                Err(error) => missing_or(error.into()),
            }
        })
        .await
    }

    async fn create_bucket(&self) -> Result<(), Fault> {
        let mut request = self.client.create_bucket().bucket(&self.bucket);
        if self.region != FIRST_REGION {
            let region = BucketLocationConstraint::from(self.region.as_str());
            request = request
                .create_bucket_configuration(CreateBucketConfiguration::builder().location_constraint(region).build());
        }
        match request.send().await {
            Ok(_) => Ok(()),
            // If someone else owns a bucket with this name, the code is `BucketAlreadyExists`, which remains
            // an error.
            Err(error) if error.as_service_error().is_some_and(|error| error.is_bucket_already_owned_by_you()) => {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The first writer creates the object. A later writer gives the existing object a new modification time.
    /// Otherwise, a sweep by age could remove the object before this writer references it.
    pub(crate) async fn create(&self, key: &str, bytes: &Bytes) -> Result<Put, BlobStoreError> {
        for _ in 0..NUM_ROUNDS {
            if self.attempt("put", key, || self.create_once(key, bytes.clone())).await? == Put::Created {
                return Ok(Put::Created);
            }
            if self.attempt("put", key, || self.renew(key)).await? {
                return Ok(Put::AlreadyThere);
            }
        }
        let text = "the object was removed after every write";
        Err(Fault::new(ErrorKind::TransactionConflict, text).into_error("put", key))
    }

    async fn create_once(&self, key: &str, bytes: Bytes) -> Result<Put, Fault> {
        let request = self.client.put_object().bucket(&self.bucket).key(self.object(key));
        match request.if_none_match("*").body(bytes.into()).send().await {
            Ok(_) => Ok(Put::Created),
            Err(error) => match Fault::from(error) {
                Fault { kind: ErrorKind::AlreadyExists, .. } => Ok(Put::AlreadyThere),
                fault => Err(fault),
            },
        }
    }

    /// Gives an old object a new modification time. Returns false if the object does not exist.
    async fn renew(&self, key: &str) -> Result<bool, Fault> {
        let object = self.object(key);
        let modified_at = match self.client.head_object().bucket(&self.bucket).key(&object).send().await {
            Ok(head) => head.last_modified().map_or(0, aws_sdk_s3::primitives::DateTime::secs),
            Err(error) => return missing_or(error.into()),
        };
        if now_seconds() - modified_at < NEW_FOR.as_secs() as i64 {
            return Ok(true);
        }
        // S3 allows copying an object onto itself only if the copy replaces something, such as the metadata.
        // Objects of this store have no metadata, so only the modification time changes.
        let copy = self.client.copy_object().copy_source(format!("{}/{object}", self.bucket));
        let copy = copy.bucket(&self.bucket).key(&object).metadata_directive(MetadataDirective::Replace);
        match copy.send().await {
            Ok(_) => Ok(true),
            Err(error) => missing_or(error.into()),
        }
    }

    pub(crate) async fn remove(&self, key: &str) -> Result<(), BlobStoreError> {
        self.attempt("delete", key, || async {
            match self.client.delete_object().bucket(&self.bucket).key(self.object(key)).send().await {
                Ok(_) => Ok(()),
                // If the object does not exist, some servers return the status "not found" instead of
                // success.
                Err(error) => missing_or(error.into()).map(drop),
            }
        })
        .await
    }
}

fn missing_or(fault: Fault) -> Result<bool, Fault> {
    if fault.kind == ErrorKind::NotFound { Ok(false) } else { Err(fault) }
}

fn now_seconds() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64
}
