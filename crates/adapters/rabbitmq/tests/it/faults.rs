//! Tests with faults of the server. The tests share one server, because each start takes ten seconds. So they
//! run one after the other.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use cairn_ports::{Broker, ErrorKind, Settlement};
use cairn_servers::{RabbitMq, given};
use tokio::time::{sleep, timeout};

use crate::space::{PATIENCE, STAGE, Space, complete, next, number, publish, wait_for, wait_until};

const QUEUE: &str = "cairn.parse.bulk.v1";
const NUM_JOBS: u32 = 500;

#[tokio::test(flavor = "multi_thread")]
async fn adapter_survives_kill_alarm_and_consumer_timeout() -> Result<()> {
    if given::is_left_out("adapter_survives_kill_alarm_and_consumer_timeout") {
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let mut server = RabbitMq::start(directory.path()).await?;
    killed_server_keeps_confirmed_messages(&mut server).await?;
    alarm_blocks_publishing_only(&server).await?;
    consumer_is_attached_again_after_its_timeout(&server).await
}

async fn space(server: &RabbitMq, prefetch: u16) -> Result<Space> {
    Space::on(&server.url(), &server.management_url(), |config| config.prefetch = prefetch).await
}

/// Fault case 3: the server is killed while messages are published, and then started again.
async fn killed_server_keeps_confirmed_messages(server: &mut RabbitMq) -> Result<()> {
    let space = space(server, 16).await?;
    let (publisher, consumer) = (Arc::new(space.broker()?), space.broker()?);
    publish(&publisher, 0..1).await?;
    consumer.settle(next(&consumer).await?.tag, Settlement::Ack).await?;
    let published = {
        let publisher = Arc::clone(&publisher);
        tokio::spawn(async move { publish(&publisher, 1..NUM_JOBS + 1).await })
    };
    server.kill().await?;
    wait_for("the loss is noticed", || consumer.health().connected_since.is_none()).await?;
    sleep(Duration::from_secs(5)).await;
    server.restart().await?;
    timeout(PATIENCE, published).await???;
    complete(&consumer).await?;
    // The consumers already hold some jobs (one consumer per lane, and one for suspects).
    let client = space.client().await?;
    let num_total = client.num_ready(QUEUE).await? + u32::try_from(consumer.statistics().num_delivered)?;
    let mut received = BTreeSet::new();
    while received.len() < NUM_JOBS as usize {
        let delivery = next(&consumer).await?;
        // The acknowledgement of the first job may have been lost with the server; the job is then delivered
        // again.
        if number(&delivery) > 0 {
            received.insert(number(&delivery));
        }
        let num_unacknowledged = space.queue(QUEUE).await?["messages_unacknowledged"].as_u64().unwrap_or_default();
        assert!(num_unacknowledged <= 16, "{num_unacknowledged}");
        consumer.settle(delivery.tag, Settlement::Ack).await?;
    }
    assert!(num_total >= NUM_JOBS, "{num_total}");
    assert_eq!(received, (1..NUM_JOBS + 1).collect());
    Ok(())
}

/// Fault case 7: an alarm of the broker blocks publishing, but not consuming.
async fn alarm_blocks_publishing_only(server: &RabbitMq) -> Result<()> {
    let space = space(server, 16).await?;
    let broker = space.broker()?;
    publish(&broker, 0..100).await?;
    let first = next(&broker).await?;
    server.rabbitmqctl(&["set_vm_memory_high_watermark", "0"]).await?;
    let is_over = AtomicBool::new(false);
    let publishing = async {
        let published = publish(&broker, 100..110).await;
        is_over.store(true, Ordering::Relaxed);
        published
    };
    let answering = async {
        wait_for("publishing is blocked", || broker.health().is_blocked).await?;
        broker.settle(first.tag, Settlement::Ack).await?;
        for _ in 0..50 {
            broker.settle(next(&broker).await?.tag, Settlement::Ack).await?;
        }
        assert!(!is_over.load(Ordering::Relaxed) && broker.health().is_blocked);
        let client = space.client().await?;
        wait_until("answers count", PATIENCE, async || Ok(client.num_ready(QUEUE).await? <= 49)).await?;
        server.rabbitmqctl(&["set_vm_memory_high_watermark", "absolute", "1GiB"]).await
    };
    let (published, answered): (_, Result<String>) = tokio::join!(publishing, answering);
    answered?;
    published?;
    wait_for("the alarm ended", || !broker.health().is_blocked).await?;
    Ok(())
}

/// Fault case 8: a delivery is not acknowledged within the broker's timeout. The broker checks this once a
/// minute by default. In this test, the broker checks twice a second, and the timeout is two seconds.
async fn consumer_is_attached_again_after_its_timeout(server: &RabbitMq) -> Result<()> {
    let settings =
        "application:set_env(rabbit, consumer_timeout, 2000), application:set_env(rabbit, channel_tick_interval, 500).";
    server.rabbitmqctl(&["eval", settings]).await?;
    let space = space(server, 2).await?;
    let broker = space.broker()?;
    publish(&broker, 0..1).await?;
    let late = next(&broker).await?;
    // The first consumer may deliver before the last consumer is attached, so the test waits until all
    // consumers are attached.
    complete(&broker).await?;
    let before = broker.statistics();
    wait_for("the timeout of the broker ended", || broker.statistics().num_attached > before.num_attached).await?;
    complete(&broker).await?;
    assert_eq!(broker.statistics().num_attached, before.num_attached + 1, "the other consumers stay");
    assert_eq!(broker.statistics().num_connected, before.num_connected, "the connections stay");
    let refused = broker.settle(late.tag, Settlement::Ack).await;
    assert_eq!(refused.map_err(|error| error.kind), Err(ErrorKind::NotFound));
    let again = next(&broker).await?;
    assert_eq!(again.num_unanswered, 1);
    broker.settle(again.tag, Settlement::Ack).await?;
    wait_until("done", PATIENCE, async || Ok(broker.depth(STAGE).await? == 0)).await?;
    Ok(())
}
