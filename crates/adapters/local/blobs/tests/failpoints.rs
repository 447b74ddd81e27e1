//! Makes a write fail at each of its steps. Checks that no partial object is ever visible, and that the next
//! attempt succeeds.
//!
//! Needs the feature `failpoints`.
#![cfg(feature = "failpoints")]

use anyhow::Result;
use bytes::Bytes;
use cairn_local_blobs::{FAIL_POINTS, LocalBlobs};
use cairn_ports::{BlobStore, ErrorKind};

/// All failures are in one test, because all tests of a process share the fail points.
#[tokio::test]
async fn writes_and_deletions_survive_each_failure() -> Result<()> {
    let scenario = fail::FailScenario::setup();
    failed_write_is_whole_or_absent().await?;
    failed_deletion_can_be_repeated().await?;
    scenario.teardown();
    Ok(())
}

async fn failed_write_is_whole_or_absent() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let store = LocalBlobs::open(directory.path())?;
    let bytes = Bytes::from(vec![7; 100_000]);
    for point in FAIL_POINTS.iter().filter(|point| **point != "blobs::delete") {
        let key = format!("a/{}", point.replace("::", "_"));
        fail::cfg(*point, "1*return(a full disk)").map_err(anyhow::Error::msg)?;
        let failed = store.put(&key, bytes.clone()).await.expect_err("the fail point");
        assert_eq!(failed.kind, ErrorKind::Io, "{point}");
        match store.get(&key).await {
            Ok(found) => assert_eq!((found, *point), (bytes.clone(), "blobs::linked")),
            Err(error) => assert_eq!(error.kind, ErrorKind::NotFound, "{point}"),
        }
        store.put(&key, bytes.clone()).await?;
        assert_eq!(store.get(&key).await?, bytes);
    }
    assert_eq!(std::fs::read_dir(directory.path().join(".tmp"))?.count(), 0, "temporary files were left");
    Ok(())
}

async fn failed_deletion_can_be_repeated() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let store = LocalBlobs::open(directory.path())?;
    store.put("a", Bytes::from_static(b"x")).await?;
    fail::cfg("blobs::delete", "1*return(busy)").map_err(anyhow::Error::msg)?;
    assert!(store.delete("a").await.is_err());
    assert_eq!(store.get("a").await?, "x");
    store.delete("a").await?;
    assert!(store.list("").await?.is_empty());
    Ok(())
}
