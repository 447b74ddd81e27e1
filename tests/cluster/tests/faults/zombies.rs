//! Processes that stand still, and come back when others have long done their work.

use anyhow::{Result, ensure};
use cairn_cluster::Servers;

use crate::bench::{Bench, hasty};

/// Case 18: a cloner is frozen in the middle of a sync, beyond its lease; another does the work; the first one thaws.
#[tokio::test(flavor = "multi_thread")]
async fn a_cloner_comes_back_too_late() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 3).await?;
    bench.begin().await?;
    bench.ground.cluster.stop("cloner").await?;
    bench.start("cloner-1", &[]).await?;
    bench.change().await?;
    bench.passes("cloner-1", "pipeline::before_sync").await?;
    bench.ground.cluster.process("cloner-1")?.pause().await?;
    bench.start("cloner-2", &[]).await?;
    bench.settle().await?;
    // More happens before the zombie wakes: it is behind by a generation.
    bench.change().await?;
    bench.settle().await?;
    bench.ground.cluster.process("cloner-1")?.resume()?;
    bench.change().await?;
    bench.settle().await?;
    ensure!(!bench.ground.cluster.process("cloner-1")?.has_ended()?, "the zombie died");
    bench.check("a cloner comes back too late", 0).await?;
    Ok(())
}
