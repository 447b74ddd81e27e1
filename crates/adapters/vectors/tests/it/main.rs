//! Checks the contract of the vector cache, and that vectors survive the loss of their cache.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use async_trait::async_trait;
use cairn_conformance::suite;
use cairn_domain::{ContentHash, DenseVector, ModelId, Tenant, VectorKey};
use cairn_local_blobs::LocalBlobs;
use cairn_local_store::LocalStore;
use cairn_ports::{BlobStore, VectorCache, VectorCacheError};
use cairn_vectors::DurableVectorCache;

fn open(blobs: &Path, cache: &Path) -> Result<DurableVectorCache> {
    Ok(DurableVectorCache::new(Arc::new(LocalBlobs::open(blobs)?), Arc::new(LocalStore::open(cache)?)))
}

#[tokio::test(flavor = "multi_thread")]
async fn vector_cache_passes_suite_and_planted_faults_are_caught() -> Result<()> {
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

async fn num_cached(cache: &dyn VectorCache, tenant: &Tenant, entries: &[(VectorKey, DenseVector)]) -> Result<usize> {
    let keys: Vec<_> = entries.iter().map(|(key, _)| key.clone()).collect();
    let found = cache.get(tenant, &keys).await?;
    for (found, (_, expected)) in found.iter().zip(entries) {
        assert!(found.as_ref().is_none_or(|found| found == expected));
    }
    Ok(found.iter().flatten().count())
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_cache_is_refilled() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let (blobs, model) = (directory.path().join("blobs"), key("m", "").model);
    let (tenant, other) = (Tenant::new("a"), Tenant::new("b"));
    let (first, second, foreign) = (entries("m", 0..50), entries("m", 40..90), entries("n", 0..10));
    let cache = open(&blobs, &directory.path().join("first"))?;
    for batch in [&first, &second, &foreign] {
        cache.put(&tenant, batch).await?;
    }
    cache.put(&other, &first).await?;
    // The second cache is empty, as if the first cache had been lost.
    let second_folder = directory.path().join("second");
    let (cache, inner) = (open(&blobs, &second_folder)?, LocalStore::open(&second_folder)?);
    // A read of vectors that exist causes no refill.
    inner.put(&tenant, &first[..3]).await?;
    assert_eq!(num_cached(&cache, &tenant, &first[..3]).await?, 3);
    assert_eq!(num_cached(&inner, &tenant, &first).await?, 3);
    // A missing vector causes a refill of all vectors of the same tenant and model, and of no other vectors.
    assert_eq!(num_cached(&cache, &tenant, &second).await?, 50);
    assert_eq!(num_cached(&inner, &tenant, &first).await?, 50);
    assert_eq!(num_cached(&inner, &tenant, &foreign).await?, 0);
    assert_eq!(num_cached(&inner, &other, &first).await?, 0);
    assert_eq!(num_cached(&cache, &tenant, &foreign).await?, 10);
    assert_eq!(num_cached(&cache, &other, &first).await?, 50);
    // A refill happens only once. So swept vectors do not return when the next vector is missing.
    cache.sweep(&tenant, &|key| key.model == model && first.iter().all(|(of_first, _)| of_first != key)).await?;
    assert_eq!(num_cached(&cache, &tenant, &first).await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_misses_fill_the_cache_completely() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let blobs = directory.path().join("blobs");
    let (tenant, all) = (Tenant::new("a"), entries("m", 0..100));
    let cache = open(&blobs, &directory.path().join("first"))?;
    for batch in all.chunks(5) {
        cache.put(&tenant, batch).await?;
    }
    let cache = Arc::new(open(&blobs, &directory.path().join("second"))?);
    let tasks: Vec<_> = all
        .chunks(10)
        .map(|some| {
            let (cache, tenant, some) = (Arc::clone(&cache), tenant.clone(), some.to_vec());
            tokio::spawn(async move { num_cached(&*cache, &tenant, &some).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await??, 10);
    }
    Ok(())
}

/// A cache that another process refills between the first read and the return of its result.
struct Overtaken {
    inner: Arc<LocalStore>,
    other: DurableVectorCache,
    is_first: AtomicBool,
}

#[async_trait]
impl VectorCache for Overtaken {
    async fn get(&self, tenant: &Tenant, keys: &[VectorKey]) -> Result<Vec<Option<DenseVector>>, VectorCacheError> {
        let found = self.inner.get(tenant, keys).await;
        if self.is_first.swap(false, Ordering::SeqCst) {
            self.other.get(tenant, keys).await?;
        }
        found
    }

    async fn put(&self, tenant: &Tenant, entries: &[(VectorKey, DenseVector)]) -> Result<(), VectorCacheError> {
        self.inner.put(tenant, entries).await
    }

    async fn sweep(
        &self,
        tenant: &Tenant,
        is_live: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
    ) -> Result<u64, VectorCacheError> {
        self.inner.sweep(tenant, is_live).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vector_filled_by_another_process_is_found() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let blobs = directory.path().join("blobs");
    let (tenant, all) = (Tenant::new("a"), entries("m", 0..20));
    open(&blobs, &directory.path().join("lost"))?.put(&tenant, &all).await?;
    let inner = Arc::new(LocalStore::open(&directory.path().join("new"))?);
    let blobs: Arc<dyn BlobStore> = Arc::new(LocalBlobs::open(&blobs)?);
    let other = DurableVectorCache::new(Arc::clone(&blobs), inner.clone());
    let overtaken = Overtaken { inner, other, is_first: AtomicBool::new(true) };
    let cache = DurableVectorCache::new(blobs, Arc::new(overtaken));
    assert_eq!(num_cached(&cache, &tenant, &all).await?, 20, "a provider would be paid again for the missing vectors");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_vectors_leave_the_artifacts() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let blobs = directory.path().join("blobs");
    let num_artifacts = async || Ok::<_, anyhow::Error>(LocalBlobs::open(&blobs)?.list("vectors/").await?.len());
    let cache = open(&blobs, &directory.path().join("cache"))?;
    let (tenant, other) = (Tenant::new("a"), Tenant::new("b"));
    let (first, second) = (entries("m", 0..50), entries("m", 50..90));
    for (tenant, batch) in [(&tenant, &first), (&tenant, &second), (&other, &first)] {
        cache.put(tenant, batch).await?;
    }
    // Storing the same batch again creates no second artifact.
    cache.put(&tenant, &first).await?;
    assert_eq!(num_artifacts().await?, 3);
    let live = first[7].0.clone();
    assert_eq!(cache.sweep(&tenant, &|key| *key == live).await?, 89);
    assert_eq!(num_artifacts().await?, 2);
    let again = open(&blobs, &directory.path().join("again"))?;
    assert_eq!(num_cached(&again, &tenant, &first).await?, 1, "swept vectors are in the cache again");
    assert_eq!(cache.sweep(&tenant, &|_| false).await?, 1);
    assert_eq!(num_artifacts().await?, 1);
    assert_eq!(num_cached(&cache, &other, &first).await?, 50);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_artifact_loses_only_its_own_vectors() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let blobs = directory.path().join("blobs");
    let cache = open(&blobs, &directory.path().join("cache"))?;
    let tenant = Tenant::new("a");
    let (damaged, whole) = (entries("m", 0..5), entries("m", 5..10));
    cache.put(&tenant, &damaged).await?;
    let store = LocalBlobs::open(&blobs)?;
    let artifact = store.list("vectors/").await?.remove(0).key;
    let mut bytes = store.get(&artifact).await?.to_vec();
    bytes[20] ^= 1;
    store.delete(&artifact).await?;
    store.put(&artifact, bytes.into()).await?;
    cache.put(&tenant, &whole).await?;
    let cache = open(&blobs, &directory.path().join("second"))?;
    assert_eq!(num_cached(&cache, &tenant, &damaged).await?, 0);
    assert_eq!(num_cached(&cache, &tenant, &whole).await?, 5);
    // A damaged artifact does not stop a sweep.
    assert_eq!(cache.sweep(&tenant, &|_| true).await?, 0);
    assert_eq!(store.list("vectors/").await?.len(), 1);
    Ok(())
}
