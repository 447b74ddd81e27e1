//! The cloner: takes requests to sync, fetches repositories, decides what becomes of every path, redacts and packs what is
//! new, and begins the run.

use std::process::ExitCode;

use cairn_wiring::{Arguments, Cluster, ClusterConfig, Stop, start, workers};
use clap::Parser;

fn main() -> ExitCode {
    start("cloner", Arguments::parse().config.as_deref(), run)
}

async fn run(config: ClusterConfig, mut stop: Stop) -> anyhow::Result<()> {
    let cluster = stop.unless_asked(Cluster::connect(config)).await?;
    cluster.work(cluster.broker()?, workers::syncing(&cluster)?, stop).await
}
