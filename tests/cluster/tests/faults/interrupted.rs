//! Tests that interrupted jobs do not count as failed jobs. Services are killed at random, with the retry
//! delays of production.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{STANDARD, Servers, Workload, is_long};
use cairn_domain::{RepositoryId, RunState};
use cairn_ports::LedgerRead;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use toml::{Table, toml};

use crate::bench::{Bench, POLL, seed};

/// The time limit from the last kill until all runs are published.
const SETTLES_WITHIN: Duration = Duration::from_secs(60);
/// The time limit for isolating a job that kills its worker, while services are also killed from outside.
const ISOLATED_WITHIN: Duration = Duration::from_secs(120);
/// The average time between two kills.
const PAUSE_MS: u64 = 2_600;
const NUM_SEEDS: usize = 5;

/// Settings with the default retry delays and leases. Only the delays for detecting lost connections, and the
/// tick, are shorter.
fn production() -> Table {
    toml! {
        [rabbitmq]
        heartbeat_seconds = 5
        backoff_max_ms = 1000
        [pipeline]
        tick_ms = 100
    }
}

/// Waits for a random time, then kills a random service.
async fn kill_one(bench: &mut Bench, rng: &mut StdRng) -> Result<&'static str> {
    sleep(Duration::from_millis(rng.random_range(PAUSE_MS / 2..PAUSE_MS * 3 / 2))).await;
    let service = STANDARD[rng.random_range(0..STANDARD.len())];
    bench.environment.cluster.process(service)?.kill().await?;
    Ok(service)
}

/// Case 29: services are interrupted at random. After the last kill, no job waits longer than
/// `SETTLES_WITHIN`.
#[tokio::test(flavor = "multi_thread")]
async fn killed_services_leave_no_waiting_jobs() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let (num_seeds, num_repositories, lasts) = if is_long() { (NUM_SEEDS, 20, 180) } else { (1, 5, 25) };
    for seed in (seed()?..).take(num_seeds) {
        let workload = Workload::new(seed, num_repositories, 12);
        let mut bench = Bench::prepare_with(servers.clone(), &production(), workload).await?;
        bench.begin().await?;
        let (mut rng, start, mut num_kills) = (StdRng::seed_from_u64(seed), Instant::now(), 0);
        while start.elapsed() < Duration::from_secs(lasts) {
            if bench.environment.inside.is_settled(&bench.asked).await? {
                bench.change().await?;
            }
            let killed = kill_one(&mut bench, &mut rng).await?;
            bench.start(killed, &[]).await?;
            num_kills += 1;
        }
        let calm_since = Instant::now();
        // A sync that a user requests starts at once, even if a sync of the same repository waits for its
        // retry.
        bench.ask().await?;
        bench.environment.inside.settled(&bench.asked, SETTLES_WITHIN).await?;
        println!("seed {seed}: {num_kills} kills, settled after {:?}", calm_since.elapsed());
        bench.check("killed services leave no waiting jobs", 0).await?;
    }
    Ok(())
}

/// Case 30: one job kills its worker while services are also killed from outside. Only this job is abandoned,
/// within the time limit.
#[tokio::test(flavor = "multi_thread")]
async fn job_that_kills_its_worker_is_found_among_random_kills() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let num_seeds = if is_long() { NUM_SEEDS } else { 1 };
    for seed in (seed()?..).take(num_seeds) {
        let mut bench = Bench::prepare_with(servers.clone(), &production(), Workload::new(seed, 8, 3)).await?;
        bench.begin().await?;
        bench.environment.cluster.stop("parser").await?;
        bench.workload.grow();
        bench.ask().await?;
        let victim = bench.asked.first().context("a repository")?.0;
        let poison = [("CAIRN_POISON", format!("parse/0 of run {}", run_of(&bench, victim).await?))];
        let (mut rng, start, mut parser_runs) = (StdRng::seed_from_u64(seed), Instant::now(), false);
        while bench.environment.inside.last_state(victim).await? != Some(RunState::Partial) {
            ensure!(start.elapsed() < ISOLATED_WITHIN, "the job that kills its worker was not abandoned in time");
            if !parser_runs || bench.environment.cluster.process("parser")?.has_ended()? {
                // The poisoned job may kill the parser before the parser is ready.
                parser_runs = bench.start("parser", &poison).await.is_ok();
                continue;
            }
            match kill_one(&mut bench, &mut rng).await? {
                "parser" => parser_runs = false,
                killed => bench.start(killed, &[]).await?,
            }
        }
        bench.start("parser", &[]).await?;
        println!("seed {seed}: isolated after {:?}", start.elapsed());
        bench.environment.inside.settled(&bench.asked, SETTLES_WITHIN).await?;
        let printed = bench.environment.cluster.cairn(&["dead-letters", "list", "--json"])?;
        let letters: Value = serde_json::from_str(&printed)?;
        let codes: Vec<&Value> = letters["dead_letters"].as_array().into_iter().flatten().map(|l| &l["code"]).collect();
        ensure!(codes == ["crash"], "unexpected dead letters: {letters:#}");
        bench.environment.done();
    }
    Ok(())
}

/// The id of the unfinished run of a repository, in the form that logs use.
async fn run_of(bench: &Bench, repository: RepositoryId) -> Result<String> {
    let deadline = Instant::now() + SETTLES_WITHIN;
    loop {
        let runs = bench.environment.inside.cluster.runs.unfinished().await?;
        if let Some(run) = runs.iter().find(|run| run.id.repository == repository) {
            return Ok(run.id.to_string());
        }
        ensure!(Instant::now() < deadline, "the repository has no run");
        sleep(POLL).await;
    }
}
