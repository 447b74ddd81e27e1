//! The pattern aggregator finds files and classes with a similar structure in a snapshot.

use std::process::ExitCode;

use cairn_wiring::{Arguments, Cluster, ClusterConfig, Stop, start, workers};

fn main() -> ExitCode {
    start("pattern-aggregator", &Arguments::of("cairn-pattern-aggregator"), run)
}

async fn run(config: ClusterConfig, mut stop: Stop) -> anyhow::Result<()> {
    let cluster = stop.unless_asked(Cluster::connect(config)).await?;
    cluster.work(cluster.broker()?, workers::aggregating(&cluster), stop).await
}
