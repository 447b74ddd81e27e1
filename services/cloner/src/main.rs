//! The cloner fetches repositories, decides which paths are indexed, redacts and packs new texts, and begins
//! the run. The cloner also removes the clones of deleted repositories.

use std::process::ExitCode;
use std::sync::Arc;

use cairn_wiring::{Arguments, Cluster, ClusterConfig, Stop, sources, start, sweep_clones, workers};

fn main() -> ExitCode {
    start("cloner", &Arguments::of("cairn-cloner"), run)
}

async fn run(config: ClusterConfig, mut stop: Stop) -> anyhow::Result<()> {
    let cluster = stop.unless_asked(Cluster::connect(config)).await?;
    let sources = sources(&cluster);
    let workers = workers::syncing(&cluster, Arc::clone(&sources))?;
    sweep_clones(&cluster, &sources);
    cluster.work(cluster.broker()?, workers, stop).await
}
