//! The steps of the coordinator. The coordinator publishes the jobs of the outbox and the jobs of syncs that
//! may start. Each step reads its work from the stores, so a step that was interrupted can simply be
//! repeated.

use std::collections::BTreeSet;
use std::time::Duration;

use cairn_domain::{MessageId, PartId, StageName};
use cairn_faults::fail_point;
use cairn_ports::{Broker, HANDED_OVER_WITHIN_MS, Outbox, Requests, RunRecord, SyncRequest};
use cairn_wire::Job;
use tokio::time::Instant;

use crate::{StageError, trace};

/// Maximum number of runs in one call.
const RUNS_AT_ONCE: usize = 256;

/// Publishes those jobs of the outbox whose runs have made no progress since `quiet_since_ms`. Returns the
/// number of published jobs. A stage whose queue is full does not delay other stages. If some jobs cannot be
/// published, the remaining jobs are still published, and the first error is returned at the end.
pub async fn relay(broker: &dyn Broker, outbox: &dyn Outbox, quiet_since_ms: i64) -> Result<usize, StageError> {
    let (mut num_jobs, mut stuck, mut failure) = (0, BTreeSet::new(), None);
    for (run, parts) in outbox.unsent(quiet_since_ms, RUNS_AT_ONCE).await? {
        for parts in parts.chunk_by(|one, other| one.stage == other.stage) {
            // An earlier call for this stage has failed. Its queue may be full, and each further call would
            // then wait until the broker's deadline.
            if stuck.contains(&parts[0].stage) {
                continue;
            }
            match hand_over(broker, outbox, &run, parts).await {
                Ok(()) => num_jobs += parts.len(),
                Err(error) => {
                    tracing::warn!(run = %run.id, "the jobs of the run are not published yet: {}", error.chain());
                    stuck.insert(parts[0].stage);
                    failure.get_or_insert(error);
                }
            }
        }
    }
    failure.map_or(Ok(num_jobs), Err)
}

async fn hand_over(
    broker: &dyn Broker,
    outbox: &dyn Outbox,
    run: &RunRecord,
    parts: &[PartId],
) -> Result<(), StageError> {
    let jobs: Vec<Job> = parts.iter().map(|part| Job::Part(run.job(*part))).collect();
    // The trace names the first part as parent, because the original publisher is unknown.
    if let Some(first) = parts.first() {
        trace::within(run.id, MessageId::derive(run.id, *first), broker.publish(run.lane, jobs)).await?;
    }
    fail_point!("coordinator::relayed", |message| Err(StageError::injected(message)));
    Ok(outbox.sent(run.id, parts).await?)
}

/// If a run has made no progress for `after_ms`, puts its jobs back into the outbox. Skips a stage if the
/// broker holds at least one job for each part in flight: these jobs are waiting in the queue, and copies
/// would only delay them. Returns the number of runs whose jobs were put back.
pub async fn send_again(
    broker: &dyn Broker,
    outbox: &dyn Outbox,
    now_ms: i64,
    after_ms: i64,
) -> Result<u64, StageError> {
    let held = held(broker, outbox).await?;
    Ok(outbox.send_again(&held, now_ms, after_ms).await?)
}

/// Returns the stages for which the broker holds at least one job for each part in flight. The jobs of these
/// stages are waiting and are not lost.
pub async fn held(broker: &dyn Broker, outbox: &dyn Outbox) -> Result<BTreeSet<StageName>, StageError> {
    let mut held = BTreeSet::new();
    for (stage, num_parts) in outbox.in_flight().await? {
        // If the broker cannot report the number of jobs, the jobs may be lost, so the stage is not added.
        if broker.depth(stage).await.is_ok_and(|depth| depth >= num_parts) {
            held.insert(stage);
        }
    }
    Ok(held)
}

/// The limits of `dispatch`: the number of syncs and runs that may be in progress, and the time after which a
/// sync without a worker is treated as lost. Interactive requests may exceed the maximum number by one
/// eighth.
#[derive(Clone, Copy, Debug)]
pub struct DispatchBounds {
    pub in_flight: usize,
    pub again_after_ms: i64,
}

/// Publishes the jobs of the syncs that may start, and returns their number. If a job cannot be published,
/// its sync is soon dispatched again. The remaining jobs are still published, and the first error is returned
/// at the end.
pub async fn dispatch(
    broker: &dyn Broker,
    requests: &dyn Requests,
    bounds: DispatchBounds,
    now_ms: i64,
) -> Result<usize, StageError> {
    let asked = requests.dispatch(bounds.in_flight, now_ms, bounds.again_after_ms).await?;
    // After this time, `Requests::dispatch` returns the unpublished requests again.
    let until = Instant::now() + Duration::from_millis(HANDED_OVER_WITHIN_MS.unsigned_abs());
    if !asked.is_empty() {
        fail_point!("coordinator::dispatched", |message| Err(StageError::injected(message)));
    }
    let (mut num_jobs, mut failure) = (0, None);
    for request in asked {
        if Instant::now() >= until {
            break;
        }
        let job = request.job.clone();
        match hand_over_sync(broker, requests, request).await {
            Ok(()) => num_jobs += 1,
            Err(error) => {
                tracing::warn!(
                    repository = %job.repository,
                    "the sync job of the repository is not published yet: {}",
                    error.chain()
                );
                failure.get_or_insert(error);
            }
        }
    }
    failure.map_or(Ok(num_jobs), Err)
}

async fn hand_over_sync(broker: &dyn Broker, requests: &dyn Requests, request: SyncRequest) -> Result<(), StageError> {
    let (repository, number) = (request.job.repository, request.job.request);
    broker.publish(request.lane, vec![Job::Sync(request.job)]).await?;
    Ok(requests.dispatched(repository, number).await?)
}
