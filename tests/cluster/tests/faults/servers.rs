//! Servers that die under load.

use anyhow::Result;
use cairn_cluster::Servers;
use cairn_servers::{Neo4j, RabbitMq};
use tempfile::tempdir;
use tokio::time::sleep;

use crate::bench::{Bench, hasty, is_long};

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
        bench.under_way(usize::MAX).await?;
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
        bench.under_way(2).await?;
        database.kill().await?;
        database.restart().await?;
        bench.settle().await?;
    }
    bench.check("the database is killed", 0).await?;
    Ok(())
}
