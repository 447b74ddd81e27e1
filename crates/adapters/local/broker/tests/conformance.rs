//! Checks that the in-process broker fulfils the contract of brokers. The paused clock advances only when the
//! broker or the suite waits.

use anyhow::Result;
use async_trait::async_trait;
use cairn_conformance::broker::{self, BrokerUnderTest};
use cairn_conformance::suite;
use cairn_local_broker::{LocalBroker, QueueSettings};
use cairn_ports::{Broker, DeadLetters, Delivery};

struct Subject(LocalBroker);

#[async_trait]
impl BrokerUnderTest for Subject {
    fn broker(&self) -> &dyn Broker {
        &self.0
    }

    fn dead_letters(&self) -> &dyn DeadLetters {
        &self.0
    }

    async fn lose_consumer(&self, delivery: &Delivery) -> Result<()> {
        Ok(self.0.reclaim(delivery.tag)?)
    }
}

async fn open() -> Result<Box<dyn BrokerUnderTest>> {
    let settings = QueueSettings { capacity: broker::CAPACITY, prefetch: broker::PREFETCH, ..QueueSettings::default() };
    Ok(Box::new(Subject(LocalBroker::new(|_| settings))))
}

#[tokio::test(start_paused = true)]
async fn local_broker_passes_the_suite() -> Result<()> {
    suite::passes(&broker::checks(), open).await
}

#[tokio::test(start_paused = true)]
async fn planted_faults_are_caught() -> Result<()> {
    suite::catches(&broker::checks(), &broker::faults(), open).await
}
