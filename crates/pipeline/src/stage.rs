//! A stage: one function that takes a task and returns a report. A stage uses the stores through ports.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cairn_domain::{ArtifactRef, GenerationId, PartId, RunId, StageName, Tenant};
use cairn_ports::Staging;
use cairn_wire::{PartJob, PartReport};

use crate::StageError;

/// A part of an active run, with the data that the ledger contained when the handler began.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    pub tenant: Tenant,
    pub run: RunId,
    pub part: PartId,
    /// The plan, which names the input of the part.
    pub plan: ArtifactRef,
    /// Generations of the repository that were aborted and are not swept yet.
    pub aborted: BTreeSet<GenerationId>,
}

impl Task {
    pub fn new(job: &PartJob, aborted: BTreeSet<GenerationId>) -> Self {
        Self { tenant: job.tenant.clone(), run: job.run, part: job.part, plan: job.plan.clone(), aborted }
    }

    /// Returns the data that stores need about this task.
    pub fn staging(&self) -> Staging {
        Staging { tenant: self.tenant.clone(), run: self.run, part: self.part, aborted: self.aborted.clone() }
    }
}

/// A stage may be run twice, and may be stopped at any `await`. The documentation of each stage explains why
/// this is safe. A stage never retries, never acknowledges a job, and never logs its own failure.
#[async_trait]
pub trait Stage: Send + Sync {
    fn name(&self) -> StageName;

    async fn run(&self, task: &Task) -> Result<PartReport, StageError>;
}
