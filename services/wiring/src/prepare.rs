//! What must be in the stores and the broker before services start.

use anyhow::Context;
use cairn_neo4j::Neo4j;
use cairn_rabbitmq::topology::{self, Topology};
use cairn_s3::S3BlobStore;

use crate::{ClusterConfig, Stores};

/// Makes what is missing in each dependency. May be run at any time, also while services work.
pub async fn prepare(config: &ClusterConfig) -> anyhow::Result<()> {
    let section = |name: &str| format!("the settings have no section [{name}]");
    let rabbitmq = config.rabbitmq.as_ref().with_context(|| section("rabbitmq"))?;
    topology::apply(rabbitmq, &Topology::new(&rabbitmq.topology)).await.context("preparing RabbitMQ")?;
    let blobs = S3BlobStore::open(config.s3.as_ref().with_context(|| section("s3"))?)?;
    blobs.prepare().await.context("preparing the bucket")?;
    blobs.self_test().await?;
    let neo4j = Neo4j::new(config.neo4j.as_ref().with_context(|| section("neo4j"))?)?;
    neo4j.prepare().await.context("preparing Neo4j")?;
    Stores::prepare(config).await.context("preparing Qdrant")
}
