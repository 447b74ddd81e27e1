//! Tests the order of deliveries, messages that are not jobs, and jobs that kill their worker.

use std::time::Duration;

use anyhow::{Result, ensure};
use cairn_domain::Lane;
use cairn_ports::{Broker, DeadLetters, ErrorKind, FailureCode, Settlement};
use cairn_servers::{FaultProxy, Rules, given};
use lapin::BasicProperties;
use lapin::options::{BasicPublishOptions, ExchangeDeleteOptions};

use crate::space::{PATIENCE, STAGE, Space, complete, job, next, number, publish, wait_for, wait_until};

#[tokio::test(flavor = "multi_thread")]
async fn invalid_message_becomes_a_dead_letter() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let (client, broker) = (space.client().await?, space.broker()?);
    for body in [&b"{\"version\": 99}"[..], b"\xff\xfe", b""] {
        let (exchange, key) = ("cairn.work.v1".into(), "parse.interactive".into());
        let properties = BasicProperties::default();
        client.channel.basic_publish(exchange, key, BasicPublishOptions::default(), body, properties).await?;
    }
    publish(&broker, 0..1).await?;
    assert_eq!(number(&next(&broker).await?), 0);
    let limit = PATIENCE;
    wait_until("three dead letters", limit, async || Ok(broker.dead_letters(9).await?.len() == 3)).await?;
    let letters = broker.dead_letters(9).await?;
    // The messages are moved concurrently, so their order may differ.
    let of_body = |body: &str| letters.iter().find(|letter| letter.body == body).expect("a letter");
    let of_later_version = of_body("{\"version\": 99}");
    assert_eq!((of_later_version.code.as_str(), of_later_version.job.as_ref()), ("invalid", None));
    assert_eq!((of_later_version.stage, of_later_version.lane), (STAGE, Lane::Interactive));
    assert!(of_later_version.message.contains("version 99"), "{}", of_later_version.message);
    let unreadable = "\u{fffd}\u{fffd}";
    assert_eq!(broker.take(&[of_body(unreadable).id]).await?[0].body, unreadable);
    assert_eq!(broker.dead_letters(9).await?.len(), 2);
    space.vhost.delete().await
}

/// Fault case 11: one job kills its worker, which also holds fifteen other jobs.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_killing_job_is_dead_lettered() -> Result<()> {
    const KILLER: u32 = 7;
    let space = Space::given_with(|config| config.prefetch = 16).await?;
    let Some(space) = space else { return Ok(()) };
    let proxy = FaultProxy::start(space.vhost.url()).await?;
    let broker = space.broker_at(proxy.url(space.vhost.url())?)?;
    publish(&broker, 0..16).await?;
    let (mut done, mut num_kills) = (Vec::new(), 0);
    while done.len() < 16 {
        let delivery = next(&broker).await?;
        if number(&delivery) != KILLER {
            // Other jobs of the worker are still unsettled when the killing job ends the worker. Each of
            // these jobs is settled when it is delivered alone.
            if delivery.is_suspect {
                broker.settle(delivery.tag, Settlement::Ack).await?;
                done.push(number(&delivery));
            }
        } else if delivery.is_suspect && delivery.num_unanswered == 3 {
            broker.dead_letter(delivery.tag, FailureCode::Crash, "it kills").await?;
            broker.settle(delivery.tag, Settlement::Ack).await?;
            done.push(KILLER);
        } else {
            num_kills += 1;
            ensure!(
                num_kills <= 3,
                "the job killed its worker {num_kills} times, but may do so only twice with other jobs and once alone"
            );
            proxy.set(Rules::RESET);
            wait_for("the loss is noticed", || broker.health().num_consumers_attached == 0).await?;
            proxy.set(Rules::PASS);
            complete(&broker).await?;
        }
    }
    done.sort_unstable();
    assert_eq!(done, (0..16).collect::<Vec<u32>>());
    assert_eq!(num_kills, 3);
    let letters = broker.dead_letters(9).await?;
    assert_eq!(letters.iter().map(|letter| letter.id).collect::<Vec<_>>(), [job(KILLER).id()]);
    assert_eq!(broker.depth(STAGE).await?, 0);
    space.vhost.delete().await
}

#[tokio::test(flavor = "multi_thread")]
async fn released_jobs_go_to_others_with_unchanged_counts() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let (broker, other) = (space.broker()?, space.broker()?);
    publish(&broker, 0..2).await?;
    let kept = next(&broker).await?;
    wait_for("both jobs were delivered", || broker.statistics().num_delivered == 2).await?;
    broker.release(STAGE);
    let given_back = next(&other).await?;
    assert_eq!((number(&given_back), given_back.num_unanswered), (1, 0));
    broker.settle(kept.tag, Settlement::Ack).await?;
    other.settle(given_back.tag, Settlement::Ack).await?;
    wait_for("no consumers", || broker.health().num_consumers_wanted == 0).await?;
    // The next `receive` attaches the consumers again.
    other.release(STAGE);
    publish(&broker, 2..3).await?;
    broker.settle(next(&broker).await?.tag, Settlement::Ack).await?;
    assert_eq!(broker.depth(STAGE).await?, 0);
    space.vhost.delete().await
}

