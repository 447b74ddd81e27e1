//! Tests that a sweep by age treats an existing object as new after it is written again.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use cairn_ports::{BlobStore, Put};
use cairn_s3::S3BlobStore;
use tokio::time::{Instant, sleep};

use crate::bucket;

const DEADLINE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn writing_an_old_object_renews_its_time() -> Result<()> {
    let Some(config) = bucket::new().await? else { return Ok(()) };
    let store = S3BlobStore::open(&config)?;
    let modified_at = async || Ok::<_, anyhow::Error>(store.list("").await?.first().context("the object")?.modified_at);
    assert_eq!(store.put("a", Bytes::from_static(b"first")).await?, Put::Created);
    let created_at = modified_at().await?;
    let deadline = Instant::now() + DEADLINE;
    // A write renews only an object that has reached a minimum age, so the test writes until the object is
    // renewed.
    while modified_at().await? == created_at {
        ensure!(Instant::now() < deadline, "the writes do not renew the modification time of the object");
        assert_eq!(store.put("a", Bytes::from_static(b"second")).await?, Put::AlreadyThere);
        sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(store.get("a").await?, "first");
    bucket::empty(&config).await
}
