//! Tests three embedders that share one key. One embedder works. When this embedder is disconnected, another
//! embedder takes over.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use cairn_servers::Rules;
use tokio::time::sleep;

use crate::replica::{Cluster, Replica};

const PARTS: u32 = 120;
const PATIENCE: Duration = Duration::from_secs(90);

/// The values that the test observed while the parts were in progress.
#[derive(Default)]
struct Seen {
    /// The largest number of consumers that one queue had at one time.
    most: u64,
    owners: Vec<usize>,
}

impl Seen {
    async fn look(&mut self, cluster: &Cluster, replicas: &[Replica], before: &mut [u64]) -> Result<()> {
        for count in cluster.consumers().await?.values() {
            self.most = self.most.max(*count);
        }
        for (number, replica) in replicas.iter().enumerate() {
            if std::mem::replace(&mut before[number], replica.num_calls()) < replica.num_calls() {
                self.owners.push(number);
            }
        }
        self.owners.dedup();
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_embedder_calls_at_a_time() -> Result<()> {
    let Some(cluster) = Cluster::given().await? else { return Ok(()) };
    let mut replicas = Vec::new();
    for _ in 0..3 {
        replicas.push(Replica::start(&cluster).await?);
    }
    let run = cluster.begin(PARTS).await?;
    let (mut seen, mut calls) = (Seen::default(), [0; 3]);
    let (mut num_killed, mut cut_off) = (0, None);
    let started = Instant::now();
    loop {
        seen.look(&cluster, &replicas, &mut calls).await?;
        let num_ended = cluster.num_ended(run).await?;
        if num_ended == PARTS as usize {
            break;
        }
        let owner = seen.owners.last().copied();
        // The disconnected embedder may reconnect once another embedder works. The disconnected embedder must
        // then wait for the key.
        if let Some(before) = cut_off.take_if(|before| owner != Some(*before)) {
            replicas[before].proxy.set(Rules::PASS);
        }
        // Disconnects the owner each time another third of the parts (40 parts) has ended.
        if let (true, Some(owner)) = (cut_off.is_none() && num_ended >= 40 * (num_killed + 1), owner) {
            replicas[owner].proxy.set(Rules::RESET);
            cut_off = Some(owner);
            num_killed += 1;
        }
        ensure!(
            started.elapsed() < PATIENCE,
            "only {num_ended} parts ended in time; the owners were {:?}",
            seen.owners
        );
        sleep(Duration::from_millis(50)).await;
    }
    println!("{PARTS} parts in {:?} by {:?}", started.elapsed(), seen.owners);
    assert_eq!(num_killed, 2);
    assert_eq!(seen.most, 1, "consumers of one queue at a time");
    assert!(seen.owners.len() >= 3, "{:?}", seen.owners);
    let report = cluster.provider.provider().report();
    println!("{report:?}");
    assert!(!report.statuses.contains_key(&429), "{report:?}");
    for replica in replicas {
        replica.drain().await?;
    }
    cluster.vhost.delete().await
}
