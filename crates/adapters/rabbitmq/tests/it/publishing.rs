//! Tests that publishing returns only when the broker has confirmed every message.

use std::collections::BTreeSet;

use anyhow::Result;
use cairn_domain::Lane;
use cairn_ports::{Broker, BrokerError, ErrorKind, Settlement};
use cairn_servers::{FaultProxy, Rules};
use cairn_wire::Job;
use lapin::options::QueueBindOptions;
use lapin::types::FieldTable;

use crate::space::{Space, complete, job, jobs, next, number, publish, wait_for, wait_until};

const QUEUE: &str = "cairn.parse.bulk.v1";

/// Fault case 10: for some time, no queue is bound for the messages.
#[tokio::test(flavor = "multi_thread")]
async fn returned_messages_are_published_again() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let (client, broker) = (space.client().await?, space.broker()?);
    let (exchange, key) = ("cairn.work.v1", "parse.bulk");
    client.channel.queue_unbind(QUEUE.into(), exchange.into(), key.into(), FieldTable::default()).await?;
    let healing = async {
        wait_for("messages are returned", || broker.statistics().num_returned >= 20).await?;
        let options = QueueBindOptions::default();
        Ok(client.channel.queue_bind(QUEUE.into(), exchange.into(), key.into(), options, FieldTable::default()).await?)
    };
    let (published, healed): (_, Result<()>) = tokio::join!(publish(&broker, 0..20), healing);
    healed?;
    published?;
    assert_eq!(client.num_ready(QUEUE).await?, 20);
    assert_eq!(broker.statistics().num_published, 20);
    space.vhost.delete().await
}

/// A returned message may be attached to the confirmation of another message, so only its id shows which
/// message was not accepted.
#[tokio::test(flavor = "multi_thread")]
async fn returned_message_is_recognised_by_its_id() -> Result<()> {
    let space = Space::given_with(|config| config.publish_deadline_ms = 1_500).await?;
    let Some(space) = space else { return Ok(()) };
    let (client, broker) = (space.client().await?, space.broker()?);
    client
        .channel
        .queue_unbind(QUEUE.into(), "cairn.work.v1".into(), "parse.bulk".into(), FieldTable::default())
        .await?;
    let mut mixed = Vec::new();
    for (number, job) in jobs(0..40).into_iter().enumerate() {
        let Job::Part(mut part) = job else { continue };
        if number % 2 == 0 {
            part.part.stage = cairn_domain::StageName::Embed;
        }
        mixed.push(Job::Part(part));
    }
    let error = broker.publish(Lane::Bulk, mixed).await.expect_err("half of them have no queue");
    assert_eq!(error.kind, ErrorKind::Unavailable);
    let text = format!("{:?}", error.source);
    assert!(text.contains("20 messages") && text.contains("no queue is bound for `parse.bulk`"), "{text}");
    assert_eq!(client.num_ready("cairn.embed.bulk.v1").await?, 20);
    space.vhost.delete().await
}

/// Fault case 5: the broker has accepted the messages, but its confirms are lost.
#[tokio::test(flavor = "multi_thread")]
async fn lost_confirm_causes_duplicates_but_no_loss() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let proxy = FaultProxy::start(space.vhost.url()).await?;
    let (client, broker) = (space.client().await?, space.broker_at(proxy.url(space.vhost.url())?)?);
    publish(&broker, 0..1).await?;
    proxy.set(Rules::DROP_RESPONSES);
    let cutting = async {
        let limit = crate::space::PATIENCE;
        wait_until("the broker has the messages", limit, async || Ok(client.num_ready(QUEUE).await? == 21)).await?;
        proxy.set(Rules::RESET);
        proxy.set(Rules::PASS);
        Ok(())
    };
    let (published, cut): (_, Result<()>) = tokio::join!(publish(&broker, 1..21), cutting);
    cut?;
    published?;
    let num_duplicates = client.num_ready(QUEUE).await? - 21;
    assert!(num_duplicates >= 1 && broker.statistics().num_unconfirmed >= 20, "{num_duplicates}");
    complete(&broker).await?;
    let mut received = BTreeSet::new();
    for _ in 0..21 + num_duplicates {
        let delivery = next(&broker).await?;
        received.insert((number(&delivery), delivery.job.id()));
        broker.settle(delivery.tag, Settlement::Ack).await?;
    }
    // Duplicates have the same id, so a consumer that compares ids does the work once.
    assert_eq!(received.len(), 21);
    space.vhost.delete().await
}

/// Fault case 13: every job is delivered several times and in a different order.
#[tokio::test(flavor = "multi_thread")]
async fn duplicates_have_one_id() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let broker = space.broker()?;
    let mut shuffled: Vec<Job> = (0..45).map(|number| job(number * 7 % 15)).collect();
    shuffled.reverse();
    broker.publish(Lane::Bulk, shuffled).await?;
    let mut ids = BTreeSet::new();
    for _ in 0..45 {
        let delivery = next(&broker).await?;
        ids.insert(delivery.job.id());
        broker.settle(delivery.tag, Settlement::Ack).await?;
    }
    assert_eq!(ids, (0..15).map(|number| job(number).id()).collect());
    assert_eq!(broker.depth(crate::space::STAGE).await?, 0);
    space.vhost.delete().await
}

#[tokio::test(flavor = "multi_thread")]
async fn too_large_job_fails_before_any_publication() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let (client, broker) = (space.client().await?, space.broker()?);
    let Job::Part(mut large) = job(1) else { return Ok(()) };
    large.plan.key = "x".repeat(65 * 1024);
    let error: BrokerError = broker.publish(Lane::Bulk, vec![job(0), Job::Part(large)]).await.expect_err("too large");
    assert_eq!(error.kind, ErrorKind::TooLarge);
    assert_eq!(client.num_ready(QUEUE).await?, 0);
    space.vhost.delete().await
}
