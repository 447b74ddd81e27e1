//! The embedder computes and stages the vectors of chunks, and marks the chunks of removed paths as ended. If
//! the provider has a quota, only the replica that owns the provider's key computes vectors. The other
//! replicas wait until they own the key.

use std::process::ExitCode;

use cairn_wiring::{Arguments, Cluster, ClusterConfig, OwnersWork, Stop, Stores, passages, start, workers};

fn main() -> ExitCode {
    start("embedder", &Arguments::of("cairn-embedder"), run)
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
