//! What a stage is: one function from a job to a report, over ports.

use async_trait::async_trait;
use cairn_domain::StageName;
use cairn_wire::{Job, PartReport};

use crate::StageError;

/// A stage may be run twice and stopped at any `await`: each one's page says why in one sentence. It never retries,
/// acknowledges, or logs its own failure.
#[async_trait]
pub trait Stage: Send + Sync {
    fn name(&self) -> StageName;

    async fn run(&self, job: &Job) -> Result<PartReport, StageError>;
}
