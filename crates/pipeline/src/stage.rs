//! A stage: one function from a task to a report, over ports.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cairn_domain::{ArtifactRef, GenerationId, PartId, RunId, StageName, Tenant};
use cairn_ports::Staging;
use cairn_wire::{PartJob, PartReport};

use crate::StageError;

/// A part of an active run, as the ledger stored it when the handler began.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    pub tenant: Tenant,
    pub run: RunId,
    pub part: PartId,
    /// The plan that names the input of the part.
    pub plan: ArtifactRef,
    /// Generations of the repository that were aborted and are not swept yet.
    pub aborted: BTreeSet<GenerationId>,
}

impl Task {
    pub fn new(job: &PartJob, aborted: BTreeSet<GenerationId>) -> Self {
        Self { tenant: job.tenant.clone(), run: job.run, part: job.part, plan: job.plan.clone(), aborted }
    }

    /// The form of the task that stores need.
    pub fn staging(&self) -> Staging {
        Staging { tenant: self.tenant.clone(), run: self.run, part: self.part, aborted: self.aborted.clone() }
    }
}

/// A stage may be run twice and stopped at any `await`; the documentation of each stage states why. A stage
/// never retries, acknowledges, or logs its own failure.
#[async_trait]
pub trait Stage: Send + Sync {
    fn name(&self) -> StageName;

    async fn run(&self, task: &Task) -> Result<PartReport, StageError>;
}
