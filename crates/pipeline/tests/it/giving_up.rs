//! Tests of failing jobs: their dead letters, jobs that are no longer needed, and handlers whose deadline
//! passes before they begin.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{Lane, PartEnd, PartId, RepositoryId, RunId, RunState, StageName, SyncProgress};
use cairn_local_broker::{LocalBroker, QueueSettings};
use cairn_metastore::Metastore;
use cairn_pipeline::{RetryLadder, Runner, RunnerConfig, Stage, StageError, Task, Worker};
use cairn_ports::{
    BlobStoreError, Broker, BrokerError, DeadLetters, Delivery, ErrorKind, FailureCode, Lease, Ledger, LedgerError,
    LedgerRead, NewRun, PartRecord, PartStatus, RunRecord, Settlement,
};
use cairn_testkit::{ManualClock, MemoryRuns};
use cairn_wire::{Job, PartReport};

use crate::begun::{begun, part};
use crate::worker::{ALONE, Script, ScriptedResult, close_when_done, publish, runner};

const DEADLINE: Duration = Duration::from_secs(60);

/// A ledger that advances the clock during a read, as if the process were suspended during this time.
struct Freezing {
    runs: Arc<Metastore>,
    clock: Arc<ManualClock>,
    suspended_for: Duration,
    /// The number of failures that the ledger refuses to record.
    num_refused: AtomicUsize,
}

#[async_trait]
impl LedgerRead for Freezing {
    async fn run(&self, run: RunId) -> Result<RunRecord, LedgerError> {
        self.runs.run(run).await
    }

    async fn part_status(&self, run: RunId, part: PartId) -> Result<PartStatus, LedgerError> {
        let status = self.runs.part_status(run, part).await;
        self.clock.advance(self.suspended_for);
        status
    }

    async fn runs(&self, repository: Option<RepositoryId>, limit: usize) -> Result<Vec<RunRecord>, LedgerError> {
        self.runs.runs(repository, limit).await
    }

    async fn runs_of(
        &self,
        repositories: &[RepositoryId],
        of_each: usize,
        in_all: usize,
    ) -> Result<Vec<RunRecord>, LedgerError> {
        self.runs.runs_of(repositories, of_each, in_all).await
    }

    async fn unfinished(&self) -> Result<Vec<RunRecord>, LedgerError> {
        self.runs.unfinished().await
    }

    async fn parts(&self, run: RunId) -> Result<Vec<PartRecord>, LedgerError> {
        self.runs.parts(run).await
    }
}

#[async_trait]
impl Ledger for Freezing {
    async fn lease(&self, repository: RepositoryId, now_ms: i64, ttl_ms: i64) -> Result<Lease, LedgerError> {
        self.runs.lease(repository, now_ms, ttl_ms).await
    }

    async fn renew(&self, lease: Lease, now_ms: i64, ttl_ms: i64, progress: SyncProgress) -> Result<(), LedgerError> {
        self.runs.renew(lease, now_ms, ttl_ms, progress).await
    }

    async fn begin(&self, lease: Lease, run: NewRun) -> Result<RunId, LedgerError> {
        self.runs.begin(lease, run).await
    }

    async fn end_part(
        &self,
        run: RunId,
        part: PartId,
        end: PartEnd,
        report: String,
        now_ms: i64,
    ) -> Result<Vec<PartId>, LedgerError> {
        self.runs.end_part(run, part, end, report, now_ms).await
    }

    async fn ready(&self, run: RunId) -> Result<Vec<PartId>, LedgerError> {
        self.runs.ready(run).await
    }

    async fn abort(&self, run: RunId, state: RunState, message: &str, now_ms: i64) -> Result<(), LedgerError> {
        let refuse = |left: usize| left.checked_sub(1);
        if self.num_refused.fetch_update(Ordering::SeqCst, Ordering::SeqCst, refuse).is_ok() {
            return Err(LedgerError::new(ErrorKind::Timeout, "abort", run.to_string()));
        }
        self.runs.abort(run, state, message, now_ms).await
    }
}

/// A broker that records the state of the run each time a dead letter is published.
struct Watched {
    inner: LocalBroker,
    runs: Arc<Metastore>,
    /// True if the first delivery must be lost before its dead letter is published.
    is_lost: AtomicBool,
    states: Mutex<Vec<RunState>>,
}

