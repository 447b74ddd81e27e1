//! Tests of processes that are frozen, and continue after other processes have done their work.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use cairn_cluster::Servers;
use cairn_domain::RepositoryId;
use cairn_ports::LedgerRead;
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, PATIENCE, POLL, hasty};

const ZOMBIE: &str = "cloner-1";
const LOST: &str = "cairn_jobs_total{answer=\"lost\"";
const IN_HAND: &str = "cairn_jobs_in_hand";

/// Case 18: a cloner is frozen in the middle of a sync, for longer than its lease lasts. Another cloner takes
/// the lease with the next epoch and does the work. After that, the first cloner continues, and its actions
/// have no effect.
#[tokio::test(flavor = "multi_thread")]
async fn late_cloner_changes_nothing() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 3).await?;
    bench.begin().await?;
    bench.environment.cluster.stop("cloner").await?;
    let variables = [
        ("CAIRN__PIPELINE__CONCURRENCY", "1".to_owned()),
        // The cloner sleeps, so that the test can freeze it while it has the lease and has read nothing yet.
        ("CAIRN_FAIL_AT", "sync::leased:0:sleep=5000".to_owned()),
    ];
    bench.start(ZOMBIE, &variables).await?;
    let before = epochs(&bench).await?;
    bench.change().await?;
    bench.passes(ZOMBIE, "sync::leased").await?;
    bench.environment.cluster.process(ZOMBIE)?.pause().await?;
    let leased = epochs(&bench).await?;
    let held: Vec<RepositoryId> = leased.keys().copied().filter(|held| leased[held] > before[held]).collect();
    let [held] = held[..] else { anyhow::bail!("expected one taken lease, but the leases of {held:?} are taken") };
    bench.start("cloner-2", &[]).await?;
    bench.settle().await?;
    let others = bench.environment.inside.epoch(held).await?;
    ensure!(others > leased[&held], "no other cloner took the lease: the epoch was {} and is {others}", leased[&held]);
    // Another generation is published before the frozen cloner continues, so this cloner is one generation
    // behind.
    bench.change().await?;
    bench.settle().await?;
    let (runs, newest) = (num_runs(&bench, held).await?, bench.environment.inside.epoch(held).await?);
    bench.environment.cluster.process(ZOMBIE)?.resume()?;
    is_refused(&bench).await?;
    let (runs_now, epoch_now) = (num_runs(&bench, held).await?, bench.environment.inside.epoch(held).await?);
    ensure!((runs, newest) == (runs_now, epoch_now), "the zombie began a run or took the lease");
    bench.change().await?;
    bench.settle().await?;
    ensure!(!bench.environment.cluster.process(ZOMBIE)?.has_ended()?, "the zombie died");
    bench.check("a cloner continues after its lease has ended", 0).await?;
    Ok(())
}

async fn epochs(bench: &Bench) -> Result<BTreeMap<RepositoryId, u64>> {
    let mut epochs = BTreeMap::new();
    for (repository, _) in &bench.asked {
        epochs.insert(*repository, bench.environment.inside.epoch(*repository).await?);
    }
    Ok(epochs)
}

async fn num_runs(bench: &Bench, repository: RepositoryId) -> Result<usize> {
    Ok(bench.environment.inside.cluster.runs.runs(Some(repository), usize::MAX).await?.len())
}

/// Waits until the ledger has refused the frozen cloner's write, because the lease of the cloner has an old
/// epoch, and the broker has refused the cloner's acknowledgement. After that, the cloner has no job.
async fn is_refused(bench: &Bench) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let log = bench.environment.cluster.log(ZOMBIE);
    while !fs::read_to_string(&log).context("the log cannot be read")?.contains("the lease could not be ended") {
        ensure!(Instant::now() < deadline, "the zombie released the lease of another cloner");
        sleep(POLL).await;
    }
    while bench.metric([ZOMBIE], LOST).await? == 0 || bench.metric([ZOMBIE], IN_HAND).await? > 0 {
        ensure!(Instant::now() < deadline, "the zombie still has a job, or could acknowledge one");
        sleep(POLL).await;
    }
    Ok(())
}
