//! Tests that collections are created once, and that a collection with wrong properties is refused.

use anyhow::Result;
use cairn_ports::ErrorKind;
use cairn_qdrant::{QdrantConfig, QdrantStore, QdrantVectorCache};
use futures::future::try_join_all;
use qdrant_client::qdrant::qdrant_server::{Qdrant as QdrantService, QdrantServer};
use qdrant_client::qdrant::{
    CreateCollectionBuilder, DeleteFieldIndexCollectionBuilder, Distance, HealthCheckReply, HealthCheckRequest,
    VectorParamsBuilder, VectorsConfigBuilder,
};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

use crate::space::{DIMENSIONS, Space, model};

#[tokio::test(flavor = "multi_thread")]
async fn service_instances_may_prepare_at_the_same_time() -> Result<()> {
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
async fn approximate_search_creates_an_index() -> Result<()> {
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
async fn missing_reports_objects_without_creating_them() -> Result<()> {
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
async fn failed_test_leaves_no_collection() -> Result<()> {
    let (Some(failing), Some(other)) = (Space::new(), Space::new()) else { return Ok(()) };
    let (name, others) = (failing.store().collection_name().to_owned(), other.store().collection_name().to_owned());
    let failed = tokio::spawn(async move {
        failing.prepared().await.expect("prepared");
        panic!("on purpose");
    });
    other.prepared().await?;
    assert!(failed.await.is_err());
    let client = other.client();
    assert_eq!((client.collection_exists(name).await?, client.collection_exists(others).await?), (false, true));
    other.done().await
}

/// A server that answers only requests for its version.
struct Versioned(&'static str);

#[tonic::async_trait]
impl QdrantService for Versioned {
    async fn health_check(&self, _: Request<HealthCheckRequest>) -> Result<Response<HealthCheckReply>, Status> {
        let title = "qdrant - vector search engine".to_owned();
        Ok(Response::new(HealthCheckReply { title, version: self.0.to_owned(), commit: None }))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_server_is_refused() -> Result<()> {
    for (version, expected) in [("1.18.3", "is Qdrant 1.18.3; Cairn needs 1.19"), ("dev", "the version `dev`")] {
        let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?;
        let config = QdrantConfig::new(format!("http://{}", incoming.local_addr()?));
        let serving = Server::builder().add_service(QdrantServer::new(Versioned(version)));
        let serving = tokio::spawn(serving.serve_with_incoming(incoming));
        let store = QdrantStore::new(config.clone(), model(4))?;
        let cache = QdrantVectorCache::new(config, model(4))?;
        for refused in [store.prepare().await, store.missing().await.map(drop)] {
            let error = refused.expect_err("too old");
            let cause = error.source.expect("a cause").to_string();
            assert!(error.kind == ErrorKind::Invalid && cause.contains(expected), "{:?}: {cause}", error.kind);
        }
        for refused in [cache.prepare().await, cache.missing().await.map(drop)] {
            assert!(refused.expect_err("too old").source.expect("a cause").to_string().contains(expected));
        }
        serving.abort();
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn unfit_collection_is_refused() -> Result<()> {
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
async fn missing_collection_is_reported_with_advice() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let cache = QdrantVectorCache::new(space.config.clone(), model(4))?;
    let keys = [cairn_domain::VectorKey { model: model(4), content: cairn_domain::ContentHash::of("a") }];
    let error = cairn_ports::VectorCache::get(&cache, &crate::space::tenant(), &keys).await.expect_err("no collection");
    assert_eq!((error.kind, error.key.as_str()), (ErrorKind::Unavailable, cache.collection_name()));
    assert!(error.source.expect("a cause").to_string().contains("run `cairn topology apply` to create it"));
    Ok(())
}