#[async_trait]
impl Broker for Watched {
    async fn publish(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), BrokerError> {
        self.inner.publish(lane, jobs).await
    }

    async fn receive(&self, stage: StageName) -> Result<Option<Delivery>, BrokerError> {
        self.inner.receive(stage).await
    }

    async fn dead_letter(&self, tag: u64, code: FailureCode, message: &str) -> Result<(), BrokerError> {
        if self.is_lost.swap(false, Ordering::SeqCst) {
            self.inner.reclaim(tag)?;
        }
        let newest = self.runs.runs(None, 1).await.expect("runs").pop().expect("a run");
        self.states.lock().expect("no panic").push(newest.state);
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

/// The event that happens while the part fails.
#[derive(Clone, Copy)]
enum Meanwhile {
    Nothing,
    ItsDeliveryIsLost,
    TheLedgerRefuses,
    ACopyEndsThePart,
    TheRunIsCancelled,
    TheRunIsCancelledAndItHangs,
}

struct Failing {
    runs: Arc<Metastore>,
    meanwhile: Meanwhile,
    num_begun: AtomicUsize,
}

#[async_trait]
impl Stage for Failing {
    fn name(&self) -> StageName {
        StageName::Link
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        self.num_begun.fetch_add(1, Ordering::SeqCst);
        let report = PartReport::default().to_json();
        match self.meanwhile {
            Meanwhile::Nothing | Meanwhile::ItsDeliveryIsLost | Meanwhile::TheLedgerRefuses => {}
            Meanwhile::ACopyEndsThePart => {
                self.runs.end_part(task.run, task.part, PartEnd::Done, report, 1).await?;
            }
            Meanwhile::TheRunIsCancelled => {
                self.runs.abort(task.run, RunState::Cancelled, "by a person", 1).await?;
            }
            Meanwhile::TheRunIsCancelledAndItHangs => {
                self.runs.abort(task.run, RunState::Cancelled, "by a person", 1).await?;
                std::future::pending::<()>().await;
            }
        }
        Err(BlobStoreError::new(ErrorKind::Conflict, "stage", "generation 7 of all").into())
    }
}

/// The results of a run with one `link` part, which fails.
struct Outcomes {
    state: RunState,
    message: Option<String>,
    num_dead_letters: usize,
    /// The state of the run at each attempt to publish a dead letter.
    states: Vec<RunState>,
    num_begun: usize,
}

async fn work(meanwhile: Meanwhile, suspended_for: Duration) -> anyhow::Result<Outcomes> {
    let clock = Arc::new(ManualClock::new(0));
    let runs = Arc::new(Metastore::new(Arc::new(MemoryRuns::new())));
    let num_refused = AtomicUsize::new(if matches!(meanwhile, Meanwhile::TheLedgerRefuses) { 3 } else { 0 });
    let ledger = Arc::new(Freezing { runs: Arc::clone(&runs), clock: Arc::clone(&clock), suspended_for, num_refused });
    let broker = Arc::new(Watched {
        inner: LocalBroker::new(|_: StageName| QueueSettings::default()),
        runs: Arc::clone(&runs),
        is_lost: AtomicBool::new(matches!(meanwhile, Meanwhile::ItsDeliveryIsLost)),
        states: Mutex::default(),
    });
    let config = RunnerConfig { concurrency: 1, deadline: DEADLINE, longest: DEADLINE, ladder: RetryLadder::local() };
    let runner = Runner::new(broker.clone(), ledger, None, clock, config);
    let stage = Arc::new(Failing { runs: Arc::clone(&runs), meanwhile, num_begun: AtomicUsize::new(0) });
    let run = begun(&runs, "r", &[StageName::Link, StageName::Publish]).await?;
    let job = runs.run(run).await?.job(part(StageName::Link));
    broker.publish(Lane::Bulk, vec![Job::Part(job)]).await?;
    let working = tokio::spawn(runner.run(vec![Worker::Stage(stage.clone())]));
    while broker.depth(StageName::Link).await? > 0 {
        tokio::task::yield_now().await;
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    broker.close().await;
    working.await??;
    let record = runs.run(run).await?;
    Ok(Outcomes {
        state: record.state,
        message: record.message,
        num_dead_letters: broker.inner.dead_letters(9).await?.len(),
        states: broker.states.lock().expect("no panic").clone(),
        num_begun: stage.num_begun.load(Ordering::SeqCst),
    })
}

#[tokio::test(start_paused = true)]
async fn failed_part_shows_tenants_only_its_code() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let outcomes = work(Meanwhile::Nothing, Duration::ZERO).await?;
    assert_eq!((outcomes.state, outcomes.num_dead_letters), (RunState::Failed, 1));
    assert_eq!(outcomes.message.as_deref(), Some("link/0 failed with conflict"));
    Ok(())
}

/// The dead letter is published before the failure is recorded, so that every recorded failure has a dead
/// letter, even if the process dies between these steps.
#[tokio::test(start_paused = true)]
async fn dead_letter_is_sent_before_failure_is_recorded() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let outcomes = work(Meanwhile::Nothing, Duration::ZERO).await?;
    assert_eq!(outcomes.states, [RunState::Running]);
    let outcomes = work(Meanwhile::ItsDeliveryIsLost, Duration::ZERO).await?;
    assert_eq!((outcomes.state, outcomes.num_dead_letters, outcomes.num_begun), (RunState::Failed, 1, 2));
    assert_eq!(outcomes.states, [RunState::Running; 2], "the job was delivered again, because no failure was recorded");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn unrecorded_failure_makes_one_dead_letter() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let outcomes = work(Meanwhile::TheLedgerRefuses, Duration::ZERO).await?;
    assert_eq!((outcomes.state, outcomes.num_dead_letters, outcomes.num_begun), (RunState::Failed, 1, 1));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn failed_copy_of_a_done_part_changes_nothing() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let outcomes = work(Meanwhile::ACopyEndsThePart, Duration::ZERO).await?;
    assert_eq!((outcomes.state, outcomes.num_dead_letters), (RunState::Running, 0));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn part_of_a_cancelled_run_makes_no_dead_letter() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let outcomes = work(Meanwhile::TheRunIsCancelled, Duration::ZERO).await?;
    assert_eq!((outcomes.state, outcomes.num_dead_letters), (RunState::Cancelled, 0));
    assert_eq!(outcomes.message.as_deref(), Some("by a person"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn hanging_handler_ends_with_its_run() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    let outcomes = work(Meanwhile::TheRunIsCancelledAndItHangs, Duration::ZERO).await?;
    assert_eq!((outcomes.state, outcomes.num_dead_letters), (RunState::Cancelled, 0));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn answered_sync_makes_no_dead_letter() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    for is_answered in [false, true] {
        let (broker, runner) = runner();
        let script = Script::new(&[ScriptedResult::Fails(ErrorKind::Corrupt)]);
        script.is_answered.store(is_answered, Ordering::SeqCst);
        let working = tokio::spawn(runner.run(vec![script.worker()]));
        publish(&broker, 1).await?;
        close_when_done(&broker).await?;
        working.await??;
        assert_eq!(broker.dead_letters(9).await?.len(), usize::from(!is_answered));
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn repeated_sync_failure_makes_one_dead_letter() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    // Only a permanent failure of a scheduled sync can be a repetition of an earlier failure. After other
    // failures, the last outcome may belong to an earlier attempt at the same job.
    for (kind, failed_before, expect) in
        [(ErrorKind::NotFound, false, 1), (ErrorKind::NotFound, true, 0), (ErrorKind::Timeout, true, 1)]
    {
        let (broker, runner) = runner();
        let script = Script::new(&[ScriptedResult::Fails(kind); 6]);
        script.failed_before.store(failed_before, Ordering::SeqCst);
        let working = tokio::spawn(runner.run(vec![script.worker()]));
        publish(&broker, 1).await?;
        close_when_done(&broker).await?;
        working.await??;
        assert_eq!(broker.dead_letters(9).await?.len(), expect, "{kind} {failed_before}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn handler_does_not_begin_after_its_deadline() -> anyhow::Result<()> {
    let _alone = ALONE.lock().await;
    assert_eq!(work(Meanwhile::Nothing, DEADLINE / 2).await?.num_begun, 1);
    assert_eq!(work(Meanwhile::Nothing, DEADLINE).await?.num_begun, 0);
    Ok(())
}
