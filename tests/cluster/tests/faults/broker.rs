//! Tests with a broker that is reachable but misbehaves, or that is unreachable for a long time. These tests
//! run only in the long form.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Queue, STANDARD, Servers};
use cairn_domain::{Lane, StageName};
use cairn_ports::{Broker, Ledger, LedgerRead, Outbox};
use cairn_servers::{RabbitMq, Vhost};
use cairn_wire::Job;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use tempfile::tempdir;
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, PATIENCE, POLL, hasty, without_reconciler};
use crate::broker_state::{BrokerState, NUM_SOURCES, all_are_alive_and_not_ready, has_attached, num_attached};
use crate::flood::Flood;

const ACKS: &str = "cairn_jobs_total{answer=\"ack\"";
const RETRIES: &str = "cairn_jobs_total{answer=\"retry\"";
const LOST: &str = "cairn_jobs_total{answer=\"lost\"";
const RETURNED: &str = "cairn_broker_total{what=\"returned\"";
const STALLED: &str = "cairn_coordinated_total{what=\"stalled runs\"";
const ALARM: Duration = Duration::from_secs(60);
/// In each window of this length during the alarm, at least one job must be acknowledged.
const WINDOW: Duration = Duration::from_secs(5);
/// The time limit for consumers to attach after their queues are created again.
const CONSUMED_WITHIN: Duration = Duration::from_secs(10);
const UNBOUND: Duration = Duration::from_secs(30);
const AWAY: Duration = Duration::from_secs(600);
/// The maximum time for which a worker stays ready after it has lost the broker: `not_ready_after_ms`, plus
/// the time until the next check.
const STILL_READY: Duration = Duration::from_secs(15);
/// The time limit for all consumers to attach after the broker is restarted.
const ATTACHED_WITHIN: Duration = Duration::from_secs(30);

/// Case 7: the broker's memory alarm blocks publishers for a minute under load. Consumers continue to
/// acknowledge jobs, workers report that they are blocked, and no delivery counts as lost.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_recovers_from_a_memory_alarm() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let directory = tempdir()?;
    let broker = RabbitMq::start(directory.path()).await?;
    let servers = Servers { rabbitmq: broker.url(), management: broker.management_url(), ..servers };
    let mut bench = Bench::prepare(servers, &without_reconciler(), 5).await?;
    bench.begin().await?;
    bench.environment.cluster.stop("cloner").await?;
    bench.change().await?;
    // There are so many jobs that processing them one at a time takes longer than the alarm.
    let num_waiting = Flood::publish(&bench, 40).await?;
    bench.start("cloner", &[("CAIRN__PIPELINE__CONCURRENCY", "1".to_owned())]).await?;
    bench.under_way(usize::MAX).await?;
    let before = (sum(&bench, LOST).await?, sum(&bench, RETRIES).await?);
    broker.rabbitmqctl(&["set_vm_memory_high_watermark", "0"]).await?;
    is_blocked(&bench).await?;
    let slowest = answers_go_on(&bench).await?;
    broker.rabbitmqctl(&["set_vm_memory_high_watermark", "0.4"]).await?;
    bench.environment.inside.settled(&bench.asked, 3 * PATIENCE).await?;
    println!("{num_waiting} jobs waited; in {WINDOW:?} of the alarm at least {slowest} were answered");
    let after = (sum(&bench, LOST).await?, sum(&bench, RETRIES).await?);
    ensure!(
        after == before,
        "acknowledgements were lost or attempts failed: before the alarm {before:?}, now {after:?}"
    );
    bench.check("the memory alarm blocks publishers", 0).await?;
    ensure!(BrokerState::of(&bench).await?.num_blocked == 0, "a worker still reports that it is blocked");
    Ok(())
}

async fn sum(bench: &Bench, metric: &str) -> Result<u64> {
    bench.metric(bench.environment.cluster.workers(), metric).await
}

