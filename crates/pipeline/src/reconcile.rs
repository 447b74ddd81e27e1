//! Publishes again all jobs that may have been lost: the jobs of the parts that are in flight in unfinished
//! runs.
//!
//! [`reconcile`] reads all its input from the ledger, so the start after a crash and the regular sweep can
//! use the same code. If a job was not lost, it is delivered twice, and every stage tolerates the second
//! delivery.

use cairn_domain::{Lane, RepositoryId};
use cairn_ports::{Broker, Ledger, LedgerRead};
use cairn_wire::Job;

use crate::StageError;

/// Publishes the jobs of all ready parts in the unfinished runs of one repository, or of all repositories.
/// Returns the number of published jobs.
pub async fn reconcile(
    broker: &dyn Broker,
    ledger: &(impl Ledger + LedgerRead + ?Sized),
    repository: Option<RepositoryId>,
    lane: Lane,
) -> Result<usize, StageError> {
    let mut num_jobs = 0;
    for run in ledger.unfinished().await? {
        if repository.is_some_and(|only| only != run.id.repository) {
            continue;
        }
        let parts = ledger.ready(run.id).await?;
        let jobs: Vec<Job> = parts.into_iter().map(|part| Job::Part(run.job(part))).collect();
        num_jobs += jobs.len();
        broker.publish(lane, jobs).await?;
    }
    Ok(num_jobs)
}
