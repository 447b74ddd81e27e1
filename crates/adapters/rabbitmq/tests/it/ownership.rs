//! Tests that the key of a provider has one owner at a time.

use anyhow::{Result, ensure};
use cairn_ports::ErrorKind;
use cairn_rabbitmq::RabbitMqBroker;
use cairn_servers::{FaultProxy, Rules};
use tokio::time::timeout;

use crate::space::{PATIENCE, Space, wait_for};

const KEY: &str = "voyage-1";

async fn space() -> Result<Option<Space>> {
    Space::given_with(|config| config.topology.owned_keys = vec![KEY.to_owned()]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn next_process_owns_a_released_key() -> Result<()> {
    let Some(space) = space().await? else { return Ok(()) };
    let (first, second) = (space.broker()?, space.broker()?);
    let ownership = timeout(PATIENCE, first.own(KEY)).await??;
    assert!(ownership.is_held());
    let mut standby = std::pin::pin!(second.own(KEY));
    // A token arrives within this limit, so a timeout shows that the waiting process has not become an owner.
    ensure!(timeout(std::time::Duration::from_secs(4), &mut standby).await.is_err(), "two owners");
    assert!(ownership.is_held());
    drop(ownership);
    assert!(timeout(PATIENCE, standby).await??.is_held());
    assert_eq!(first.own("unknown").await.map(drop).map_err(|error| error.kind), Err(ErrorKind::NotFound));
    space.vhost.delete().await
}

/// A disconnected owner must notice the loss before the broker serves the next process.
#[tokio::test(flavor = "multi_thread")]
async fn key_never_has_two_owners() -> Result<()> {
    let Some(space) = space().await? else { return Ok(()) };
    let proxy = FaultProxy::start(space.vhost.url()).await?;
    let (first, second): (RabbitMqBroker, RabbitMqBroker) =
        (space.broker_at(proxy.url(space.vhost.url())?)?, space.broker()?);
    let ownership = timeout(PATIENCE, first.own(KEY)).await??;
    let standby = second.own(KEY);
    proxy.set(Rules::HANG);
    let taken = timeout(PATIENCE, standby).await??;
    assert!(!ownership.is_held() && taken.is_held());
    timeout(PATIENCE, ownership.lost()).await?;
    proxy.set(Rules::RESET);
    proxy.set(Rules::PASS);
    wait_for("connected again", || first.health().connected_since.is_some()).await?;
    assert!(!ownership.is_held());
    space.vhost.delete().await
}