/// Checks that jobs are acknowledged in each window of the alarm. Returns the smallest number of
/// acknowledgements in a window.
async fn answers_go_on(bench: &Bench) -> Result<u64> {
    let (since, mut answered, mut fewest) = (Instant::now(), sum(bench, ACKS).await?, u64::MAX);
    while since.elapsed() < ALARM {
        sleep(WINDOW).await;
        let now = sum(bench, ACKS).await?;
        ensure!(now > answered, "no job was acknowledged for {WINDOW:?} while publishers were blocked");
        ensure!(
            BrokerState::of(bench).await?.num_blocked > 0,
            "no worker reports that it is blocked, although the alarm has not ended"
        );
        (answered, fewest) = (now, fewest.min(now - answered));
    }
    Ok(fewest)
}

/// Waits until a worker reports that the alarm blocks it.
async fn is_blocked(bench: &Bench) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while BrokerState::of(bench).await?.num_blocked == 0 {
        ensure!(Instant::now() < deadline, "no worker reports that it is blocked");
        sleep(POLL).await;
    }
    Ok(())
}

/// Case 9: queues are deleted while they contain jobs and have consumers. `cairn topology apply` creates them
/// again, and the reconciler dispatches the deleted jobs again.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_recovers_after_queues_are_deleted() -> Result<()> {
    const PARSER: &str = "parser-1";
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    bench.environment.cluster.stop("parser").await?;
    // The worker sleeps, so that the test can delete the queues while they contain jobs.
    let sleeps = ("CAIRN_FAIL_AT", "pipeline::before_work:0:sleep=5000".to_owned());
    bench.start(PARSER, &[sleeps, ("CAIRN__PIPELINE__CONCURRENCY", "1".to_owned())]).await?;
    let stalled = bench.metric(["scheduler"], STALLED).await?;
    let num_attached = num_attached(&bench, PARSER).await?;
    bench.change().await?;
    bench.passes(PARSER, "pipeline::before_work").await?;
    let vhost = bench.environment.space.vhost.clone().context("the cluster has no separate vhost")?;
    for queue in bench.raw()?.queues_of(StageName::Parse).await? {
        vhost.request("DELETE", &format!("/api/queues/{}/{}", vhost.name(), queue.name), "").await?;
    }
    bench.environment.cluster.cairn(&["topology", "apply"])?;
    let wanted = num_attached + NUM_SOURCES;
    let attached_after = has_attached(&bench, PARSER, wanted, Instant::now(), CONSUMED_WITHIN).await?;
    bench.settle().await?;
    let num_runs = bench.metric(["scheduler"], STALLED).await? - stalled;
    println!("consumers are attached {attached_after:?} after; jobs of {num_runs} runs were dispatched again");
    ensure!(num_runs > 0, "the reconciler dispatched no job again");
    bench.check("queues are deleted", 0).await?;
    Ok(())
}

/// Case 10: work queues are unbound for half a minute. Published messages are returned, counted in a metric
/// for an alert, and published again.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_recovers_after_queues_are_unbound() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    let before = sum(&bench, RETURNED).await?;
    ensure!(before == 0, "{before} messages were returned although queues are bound");
    let vhost = bench.environment.space.vhost.clone().context("the cluster has no separate vhost")?;
    let mut num_unbound = 0;
    for queue in bench.raw()?.queues_of(StageName::Parse).await? {
        num_unbound += unbind(&vhost, &queue).await?;
    }
    ensure!(num_unbound > 0, "no binding was removed, because no queue was bound");
    bench.change().await?;
    sleep(UNBOUND).await;
    bench.environment.cluster.cairn(&["topology", "apply"])?;
    let num_returned = sum(&bench, RETURNED).await?;
    println!("{num_returned} messages were returned");
    ensure!(num_returned > 0, "no message was returned");
    bench.check("queues are unbound", 0).await?;
    Ok(())
}

