//! Runs the conformance suites of the vector store and the vector cache. The planted faults run before the
//! suites. If a fault leaves data that makes a check fail, the suite that runs afterwards on the same
//! collection fails.

use anyhow::Result;
use cairn_conformance::{suite, vector_cache, vector_store};
use cairn_domain::ModelId;
use cairn_ports::{VectorCache, VectorStore};
use cairn_qdrant::QdrantVectorCache;

use crate::space::Space;

#[tokio::test(flavor = "multi_thread")]
async fn vector_store_passes_the_suite() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let store = space.prepared().await?;
    let open = async || Ok(Box::new(store.clone()) as Box<dyn VectorStore>);
    suite::catches(&vector_store::checks(), &vector_store::faults(), open).await?;
    suite::passes(&vector_store::checks(), open).await?;
    space.done().await
}

#[tokio::test(flavor = "multi_thread")]
async fn vector_cache_passes_the_suite() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let cache = QdrantVectorCache::new(space.config.clone(), ModelId { name: "m".to_owned(), dimensions: 4 })?;
    cache.prepare().await?;
    let open = async || Ok(Box::new(cache.clone()) as Box<dyn VectorCache>);
    suite::catches(&vector_cache::checks(), &vector_cache::faults(), open).await?;
    suite::passes(&vector_cache::checks(), open).await?;
    space.done().await
}
