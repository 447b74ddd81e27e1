//! The embedder: chunks get their vectors and are staged; what is gone ends. Where the provider has a quota, only the owner of
//! its key works on the former; the others stand by.

use std::process::ExitCode;

use cairn_wiring::{Arguments, Cluster, ClusterConfig, OwnersWork, Stop, Stores, passages, start, workers};
use clap::Parser;

fn main() -> ExitCode {
    start("embedder", Arguments::parse().config.as_deref(), run)
}

async fn run(config: ClusterConfig, mut stop: Stop) -> anyhow::Result<()> {
    let (embedder, key) = passages(&config.embedding)?;
    let cluster = stop.unless_asked(Cluster::connect(config)).await?;
    let stores = Stores::connect(&cluster, embedder.model()).await?;
    let mut workers = workers::retiring(&cluster, &stores);
    let embedding = workers::embedding(&cluster, &stores, embedder);
    let owners = match key {
        Some((key, owning)) => Some(OwnersWork { key, owning, workers: embedding }),
        None => {
            workers.extend(embedding);
            None
        }
    };
    cluster.work_and_own(cluster.broker()?, workers, owners, stop).await
}
