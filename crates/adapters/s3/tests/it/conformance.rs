//! Runs the conformance suite of the blob store.

use anyhow::Result;
use bytes::Bytes;
use cairn_conformance::{blob_store, suite};
use cairn_ports::{BlobStore, ErrorKind, Put};
use cairn_s3::{Checksums, S3BlobStore, S3Config};

use crate::bucket;

/// The planted faults run before the suite. If the faults leave data that makes a check fail, the suite
/// fails.
#[tokio::test(flavor = "multi_thread")]
async fn bucket_passes_the_suite() -> Result<()> {
    let Some(config) = bucket::new().await? else { return Ok(()) };
    let store = S3BlobStore::open(&config)?;
    let open = async || Ok(Box::new(store.clone()) as Box<dyn BlobStore>);
    suite::catches(&blob_store::checks(), &blob_store::faults(), open).await?;
    suite::passes(&blob_store::checks(), open).await?;
    bucket::empty(&config).await
}

#[tokio::test]
async fn prefix_is_a_separate_store() -> Result<()> {
    let Some(config) = bucket::new().await? else { return Ok(()) };
    let checksums = Checksums::WhenRequired;
    let below = S3BlobStore::open(&S3Config { prefix: "cairn/one".to_owned(), checksums, ..config.clone() })?;
    let open = async || Ok(Box::new(below.clone()) as Box<dyn BlobStore>);
    suite::passes(&blob_store::checks(), open).await?;
    let above = S3BlobStore::open(&config)?;
    below.put("a", Bytes::from_static(b"below")).await?;
    assert_eq!(above.put("a", Bytes::from_static(b"above")).await?, Put::Created);
    assert_eq!(above.get("cairn/one/a").await?, "below");
    let keys = |found: Vec<cairn_ports::BlobMeta>| found.into_iter().map(|meta| meta.key).collect::<Vec<_>>();
    assert!(keys(below.list("").await?).iter().all(|key| !key.starts_with("cairn/")));
    assert!(keys(above.list("").await?).contains(&"cairn/one/a".to_owned()));
    bucket::empty(&config).await
}

/// Tests a list with more than one page of a thousand objects, and a list with exactly a thousand objects.
/// The first page of the second list announces another page, which is empty.
#[tokio::test]
async fn lists_contain_all_pages() -> Result<()> {
    let Some(config) = bucket::new().await? else { return Ok(()) };
    let store = S3BlobStore::open(&config)?;
    for (folder, num_objects) in [("full", 1000), ("more", 1001)] {
        let keys: Vec<String> = (0..num_objects).map(|number| format!("{folder}/{number:04}")).collect();
        for some in keys.chunks(32) {
            let puts = some.iter().map(|key| store.put(key, Bytes::from_static(b"x")));
            futures::future::try_join_all(puts).await?;
        }
        let found = store.list(&format!("{folder}/")).await?;
        assert!(found.iter().map(|meta| &meta.key).eq(keys.iter()), "{} of {num_objects} are listed", found.len());
    }
    bucket::empty(&config).await
}

#[tokio::test]
async fn missing_bucket_is_unavailable() -> Result<()> {
    let Some(config) = bucket::new().await? else { return Ok(()) };
    let absent = S3Config { bucket: format!("{}-absent", config.bucket), ..config.clone() };
    let store = S3BlobStore::open(&absent)?;
    assert_eq!(store.get("a").await.expect_err("no bucket").kind, ErrorKind::Unavailable);
    assert_eq!(store.list("").await.expect_err("no bucket").kind, ErrorKind::Unavailable);
    assert!(!store.has_bucket().await?);
    store.prepare().await?;
    store.prepare().await?;
    assert!(store.has_bucket().await?);
    assert_eq!(store.get("a").await.expect_err("no object").kind, ErrorKind::NotFound);
    let stranger = S3Config { secret_access_key: cairn_s3::SecretReference::Value("wrong".into()), ..config };
    let refused = S3BlobStore::open(&stranger)?.get("a").await.expect_err("a wrong secret");
    assert_eq!(refused.kind, ErrorKind::Forbidden);
    assert!(!format!("{refused:?}").contains("wrong"), "{refused:?}");
    Ok(())
}
