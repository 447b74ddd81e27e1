//! The graph writer resolves references to definitions, and stages nodes, edges and names.

use std::process::ExitCode;

use cairn_wiring::{Arguments, Cluster, ClusterConfig, Stop, start, workers};

fn main() -> ExitCode {
    start("graph-writer", &Arguments::of("cairn-graph-writer"), run)
}

async fn run(config: ClusterConfig, mut stop: Stop) -> anyhow::Result<()> {
    let cluster = stop.unless_asked(Cluster::connect(config)).await?;
    cluster.work(cluster.broker()?, workers::linking(&cluster), stop).await
}
