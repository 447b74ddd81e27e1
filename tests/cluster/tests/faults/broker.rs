//! A broker that is there and does not do what it should. Long forms only.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{STANDARD, Servers};
use cairn_ports::Outbox;
use cairn_servers::{RabbitMq, Vhost};
use serde_json::Value;
use tempfile::tempdir;
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, PATIENCE, POLL, hasty, is_long};

/// Case 7: the broker's memory alarm blocks publishers for a minute under load.
#[tokio::test(flavor = "multi_thread")]
async fn the_memory_alarm_goes_off() -> Result<()> {
    let Some(servers) = Servers::given().filter(|_| is_long()) else { return Ok(()) };
    let directory = tempdir()?;
    let broker = RabbitMq::start(directory.path()).await?;
    let servers = Servers { rabbitmq: broker.url(), management: broker.management_url(), ..servers };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    bench.change().await?;
    broker.rabbitmqctl(&["set_vm_memory_high_watermark", "0"]).await?;
    sleep(Duration::from_secs(60)).await;
    broker.rabbitmqctl(&["set_vm_memory_high_watermark", "0.4"]).await?;
    bench.check("the memory alarm goes off", 0).await?;
    Ok(())
}

/// Case 9: queues are deleted under their consumers, with all that is in them, and made again by `cairn topology apply`.
#[tokio::test(flavor = "multi_thread")]
async fn queues_are_deleted() -> Result<()> {
    let Some(servers) = Servers::given().filter(|_| is_long()) else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    bench.change().await?;
    let vhost = bench.ground.space.vhost.clone().context("a vhost")?;
    for queue in queues(&vhost, "parse").await? {
        vhost.request("DELETE", &format!("/api/queues/{}/{queue}", vhost.name()), "").await?;
    }
    bench.ground.cluster.cairn(&["topology", "apply"])?;
    bench.check("queues are deleted", 0).await?;
    Ok(())
}

/// Case 10: work queues are unbound for half a minute: what is published comes back, and is published again.
#[tokio::test(flavor = "multi_thread")]
async fn queues_are_unbound() -> Result<()> {
    let Some(servers) = Servers::given().filter(|_| is_long()) else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    let vhost = bench.ground.space.vhost.clone().context("a vhost")?;
    let mut num_unbound = 0;
    for queue in queues(&vhost, "parse").await? {
        let said = vhost.request("GET", &format!("/api/queues/{}/{queue}/bindings", vhost.name()), "").await?;
        for binding in serde_json::from_str::<Vec<Value>>(&said)? {
            let text = |name: &str| binding[name].as_str().unwrap_or_default().to_owned();
            let (source, key) = (text("source"), text("properties_key"));
            if !source.is_empty() {
                let path = format!("/api/bindings/{}/e/{source}/q/{queue}/{key}", vhost.name());
                vhost.request("DELETE", &path, "").await?;
                num_unbound += 1;
            }
        }
    }
    ensure!(num_unbound > 0, "nothing was bound");
    bench.change().await?;
    sleep(Duration::from_secs(30)).await;
    bench.ground.cluster.cairn(&["topology", "apply"])?;
    bench.check("queues are unbound", 0).await?;
    Ok(())
}

/// Case 12: the exchange of dead letters is missing when services start: they wait, not ready, and say which it is.
#[tokio::test(flavor = "multi_thread")]
async fn the_dead_letter_exchange_is_missing() -> Result<()> {
    let Some(servers) = Servers::given().filter(|_| is_long()) else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 3).await?;
    bench.begin().await?;
    bench.ground.cluster.stop("parser").await?;
    let vhost = bench.ground.space.vhost.clone().context("a vhost")?;
    let said = vhost.request("GET", &format!("/api/exchanges/{}", vhost.name()), "").await?;
    let exchanges: Vec<Value> = serde_json::from_str(&said)?;
    let names = exchanges.iter().filter_map(|exchange| exchange["name"].as_str());
    let dead = names.into_iter().find(|name| name.contains("dead")).context("an exchange of dead letters")?;
    vhost.request("DELETE", &format!("/api/exchanges/{}/{dead}", vhost.name()), "").await?;
    bench.change().await?;
    // The bench waits for readiness, which must not come.
    let started = bench.start("parser", &[]).await;
    let refused = format!("{:#}", started.err().context("the parser is ready without the exchange")?);
    ensure!(refused.contains(dead), "the log does not name `{dead}`: {refused}");
    bench.ground.cluster.cairn(&["topology", "apply"])?;
    bench.start("parser", &[]).await?;
    bench.check("the dead-letter exchange is missing", 0).await?;
    Ok(())
}

/// Case 13: every job comes again and again, in any order.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_doubled() -> Result<()> {
    let Some(servers) = Servers::given().filter(|_| is_long()) else { return Ok(()) };
    let mut bench = Bench::prepare(servers, &hasty(), 5).await?;
    bench.begin().await?;
    let mut num_again = 0;
    for _ in 0..5 {
        bench.change().await?;
        let deadline = Instant::now() + PATIENCE;
        while !bench.ground.inside.is_settled(&bench.asked).await? && Instant::now() < deadline {
            let cluster = &bench.ground.inside.cluster;
            num_again += cluster.runs.send_again(&BTreeSet::new(), cluster.clock.now_ms(), 0).await?;
            sleep(POLL).await;
        }
    }
    ensure!(num_again > 0, "no job was sent again");
    println!("{num_again} times the jobs of a run were sent again");
    bench.check("jobs are doubled", 0).await?;
    Ok(())
}

/// Case 4: the broker is away for ten minutes. Nobody gives up, and nobody has to be started again.
#[tokio::test(flavor = "multi_thread")]
async fn the_broker_is_away_for_long() -> Result<()> {
    let Some(servers) = Servers::given().filter(|_| is_long()) else { return Ok(()) };
    let directory = tempdir()?;
    let mut broker = RabbitMq::start(directory.path()).await?;
    let servers = Servers { rabbitmq: broker.url(), management: broker.management_url(), ..servers };
    let mut settings = hasty();
    // A restart by hand is what must not be needed.
    if let Some(rabbitmq) = settings.get_mut("rabbitmq").and_then(toml::Value::as_table_mut) {
        rabbitmq.insert("dead_after_ms".to_owned(), 3_600_000.into());
    }
    let mut bench = Bench::prepare(servers, &settings, 3).await?;
    bench.begin().await?;
    bench.change().await?;
    broker.kill().await?;
    sleep(Duration::from_secs(600)).await;
    for service in STANDARD {
        ensure!(!bench.ground.cluster.process(service)?.has_ended()?, "{service} has ended");
    }
    broker.restart().await?;
    bench.check("the broker is away for long", 0).await?;
    Ok(())
}

/// Names of the queues of a stage.
async fn queues(vhost: &Vhost, stage: &str) -> Result<Vec<String>> {
    let said = vhost.request("GET", &format!("/api/queues/{}", vhost.name()), "").await?;
    let queues: Vec<Value> = serde_json::from_str(&said)?;
    let names = queues.iter().filter_map(|queue| queue["name"].as_str());
    let of_stage: Vec<String> = names.filter(|name| name.contains(stage)).map(str::to_owned).collect();
    ensure!(!of_stage.is_empty(), "no queue of {stage}");
    Ok(of_stage)
}
