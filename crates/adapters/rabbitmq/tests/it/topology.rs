//! Tests the topology on a real broker.

use anyhow::Result;
use cairn_ports::{Broker, DeadLetters, FailureCode, Settlement};
use cairn_rabbitmq::topology::{Topology, TopologyError, apply, inspect};
use cairn_servers::given;
use lapin::options::{ExchangeDeleteOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::FieldTable;

use crate::space::{PATIENCE, Space, complete, next, publish, wait_for, wait_until};

#[tokio::test(flavor = "multi_thread")]
async fn applying_twice_changes_nothing() -> Result<()> {
    let (Some(space), Some(management_url)) = (Space::given().await?, given::rabbitmq_management_url()) else {
        return Ok(());
    };
    let config = space.management_config(&management_url);
    let whole = Topology::new(&config.topology);
    let first = apply(&config, &whole).await?;
    assert_eq!(apply(&config, &whole).await?, first);
    let broker = space.broker()?;
    wait_for("connected", || broker.health().connected_since.is_some()).await?;
    assert_eq!(broker.missing().await?, Vec::<String>::new());
    space.vhost.delete().await
}

#[tokio::test(flavor = "multi_thread")]
async fn queues_have_their_policies() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let check = async |name: &str, key: &str, expect: serde_json::Value| {
        // The management API lists a new queue only after its next update.
        let is_so = async || {
            let queue = space.queue(name).await?;
            Ok(queue["type"] == "quorum" && queue["effective_policy_definition"][key] == expect)
        };
        wait_until(&format!("{key} of {name} is {expect}"), PATIENCE, is_so).await
    };
    check("cairn.parse.bulk.v1", "max-length", 99_999.into()).await?;
    check("cairn.parse.bulk.v1", "dead-letter-exchange", "cairn.dead.v1".into()).await?;
    check("cairn.parse.suspect.v1", "dead-letter-strategy", "at-least-once".into()).await?;
    check("cairn.parse.retry.200ms.v1", "message-ttl", 200.into()).await?;
    check("cairn.embed.retry.1500ms.v1", "dead-letter-exchange", "cairn.work.v1".into()).await?;
    check("cairn.dead.v1", "overflow", "reject-publish".into()).await?;
    space.vhost.delete().await
}

#[tokio::test(flavor = "multi_thread")]
async fn inspect_lists_missing_queues_policies_and_bindings() -> Result<()> {
    let (Some(space), Some(management_url)) = (Space::given().await?, given::rabbitmq_management_url()) else {
        return Ok(());
    };
    let config = space.management_config(&management_url);
    let whole = inspect(&config, &space.topology).await?;
    assert_eq!(whole.missing, Vec::<String>::new());
    assert!(whole.version.is_some_and(|version| version.starts_with(|digit: char| digit.is_ascii_digit())));
    let client = space.client().await?;
    let parse = "cairn.parse.bulk.v1";
    client.channel.queue_delete("cairn.embed.bulk.v1".into(), QueueDeleteOptions::default()).await?;
    client
        .channel
        .queue_unbind(parse.into(), "cairn.work.v1".into(), "parse.bulk".into(), FieldTable::default())
        .await?;
    let policies = format!("/api/policies/{}", space.vhost.name());
    space.vhost.request("DELETE", &format!("{policies}/cairn.dead.v1"), "").await?;
    let other = r#"{"pattern":"^x$","apply-to":"queues","priority":50,"definition":{"max-length":1}}"#;
    space.vhost.request("PUT", &format!("{policies}/cairn.work.v1"), other).await?;
    let expected = [
        "queue `cairn.embed.bulk.v1`",
        "policy `cairn.work.v1` with the expected definition",
        "policy `cairn.dead.v1`",
        "binding of queue `cairn.parse.bulk.v1` to exchange `cairn.work.v1`",
    ];
    assert_eq!(inspect(&config, &space.topology).await?.missing, expected);
    // Over AMQP alone, `inspect` checks only queues and exchanges.
    let over_amqp = inspect(&space.config, &space.topology).await?;
    assert_eq!((over_amqp.version, over_amqp.missing), (None, vec![expected[0].to_owned()]));
    apply(&config, &space.topology).await?;
    assert_eq!(inspect(&config, &space.topology).await?.missing, Vec::<String>::new());
    space.vhost.delete().await
}

