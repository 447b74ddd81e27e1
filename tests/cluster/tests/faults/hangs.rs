//! Tests of broker connections that lose messages, hang, or are closed because a handler takes too long.
//! These tests run only in the long form.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{Queue, Servers};
use cairn_domain::{RepositoryId, StageName};
use cairn_ports::LedgerRead;
use cairn_servers::{FaultProxy, RabbitMq, Rules};
use tempfile::tempdir;
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, PATIENCE, POLL, hasty, without_reconciler};
use crate::broker_state::{has_all_consumers, num_attached};

const ACKS: &str = "cairn_jobs_total{answer=\"ack\"";
const PARSED: &str = "cairn_jobs_total{answer=\"ack\",stage=\"parse\"";
const LOST: &str = "cairn_jobs_total{answer=\"lost\"";
const UNCONFIRMED: &str = "cairn_broker_total{what=\"unconfirmed\"";
/// The time limit for detecting a hanging connection: twice the configured heartbeat interval, plus the time
/// of one check.
const DETECTED_WITHIN: Duration = Duration::from_millis(2 * 5_000 + 500);
/// The time limit for a lost consumer to be attached again.
const CONSUMED_WITHIN: Duration = Duration::from_secs(10);
/// A time longer than the broker waits for an acknowledgement.
const HANDLER_SLEEPS: Duration = Duration::from_secs(120);

/// Case 5: the broker accepts messages, but its confirms are lost. After that, the connections are reset.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_recovers_from_lost_confirms() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let proxy = FaultProxy::start(&servers.rabbitmq).await?;
    let servers = Servers { rabbitmq: proxy.url(&servers.rabbitmq)?, ..servers };
    let mut bench = Bench::prepare(servers, &without_reconciler(), 5).await?;
    bench.begin().await?;
    let deadline = Instant::now() + PATIENCE;
    let mut num_unconfirmed = 0;
    while num_unconfirmed == 0 {
        ensure!(Instant::now() < deadline, "no confirm was lost");
        bench.change().await?;
        under_way(&bench).await?;
        proxy.set(Rules::DROP_RESPONSES);
        sleep(Duration::from_secs(1)).await;
        proxy.set(Rules::PASS);
        bench.settle().await?;
        num_unconfirmed = bench.metric(bench.environment.cluster.workers(), UNCONFIRMED).await?;
    }
    let num_twice = num_answers_too_many(&bench).await?;
    println!(
        "{num_unconfirmed} messages published again because no confirm arrived, {num_twice} jobs done a second time"
    );
    ensure!(num_twice > 0, "no message was delivered twice");
    bench.check("confirms are lost", 0).await?;
    Ok(())
}

/// Waits until a run is in progress.
async fn under_way(bench: &Bench) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while bench.environment.inside.cluster.runs.unfinished().await?.is_empty() && Instant::now() < deadline {
        sleep(POLL).await;
    }
    Ok(())
}

/// The number of acknowledgements minus the number of jobs. Each part and each request is one job.
async fn num_answers_too_many(bench: &Bench) -> Result<u64> {
    let requests: BTreeSet<(RepositoryId, u64)> = bench.asked.iter().copied().collect();
    let mut num_jobs = requests.len() as u64;
    for run in bench.environment.inside.cluster.runs.runs(None, usize::MAX).await? {
        num_jobs += u64::from(run.num_parts);
    }
    Ok(bench.metric(bench.environment.cluster.workers(), ACKS).await?.saturating_sub(num_jobs))
}

/// Case 6: in the middle of a sync, the connections of a cloner to the broker and the database hang without
/// an error. Both sides close the connections. Another cloner receives the job, and takes the lease with the
/// next epoch. The first cloner continues later and changes nothing.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_recovers_from_hanging_connections() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 3).await?;
    bench.begin().await?;
    bench.environment.cluster.stop("cloner").await?;
    let broker = FaultProxy::start(&bench.environment.space.rabbitmq[0]).await?;
    let database = FaultProxy::start(&bench.servers.neo4j).await?;
    let variables = [
        ("CAIRN__RABBITMQ__URLS", format!("[\"{}\"]", broker.url(&bench.environment.space.rabbitmq[0])?)),
        ("CAIRN__NEO4J__URL", format!("bolt://{}", database.address())),
        ("CAIRN__PIPELINE__CONCURRENCY", "1".to_owned()),
        // The cloner sleeps, so that the test can make its connections hang.
        ("CAIRN_FAIL_AT", "sync::leased:0:sleep=5000".to_owned()),
    ];
    bench.start("cloner-1", &variables).await?;
    bench.change().await?;
    bench.passes("cloner-1", "sync::leased").await?;
    let leased = epochs(&bench).await?;
    broker.set(Rules::HANG);
    database.set(Rules::HANG);
    let hung_at = Instant::now();
    let detected_after = loses_both_connections(&bench, "cloner-1", hung_at).await?;
    ensure!(detected_after <= DETECTED_WITHIN, "the loss was detected {detected_after:?} after the connections hung");
    bench.start("cloner-2", &[]).await?;
    bench.settle().await?;
    let others = epochs(&bench).await?;
    ensure!(
        leased.iter().zip(&others).all(|(leased, other)| other > leased),
        "another cloner did not take every lease: the epochs were {leased:?} and are {others:?}"
    );
    broker.set(Rules::PASS);
    database.set(Rules::PASS);
    has_nothing_in_hand(&bench, "cloner-1").await?;
    bench.change().await?;
    bench.settle().await?;
    println!("the loss was detected {:.1} s after the connections hung; heartbeat 5 s", detected_after.as_secs_f64());
    bench.check("connections hang", 0).await?;
    Ok(())
}

