//! The scheduler. `run` is the coordinator: it dispatches syncs and the jobs of the outbox, publishes
//! generations, sends jobs of stalled runs again, and sweeps. Kubernetes CronJobs run the other commands:
//! `tick` requests a sync of every repository, `reconcile` and `sweep` do work of the coordinator once.

use std::process::ExitCode;
use std::sync::Arc;

use cairn_wiring::{
    Arguments, COORDINATOR, ClusterConfig, Coordinator, OwnersWork, Owning, Stop, reconcile, start, sweep, tick,
    workers,
};
use clap::{Parser, Subcommand};

#[derive(Parser, Debug)]
#[command(version)]
struct SchedulerArguments {
    #[command(flatten)]
    service: Arguments,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Request a sync of every repository, then exit.
    Tick,
    /// Dispatch waiting jobs, send the jobs of stalled runs again and end runs without progress once, then
    /// exit. Repairs a cluster whose coordinator is not active.
    Reconcile,
    /// Delete unused generations and artifacts once, then exit.
    Sweep,
    /// Run the coordinator until it is stopped. Only one replica is active; the other replicas are on
    /// standby.
    Run,
}

fn main() -> ExitCode {
    let SchedulerArguments { service, command } = SchedulerArguments::parse();
    match command {
        Command::Tick => once("scheduler tick", &service, tick),
        Command::Reconcile => once("scheduler reconcile", &service, reconcile),
        Command::Sweep => once("scheduler sweep", &service, sweep),
        Command::Run => start("scheduler run", &service, run),
    }
}

/// Does some work once. The work ends early if the process is asked to stop.
fn once(name: &str, service: &Arguments, work: impl AsyncFnOnce(ClusterConfig) -> anyhow::Result<()>) -> ExitCode {
    start(name, service, async |config, mut stop: Stop| stop.unless_asked(work(config)).await)
}

async fn run(config: ClusterConfig, mut stop: Stop) -> anyhow::Result<()> {
    let (cluster, broker, coordinator) = stop.unless_asked(Coordinator::connect(config)).await?;
    let (key, owning) = (COORDINATOR.to_owned(), Owning::Coordinator(Arc::new(coordinator)));
    let owners = OwnersWork { key, owning, workers: workers::publishing(&cluster)? };
    cluster.work_and_own(broker, Vec::new(), Some(owners), stop).await
}