async fn unbind(vhost: &Vhost, queue: &Queue) -> Result<usize> {
    let reported = vhost.request("GET", &format!("/api/queues/{}/{}/bindings", vhost.name(), queue.name), "").await?;
    let mut num_unbound = 0;
    for binding in serde_json::from_str::<Vec<Value>>(&reported)? {
        let text = |name: &str| binding[name].as_str().unwrap_or_default().to_owned();
        let (source, key) = (text("source"), text("properties_key"));
        if !source.is_empty() {
            let path = format!("/api/bindings/{}/e/{source}/q/{}/{key}", vhost.name(), queue.name);
            vhost.request("DELETE", &path, "").await?;
            num_unbound += 1;
        }
    }
    Ok(num_unbound)
}

/// Case 12: the exchange for dead letters is missing when a service starts. The service waits, is not ready,
/// and reports the missing exchange. The service takes no job, so no job can be lost.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_survives_a_missing_dead_letter_exchange() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 3).await?;
    bench.begin().await?;
    bench.environment.cluster.stop("parser").await?;
    no_consumer_of_the_parser(&bench).await?;
    let vhost = bench.environment.space.vhost.clone().context("the cluster has no separate vhost")?;
    let reported = vhost.request("GET", &format!("/api/exchanges/{}", vhost.name()), "").await?;
    let exchanges: Vec<Value> = serde_json::from_str(&reported)?;
    let names = exchanges.iter().filter_map(|exchange| exchange["name"].as_str());
    let dead = names.into_iter().find(|name| name.contains("dead")).context("no exchange for dead letters exists")?;
    vhost.request("DELETE", &format!("/api/exchanges/{}/{dead}", vhost.name()), "").await?;
    bench.change().await?;
    let num_jobs = bench.workload.repositories().count() as u64;
    wait_to_be_parsed(&bench, num_jobs).await?;
    bench.start_alive("parser").await?;
    names_what_is_missing(&bench, dead).await?;
    // The check is repeated for `UNBOUND`, because the broker may report a new consumer only after some time.
    let since = Instant::now();
    while since.elapsed() < UNBOUND {
        let reasons = bench.environment.cluster.not_ready("parser").await?;
        ensure!(reasons.is_some_and(|reasons| reasons.contains(dead)), "the parser no longer waits for `{dead}`");
        for queue in bench.raw()?.queues_of(StageName::Parse).await? {
            ensure!(queue.num_consumers == 0, "{} is consumed", queue.name);
        }
        sleep(Duration::from_secs(1)).await;
    }
    wait_to_be_parsed(&bench, num_jobs).await?;
    bench.environment.cluster.cairn(&["topology", "apply"])?;
    bench.check("the dead-letter exchange is missing", 0).await?;
    Ok(())
}

/// Waits until the broker reports no consumer of the stopped parser. The broker's counts may be outdated.
async fn no_consumer_of_the_parser(bench: &Bench) -> Result<()> {
    let (raw, deadline) = (bench.raw()?, Instant::now() + PATIENCE);
    while raw.queues_of(StageName::Parse).await?.iter().any(|queue| queue.num_consumers > 0) {
        ensure!(Instant::now() < deadline, "the stopped parser is still a consumer");
        sleep(POLL).await;
    }
    Ok(())
}

/// Waits until exactly this number of jobs is in the work queues of the parser.
async fn wait_to_be_parsed(bench: &Bench, num_jobs: u64) -> Result<()> {
    let (raw, deadline) = (bench.raw()?, Instant::now() + PATIENCE);
    loop {
        let queues = raw.queues_of(StageName::Parse).await?;
        let found: u64 = queues.iter().filter(|queue| queue.is_of_work()).map(|queue| queue.messages).sum();
        if found == num_jobs {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "only {found} of {num_jobs} jobs wait to be parsed");
        sleep(POLL).await;
    }
}

async fn names_what_is_missing(bench: &Bench, exchange: &str) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let reasons = bench.environment.cluster.not_ready("parser").await?;
        let reasons = reasons.context("the parser is ready without the exchange")?;
        if reasons.contains(&format!("exchange `{exchange}`")) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "the reasons do not name the exchange `{exchange}`: {reasons}");
        sleep(POLL).await;
    }
}

