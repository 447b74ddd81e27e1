//! Tests of parts that wait for their next attempt.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{Lane, StageName};
use cairn_local_broker::{LocalBroker, QueueSettings};
use cairn_metastore::Metastore;
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig, Stage, StageError, Task, Worker};
use cairn_ports::{Broker, FailureCode, LedgerRead, Outbox, PostponedPart, Requests};
use cairn_testkit::{ManualClock, MemoryRuns};
use cairn_wire::{Job, PartReport};

use crate::begun::{begun, part};
use crate::worker::ALONE;

struct Fails;

#[async_trait]
impl Stage for Fails {
    fn name(&self) -> StageName {
        StageName::Parse
    }

    async fn run(&self, _: &Task) -> Result<PartReport, StageError> {
        Err(StageError::transient(FailureCode::Timeout, "too slow"))
    }
}

fn runs() -> Arc<Metastore> {
    Arc::new(Metastore::new(Arc::new(MemoryRuns::new())))
}

#[tokio::test(start_paused = true)]
async fn failed_attempt_records_the_time_of_the_next() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let (runs, broker) = (runs(), Arc::new(LocalBroker::new(|_: StageName| QueueSettings::default())));
    let run = begun(&runs, "r", &[StageName::Parse, StageName::Publish]).await?;
    let deadline = Duration::from_secs(60);
    let config = RunnerConfig { concurrency: 1, deadline, longest: deadline, ladder: RetryLadder::cluster() };
    let outbox = Some(runs.clone() as Arc<dyn Outbox>);
    let runner = Runner::new(broker.clone(), runs.clone(), outbox, Arc::new(ManualClock::new(1_000)), config);
    let record = runs.run(run).await?;
    broker.publish(Lane::Bulk, vec![Job::Part(record.job(part(StageName::Parse)))]).await?;
    let working = tokio::spawn(runner.run(vec![Worker::Stage(Arc::new(Fails))]));
    while runs.run(run).await?.postponed.is_empty() {
        tokio::task::yield_now().await;
    }
    broker.close().await;
    working.await??;
    let expected = PostponedPart { part: part(StageName::Parse), code: FailureCode::Timeout, until_ms: 1_000 + 10_000 };
    assert_eq!(runs.run(run).await?.postponed, [expected]);
    Ok(())
}

/// A person's request makes postponed parts of the unfinished run start at once. A scheduled request does not
/// make them start.
#[tokio::test]
async fn request_by_a_person_resumes_postponed_parts() -> anyhow::Result<()> {
    let runs = runs();
    let run = begun(&runs, "r", &[StageName::Parse, StageName::Publish]).await?;
    runs.sent(run, &[part(StageName::Parse)]).await?;
    let postponed = PostponedPart { part: part(StageName::Parse), code: FailureCode::Timeout, until_ms: 600_000 };
    runs.postponed(run, postponed).await?;
    runs.schedule(run.repository, 1).await?;
    assert!(runs.unsent(i64::MAX, 9).await?.is_empty());
    runs.ask(run.repository, Lane::Bulk, false, 2).await?;
    let unsent: Vec<_> = runs.unsent(i64::MAX, 9).await?.into_iter().map(|(_, parts)| parts).collect();
    assert_eq!(unsent, [[part(StageName::Parse)]]);
    assert!(runs.run(run).await?.postponed.is_empty());
    Ok(())
}

#[tokio::test]
async fn ended_part_is_no_longer_postponed() -> anyhow::Result<()> {
    let runs = runs();
    let run = begun(&runs, "r", &[StageName::Parse, StageName::Publish]).await?;
    let postponed = PostponedPart { part: part(StageName::Parse), code: FailureCode::Io, until_ms: 9 };
    runs.postponed(run, postponed.clone()).await?;
    let (end, report) = (cairn_domain::PartEnd::Done, String::new());
    cairn_ports::Ledger::end_part(runs.as_ref(), run, part(StageName::Parse), end, report, 1).await?;
    assert!(runs.run(run).await?.postponed.is_empty());
    runs.postponed(run, postponed).await?;
    assert!(runs.run(run).await?.postponed.is_empty(), "an ended part is not postponed");
    Ok(())
}
