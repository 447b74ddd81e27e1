//! Tests the recovery from losses and outages: one test for each rule of the supervisor's contract.

use std::env;
use std::time::Duration;

use anyhow::Result;
use cairn_ports::{Broker, ErrorKind, Settlement};
use cairn_rabbitmq::RabbitMqConfig;
use cairn_servers::{FaultProxy, Rules};
use tokio::time::{Instant, sleep_until};

use crate::space::{Space, complete, next, number, publish, wait_for, wait_until};

const CUT: Rules = Rules { refuse: true, reset: true, ..Rules::PASS };

/// If the prefetch were not set again after a loss, the consumer would receive up to two thousand messages.
#[tokio::test(flavor = "multi_thread")]
async fn prefetch_is_set_again_after_a_loss() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let proxy = FaultProxy::start(space.vhost.url()).await?;
    let (client, broker) = (space.client().await?, space.broker_at(proxy.url(space.vhost.url())?)?);
    publish(&broker, 0..30).await?;
    let mut numbers = vec![number(&next(&broker).await?)];
    for _ in 0..3 {
        proxy.set(Rules::RESET);
        wait_for("the loss is noticed", || broker.health().num_consumers_attached == 0).await?;
        proxy.set(Rules::PASS);
        complete(&broker).await?;
        numbers.push(number(&next(&broker).await?));
        let num_held =
            30 - client.num_ready("cairn.parse.bulk.v1").await? - client.num_ready("cairn.parse.suspect.v1").await?;
        assert!(num_held <= 2 + 1, "{num_held} jobs are held with a prefetch of 2, and 1 suspect");
    }
    assert_eq!(numbers.len(), 4);
    space.vhost.delete().await
}

/// Fault case 4: an outage that is longer than any fixed number of attempts. With `CAIRN_FAULTS=1`, the
/// outage lasts ten minutes.
#[tokio::test(flavor = "multi_thread")]
async fn broker_recovers_after_an_outage() -> Result<()> {
    let space = Space::given_with(|config| config.publish_deadline_ms = 3_000).await?;
    let Some(space) = space else { return Ok(()) };
    let proxy = FaultProxy::start(space.vhost.url()).await?;
    let broker = space.broker_at(proxy.url(space.vhost.url())?)?;
    publish(&broker, 0..1).await?;
    let delivery = next(&broker).await?;
    complete(&broker).await?;
    assert!(broker.health().is_ready());
    proxy.set(CUT);
    let outage = Duration::from_secs(if env::var("CAIRN_FAULTS").is_ok() { 600 } else { 8 });
    let end = Instant::now() + outage;
    wait_for("not ready", || !broker.health().is_ready()).await?;
    let error = publish(&broker, 1..2).await.expect_err("the proxy refuses connections");
    let error = error.downcast::<cairn_ports::BrokerError>()?;
    assert_eq!(error.kind, ErrorKind::Unavailable);
    let stale = broker.settle(delivery.tag, Settlement::Ack).await.expect_err("the channel is closed");
    assert_eq!(stale.kind, ErrorKind::NotFound);
    sleep_until(end).await;
    assert!(broker.health().is_alive() && broker.health().num_consumers_attached == 0);
    proxy.set(Rules::PASS);
    complete(&broker).await?;
    assert!(broker.health().is_ready());
    assert_eq!(next(&broker).await?.num_unanswered, 1);
    space.vhost.delete().await
}

/// Fault case 6: the peer sends no reply, but it does not close the connection either.
#[tokio::test(flavor = "multi_thread")]
async fn silent_peer_is_disconnected() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let proxy = FaultProxy::start(space.vhost.url()).await?;
    let (broker, other) = (space.broker_at(proxy.url(space.vhost.url())?)?, space.broker()?);
    publish(&other, 0..1).await?;
    let delivery = next(&broker).await?;
    complete(&broker).await?;
    proxy.set(Rules::HANG);
    // The limit is twice the heartbeat, plus one second in case the machine is busy.
    let limit = Duration::from_secs(5);
    wait_until("the silence is noticed", limit, async || Ok(broker.health().num_consumers_attached == 0)).await?;
    assert_eq!(
        broker.settle(delivery.tag, Settlement::Ack).await.map_err(|error| error.kind),
        Err(ErrorKind::NotFound)
    );
    // The broker also notices the loss, and delivers the job to the other process.
    let again = next(&other).await?;
    assert_eq!((number(&again), again.num_unanswered), (0, 1));
    other.settle(again.tag, Settlement::Ack).await?;
    wait_for("both connections are closed", || broker.health().connected_since.is_none()).await?;
    proxy.set(Rules::RESET);
    proxy.set(Rules::PASS);
    complete(&broker).await?;
    space.vhost.delete().await
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_tried_in_turn() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let proxy = FaultProxy::start(space.vhost.url()).await?;
    proxy.set(Rules::REFUSE);
    let urls = vec![proxy.url(space.vhost.url())?.into(), space.vhost.url().into()];
    let broker = cairn_rabbitmq::RabbitMqBroker::new(RabbitMqConfig { urls, ..space.config.clone() })?;
    publish(&broker, 0..1).await?;
    broker.settle(next(&broker).await?.tag, Settlement::Ack).await?;
    space.vhost.delete().await
}
