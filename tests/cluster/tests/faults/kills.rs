//! Processes that die: at every step of their work, and at random.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use anyhow::{Result, ensure};
use cairn_cluster::{STANDARD, Servers};
use rand::RngExt;
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, hasty, is_long};

/// Case 1: every service is killed at every point that it passes, each in turn, all services in the same rounds.
#[tokio::test(flavor = "multi_thread")]
async fn killed_at_every_point() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 3).await?;
    bench.begin().await?;
    bench.change().await?;
    bench.settle().await?;
    let points = passed(&bench)?;
    let num_rounds = points.values().map(Vec::len).max().unwrap_or_default();
    for round in 0..num_rounds {
        let fates = points.iter().filter_map(|(service, points)| Some((service.clone(), points.get(round)?.clone())));
        kill(&mut bench, fates.collect()).await?;
    }
    // What is left in the outbox by one that dies, the coordinator publishes; there it dies as well.
    let fate = |service: &str, point: &str| (service.to_owned(), point.to_owned());
    kill(&mut bench, vec![fate("parser", "pipeline::ended"), fate("scheduler", "coordinator::relayed")]).await?;
    let num_kills: usize = points.values().map(Vec::len).sum::<usize>() + 2;
    println!("{num_kills} kills: {points:?}");
    let expected: BTreeSet<&str> = cairn_faults::POINTS.iter().flat_map(|(_, points)| *points).copied().collect();
    let mut killed: BTreeSet<&str> = points.values().flatten().map(String::as_str).collect();
    killed.insert("coordinator::relayed");
    let missed: Vec<&&str> = expected.difference(&killed).collect();
    ensure!(missed.is_empty(), "no service passed {missed:?}");
    bench.check("killed at every point", 0).await?;
    Ok(())
}

/// Case 2: whatever service, at whatever moment, for three minutes.
#[tokio::test(flavor = "multi_thread")]
async fn killed_at_random() -> Result<()> {
    let Some(servers) = Servers::given().filter(|_| is_long()) else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 4).await?;
    bench.begin().await?;
    let (start, mut num_kills) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(180) || num_kills < 60 {
        if bench.ground.inside.is_settled(&bench.asked).await? {
            bench.change().await?;
        }
        let pause = Duration::from_millis(rand::rng().random_range(500..3000));
        sleep(pause).await;
        let service = STANDARD[rand::rng().random_range(0..STANDARD.len())];
        bench.ground.cluster.process(service)?.kill().await?;
        bench.start(service, &[]).await?;
        num_kills += 1;
    }
    println!("{num_kills} kills");
    bench.check("killed at random", 0).await?;
    Ok(())
}

/// Starts services that die at their points, has them work until they have, and waits until all is done.
async fn kill(bench: &mut Bench, fates: Vec<(String, String)>) -> Result<()> {
    let mut doomed = Vec::new();
    for (service, point) in fates {
        bench.ground.cluster.stop(&service).await?;
        match bench.start(&service, &[("CAIRN_KILL_AT", format!("{point}:0"))]).await {
            Ok(()) => doomed.push(service),
            // It died on its way to being ready.
            Err(_) => bench.start(&service, &[]).await?,
        }
    }
    bench.change().await?;
    bench.revive(&doomed).await?;
    bench.settle().await
}

/// The points that each service has passed.
fn passed(bench: &Bench) -> Result<BTreeMap<String, Vec<String>>> {
    let mut points = BTreeMap::new();
    for service in STANDARD {
        let log = fs::read_to_string(bench.points(service)).unwrap_or_default();
        let mut of_service: Vec<String> = log.lines().map(str::to_owned).collect();
        of_service.sort_unstable();
        of_service.dedup();
        if !of_service.is_empty() {
            points.insert(service.to_owned(), of_service);
        }
    }
    Ok(points)
}
