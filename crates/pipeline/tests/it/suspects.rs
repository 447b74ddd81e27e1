//! Tests of suspects: jobs that were in progress at more than one death of a worker.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{ArtifactRef, GenerationId, Lane, PartId, RunId, StageName, Tenant};
use cairn_metastore::Metastore;
use cairn_pipeline::{Isolated, Isolation, RetryLadder, Runner, RunnerConfig};
use cairn_ports::{Broker, BrokerError, Delivery, FailureCode, Settlement};
use cairn_testkit::{ManualClock, MemoryRuns};
use cairn_wire::{Job, PartJob, SyncJob};

use crate::worker::{ALONE, Script, repository};

/// A broker that delivers one suspect, and records its dead letters and answers.
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
            num_unanswered: 99,
            is_suspect: true,
            traceparent: None,
        }))
    }

    async fn dead_letter(&self, _: u64, code: FailureCode, _: &str) -> Result<(), BrokerError> {
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

/// Child processes that die `num_deaths_left` times. After that, the attempt succeeds.
struct Children {
    num_deaths_left: Mutex<u32>,
    num_attempts: Mutex<u32>,
}

#[async_trait]
impl Isolation for Children {
    async fn attempt(&self, _: Lane, _: &Job) -> Isolated {
        *self.num_attempts.lock().expect("no panic") += 1;
        let mut left = self.num_deaths_left.lock().expect("no panic");
        match left.checked_sub(1) {
            Some(fewer) => {
                *left = fewer;
                Isolated::Died("signal: 6".to_owned())
            }
            None => Isolated::Ended(Ok(())),
        }
    }
}

/// Runs one suspect. Returns the events at the broker, and the number of child processes that received the
/// job.
async fn run_suspect(job: Job, num_deaths: u32) -> (Vec<String>, u32) {
    let broker = Arc::new(OneSuspect { job: Mutex::new(Some(job)), events: Mutex::default() });
    let runs = Arc::new(Metastore::new(Arc::new(MemoryRuns::new())));
    let config = RunnerConfig {
        concurrency: 1,
        deadline: Duration::from_secs(60),
        longest: Duration::from_secs(60),
        ladder: RetryLadder::local(),
    };
    let runner = Runner::new(broker.clone(), runs, None, Arc::new(ManualClock::new(0)), config);
    let children = Arc::new(Children { num_deaths_left: Mutex::new(num_deaths), num_attempts: Mutex::default() });
    runner.isolate(children.clone());
    runner.run(vec![Script::new(&[]).worker()]).await.expect("the runner ends without an error");
    let num_attempts = *children.num_attempts.lock().expect("no panic");
    (broker.events.lock().expect("no panic").clone(), num_attempts)
}

fn sync_job() -> Job {
    Job::Sync(SyncJob { tenant: Tenant::local(), repository: repository(), request: 1 })
}

#[tokio::test]
async fn job_that_kills_three_children_is_dead_lettered() {
    let _alone = ALONE.lock().await;
    let (events, num_attempts) = run_suspect(sync_job(), 3).await;
    assert_eq!((events, num_attempts), (vec!["dead letter: crash".to_owned(), "Ack".to_owned()], 3));
}

/// If an attempt in a child process succeeds, the suspect is acknowledged, even if two child processes died
/// before this attempt. Earlier deaths of workers that also had other jobs do not matter.
#[tokio::test]
async fn job_that_survives_alone_is_acknowledged() {
    let _alone = ALONE.lock().await;
    assert_eq!(run_suspect(sync_job(), 2).await, (vec!["Ack".to_owned()], 3));
    assert_eq!(run_suspect(sync_job(), 0).await, (vec!["Ack".to_owned()], 1));
}

#[tokio::test]
async fn copy_of_a_failed_job_makes_no_dead_letter() {
    let _alone = ALONE.lock().await;
    // The run of the part has ended, and its documents were removed from the store.
    let job = Job::Part(PartJob {
        tenant: Tenant::local(),
        run: RunId { repository: repository(), generation: GenerationId(7) },
        part: PartId { stage: StageName::Parse, number: 0 },
        plan: ArtifactRef { key: "plan".to_owned(), size_bytes: 1, hash: [0; 32] },
    });
    assert_eq!(run_suspect(job, 3).await.0, ["Ack"]);
}
