//! Suspects: jobs that were in progress at more than one death of a worker.
//!
//! A worker that dies loses all its jobs in progress, so most suspects did not cause the death. A suspect
//! therefore runs in a child process that has no other job. If the child dies and this process survives with
//! all its other jobs, the job is probably the cause. If another program kills this process, the child also
//! ends, and the job is delivered again: such a death of the child does not show whether the job is the
//! cause.

use async_trait::async_trait;
use cairn_domain::Lane;
use cairn_ports::Delivery;
use cairn_wire::Job;

use crate::StageError;

/// After this many deaths of child processes with the same job, the job is treated as the cause.
pub(crate) const DEATHS_OF_A_KILLER: u32 = 3;

/// Runs jobs in a child process.
#[async_trait]
pub trait Isolation: Send + Sync {
    /// Runs one attempt at the job in a child process that has no other job. Dropping the future ends the
    /// child.
    async fn attempt(&self, lane: Lane, job: &Job) -> Isolated;
}

/// The result of an attempt in a child process.
pub enum Isolated {
    /// The child finished the attempt, or could not be started.
    Ended(Result<(), StageError>),
    /// The child died during the attempt. The text describes the death.
    Died(String),
}

/// Runs a suspect until an attempt ends without the death of the child, or until `DEATHS_OF_A_KILLER`
/// children have died.
pub(crate) async fn attempt_isolated(isolation: &dyn Isolation, delivery: &Delivery) -> Result<(), StageError> {
    let mut num_deaths = 0;
    loop {
        let how = match isolation.attempt(delivery.lane, &delivery.job).await {
            Isolated::Ended(result) => return result,
            Isolated::Died(how) => how,
        };
        num_deaths += 1;
        tracing::warn!(job = %delivery.job, num_deaths, "a child process died during the job: {how}");
        if num_deaths == DEATHS_OF_A_KILLER {
            return Err(StageError::crashed(format!(
                "the worker died {num_deaths} times while this was its only job, and the other jobs survived: {how}"
            )));
        }
    }
}
