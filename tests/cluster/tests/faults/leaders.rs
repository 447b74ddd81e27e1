//! Tests a broker of three nodes that loses its leading node repeatedly.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Raw, Servers};
use cairn_servers::RabbitCluster;
use tempfile::tempdir;

use crate::bench::{Bench, hasty};

const NUM_ROUNDS: usize = 20;

/// In each round, the node that leads the most queues is killed while the queues contain jobs.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_survives_loss_of_the_queue_leader() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let directory = tempdir()?;
    let mut nodes = RabbitCluster::start(directory.path(), 3).await?;
    let mut urls = nodes.urls();
    let peers = urls.split_off(1);
    let management = nodes[0].management_url();
    let servers = Servers { rabbitmq: urls.concat(), rabbitmq_peers: peers, management, ..servers };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    let raw = bench.raw()?;
    let mut lost: BTreeMap<usize, usize> = BTreeMap::new();
    for _ in 0..NUM_ROUNDS {
        bench.change().await?;
        bench.under_way(usize::MAX).await?;
        let leader = leader(&raw).await?;
        *lost.entry(leader).or_default() += 1;
        nodes[leader].kill().await?;
        // The two remaining nodes must complete the work.
        bench.settle().await?;
        bench.change().await?;
        nodes[leader].restart().await?;
        nodes.wait_until_joined().await?;
        bench.settle().await?;
    }
    println!("nodes lost as leaders: {lost:?}");
    bench.check("the leader is lost", 0).await?;
    Ok(())
}

/// The number of the node that leads the most queues.
async fn leader(raw: &Raw) -> Result<usize> {
    let mut led: BTreeMap<String, usize> = BTreeMap::new();
    for queue in raw.queues().await? {
        let leader = queue.leader.with_context(|| format!("{} has no leader", queue.name))?;
        *led.entry(leader).or_default() += 1;
    }
    let (leader, _) = led.into_iter().max_by_key(|(_, num_led)| *num_led).context("no queues")?;
    // The first node is `c1@localhost`.
    let number: usize = leader.trim_start_matches('c').split('@').next().unwrap_or_default().parse()?;
    ensure!(number > 0, "{leader} is not the name of a node");
    Ok(number - 1)
}
