//! Collections are made once, and one of another kind is refused.

use anyhow::Result;
use cairn_ports::ErrorKind;
use cairn_qdrant::{QdrantConfig, QdrantStore, QdrantVectorCache};
use futures::future::try_join_all;
use qdrant_client::qdrant::{
    CreateCollectionBuilder, DeleteFieldIndexCollectionBuilder, Distance, VectorParamsBuilder, VectorsConfigBuilder,
};

use crate::space::{DIMENSIONS, Space, model};

#[tokio::test(flavor = "multi_thread")]
async fn replicas_may_prepare_at_once() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let replicas: Vec<QdrantStore> = (0..6).map(|_| space.store()).collect();
    try_join_all(replicas.iter().map(QdrantStore::prepare)).await?;
    try_join_all(replicas.iter().map(QdrantStore::prepare)).await?;
    let info = space.client().collection_info(replicas[0].collection_name()).await?.result.expect("a result");
    assert_eq!(info.payload_schema.len(), 19);
    assert_eq!(info.config.and_then(|config| config.hnsw_config).and_then(|hnsw| hnsw.m), Some(0));
    space.done().await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_is_made_when_questions_may_be_approximate() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    space.prepared().await?;
    let config = QdrantConfig { exact: false, ..space.config.clone() };
    let store = QdrantStore::new(config, model(DIMENSIONS))?;
    store.prepare().await?;
    let info = space.client().collection_info(store.collection_name()).await?.result.expect("a result");
    assert_eq!(info.config.and_then(|config| config.hnsw_config).and_then(|hnsw| hnsw.m), Some(16));
    space.done().await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_named_and_not_made() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let (store, cache) = (space.store(), QdrantVectorCache::new(space.config.clone(), model(DIMENSIONS))?);
    let name = store.collection_name();
    for _ in 0..2 {
        assert_eq!(store.missing().await?, [format!("collection `{name}`")]);
        assert_eq!(cache.missing().await?, [format!("collection `{name}-cache`")]);
    }
    store.prepare().await?;
    cache.prepare().await?;
    assert_eq!([store.missing().await?, cache.missing().await?], [Vec::<String>::new(), Vec::new()]);
    space.client().delete_field_index(DeleteFieldIndexCollectionBuilder::new(name, "language").wait(true)).await?;
    assert_eq!(store.missing().await?, [format!("index `language` of collection `{name}`")]);
    let version = store.version().await?;
    assert!(version.contains("qdrant") && version.contains(|digit: char| digit.is_ascii_digit()), "{version}");
    space.done().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_that_does_not_fit_is_refused() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let store = space.store();
    let mut vectors = VectorsConfigBuilder::default();
    vectors.add_named_vector_params("dense", VectorParamsBuilder::new(7, Distance::Cosine));
    let create = CreateCollectionBuilder::new(store.collection_name()).vectors_config(vectors);
    space.client().create_collection(create).await?;
    let error = store.prepare().await.expect_err("another kind");
    assert_eq!(error.kind, ErrorKind::Invalid);
    let cause = error.source.expect("a cause").to_string();
    for part in ["7 dimensions, not 32", "Cosine, not Dot", "no sparse vectors `terms`", "`collection_prefix`"] {
        assert!(cause.contains(part), "{cause}");
    }
    space.done().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_collection_is_named_with_advice() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let cache = QdrantVectorCache::new(space.config.clone(), model(4))?;
    let keys = [cairn_domain::VectorKey { model: model(4), content: cairn_domain::ContentHash::of("a") }];
    let error = cairn_ports::VectorCache::get(&cache, &crate::space::tenant(), &keys).await.expect_err("nothing there");
    assert_eq!((error.kind, error.key.as_str()), (ErrorKind::Unavailable, cache.collection_name()));
    assert!(error.source.expect("a cause").to_string().contains("`cairn topology apply` makes it"));
    Ok(())
}
