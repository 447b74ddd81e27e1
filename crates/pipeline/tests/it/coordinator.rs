//! Tests of the coordinator with a broker that refuses some jobs.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{Lane, RepositoryId, StageName};
use cairn_local_broker::{LocalBroker, QueueSettings};
use cairn_metastore::Metastore;
use cairn_pipeline::{DispatchBounds, dispatch, relay, send_again};
use cairn_ports::{
    Broker, BrokerError, Delivery, ErrorKind, FailureCode, HANDED_OVER_WITHIN_MS, Outbox, Requests, Settlement,
};
use cairn_testkit::MemoryRuns;
use cairn_wire::Job;

use crate::begun::{begun, part, registered};

/// A broker that refuses some jobs.
struct Refusing {
    inner: LocalBroker,
    refuses: fn(&Job) -> bool,
}

#[async_trait]
impl Broker for Refusing {
    async fn publish(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), BrokerError> {
        if jobs.iter().any(self.refuses) {
            return Err(BrokerError::new(ErrorKind::Unavailable, "publish", "the queue is full"));
        }
        self.inner.publish(lane, jobs).await
    }

    async fn receive(&self, stage: StageName) -> Result<Option<Delivery>, BrokerError> {
        self.inner.receive(stage).await
    }

    async fn dead_letter(&self, tag: u64, code: FailureCode, message: &str) -> Result<(), BrokerError> {
        self.inner.dead_letter(tag, code, message).await
    }

    async fn settle(&self, tag: u64, settlement: Settlement) -> Result<(), BrokerError> {
        self.inner.settle(tag, settlement).await
    }

    async fn depth(&self, stage: StageName) -> Result<u64, BrokerError> {
        self.inner.depth(stage).await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

fn broker(refuses: fn(&Job) -> bool) -> Refusing {
    Refusing { inner: LocalBroker::new(|_: StageName| QueueSettings::default()), refuses }
}

fn runs() -> Metastore {
    Metastore::new(Arc::new(MemoryRuns::new()))
}

const BOUNDS: DispatchBounds = DispatchBounds { in_flight: 8, again_after_ms: 1_800_000 };

#[tokio::test]
async fn unpublished_sync_does_not_delay_others() -> anyhow::Result<()> {
    let (runs, broker) = (runs(), broker(|job| matches!(job, Job::Sync(job) if job.request == 1)));
    // The first request has the number 1, and the later requests have larger numbers.
    for (name, now_ms) in [("a", 1), ("b", 2), ("c", 3)] {
        runs.ask(registered(&runs, name).await?, Lane::Bulk, false, now_ms).await?;
    }
    let failure = dispatch(&broker, &runs, BOUNDS, 10).await.expect_err("one is refused");
    assert_eq!((failure.code, broker.depth(StageName::Sync).await?), (FailureCode::Unavailable, 2));
    let given = async |now_ms: i64| runs.dispatch(8, now_ms, BOUNDS.again_after_ms).await;
    assert_eq!(given(9 + HANDED_OVER_WITHIN_MS).await?, []);
    let again: Vec<RepositoryId> =
        given(10 + HANDED_OVER_WITHIN_MS).await?.iter().map(|request| request.job.repository).collect();
    assert_eq!(again, [registered(&runs, "a").await?]);
    Ok(())
}

#[tokio::test]
async fn full_queue_does_not_delay_other_stages() -> anyhow::Result<()> {
    let (runs, broker) = (runs(), broker(|job| job.stage() == StageName::Parse));
    begun(&runs, "a", &[StageName::Parse]).await?;
    let linking = begun(&runs, "b", &[StageName::Link]).await?;
    relay(&broker, &runs, 0).await.expect_err("the queue of parse is full");
    assert_eq!((broker.depth(StageName::Parse).await?, broker.depth(StageName::Link).await?), (0, 1));
    let unsent = runs.unsent(0, 8).await?;
    assert!(unsent.len() == 1 && unsent[0].0.id != linking, "{unsent:?}");
    Ok(())
}

#[tokio::test]
async fn jobs_at_the_broker_are_not_published_again() -> anyhow::Result<()> {
    let (runs, broker) = (runs(), broker(|_| false));
    let run = begun(&runs, "a", &[StageName::Link]).await?;
    assert_eq!(relay(&broker, &runs, 0).await?, 1);
    assert_eq!(send_again(&broker, &runs, 100, 100).await?, 0, "the job waits in the queue");
    assert_eq!(send_again(&broker, &runs, 1200, 100).await?, 1, "the job has waited for too long");
    runs.sent(run, &[part(StageName::Link)]).await?;
    let delivery = broker.receive(StageName::Link).await?.expect("it is open");
    broker.settle(delivery.tag, Settlement::Ack).await?;
    assert_eq!(send_again(&broker, &runs, 1300, 100).await?, 1, "the job is lost");
    assert_eq!(relay(&broker, &runs, 1300).await?, 1);
    Ok(())
}
