//! The contract of the vector cache, and that vectors outlive their cache.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use cairn_conformance::suite;
use cairn_domain::{ContentHash, DenseVector, ModelId, Tenant, VectorKey};
use cairn_local_blobs::LocalBlobs;
use cairn_local_store::LocalStore;
use cairn_ports::{BlobStore, ErrorKind, VectorCache};
use cairn_vectors::DurableVectorCache;

fn open(blobs: &Path, cache: &Path) -> Result<DurableVectorCache> {
    Ok(DurableVectorCache::new(Arc::new(LocalBlobs::open(blobs)?), Arc::new(LocalStore::open(cache)?)))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_holds() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let (blobs, cache) = (directory.path().join("blobs"), directory.path().join("cache"));
    let open = async || Ok(Box::new(open(&blobs, &cache)?) as Box<dyn VectorCache>);
    let checks = cairn_conformance::vector_cache::checks();
    suite::catches(&checks, &cairn_conformance::vector_cache::faults(), open).await?;
    suite::passes(&checks, open).await
}

fn key(model: &str, text: &str) -> VectorKey {
    VectorKey { model: ModelId { name: model.to_owned(), dimensions: 2 }, content: ContentHash::of(text) }
}

fn entries(model: &str, numbers: std::ops::Range<i8>) -> Vec<(VectorKey, DenseVector)> {
    numbers.map(|number| (key(model, &number.to_string()), DenseVector(vec![number, -number]))).collect()
}

async fn num_cached(
    cache: &DurableVectorCache,
    tenant: &Tenant,
    entries: &[(VectorKey, DenseVector)],
) -> Result<usize> {
    let keys: Vec<_> = entries.iter().map(|(key, _)| key.clone()).collect();
    let found = cache.get(tenant, &keys).await?;
    for (found, (_, expected)) in found.iter().zip(entries) {
        assert!(found.as_ref().is_none_or(|found| found == expected));
    }
    Ok(found.iter().flatten().count())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_cache_is_filled_again() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let (blobs, model) = (directory.path().join("blobs"), key("m", "").model);
    let (tenant, other) = (Tenant::new("a"), Tenant::new("b"));
    let (first, second, foreign) = (entries("m", 0..50), entries("m", 40..90), entries("n", 0..10));
    let cache = open(&blobs, &directory.path().join("first"))?;
    for batch in [&first, &second, &foreign] {
        cache.put(&tenant, batch).await?;
    }
    cache.put(&other, &first).await?;
    // Another cache, as if the first had been lost.
    let cache = open(&blobs, &directory.path().join("second"))?;
    assert_eq!(num_cached(&cache, &tenant, &first).await?, 0);
    for _ in 0..2 {
        assert_eq!(cache.restore(&tenant, &model).await?, 100);
        assert_eq!(num_cached(&cache, &tenant, &first).await?, 50);
        assert_eq!(num_cached(&cache, &tenant, &second).await?, 50);
    }
    assert_eq!(num_cached(&cache, &tenant, &foreign).await?, 0);
    assert_eq!(num_cached(&cache, &other, &first).await?, 0);
    assert_eq!(cache.restore(&tenant, &foreign[0].0.model).await?, 10);
    assert_eq!(num_cached(&cache, &tenant, &foreign).await?, 10);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn artifacts_go_when_nothing_in_them_lives() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let blobs = directory.path().join("blobs");
    let num_artifacts = async || Ok::<_, anyhow::Error>(LocalBlobs::open(&blobs)?.list("vectors/").await?.len());
    let cache = open(&blobs, &directory.path().join("cache"))?;
    let (tenant, other) = (Tenant::new("a"), Tenant::new("b"));
    let (first, second) = (entries("m", 0..50), entries("m", 50..90));
    for (tenant, batch) in [(&tenant, &first), (&tenant, &second), (&other, &first)] {
        cache.put(tenant, batch).await?;
    }
    // The same batch is the same artifact.
    cache.put(&tenant, &first).await?;
    assert_eq!(num_artifacts().await?, 3);
    let live = first[7].0.clone();
    assert_eq!(cache.sweep(&tenant, &|key| *key == live).await?, 89);
    assert_eq!(num_artifacts().await?, 2);
    assert_eq!(cache.sweep(&tenant, &|_| false).await?, 1);
    assert_eq!(num_artifacts().await?, 1);
    assert_eq!(num_cached(&cache, &other, &first).await?, 50);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_artifact_is_named() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let blobs = directory.path().join("blobs");
    let cache = open(&blobs, &directory.path().join("cache"))?;
    let tenant = Tenant::new("a");
    cache.put(&tenant, &entries("m", 0..5)).await?;
    let store = LocalBlobs::open(&blobs)?;
    let artifact = store.list("vectors/").await?.remove(0).key;
    let mut bytes = store.get(&artifact).await?.to_vec();
    bytes[20] ^= 1;
    store.delete(&artifact).await?;
    store.put(&artifact, bytes.into()).await?;
    let error = cache.restore(&tenant, &key("m", "").model).await.expect_err("damaged");
    assert_eq!((error.kind, error.key), (ErrorKind::Corrupt, artifact));
    Ok(())
}
