//! What one coordinator does besides working on jobs: it hands the broker what stands in the outbox, and the syncs that
//! may start. Each call takes no input but the time, so one that died half way is simply made again.

use cairn_domain::MessageId;
use cairn_faults::fail_point;
use cairn_ports::{Broker, Outbox, Requests};
use cairn_wire::Job;

use crate::{StageError, trace};

/// Runs that are looked after in one go.
const RUNS_AT_ONCE: usize = 256;

/// Publishes the jobs of the outbox, of runs without progress since `quiet_since_ms`. Returns how many.
pub async fn relay(broker: &dyn Broker, outbox: &dyn Outbox, quiet_since_ms: i64) -> Result<usize, StageError> {
    let mut num_jobs = 0;
    for (run, parts) in outbox.unsent(quiet_since_ms, RUNS_AT_ONCE).await? {
        let jobs: Vec<Job> = parts.iter().map(|part| Job::Part(run.job(*part))).collect();
        num_jobs += jobs.len();
        // Its first part stands for whoever should have published them.
        if let Some(first) = parts.first() {
            trace::within(run.id, MessageId::derive(run.id, *first), broker.publish(run.lane, jobs)).await?;
        }
        fail_point!("coordinator::relayed", |said| Err(StageError::occupied(said)));
        outbox.sent(run.id, &parts).await?;
    }
    Ok(num_jobs)
}

/// How many syncs and runs there may be at a time, and when a sync that nobody took up was lost.
#[derive(Clone, Copy, Debug)]
pub struct DispatchBounds {
    pub in_flight: usize,
    pub again_after_ms: i64,
}

/// Publishes the syncs that may start. Returns how many.
pub async fn dispatch(
    broker: &dyn Broker,
    requests: &dyn Requests,
    bounds: DispatchBounds,
    now_ms: i64,
) -> Result<usize, StageError> {
    let asked = requests.dispatch(bounds.in_flight, now_ms, bounds.again_after_ms).await?;
    let num_jobs = asked.len();
    if num_jobs > 0 {
        fail_point!("coordinator::dispatched", |said| Err(StageError::occupied(said)));
    }
    for request in asked {
        broker.publish(request.lane, vec![Job::Sync(request.job)]).await?;
    }
    Ok(num_jobs)
}