#[tokio::test(flavor = "multi_thread")]
async fn suspects_are_delivered_alone_until_settled() -> Result<()> {
    let space = Space::given_with(|config| config.prefetch = 8).await?;
    let Some(space) = space else { return Ok(()) };
    let proxy = FaultProxy::start(space.vhost.url()).await?;
    let broker = space.broker_at(proxy.url(space.vhost.url())?)?;
    publish(&broker, 0..3).await?;
    for _ in 0..2 {
        for _ in 0..3 {
            next(&broker).await?;
        }
        proxy.set(Rules::RESET);
        wait_for("the loss is noticed", || broker.health().num_consumers_attached == 0).await?;
        proxy.set(Rules::PASS);
    }
    let suspect = next(&broker).await?;
    assert!(suspect.is_suspect && suspect.num_unanswered == 2);
    let second = tokio::time::timeout(Duration::from_millis(500), broker.receive(STAGE)).await;
    assert!(second.is_err(), "{second:?}");
    // The requeued job stays a suspect and keeps its counts.
    broker.settle(suspect.tag, Settlement::Requeue { after: Duration::ZERO }).await?;
    let mut left = 3;
    while left > 0 {
        let delivery = next(&broker).await?;
        if delivery.is_suspect {
            assert_eq!(delivery.num_failed_attempts, 0, "the requeued job is still a suspect");
            broker.settle(delivery.tag, Settlement::Retry { after: Duration::ZERO }).await?;
        } else {
            assert_eq!((delivery.num_failed_attempts, delivery.num_unanswered), (1, 0));
            broker.settle(delivery.tag, Settlement::Ack).await?;
            left -= 1;
        }
    }
    assert_eq!(broker.depth(STAGE).await?, 0);
    space.vhost.delete().await
}

/// The first suspect that is delivered may kill its worker. The test checks that each job of the lost
/// consumer is in exactly one queue at that time.
#[tokio::test(flavor = "multi_thread")]
async fn no_suspect_is_delivered_during_a_move() -> Result<()> {
    const NUM_JOBS: u32 = 64;
    let space = Space::given_with(|config| config.prefetch = NUM_JOBS as u16).await?;
    let Some(space) = space else { return Ok(()) };
    let (client, proxy) = (space.client().await?, FaultProxy::start(space.vhost.url()).await?);
    let broker = space.broker_at(proxy.url(space.vhost.url())?)?;
    publish(&broker, 0..NUM_JOBS).await?;
    for _ in 0..2 {
        for _ in 0..NUM_JOBS {
            next(&broker).await?;
        }
        proxy.set(Rules::RESET);
        wait_for("the loss is noticed", || broker.health().num_consumers_attached == 0).await?;
        proxy.set(Rules::PASS);
    }
    assert!(next(&broker).await?.is_suspect);
    drop(broker);
    let ready = async |source: &str| client.num_ready(&format!("cairn.parse.{source}.v1")).await;
    let all = async || Ok(ready("bulk").await? + ready("suspect").await? >= NUM_JOBS);
    wait_until("all jobs are in the queues again", PATIENCE, all).await?;
    assert_eq!((ready("bulk").await?, ready("suspect").await?), (0, NUM_JOBS));
    space.vhost.delete().await
}

#[tokio::test(flavor = "multi_thread")]
async fn depth_counts_jobs_held_by_other_processes() -> Result<()> {
    let (Some(space), Some(management_url)) = (Space::given().await?, given::rabbitmq_management_url()) else {
        return Ok(());
    };
    let holder = space.broker()?;
    let viewer = cairn_rabbitmq::RabbitMqBroker::new(space.management_config(&management_url))?;
    publish(&holder, 0..5).await?;
    next(&holder).await?;
    wait_for("connected", || viewer.health().connected_since.is_some()).await?;
    wait_until("the depth is five", PATIENCE, async || Ok(viewer.depth(STAGE).await? == 5)).await?;
    assert_eq!(holder.depth(STAGE).await?, 5);
    space.vhost.delete().await
}

#[tokio::test(flavor = "multi_thread")]
async fn stage_without_queues_reports_the_missing_queue() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let broker = space.broker()?;
    let stage = cairn_domain::StageName::Sweep;
    let waiting = tokio::time::timeout(Duration::from_millis(1500), broker.receive(stage)).await;
    assert!(waiting.is_err());
    let health = broker.health();
    assert!(!health.is_ready());
    assert!(health.faults.iter().any(|fault| fault.contains("cairn.sweep.interactive.v1")), "{:?}", health.faults);
    assert_eq!(broker.depth(stage).await.map_err(|error| error.kind), Err(ErrorKind::NotFound));
    space.vhost.delete().await
}

/// The replacement of a job is confirmed before the job is acknowledged, so a worker that stops in between
/// loses no job.
#[tokio::test(flavor = "multi_thread")]
async fn stop_before_the_confirm_keeps_the_job() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let (client, broker) = (space.client().await?, space.broker()?);
    for exchange in ["cairn.retry.200ms.v1", "cairn.retry.1500ms.v1", "cairn.dead.v1"] {
        client.channel.exchange_delete(exchange.into(), ExchangeDeleteOptions::default()).await?;
    }
    publish(&broker, 0..2).await?;
    let (first, second) = (next(&broker).await?, next(&broker).await?);
    let stopped = async { wait_for("both were tried", || broker.statistics().num_unconfirmed > 3).await };
    tokio::select! {
        settled = broker.settle(first.tag, Settlement::Retry { after: Duration::ZERO }) => panic!("{settled:?}"),
        settled = broker.dead_letter(second.tag, FailureCode::Invalid, "no") => panic!("{settled:?}"),
        stopped = stopped => drop(stopped?),
    }
    drop(broker);
    let other = space.broker()?;
    let (first, second) = (next(&other).await?, next(&other).await?);
    assert_eq!((number(&first), number(&second)), (0, 1));
    assert_eq!((first.num_unanswered, first.num_failed_attempts), (1, 0));
    space.vhost.delete().await
}
