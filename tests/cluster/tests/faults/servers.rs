//! Tests of a broker and a database that are killed under load.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Servers, is_long};
use cairn_domain::StageName;
use cairn_ports::LedgerRead;
use cairn_servers::{Direction, FaultProxy, Neo4j, RabbitMq, Rules};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::tempdir;
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, PATIENCE, hasty};
use crate::broker_state::{BrokerState, PrefetchWatch};
use crate::flood::Flood;

const SYNCS_ANSWERED: &str = "cairn_jobs_total{answer=\"ack\",stage=\"sync\"";
/// The time limit for workers to reconnect after the broker is restarted.
const RECONNECTED_WITHIN: Duration = Duration::from_secs(15);

/// Case 3: the broker is killed while all services publish, and is restarted five seconds later.
#[tokio::test(flavor = "multi_thread")]
async fn cluster_survives_a_killed_broker() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let directory = tempdir()?;
    // The broker updates its queue counts every second instead of every five seconds.
    let mut broker = RabbitMq::start_with(directory.path(), "collect_statistics_interval = 1000").await?;
    broker.rabbitmqctl(&["eval", "application:set_env(rabbit, quorum_tick_interval, 1000)."]).await?;
    let servers = Servers { rabbitmq: broker.url(), management: broker.management_url(), ..servers };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    let prefetch = bench.environment.inside.prefetch()?;
    let mut watch = PrefetchWatch::start(bench.raw()?, prefetch.into());
    let state = BrokerState::of(&bench).await?;
    let answered = bench.metric(["cloner"], SYNCS_ANSWERED).await?;
    let (mut num_confirmed, mut slowest) = (0, Duration::ZERO);
    for _ in 0..if is_long() { 20 } else { 2 } {
        bench.change().await?;
        bench.under_way(usize::MAX).await?;
        let flood = Flood::begin(&bench, num_confirmed).await?;
        broker.kill().await?;
        flood.stop();
        sleep(Duration::from_secs(5)).await;
        broker.restart().await?;
        slowest = slowest.max(state.is_back(&bench, Instant::now(), RECONNECTED_WITHIN).await?);
        num_confirmed += flood.num_confirmed().await?;
        bench.settle().await?;
    }
    // The prefetch limit is checked while consumers have some jobs.
    let flood = Flood::begin(&bench, num_confirmed).await?;
    watch.sees_work().await?;
    flood.stop();
    num_confirmed += flood.num_confirmed().await?;
    let held = watch.stop().await?;
    bench.check("the broker is killed", 0).await?;
    let num_answered = bench.metric(["cloner"], SYNCS_ANSWERED).await? - answered;
    println!(
        "connected again after {slowest:?} at most; {held:?}; {num_answered} syncs answered, {num_confirmed} of a flood"
    );
    ensure!(
        num_answered >= num_confirmed,
        "{num_confirmed} jobs were confirmed, but only {num_answered} were answered"
    );
    Ok(())
}

/// Case 14: the database is killed while the last two parts of a run are written and ended. In each round,
/// every run must be published exactly once.
#[tokio::test(flavor = "multi_thread")]
async fn cluster_survives_a_killed_database() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let directory = tempdir()?;
    let mut database = Neo4j::start(directory.path()).await?;
    let servers = Servers { neo4j: database.url().to_owned(), ..servers };
    let mut bench = Bench::prepare(servers, &hasty(), 3).await?;
    // The proxy delays answers, so that the database carries out requests before the services get the
    // answers.
    let line = FaultProxy::start(database.url()).await?;
    bench.variables = vec![("CAIRN__NEO4J__URL", format!("bolt://{}", line.address()))];
    bench.begin().await?;
    let mut rng = StdRng::seed_from_u64(bench.workload.seed());
    let num_rounds = if is_long() { 100 } else { 2 };
    for round in 0..num_rounds {
        last_two_are_open(&mut bench).await?;
        line.set(Rules { responses: Direction::delayed_by(Duration::from_millis(50)), ..Rules::PASS });
        sleep(Duration::from_millis(rng.random_range(0..200))).await;
        database.kill().await?;
        // The proxy refuses connections until the database is restarted.
        line.set(Rules::REFUSE);
        database.restart().await?;
        line.set(Rules::PASS);
        bench.settle().await?;
        let published = bench.environment.inside.each_was_published_once().await;
        published.with_context(|| format!("not every generation was published exactly once in round {round}"))?;
    }
    println!("{num_rounds} rounds, the database was killed {num_rounds} times with two parts open at most");
    bench.check("the database is killed", 0).await?;
    Ok(())
}

/// Changes all repositories until a run has only one or two open parts, not counting its publish part.
async fn last_two_are_open(bench: &mut Bench) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        bench.change().await?;
        while !bench.environment.inside.is_settled(&bench.asked).await? {
            let runs = &bench.environment.inside.cluster.runs;
            for run in runs.unfinished().await? {
                let parts = runs.parts(run.id).await?;
                let open = parts.iter().filter(|part| part.end.is_none() && part.id.stage != StageName::Publish);
                if matches!(open.count(), 1..=2) {
                    return Ok(());
                }
            }
            ensure!(Instant::now() < deadline, "no run reached its last two parts");
        }
    }
}
