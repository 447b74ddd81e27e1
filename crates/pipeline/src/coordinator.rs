//! What one coordinator does besides working on jobs: it hands the broker what stands in the outbox, and the syncs that
//! may start. Each call takes no input but the time, so one that died half way is simply made again.

use std::collections::BTreeSet;
use std::time::Duration;

use cairn_domain::{MessageId, PartId, StageName};
use cairn_faults::fail_point;
use cairn_ports::{Broker, HANDED_OVER_WITHIN_MS, Outbox, Requests, RunRecord, SyncRequest};
use cairn_wire::Job;
use tokio::time::Instant;

use crate::{StageError, trace};

/// Runs that are looked after in one go.
const RUNS_AT_ONCE: usize = 256;

/// Publishes the jobs of the outbox, of runs without progress since `quiet_since_ms`. Returns how many. A stage whose queue
/// takes nothing holds up no other: the error is the first of all.
pub async fn relay(broker: &dyn Broker, outbox: &dyn Outbox, quiet_since_ms: i64) -> Result<usize, StageError> {
    let (mut num_jobs, mut stuck, mut failure) = (0, BTreeSet::new(), None);
    for (run, parts) in outbox.unsent(quiet_since_ms, RUNS_AT_ONCE).await? {
        for parts in parts.chunk_by(|one, other| one.stage == other.stage) {
            // Each of its jobs would wait for the broker's deadline anew.
            if stuck.contains(&parts[0].stage) {
                continue;
            }
            match hand_over(broker, outbox, &run, parts).await {
                Ok(()) => num_jobs += parts.len(),
                Err(error) => {
                    tracing::warn!(run = %run.id, "its jobs are not published yet: {}", error.chain());
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
    // Its first part stands for whoever should have published them.
    if let Some(first) = parts.first() {
        trace::within(run.id, MessageId::derive(run.id, *first), broker.publish(run.lane, jobs)).await?;
    }
    fail_point!("coordinator::relayed", |said| Err(StageError::occupied(said)));
    Ok(outbox.sent(run.id, parts).await?)
}

/// Puts the jobs of runs without progress for `after_ms` back into the outbox, but for the stages of which the broker has a
/// job for each part that is in flight: those wait, and more copies would only be in their way. Returns how many runs.
pub async fn send_again(
    broker: &dyn Broker,
    outbox: &dyn Outbox,
    now_ms: i64,
    after_ms: i64,
) -> Result<u64, StageError> {
    let held = held(broker, outbox).await?;
    Ok(outbox.send_again(&held, now_ms, after_ms).await?)
}

/// The stages of which the broker has a job for each part that is in flight: what waits there is not lost.
pub async fn held(broker: &dyn Broker, outbox: &dyn Outbox) -> Result<BTreeSet<StageName>, StageError> {
    let mut held = BTreeSet::new();
    for (stage, num_parts) in outbox.in_flight().await? {
        // A broker that cannot tell may have lost them.
        if broker.depth(stage).await.is_ok_and(|depth| depth >= num_parts) {
            held.insert(stage);
        }
    }
    Ok(held)
}

/// How many syncs and runs there may be at a time (an eighth more for interactive ones), and when a sync that nobody took up was lost.
#[derive(Clone, Copy, Debug)]
pub struct DispatchBounds {
    pub in_flight: usize,
    pub again_after_ms: i64,
}

/// Publishes the syncs that may start. Returns how many. One that cannot be published holds up no other, and is dispatched
/// again soon: the error is the first of all.
pub async fn dispatch(
    broker: &dyn Broker,
    requests: &dyn Requests,
    bounds: DispatchBounds,
    now_ms: i64,
) -> Result<usize, StageError> {
    let asked = requests.dispatch(bounds.in_flight, now_ms, bounds.again_after_ms).await?;
    // Afterwards they are given again.
    let until = Instant::now() + Duration::from_millis(HANDED_OVER_WITHIN_MS.unsigned_abs());
    if !asked.is_empty() {
        fail_point!("coordinator::dispatched", |said| Err(StageError::occupied(said)));
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
                tracing::warn!(repository = %job.repository, "its sync is not published yet: {}", error.chain());
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
