//! Tests properties that only the in-process broker has.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result};
use cairn_domain::{ArtifactRef, GenerationId, Lane, PartId, RepositoryId, RepositoryName, RunId, StageName, Tenant};
use cairn_local_broker::{LocalBroker, QueueSettings};
use cairn_ports::{Broker, Settlement};
use cairn_wire::{Job, PartJob};

const STAGE: StageName = StageName::Embed;

fn job(number: u32) -> Job {
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
    Job::Part(PartJob {
        tenant: Tenant::local(),
        run: RunId { repository, generation: GenerationId(1) },
        part: PartId { stage: STAGE, number },
        plan: ArtifactRef { key: "plan".to_owned(), size_bytes: 1, hash: [0; 32] },
    })
}

fn broker(settings: QueueSettings) -> LocalBroker {
    LocalBroker::new(|_| settings)
}

#[tokio::test(start_paused = true)]
async fn unanswered_delivery_is_reclaimed() -> Result<()> {
    let settings = QueueSettings { unanswered_after: Duration::from_secs(60), ..QueueSettings::default() };
    let broker = broker(settings);
    broker.publish(Lane::Bulk, vec![job(0)]).await?;
    let first = broker.receive(STAGE).await?.context("open")?;
    let started = tokio::time::Instant::now();
    let second = broker.receive(STAGE).await?.context("open")?;
    assert_eq!(started.elapsed().as_secs(), 60);
    assert_eq!((second.num_unanswered, &second.job), (1, &first.job));
    assert!(broker.settle(first.tag, Settlement::Ack).await.is_err());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn closing_lets_handlers_finish() -> Result<()> {
    let broker = broker(QueueSettings { capacity: 1, ..QueueSettings::default() });
    broker.publish(Lane::Bulk, vec![job(0)]).await?;
    let late = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        broker.close().await;
    };
    // The queue is full, so the publisher waits until the broker closes. After that, all jobs are accepted.
    let (published, ()) = tokio::join!(broker.publish(Lane::Bulk, vec![job(1), job(2)]), late);
    published?;
    assert_eq!(broker.depth(STAGE).await?, 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn many_consumers_and_publishers_lose_nothing() -> Result<()> {
    let broker = Arc::new(broker(QueueSettings { capacity: 3, prefetch: 4, ..QueueSettings::default() }));
    let done = Arc::new(Mutex::new(BTreeSet::new()));
    let mut consumers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (broker, done) = (Arc::clone(&broker), Arc::clone(&done));
        consumers.spawn(async move {
            while let Some(delivery) = broker.receive(STAGE).await? {
                let Job::Part(job) = delivery.job else { anyhow::bail!("not a part") };
                let number = job.part.number;
                let settlement = match (delivery.num_failed_attempts, delivery.num_unanswered) {
                    (0, _) if number % 3 == 0 => Settlement::Retry { after: Duration::from_millis(1) },
                    (_, 0) if number % 5 == 0 => {
                        broker.reclaim(delivery.tag)?;
                        continue;
                    }
                    _ => {
                        assert!(done.lock().expect("sound").insert(number), "job {number} was done twice");
                        Settlement::Ack
                    }
                };
                broker.settle(delivery.tag, settlement).await?;
            }
            Ok::<_, anyhow::Error>(())
        });
    }
    let publish = |start: u32| {
        let broker = Arc::clone(&broker);
        async move { broker.publish(Lane::Bulk, (start..start + 250).map(job).collect()).await }
    };
    let (first, second) = tokio::join!(publish(0), publish(250));
    first?;
    second?;
    while broker.depth(STAGE).await? > 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    broker.close().await;
    while let Some(consumer) = consumers.join_next().await {
        consumer??;
    }
    assert_eq!(*done.lock().expect("sound"), (0..500).collect());
    Ok(())
}
