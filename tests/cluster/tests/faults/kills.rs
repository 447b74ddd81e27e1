//! Tests of services that are killed at every point of their work, and at random times.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use anyhow::{Result, ensure};
use cairn_cluster::{STANDARD, Servers, Workload, is_long};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, PATIENCE, hasty, seeds};

const RELAYED: &str = "coordinator::relayed";

/// The failpoints that each service passes.
type Points = BTreeMap<String, Vec<String>>;
/// A service, and the failpoint at which it is killed.
type Fate = (String, String);

/// Case 1: services are killed at every point that they pass. The long form kills each service at each of its
/// points. The short form kills at least one service at each point. A round kills several services.
#[tokio::test(flavor = "multi_thread")]
async fn cluster_survives_a_kill_at_every_point() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    for seed in seeds()? {
        let workload = Workload::new(seed, 3, 12);
        kill_at_every_point(Bench::prepare_with(servers.clone(), &hasty(), workload).await?).await?;
    }
    Ok(())
}

async fn kill_at_every_point(mut bench: Bench) -> Result<()> {
    bench.begin().await?;
    let points = pass_every_point(&mut bench).await?;
    let rounds = if is_long() { every_point_of_each_service(&points) } else { every_point_of_a_service(&points) };
    let num_kills: usize = rounds.iter().map(Vec::len).sum::<usize>() + 2;
    for fates in rounds {
        kill(&mut bench, fates).await?;
    }
    // A dead service may leave jobs in the outbox. The coordinator publishes these jobs, and is then killed
    // at the failpoint `RELAYED`.
    let fate = |service: &str, point: &str| (service.to_owned(), point.to_owned());
    kill(&mut bench, vec![fate("parser", "pipeline::ended"), fate("scheduler", RELAYED)]).await?;
    println!("{num_kills} kills: {points:?}");
    bench.check("killed at every point", 0).await?;
    Ok(())
}

/// Rounds that kill each service at each of its points. A round kills each service at most once.
fn every_point_of_each_service(points: &Points) -> Vec<Vec<Fate>> {
    let num_rounds = points.values().map(Vec::len).max().unwrap_or_default();
    let fates = |round: usize| {
        let fate = |(service, points): (&String, &Vec<String>)| Some((service.clone(), points.get(round)?.clone()));
        points.iter().filter_map(fate).collect()
    };
    (0..num_rounds).map(fates).collect()
}

/// Rounds that kill at least one service at each point. Each round kills as many services as possible.
fn every_point_of_a_service(points: &Points) -> Vec<Vec<Fate>> {
    let mut left: BTreeSet<&String> = points.values().flatten().collect();
    let mut rounds = Vec::new();
    while !left.is_empty() {
        let mut fates = Vec::new();
        for (service, points) in points {
            if let Some(point) = points.iter().find(|point| left.contains(point)) {
                left.remove(point);
                fates.push((service.clone(), point.clone()));
            }
        }
        rounds.push(fates);
    }
    rounds
}

/// Case 2: random services are killed at random times, for at least three minutes and at least 60 times.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_survives_random_kills() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 4).await?;
    bench.begin().await?;
    let mut rng = StdRng::seed_from_u64(bench.workload.seed());
    let (start, mut num_kills) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(180) || num_kills < 60 {
        if bench.environment.inside.is_settled(&bench.asked).await? {
            bench.change().await?;
        }
        let pause = Duration::from_millis(rng.random_range(500..3000));
        sleep(pause).await;
        let service = STANDARD[rng.random_range(0..STANDARD.len())];
        bench.environment.cluster.process(service)?.kill().await?;
        bench.start(service, &[]).await?;
        num_kills += 1;
    }
    println!("{num_kills} kills");
    bench.check("killed at random", 0).await?;
    Ok(())
}

/// Starts services that will die at their failpoints, gives them work until they have died, and waits until
/// all work is done.
async fn kill(bench: &mut Bench, fates: Vec<Fate>) -> Result<()> {
    bench.environment.cluster.stop_together(fates.iter().map(|(service, _)| service.as_str())).await?;
    let doomed = bench.doom(fates).await?;
    bench.change().await?;
    bench.revive(&doomed).await?;
    bench.settle().await
}

/// Changes the repositories until the services have passed all failpoints. Returns the failpoints of each
/// service.
async fn pass_every_point(bench: &mut Bench) -> Result<Points> {
    let expected: BTreeSet<&str> = cairn_faults::POINTS.iter().flat_map(|(_, points)| *points).copied().collect();
    let deadline = Instant::now() + PATIENCE;
    loop {
        bench.change().await?;
        bench.settle().await?;
        let points = passed(bench)?;
        let mut found: BTreeSet<&str> = points.values().flatten().map(String::as_str).collect();
        found.insert(RELAYED);
        let missed: Vec<&&str> = expected.difference(&found).collect();
        if missed.is_empty() {
            return Ok(points);
        }
        ensure!(Instant::now() < deadline, "no service passed the points {missed:?}");
    }
}

/// The failpoints that each service has passed.
fn passed(bench: &Bench) -> Result<Points> {
    let mut points = BTreeMap::new();
    for service in STANDARD {
        let log = fs::read_to_string(bench.points(service)).unwrap_or_default();
        let mut of_service: Vec<String> = log.lines().map(str::to_owned).collect();
        // `RELAYED` is left out, because a coordinator passes this failpoint only after another process has
        // died.
        of_service.retain(|point| point != RELAYED);
        of_service.sort_unstable();
        of_service.dedup();
        if !of_service.is_empty() {
            points.insert(service.to_owned(), of_service);
        }
    }
    Ok(points)
}
