//! Tests properties of the vector cache that the conformance suite does not test: its model, and the stored
//! bytes.

use anyhow::Result;
use cairn_domain::{ContentHash, DenseVector, VectorKey};
use cairn_ports::{ErrorKind, VectorCache};
use cairn_qdrant::QdrantVectorCache;

use crate::space::{Space, model, tenant};

#[tokio::test(flavor = "multi_thread")]
async fn every_byte_is_read_back() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let cache = QdrantVectorCache::new(space.config.clone(), model(256))?;
    cache.prepare().await?;
    let key = VectorKey { model: model(256), content: ContentHash::of("all") };
    let vector = DenseVector((i8::MIN..=i8::MAX).collect());
    cache.put(&tenant(), &[(key.clone(), vector.clone())]).await?;
    assert_eq!(cache.get(&tenant(), &[key]).await?, [Some(vector)]);
    space.done().await
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_another_model_are_refused() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let cache = QdrantVectorCache::new(space.config.clone(), model(2))?;
    cache.prepare().await?;
    let other = VectorKey { model: model(3), content: ContentHash::of("a") };
    let error = cache.put(&tenant(), &[(other, DenseVector(vec![1; 3]))]).await.expect_err("another model");
    assert_eq!(error.kind, ErrorKind::Invalid);
    space.done().await
}