/// Case 13: every job arrives two to four times, in any order, because the outbox sends jobs again and the
/// test publishes copies. Every copy of a job is acknowledged, but the work is done only once.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn duplicate_jobs_change_nothing() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    let broker = bench.environment.inside.cluster.broker()?;
    let mut rng = StdRng::seed_from_u64(bench.workload.seed());
    let answered = sum(&bench, ACKS).await?;
    let (mut num_again, mut num_copies, mut doubled) = (0, 0, BTreeSet::new());
    for _ in 0..5 {
        bench.change().await?;
        let deadline = Instant::now() + PATIENCE;
        while !bench.environment.inside.is_settled(&bench.asked).await? && Instant::now() < deadline {
            let cluster = &bench.environment.inside.cluster;
            num_again += cluster.runs.send_again(&BTreeSet::new(), cluster.clock.now_ms(), 0).await?;
            let copies = copies(&bench, &mut doubled, &mut rng).await?;
            num_copies += copies.len() as u64;
            broker.publish(Lane::Bulk, copies).await?;
            sleep(POLL).await;
        }
    }
    drop(broker);
    bench.check("jobs are doubled", 0).await?;
    let num_answered = sum(&bench, ACKS).await? - answered;
    println!(
        "the jobs of a run were sent again {num_again} times; {num_copies} copies were published; {num_answered} answered"
    );
    ensure!(num_again > 0 && num_copies > 0, "no job was delivered twice");
    ensure!(num_answered >= num_copies + doubled.len() as u64, "a job was delivered more often than acknowledged");
    Ok(())
}

/// One to three copies of each dispatched job that has no copy yet, in random order.
async fn copies(bench: &Bench, doubled: &mut BTreeSet<String>, rng: &mut StdRng) -> Result<Vec<Job>> {
    let (runs, mut copies) = (&bench.environment.inside.cluster.runs, Vec::new());
    for run in runs.unfinished().await? {
        for part in runs.ready(run.id).await? {
            let job = Job::Part(run.job(part));
            if doubled.insert(job.to_string()) {
                copies.extend(std::iter::repeat_n(job, rng.random_range(1..=3)));
            }
        }
    }
    copies.shuffle(rng);
    Ok(copies)
}

/// Case 4: the broker is down for ten minutes. Workers stay alive but take no jobs, and no service needs a
/// restart.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_recovers_from_a_long_broker_outage() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let directory = tempdir()?;
    let mut broker = RabbitMq::start(directory.path()).await?;
    let servers = Servers { rabbitmq: broker.url(), management: broker.management_url(), ..servers };
    let mut settings = hasty();
    // This time is so long that no worker requests a restart during the outage.
    if let Some(rabbitmq) = settings.get_mut("rabbitmq").and_then(toml::Value::as_table_mut) {
        rabbitmq.insert("dead_after_ms".to_owned(), 3_600_000.into());
    }
    let mut bench = Bench::prepare(servers, &settings, 3).await?;
    bench.begin().await?;
    let state = BrokerState::of(&bench).await?;
    bench.change().await?;
    bench.under_way(usize::MAX).await?;
    broker.kill().await?;
    let since = Instant::now();
    sleep(STILL_READY).await;
    while since.elapsed() < AWAY {
        all_are_alive_and_not_ready(&bench).await?;
        sleep(Duration::from_secs(5)).await;
    }
    for service in STANDARD {
        ensure!(!bench.environment.cluster.process(service)?.has_ended()?, "{service} has ended");
    }
    broker.restart().await?;
    let attached_after = state.is_back(&bench, Instant::now(), ATTACHED_WITHIN).await?;
    println!("all {} consumers are attached {attached_after:?} after the broker is back", state.num_attached);
    bench.check("the broker is down for a long time", 0).await?;
    Ok(())
}
