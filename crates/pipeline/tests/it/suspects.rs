//! Jobs that killed whoever worked on them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{ArtifactRef, GenerationId, Lane, PartId, RunId, StageName, Tenant};
use cairn_metastore::Metastore;
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig};
use cairn_ports::{Broker, BrokerError, Delivery, Settlement};
use cairn_testkit::{ManualClock, MemoryRuns};
use cairn_wire::{Job, PartJob, SyncJob};

use crate::worker::{ALONE, Script, repository};

/// Hands out one suspect, and keeps what becomes of it.
struct OneSuspect {
    job: Mutex<Option<Job>>,
    events: Mutex<Vec<String>>,
}

#[async_trait]
impl Broker for OneSuspect {
    async fn publish(&self, _: Lane, _: Vec<Job>) -> Result<(), BrokerError> {
        Ok(())
    }

    async fn receive(&self, _: StageName) -> Result<Option<Delivery>, BrokerError> {
        let job = self.job.lock().expect("no panic").take();
        Ok(job.map(|job| Delivery {
            tag: 1,
            job,
            lane: Lane::Bulk,
            num_failed_attempts: 0,
            num_unanswered: 2,
            is_suspect: true,
            traceparent: None,
        }))
    }

    async fn dead_letter(&self, _: u64, code: &str, _: &str) -> Result<(), BrokerError> {
        self.events.lock().expect("no panic").push(format!("dead letter: {code}"));
        Ok(())
    }

    async fn settle(&self, _: u64, settlement: Settlement) -> Result<(), BrokerError> {
        self.events.lock().expect("no panic").push(format!("{settlement:?}"));
        Ok(())
    }

    async fn depth(&self, _: StageName) -> Result<u64, BrokerError> {
        Ok(0)
    }

    async fn close(&self) {}
}

async fn what_becomes_of(job: Job) -> Vec<String> {
    let broker = Arc::new(OneSuspect { job: Mutex::new(Some(job)), events: Mutex::default() });
    let runs = Arc::new(Metastore::new(Arc::new(MemoryRuns::new())));
    let config = RunnerConfig {
        concurrency: 1,
        deadline: Duration::from_secs(60),
        longest: Duration::from_secs(60),
        ladder: RetryLadder::local(),
    };
    let runner = Runner::new(broker.clone(), runs, None, Arc::new(ManualClock::new(0)), config);
    runner.run(vec![Script::new(&[]).worker()]).await.expect("it runs until the broker has no more");
    broker.events.lock().expect("no panic").clone()
}

#[tokio::test]
async fn what_killed_its_worker_again_and_again_is_given_up() {
    let _alone = ALONE.lock().await;
    let job = Job::Sync(SyncJob { tenant: Tenant::local(), repository: repository(), request: 1 });
    assert_eq!(what_becomes_of(job).await, ["dead letter: crash", "Ack"]);
}

#[tokio::test]
async fn a_copy_of_what_was_given_up_is_no_second_letter() {
    let _alone = ALONE.lock().await;
    // Its run is over, and forgotten.
    let job = Job::Part(PartJob {
        tenant: Tenant::local(),
        run: RunId { repository: repository(), generation: GenerationId(7) },
        part: PartId { stage: StageName::Parse, number: 0 },
        plan: ArtifactRef { key: "plan".to_owned(), size_bytes: 1, hash: [0; 32] },
    });
    assert_eq!(what_becomes_of(job).await, ["Ack"]);
}
