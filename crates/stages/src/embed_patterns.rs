//! embed_patterns: creates a searchable chunk for each pattern.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{ChunkRecord, PatternRecord, StageName};
use cairn_pipeline::{Stage, StageError, Task};
use cairn_ports::{Catalogue, FailureCode, GraphStore, LedgerRead};
use cairn_wire::{ArtifactKind, PartReport, decode};

use crate::aggregate::{PATTERNS, find_in_snapshot, published_patterns};
use crate::artifacts::{Artifacts, reported};
use crate::embed::Embedding;
use crate::pattern_chunk::pattern_chunk;
use crate::placed::chunk_changes;
use crate::snapshot::Snapshots;
use crate::term_layers::report_terms;

/// The stage may be run twice and may be stopped at any point: the chunks depend only on the snapshot, and
/// staging inserts only missing points.
pub struct EmbedPatternsStage {
    pub artifacts: Arc<Artifacts>,
    pub snapshots: Arc<Snapshots>,
    pub catalogue: Arc<dyn Catalogue>,
    pub ledger: Arc<dyn LedgerRead>,
    pub graph: Arc<dyn GraphStore>,
    pub embedding: Arc<Embedding>,
}

#[async_trait]
impl Stage for EmbedPatternsStage {
    fn name(&self) -> StageName {
        StageName::EmbedPatterns
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        let plan = self.artifacts.plan(&task.plan).await?;
        let repository = task.run.repository;
        let now = match self.reported_patterns(task).await? {
            Some(patterns) => patterns,
            None => find_in_snapshot(&self.artifacts, &self.snapshots, repository, &plan).await?,
        };
        let view = self.catalogue.view().await?;
        let tenant = &task.tenant;
        let before = published_patterns(self.graph.as_ref(), &view, tenant, repository).await?;
        let before: Vec<ChunkRecord> = before.iter().filter_map(pattern_chunk).collect();
        let changes = chunk_changes(before, now.iter().filter_map(pattern_chunk).collect(), plan.rebuild);
        let (mut report, terms) = self.embedding.stage(task, changes, plan.rebuild).await?;
        report_terms(&self.artifacts, repository, &terms, &mut report).await?;
        Ok(report)
    }
}

impl EmbedPatternsStage {
    /// Returns the patterns that `aggregate` found. `None` if the artifact is missing: during a long
    /// interruption of the run, a sweep may have deleted it.
    async fn reported_patterns(&self, task: &Task) -> Result<Option<Vec<PatternRecord>>, StageError> {
        let parts = self.ledger.parts(task.run).await?;
        let Some(part) = parts.iter().find(|part| part.id.stage == StageName::Aggregate) else { return Ok(None) };
        let report = PartReport::from_json(&part.report);
        let report =
            report.map_err(|error| StageError::permanent(FailureCode::Corrupt, format!("{}: {error}", part.id)))?;
        let Some(reference) = reported(&report, PATTERNS) else { return Ok(None) };
        let Some(bytes) = self.artifacts.kept_artifact(&reference).await? else { return Ok(None) };
        let patterns = decode(ArtifactKind::Patterns, &bytes);
        patterns.map(Some).map_err(|error| StageError::corrupt(&reference.key, &error))
    }
}
