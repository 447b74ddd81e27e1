//! The embedder: chunks get their vectors and are staged; what is gone ends.

use std::process::ExitCode;

use cairn_embedding_http::Share;
use cairn_wiring::{Arguments, Cluster, ClusterConfig, Stop, Stores, embedder, start, workers};
use clap::Parser;

fn main() -> ExitCode {
    start("embedder", Arguments::parse().config.as_deref(), run)
}

async fn run(config: ClusterConfig, stop: Stop) -> anyhow::Result<()> {
    let embedder = embedder(&config.embedding, Share::Passages)?;
    let cluster = Cluster::connect(config).await?;
    let stores = Stores::connect(&cluster, embedder.model()).await?;
    cluster.work(cluster.broker()?, workers::embedding(&cluster, &stores, embedder), stop).await
}
