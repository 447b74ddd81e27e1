//! Servers that die under load.

use anyhow::Result;
use cairn_cluster::Servers;
use cairn_ports::LedgerRead;
use cairn_servers::{Neo4j, RabbitMq};
use tempfile::tempdir;
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, PATIENCE, POLL, hasty, is_long};

/// Case 3: the broker is killed while everything publishes, and comes back 5 seconds later.
#[tokio::test(flavor = "multi_thread")]
async fn the_broker_is_killed() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let directory = tempdir()?;
    let mut broker = RabbitMq::start(directory.path()).await?;
    let servers = Servers { rabbitmq: broker.url(), management: broker.management_url(), ..servers };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    for _ in 0..if is_long() { 20 } else { 2 } {
        bench.change().await?;
        under_way(&bench, usize::MAX).await?;
        broker.kill().await?;
        sleep(std::time::Duration::from_secs(5)).await;
        broker.restart().await?;
        bench.settle().await?;
    }
    bench.check("the broker is killed", 0).await?;
    Ok(())
}

/// Case 14: the database is killed while the last two parts of a run end.
#[tokio::test(flavor = "multi_thread")]
async fn the_database_is_killed() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let directory = tempdir()?;
    let mut database = Neo4j::start(directory.path()).await?;
    let servers = Servers { neo4j: database.url().to_owned(), ..servers };
    let mut bench = Bench::prepare(servers, &hasty(), 3).await?;
    bench.begin().await?;
    for _ in 0..if is_long() { 100 } else { 2 } {
        bench.change().await?;
        under_way(&bench, 2).await?;
        database.kill().await?;
        database.restart().await?;
        bench.settle().await?;
    }
    bench.check("the database is killed", 0).await?;
    Ok(())
}

/// Waits until a run has begun and no more than so many of its parts are open. None may be met: then all is done.
async fn under_way(bench: &Bench, most_open: usize) -> Result<()> {
    let runs = &bench.ground.inside.cluster.runs;
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline && !bench.ground.inside.is_settled(&bench.asked).await? {
        for run in runs.unfinished().await? {
            let parts = runs.parts(run.id).await?;
            if parts.iter().filter(|part| part.end.is_none()).count() <= most_open {
                return Ok(());
            }
        }
        sleep(POLL).await;
    }
    Ok(())
}
