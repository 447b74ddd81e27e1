//! Tests that the jobs that follow a part stay in the outbox if the broker does not accept them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use async_trait::async_trait;
use cairn_domain::{Lane, StageName};
use cairn_local_broker::{LocalBroker, QueueSettings};
use cairn_metastore::Metastore;
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig, Stage, StageError, Task, Worker};
use cairn_ports::{Broker, LedgerRead, Outbox};
use cairn_testkit::{ManualClock, MemoryRuns};
use cairn_wire::{Job, PartReport};
use tokio::time::Instant;

use crate::begun::{begun, part};
use crate::worker::ALONE;

struct Done;

#[async_trait]
impl Stage for Done {
    fn name(&self) -> StageName {
        StageName::Link
    }

    async fn run(&self, _: &Task) -> Result<PartReport, StageError> {
        Ok(PartReport::default())
    }
}

/// The queue of the publish stage has capacity for only one job.
fn settings(stage: StageName) -> QueueSettings {
    let capacity = if stage == StageName::Publish { 1 } else { 256 };
    QueueSettings { capacity, ..QueueSettings::default() }
}

#[tokio::test(start_paused = true)]
async fn full_queue_leaves_the_next_jobs_in_the_outbox() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let runs = Arc::new(Metastore::new(Arc::new(MemoryRuns::new())));
    let broker = Arc::new(LocalBroker::new(settings));
    let deadline = Duration::from_secs(60);
    let config = RunnerConfig { concurrency: 1, deadline, longest: deadline, ladder: RetryLadder::local() };
    let clock = Arc::new(ManualClock::new(0));
    let runner = Runner::new(broker.clone(), Arc::clone(&runs), Some(runs.clone()), clock, config);
    let run = begun(&runs, "r", &[StageName::Link, StageName::Publish]).await?;
    let record = runs.run(run).await?;
    for stage in [StageName::Publish, StageName::Link] {
        broker.publish(Lane::Bulk, vec![Job::Part(record.job(part(stage)))]).await?;
    }
    let (working, began) = (tokio::spawn(runner.run(vec![Worker::Stage(Arc::new(Done))])), Instant::now());
    while broker.depth(StageName::Link).await? > 0 {
        ensure!(began.elapsed() < deadline, "the worker waits for the full queue");
        tokio::task::yield_now().await;
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    broker.close().await;
    working.await??;
    let unsent = runs.unsent(0, 8).await?;
    let parts: Vec<_> = unsent.into_iter().flat_map(|(_, parts)| parts).collect();
    assert_eq!(parts, [part(StageName::Publish)]);
    Ok(())
}
