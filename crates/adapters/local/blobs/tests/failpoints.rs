//! A write that fails at each of its steps: nothing half done is ever seen, and doing it again succeeds.
//!
//! Needs the feature `failpoints`.
#![cfg(feature = "failpoints")]

use anyhow::Result;
use bytes::Bytes;
use cairn_local_blobs::{FAIL_POINTS, LocalBlobs};
use cairn_ports::{BlobStore, ErrorKind};

/// One test, because fail points are shared by the whole process.
#[tokio::test]
async fn every_write_may_fail() -> Result<()> {
    let scenario = fail::FailScenario::setup();
    a_write_that_fails_is_whole_or_absent().await?;
    a_deletion_that_fails_can_be_done_again().await?;
    scenario.teardown();
    Ok(())
}

async fn a_write_that_fails_is_whole_or_absent() -> Result<()> {
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
    assert_eq!(std::fs::read_dir(directory.path().join(".tmp"))?.count(), 0, "temporary files stay behind");
    Ok(())
}

async fn a_deletion_that_fails_can_be_done_again() -> Result<()> {
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
