//! Tests events that an operator observes: a change of the active coordinator, unreachable stores, and
//! draining.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Environment, Servers, program};
use cairn_domain::{Lane, RepositoryId, RepositoryName, Source, Tenant};
use cairn_ports::Broker;
use cairn_servers::{Direction, FaultProxy, Rules, get};
use cairn_testkit::work_tree::{commit, repository, write};
use cairn_wire::{Job, SyncJob};
use tokio::time::{Instant, sleep};
use toml::{Table, toml};

const PATIENCE: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(50);

async fn owned(environment: &Environment, scheduler: &str) -> Result<u64> {
    environment.cluster.metric(scheduler, "cairn_owned_keys").await
}

/// Waits until a scheduler is active, and returns its name.
async fn active<'a>(environment: &Environment, schedulers: &[&'a str]) -> Result<&'a str> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        for scheduler in schedulers {
            if owned(environment, scheduler).await? == 1 {
                return Ok(scheduler);
            }
        }
        ensure!(Instant::now() < deadline, "no scheduler is active");
        sleep(POLL).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn standby_coordinator_takes_over() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    // A short heartbeat interval makes the test fast: a new owner of a key is chosen within a fraction of
    // this interval.
    let settings = toml! { [rabbitmq]
    heartbeat_seconds = 4 };
    let mut environment = Environment::prepare(&servers, &settings).await?;
    for scheduler in ["scheduler-1", "scheduler-2"] {
        environment.cluster.start(scheduler, &[]).await?;
    }
    let first = active(&environment, &["scheduler-1", "scheduler-2"]).await?;
    let other = if first == "scheduler-1" { "scheduler-2" } else { "scheduler-1" };
    ensure!(owned(&environment, other).await? == 0, "both schedulers are active");
    let log = std::fs::read_to_string(environment.cluster.log(other))?;
    ensure!(log.contains("on standby") && !log.contains("owns the key"), "{log}");
    environment.cluster.process(first)?.kill().await?;
    ensure!(active(&environment, &[other]).await? == other);
    // A coordinator that is stopped must also hand over the key to the standby coordinator.
    environment.cluster.start("scheduler-3", &[]).await?;
    ensure!(owned(&environment, "scheduler-3").await? == 0, "a new scheduler takes the key from its owner");
    environment.cluster.stop(other).await?;
    active(&environment, &["scheduler-3"]).await?;
    Ok(())
}

/// Two commands do work of the coordinator once, although no coordinator is active.
#[tokio::test(flavor = "multi_thread")]
async fn reconcile_and_sweep_need_no_coordinator() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let environment = Environment::prepare(&servers, &Table::new()).await?;
    let source = Source::Url { url: "https://example.org/r.git".to_owned() };
    environment.inside.enqueue("r", source, Lane::Bulk).await?;
    let once = |command: &str| -> Result<String> {
        let mut scheduler = Command::new(program("cairn-scheduler")?);
        let output = scheduler.arg(command).env("CAIRN_CLUSTER_CONFIG", environment.cluster.settings()).output()?;
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "{command} failed: {log}");
        Ok(log)
    };
    let num_of = |log: &str, step: &str| -> Result<u64> {
        let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let count = lines.filter(|line| line["step"] == step).find_map(|line| line["count"].as_u64());
        count.with_context(|| format!("no line of {step}: {log}"))
    };
    let log = once("reconcile")?;
    ensure!(num_of(&log, "dispatched syncs")? == 1, "{log}");
    let log = once("reconcile")?;
    ensure!(num_of(&log, "dispatched syncs")? == 0, "the sync is already dispatched: {log}");
    let log = once("sweep")?;
    ensure!(num_of(&log, "swept artifacts")? == 0, "{log}");
    Ok(())
}

