//! Runs the conformance suite of the port. To lose a consumer, the tests reset its connection.

use std::cell::RefCell;

use anyhow::{Context, Result};
use async_trait::async_trait;
use cairn_conformance::broker::{self, BrokerUnderTest};
use cairn_conformance::suite;
use cairn_ports::{Broker, DeadLetters, Delivery};
use cairn_rabbitmq::RabbitMqBroker;
use cairn_servers::{FaultProxy, Rules, Vhost, given};
use futures::future::join_all;

use crate::space::{Space, wait_for};

struct Subject {
    broker: RabbitMqBroker,
    proxy: FaultProxy,
}

#[async_trait]
impl BrokerUnderTest for Subject {
    fn broker(&self) -> &dyn Broker {
        &self.broker
    }

    fn dead_letters(&self) -> &dyn DeadLetters {
        &self.broker
    }

    async fn lose_consumer(&self, _: &Delivery) -> Result<()> {
        let num_attached = self.broker.statistics().num_attached;
        self.proxy.set(Rules::RESET);
        wait_for("the loss is noticed", || self.broker.health().num_consumers_attached == 0).await?;
        self.proxy.set(Rules::PASS);
        // A consumer can be attached while the connection is being reset. Then it is attached once more.
        wait_for("consumers are attached", || self.broker.statistics().num_attached >= num_attached + 3).await?;
        wait_for("all consumers are attached", || self.broker.health().num_consumers_attached == 3).await.map(drop)
    }
}

/// Opens the tested brokers one after the other, each in a new vhost, and removes the vhost of the previous
/// broker.
#[derive(Default)]
struct Subjects(RefCell<Option<Vhost>>);

impl Subjects {
    async fn open(&self) -> Result<Box<dyn BrokerUnderTest>> {
        self.remove().await?;
        let space = Space::given_with(|config| {
            config.topology.capacity = broker::CAPACITY as u32;
            config.topology.retry_delays_ms =
                [broker::QUIET / 2, broker::DELAY].map(|delay| delay.as_millis() as u64).to_vec();
            config.prefetch = broker::PREFETCH as u16;
        });
        let space = space.await?.context("the address of the server is missing")?;
        let proxy = FaultProxy::start(space.vhost.url()).await?;
        let broker = space.broker_at(proxy.url(space.vhost.url())?)?;
        wait_for("connected", || broker.health().connected_since.is_some()).await?;
        self.0.replace(Some(space.vhost));
        Ok(Box::new(Subject { broker, proxy }))
    }

    async fn remove(&self) -> Result<()> {
        let vhost = self.0.take();
        if let Some(vhost) = vhost {
            vhost.delete().await?;
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rabbitmq_passes_the_suite() -> Result<()> {
    if given::rabbitmq_url().is_none() {
        return Ok(());
    }
    let subjects = Subjects::default();
    suite::passes(&broker::checks(), async || subjects.open().await).await?;
    subjects.remove().await
}

#[tokio::test(flavor = "multi_thread")]
async fn planted_faults_are_caught() -> Result<()> {
    if given::rabbitmq_url().is_none() {
        return Ok(());
    }
    // Each fault has its own vhosts, and the tests wait most of the time, so all faults run at the same time.
    let faults = broker::faults();
    let outcomes = faults.chunks(1).map(async |fault| {
        let subjects = Subjects::default();
        suite::catches(&broker::checks(), fault, async || subjects.open().await).await?;
        subjects.remove().await
    });
    join_all(outcomes).await.into_iter().collect()
}
