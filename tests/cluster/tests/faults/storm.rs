//! Tests of writers whose transactions conflict. These tests run only in the long form.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use cairn_cluster::{Raw, Servers};
use cairn_domain::Lane;
use cairn_ports::Requests;
use tokio::task::JoinHandle;
use toml::Value;

use crate::bench::{Bench, hasty};

const WRITERS: [&str; 8] = [
    "graph-writer",
    "graph-writer-2",
    "graph-writer-3",
    "graph-writer-4",
    "graph-writer-5",
    "graph-writer-6",
    "graph-writer-7",
    "graph-writer-8",
];
const NUM_KEYS: usize = 20;
const NUM_ROUNDS: usize = 4;

/// Case 15: eight writers write to the keys with the most references from other repositories. Other
/// transactions lock the same keys in the opposite order. If a transaction failed ten times, its job would be
/// retried later; the case checks that no job is retried.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_survives_deadlocks_of_writers() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut settings = hasty();
    if let Some(pipeline) = settings.get_mut("pipeline").and_then(Value::as_table_mut) {
        pipeline.insert("concurrency".to_owned(), 1.into());
    }
    let mut bench = Bench::prepare(servers, &settings, 8).await?;
    bench.begin().await?;
    for writer in &WRITERS[1..] {
        bench.start(writer, &[]).await?;
    }
    let raw = Arc::new(bench.raw()?);
    let keys = raw.nodes_of_most_repositories(NUM_KEYS).await?;
    ensure!(keys.len() == NUM_KEYS, "only {} nodes", keys.len());
    let storm = Storm::start(&raw, &keys);
    for _ in 0..NUM_ROUNDS {
        rebuild(&mut bench).await?;
        bench.settle().await?;
    }
    let num_deadlocks = storm.stop().await?;
    let num_retries = bench.metric(WRITERS, "cairn_jobs_total{answer=\"retry\"").await?;
    println!("{num_deadlocks} deadlocks, {num_retries} jobs tried again");
    ensure!(num_deadlocks > 0, "no deadlock happened");
    ensure!(num_retries == 0, "{num_retries} jobs were retried because a transaction used all its attempts");
    bench.check("writers deadlock", 0).await?;
    Ok(())
}

/// Requests a rebuild of all repositories, which writes all their records again at the same time.
async fn rebuild(bench: &mut Bench) -> Result<()> {
    let cluster = &bench.environment.inside.cluster;
    let mut repositories: Vec<_> = bench.asked.iter().map(|(repository, _)| *repository).collect();
    repositories.sort_unstable();
    repositories.dedup();
    for repository in repositories {
        let request = cluster.runs.ask(repository, Lane::Bulk, true, cluster.clock.now_ms()).await?;
        bench.asked.push((repository, request));
    }
    Ok(())
}

/// Transactions that lock the same keys in descending order, so that they cannot deadlock with each other.
struct Storm {
    is_over: Arc<AtomicBool>,
    blowing: Vec<JoinHandle<Result<u64>>>,
}

impl Storm {
    const NUM_TASKS: usize = 2;

    fn start(raw: &Arc<Raw>, keys: &[String]) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut keys = keys.to_vec();
        keys.sort_unstable_by(|left, right| right.cmp(left));
        let blow = |_| {
            let (raw, keys, is_over) = (Arc::clone(raw), keys.clone(), Arc::clone(&is_over));
            tokio::spawn(async move {
                let mut num_deadlocks = 0;
                while !is_over.load(Ordering::SeqCst) {
                    num_deadlocks += u64::from(!raw.locks(&keys).await?);
                }
                Ok(num_deadlocks)
            })
        };
        Self { blowing: (0..Self::NUM_TASKS).map(blow).collect(), is_over }
    }

    /// Stops the transactions. Returns the number of transactions that ended because of a deadlock.
    async fn stop(self) -> Result<u64> {
        self.is_over.store(true, Ordering::SeqCst);
        let mut num_deadlocks = 0;
        for task in self.blowing {
            num_deadlocks += task.await??;
        }
        Ok(num_deadlocks)
    }
}