/// Waits until `/readyz` gives an answer that satisfies `is_it`. Returns the answer.
async fn readiness(address: &str, is_it: impl Fn(&str) -> bool) -> Result<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = get(address, "/readyz").await;
        let reported = answer.unwrap_or_else(|error| error.to_string());
        if is_it(&reported) {
            return Ok(reported);
        }
        ensure!(Instant::now() < deadline, "the readiness page still reports {reported}");
        sleep(POLL).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_reports_an_unreachable_store() -> Result<()> {
    let Some(given) = Servers::given() else { return Ok(()) };
    let (qdrant, s3) = (FaultProxy::start(&given.qdrant).await?, FaultProxy::start(&given.s3).await?);
    let servers = Servers { qdrant: qdrant.url(&given.qdrant)?, s3: s3.url(&given.s3)?, ..given };
    let mut environment = Environment::prepare(&servers, &Table::new()).await?;
    environment.cluster.start("query", &[]).await?;
    environment.cluster.start("graph-writer", &[]).await?;
    let (query, writer) = (address(&environment, "query")?, address(&environment, "graph-writer")?);
    qdrant.set(Rules { responses: Direction::HANG, ..Rules::PASS });
    let reported = readiness(&query, |message| message.contains("Qdrant")).await?;
    let body = reported.split_once("returned 503: ").context("another status")?.1;
    ensure!(!body.contains("127.0.0.1") && !body.contains("://"), "the body contains an address: {body}");
    ensure!(get(&query, "/healthz").await? == "ok\n", "an unreachable store must not make the liveness check fail");
    ensure!(get(&writer, "/readyz").await? == "ok\n", "the graph writer does not use Qdrant");
    qdrant.set(Rules::PASS);
    readiness(&query, |message| message == "ok\n").await?;
    s3.set(Rules::RESET);
    for idle in [&query, &writer] {
        readiness(idle, |message| message.contains("S3")).await?;
    }
    s3.set(Rules::PASS);
    for idle in [&query, &writer] {
        readiness(idle, |message| message == "ok\n").await?;
    }
    Ok(())
}

fn address(environment: &Environment, replica: &str) -> Result<String> {
    Ok(format!("http://{}", environment.cluster.address(replica)?))
}

#[tokio::test(flavor = "multi_thread")]
async fn process_reports_draining_until_it_ends() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let settings = toml! { [pipeline]
    drain_seconds = 600 };
    let mut environment = Environment::prepare(&servers, &settings).await?;
    // The job takes longer than this test.
    let sleeps = "pipeline::before_sync:0:sleep=600000".to_owned();
    environment.cluster.start("cloner", &[("CAIRN_FAIL_AT", sleeps)]).await?;
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("nowhere"));
    let job = Job::Sync(SyncJob { tenant: Tenant::local(), repository, request: 1 });
    let broker = environment.inside.cluster.broker()?;
    broker.publish(Lane::Bulk, vec![job]).await?;
    let deadline = Instant::now() + PATIENCE;
    while environment.cluster.metric("cloner", "cairn_jobs_in_hand").await? == 0 {
        ensure!(Instant::now() < deadline, "no worker took the job");
        sleep(POLL).await;
    }
    let address = address(&environment, "cloner")?;
    let cloner = environment.cluster.process("cloner")?;
    let drains = async {
        readiness(&address, |message| message.contains("draining")).await?;
        get(&address, "/healthz").await?;
        get(&address, "/metrics").await
    };
    tokio::select! {
        stopped = cloner.stop() => anyhow::bail!("the service stopped before it had drained: {stopped:?}"),
        metrics = drains => ensure!(metrics?.contains("cairn_jobs_in_hand"), "the service reported no metrics while it drained"),
    }
    cloner.kill().await
}

/// Tests the procedure by which an operator repairs a missing artifact.
#[tokio::test(flavor = "multi_thread")]
async fn damage_is_reported_and_a_rebuild_repairs_it() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut environment = Environment::prepare(&servers, &Table::new()).await?;
    let source = repository();
    for n in 0..5 {
        write(source.path(), &format!("src/m{n}.py"), format!("def f{n}(x):\n    return x + {n}\n"));
    }
    commit(source.path(), "start");
    environment.cluster.start_all().await?;
    let source = Source::Url { url: format!("file://{}", source.path().display()) };
    let asked = environment.inside.enqueue("r", source, Lane::Bulk).await?;
    environment.inside.settled(&[asked], PATIENCE).await?;
    ensure!(environment.cluster.cairn(&["doctor", "--repo", "r"])?.contains("ok    stored data of r"));
    let blobs = &environment.inside.cluster.blobs;
    for pack in blobs.list("packs/").await? {
        blobs.delete(&pack.key).await?;
    }
    let doctor = environment.cluster.try_cairn(&["doctor", "--repo", "r"])?;
    let reported = String::from_utf8_lossy(&doctor.stdout).into_owned();
    ensure!(!doctor.status.success() && reported.contains("`cairn enqueue --rebuild r`"), "{reported}");
    let request = environment.cluster.cairn(&["enqueue", "r", "--rebuild", "--json"])?;
    let request: serde_json::Value = serde_json::from_str(&request)?;
    let request = request["request"].as_u64().context("no request")?;
    environment.inside.settled(&[(asked.0, request)], PATIENCE).await?;
    environment.cluster.cairn(&["doctor", "--repo", "r"])?;
    Ok(())
}
