//! Tests concurrency: two requests, cloners, coordinators, or generations of one repository at the same time.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Servers, Traces, is_long};
use cairn_domain::{Lane, RepositoryId, RunState, StageName, Tenant};
use cairn_ports::{Broker, ErrorKind, Ledger, LedgerRead, PartRecord, Requests};
use cairn_rabbitmq::RabbitMqBroker;
use cairn_wire::{Job, SyncJob};
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, PATIENCE, POLL, hasty};

/// The points where the two coordinators die, one pair for each round: before or after the switch, which
/// publishes the generation.
const SHORT: [[&str; 2]; 2] =
    [["pipeline::before_work", "publish::before_switch"], ["publish::switched", "pipeline::handled"]];
const LONG: [[&str; 2]; 8] = [
    ["pipeline::delivered", "pipeline::before_work"],
    ["pipeline::before_work", "publish::before_switch"],
    ["publish::before_switch", "publish::before_switch"],
    ["publish::before_switch", "publish::switched"],
    ["publish::switched", "publish::switched"],
    ["publish::switched", "pipeline::worked"],
    ["pipeline::worked", "pipeline::handled"],
    ["pipeline::handled", "pipeline::acked"],
];
/// A delay that is longer than the lease.
const LATE_MS: u32 = 4_000;

/// Case 19: each sync is dispatched several times, to two cloners. One cloner keeps its lease until the lease
/// expires. One generation is cancelled before or during its switch, and the next generation begins at once.
/// The coordinators die at the switch.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_generations_keep_the_index_correct() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 2).await?;
    bench.begin().await?;
    bench.environment.cluster.stop("cloner").await?;
    bench.start("cloner-1", &[("CAIRN_FAIL_AT", format!("sync::leased:0:sleep={LATE_MS}"))]).await?;
    bench.start("cloner-2", &[]).await?;
    bench.environment.cluster.stop("scheduler").await?;
    let broker = bench.environment.inside.cluster.broker()?;
    let mut num_cancelled_runs = 0;
    for (round, points) in if is_long() { &LONG[..] } else { &SHORT[..] }.iter().enumerate() {
        let fates = ["scheduler-1", "scheduler-2"].into_iter().zip(points);
        let doomed = bench.doom(fates.map(|(scheduler, point)| (scheduler.to_owned(), (*point).to_owned()))).await?;
        bench.workload.advance();
        ask_several_times(&mut bench, &broker).await?;
        let is_time: fn(&[PartRecord]) -> bool = if round % 2 == 0 { is_under_way } else { is_at_the_switch };
        num_cancelled_runs += cancel(&bench, is_time).await?;
        bench.ask().await?;
        bench.revive(&doomed).await?;
        bench.settle().await?;
        bench.environment.cluster.stop_together(["scheduler-1", "scheduler-2"]).await?;
    }
    ensure!(num_cancelled_runs > 0, "every generation was published before it could be cancelled");
    drop(broker);
    bench.start("scheduler", &[]).await?;
    let traces = Traces { num_cancelled_runs, ..Traces::default() };
    bench.check_traces("two generations at once", traces).await?;
    Ok(())
}

/// Requests a sync of all repositories, and publishes two additional copies of each sync job. Call this
/// function only after all runs have ended.
async fn ask_several_times(bench: &mut Bench, broker: &Arc<RabbitMqBroker>) -> Result<()> {
    let num_before = bench.asked.len();
    bench.ask().await?;
    let asked = bench.asked[num_before..].iter();
    let job = |(repository, request): &(RepositoryId, u64)| {
        Job::Sync(SyncJob { tenant: Tenant::local(), repository: *repository, request: *request })
    };
    let jobs: Vec<Job> = asked.map(job).collect();
    broker.publish(Lane::Bulk, [jobs.clone(), jobs].concat()).await?;
    Ok(())
}

fn is_under_way(parts: &[PartRecord]) -> bool {
    parts.iter().any(|part| part.end.is_none())
}

fn is_at_the_switch(parts: &[PartRecord]) -> bool {
    parts.iter().filter(|part| part.end.is_none()).all(|part| part.id.stage == StageName::Publish)
}

/// Cancels the run of the repository that readers observe, as soon as `is_time` is true for its parts.
/// Returns the number of cancelled runs: 0 if the run was published first.
async fn cancel(bench: &Bench, is_time: fn(&[PartRecord]) -> bool) -> Result<usize> {
    let (marked, request) = *bench.asked.last().context("a repository")?;
    let (runs, clock) = (&bench.environment.inside.cluster.runs, &bench.environment.inside.cluster.clock);
    let deadline = Instant::now() + PATIENCE;
    loop {
        // The request must be read before the runs, because a request is answered only after its run has
        // begun.
        let is_answered = runs.asked(marked, request).await?.is_none();
        let run = runs.unfinished().await?.into_iter().find(|run| run.id.repository == marked);
        let Some(run) = run else {
            // The runs of other repositories may be open, because both coordinators may be dead. So the test
            // waits only for this run.
            if is_answered {
                return Ok(0);
            }
            ensure!(Instant::now() < deadline, "no run of the repository has begun");
            sleep(POLL).await;
            continue;
        };
        if is_time(&runs.parts(run.id).await?) {
            return match runs.abort(run.id, RunState::Cancelled, "cancelled by the test", clock.now_ms()).await {
                Ok(()) => Ok(1),
                Err(error) if error.kind == ErrorKind::Conflict => Ok(0),
                Err(error) => Err(error.into()),
            };
        }
        ensure!(Instant::now() < deadline, "no run of the repository reached the point at which the test cancels it");
        sleep(POLL).await;
    }
}
