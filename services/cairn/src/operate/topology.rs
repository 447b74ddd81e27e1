//! What a cluster's stores and broker must hold before a service starts.

use std::process::ExitCode;

use anyhow::Context;
use cairn_neo4j::Neo4j;
use cairn_rabbitmq::topology::{Topology, apply as apply_topology};
use cairn_s3::S3BlobStore;
use cairn_wiring::{Cluster, ClusterConfig, Stores};

use crate::output;

/// Makes it all; making it again changes nothing.
pub(super) async fn apply(config: &ClusterConfig, json: bool) -> anyhow::Result<ExitCode> {
    let section = |name: &str| format!("the settings have no section [{name}]");
    let rabbitmq = config.rabbitmq.as_ref().with_context(|| section("rabbitmq"))?;
    let applied = apply_topology(rabbitmq, &Topology::new(&rabbitmq.topology)).await?;
    let blobs = S3BlobStore::open(config.s3.as_ref().with_context(|| section("s3"))?)?;
    blobs.prepare().await?;
    blobs.self_test().await?;
    let neo4j = Neo4j::new(config.neo4j.as_ref().with_context(|| section("neo4j"))?)?;
    neo4j.prepare().await?;
    let model = config.embedding.model_id()?;
    let cluster = Cluster::connect(config.clone()).await?;
    let stores = Stores::connect(&cluster, &model).await?;
    let collection = stores.vectors.collection_name();
    if json {
        output::json(&serde_json::json!({
            "exchanges": applied.num_exchanges,
            "queues": applied.num_queues,
            "policies": applied.num_policies,
            "bindings": applied.num_bindings,
            "collection": collection,
        }));
    } else {
        output::line(&format!(
            "RabbitMQ: {} exchanges, {} queues, {} policies, {} bindings",
            applied.num_exchanges, applied.num_queues, applied.num_policies, applied.num_bindings
        ));
        output::line("S3: the bucket is there, and writes are create-only");
        output::line("Neo4j: constraints and indexes are there");
        output::line(&format!("Qdrant: collection {collection}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what is missing; changes nothing.
pub(super) async fn check(config: ClusterConfig, json: bool) -> anyhow::Result<ExitCode> {
    let cluster = Cluster::connect(config).await?;
    let missing = cluster.broker.missing().await?;
    if json {
        output::json(&serde_json::json!({ "missing": missing }));
    } else if missing.is_empty() {
        output::line("everything is there");
    }
    for name in missing.iter().filter(|_| !json) {
        output::error(&format!("missing: {name}"));
    }
    if missing.is_empty() { Ok(ExitCode::SUCCESS) } else { Ok(ExitCode::FAILURE) }
}