/// The epoch of the sync lease of each repository.
async fn epochs(bench: &Bench) -> Result<Vec<u64>> {
    let mut epochs = Vec::new();
    for repository in bench.asked.iter().map(|(repository, _)| *repository).collect::<BTreeSet<_>>() {
        epochs.push(bench.environment.inside.epoch(repository).await?);
    }
    Ok(epochs)
}

/// Waits until the service reports that it has lost both connections. Returns the time that has passed since
/// `since`.
async fn loses_both_connections(bench: &Bench, replica: &str, since: Instant) -> Result<Duration> {
    let deadline = since + PATIENCE;
    let log = bench.environment.cluster.log(replica);
    while fs::read_to_string(&log)?.matches("the connection to RabbitMQ was lost").count() < 2 {
        ensure!(Instant::now() < deadline, "{replica} did not notice that both connections were lost");
        sleep(POLL).await;
    }
    Ok(since.elapsed())
}

/// Waits until the service is ready and has no job in progress.
async fn has_nothing_in_hand(bench: &Bench, replica: &str) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let address = format!("http://{}", bench.environment.cluster.address(replica)?);
    loop {
        let is_ready = cairn_servers::get(&address, "/readyz").await.is_ok();
        let num_in_hand = bench.environment.cluster.metric(replica, "cairn_jobs_in_hand").await?;
        if is_ready && num_in_hand == 0 {
            return Ok(());
        }
        ensure!(
            Instant::now() < deadline,
            "{replica} still has {num_in_hand} jobs in progress, and its readiness is {is_ready}"
        );
        sleep(POLL).await;
    }
}

/// Case 8: a handler takes longer than the broker waits for an acknowledgement. The broker closes the channel
/// of the worker, and the worker opens a new one. Another worker receives the job, and later writes of the
/// slow handler change nothing.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; `make faults` runs it"]
async fn cluster_survives_a_slow_handler() -> Result<()> {
    let Some(servers) = Servers::given() else { return Ok(()) };
    let directory = tempdir()?;
    let broker = RabbitMq::start_with(directory.path(), "consumer_timeout = 60000").await?;
    let servers = Servers { rabbitmq: broker.url(), management: broker.management_url(), ..servers };
    let mut bench = Bench::prepare(servers, &without_reconciler(), 3).await?;
    bench.begin().await?;
    bench.environment.cluster.stop("parser").await?;
    let sleeps = format!("pipeline::before_work:0:sleep={}", HANDLER_SLEEPS.as_millis());
    bench.start("parser", &[("CAIRN_FAIL_AT", sleeps)]).await?;
    let (num_before, parsed) = (num_attached(&bench, "parser").await?, bench.metric(["parser"], PARSED).await?);
    bench.change().await?;
    bench.passes("parser", "pipeline::before_work").await?;
    let started = Instant::now();
    let lacked_for = lacks_a_consumer(&bench, "parser", started + 3 * HANDLER_SLEEPS).await?;
    let done_after = started.elapsed();
    ensure!(num_attached(&bench, "parser").await? > num_before, "no new consumer was attached");
    ensure!(lacked_for <= CONSUMED_WITHIN, "the consumer was missing for {lacked_for:?}");
    has_nothing_in_hand(&bench, "parser").await?;
    ensure!(bench.environment.cluster.metric("parser", LOST).await? > 0, "the late handler could still answer");
    let (num_parsed, num_parts) = (bench.metric(["parser"], PARSED).await? - parsed, num_parse_parts(&bench).await?);
    ensure!(num_parsed == num_parts, "{num_parts} parts were acknowledged {num_parsed} times");
    // After this pause, the test would notice a consumer that is attached but receives no jobs.
    sleep(Duration::from_secs(90)).await;
    bench.change().await?;
    bench.settle().await?;
    all_are_consumed(&bench).await?;
    println!(
        "all work was done {done_after:.0?} after a handler began to sleep for {HANDLER_SLEEPS:?}; no consumer for {lacked_for:?}"
    );
    bench.check("a handler takes too long", 0).await?;
    Ok(())
}

/// Waits until all work is done. Returns the longest time during which the worker lacked a consumer.
async fn lacks_a_consumer(bench: &Bench, worker: &str, deadline: Instant) -> Result<Duration> {
    let (mut longest, mut since) = (Duration::ZERO, None);
    while !bench.environment.inside.is_settled(&bench.asked).await? {
        let is_whole = has_all_consumers(bench, worker).await?;
        since = if is_whole { None } else { since.or_else(|| Some(Instant::now())) };
        longest = longest.max(since.map_or(Duration::ZERO, |since| since.elapsed()));
        ensure!(
            Instant::now() < deadline,
            "the jobs were not done in time; the longest time without a consumer was {longest:?}"
        );
        sleep(POLL).await;
    }
    Ok(longest)
}

/// The number of parse parts in the newest runs of all repositories.
async fn num_parse_parts(bench: &Bench) -> Result<u64> {
    let (runs, mut num_parts) = (&bench.environment.inside.cluster.runs, 0);
    for repository in runs.all_repositories().await? {
        let newest = runs.runs(Some(repository), 1).await?.pop().context("a run")?;
        let parts = runs.parts(newest.id).await?;
        num_parts += parts.iter().filter(|part| part.id.stage == StageName::Parse).count() as u64;
    }
    Ok(num_parts)
}

/// Waits until every work queue of the parser has exactly one consumer.
async fn all_are_consumed(bench: &Bench) -> Result<()> {
    let (raw, deadline) = (bench.raw()?, Instant::now() + PATIENCE);
    loop {
        let mut queues = raw.queues_of(StageName::Parse).await?;
        queues.retain(Queue::is_of_work);
        if queues.iter().all(|queue| queue.num_consumers == 1) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "not every queue has one consumer: {queues:?}");
        sleep(POLL).await;
    }
}