#[tokio::test(flavor = "multi_thread")]
async fn incompatible_queue_is_reported() -> Result<()> {
    let (Some(space), Some(management_url)) = (Space::given().await?, given::rabbitmq_management_url()) else {
        return Ok(());
    };
    let client = space.client().await?;
    let queue = "cairn.parse.bulk.v1";
    client.channel.queue_delete(queue.into(), QueueDeleteOptions::default()).await?;
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    client.channel.queue_declare(queue.into(), options, FieldTable::default()).await?;
    match apply(&space.management_config(&management_url), &space.topology).await {
        Err(TopologyError::Incompatible(what)) => assert!(what.len() == 1 && what[0].contains(queue), "{what:?}"),
        other => panic!("{other:?}"),
    }
    space.vhost.delete().await
}

/// Fault case 12: the dead-letter exchange is missing. The worker is not ready, and it loses no message.
#[tokio::test(flavor = "multi_thread")]
async fn missing_exchange_is_reported_without_loss() -> Result<()> {
    let Some(space) = Space::given().await? else { return Ok(()) };
    let (client, broker) = (space.client().await?, space.broker()?);
    client.channel.exchange_delete("cairn.dead.v1".into(), ExchangeDeleteOptions::default()).await?;
    publish(&broker, 0..1).await?;
    let delivery = next(&broker).await?;
    let missing = broker.missing().await?;
    assert!(missing.contains(&"exchange `cairn.dead.v1`".to_owned()), "{missing:?}");
    let dead_lettering = broker.dead_letter(delivery.tag, FailureCode::Invalid, "no");
    let healing = async {
        wait_for("the first try fails", || broker.statistics().num_unconfirmed > 0).await?;
        assert_eq!(client.num_ready("cairn.dead.v1").await?, 0);
        assert_eq!(broker.depth(crate::space::STAGE).await?, 1, "the job is still unsettled");
        let (config, management_url) = (&space.config, given::rabbitmq_management_url().unwrap_or_default());
        let config =
            cairn_rabbitmq::RabbitMqConfig { management_url: Some(management_url.as_str().into()), ..config.clone() };
        Ok::<_, anyhow::Error>(apply(&config, &space.topology).await?)
    };
    let (dead_lettered, healed) = tokio::join!(dead_lettering, healing);
    healed?;
    dead_lettered?;
    broker.settle(delivery.tag, Settlement::Ack).await?;
    assert_eq!(broker.dead_letters(9).await?.len(), 1);
    space.vhost.delete().await
}

/// Fault case 9: a queue with a consumer is deleted and created again.
#[tokio::test(flavor = "multi_thread")]
async fn recreated_queue_is_consumed_again() -> Result<()> {
    let (Some(space), Some(management_url)) = (Space::given().await?, given::rabbitmq_management_url()) else {
        return Ok(());
    };
    let (client, broker) = (space.client().await?, space.broker()?);
    publish(&broker, 0..1).await?;
    broker.settle(next(&broker).await?.tag, Settlement::Ack).await?;
    complete(&broker).await?;
    client.channel.queue_delete("cairn.parse.bulk.v1".into(), QueueDeleteOptions::default()).await?;
    wait_for("the loss is noticed", || broker.health().faults.iter().any(|fault| fault.contains("parse.bulk"))).await?;
    assert!(broker.health().is_alive());
    apply(&space.management_config(&management_url), &space.topology).await?;
    let limit = std::time::Duration::from_secs(10);
    wait_until("consumed again", limit, async || Ok(broker.health().incomplete_since.is_none())).await?;
    publish(&broker, 1..2).await?;
    broker.settle(next(&broker).await?.tag, Settlement::Ack).await?;
    space.vhost.delete().await
}
