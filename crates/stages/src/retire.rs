//! retire: ends the chunks of removed paths.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::StageName;
use cairn_pipeline::{Stage, StageError, Task};
use cairn_ports::{StagedPoints, VectorStore};
use cairn_wire::PartReport;

use crate::artifacts::Artifacts;
use crate::placed::OpenPacks;
use crate::term_layers::{changed_terms, report_terms};
use crate::threads::blocking;

/// The stage may be run twice and may be stopped at any point: it only ends open chunks, and an ended chunk
/// does not change. The table of terms has the hash of its bytes in its key.
pub struct RetireStage {
    pub artifacts: Arc<Artifacts>,
    pub vectors: Arc<dyn VectorStore>,
}

#[async_trait]
impl Stage for RetireStage {
    fn name(&self) -> StageName {
        StageName::Retire
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        let plan = self.artifacts.plan(&task.plan).await?;
        let previous = self.artifacts.manifest_or_empty(plan.previous_manifest.as_ref()).await?;
        let paths = plan.retire.get(task.part.number as usize).map_or(&[][..], Vec::as_slice);
        let entries = paths.iter().filter_map(|path| previous.find(path.path.as_str()));
        let mut packs = OpenPacks::default();
        packs.open(&self.artifacts, entries, !plan.rebuild).await?;
        let mut ended = Vec::new();
        for path in paths {
            ended.extend(packs.chunks(task.run.repository, &previous, path.path.as_str())?);
        }
        let rebuild = plan.rebuild;
        let (retired, terms) = blocking(move || {
            let terms = changed_terms(&[], &ended, rebuild);
            Ok((ended.into_iter().map(|chunk| chunk.key).collect(), terms))
        })
        .await?;
        self.vectors.stage(&task.staging(), StagedPoints { points: Vec::new(), retired }).await?;
        let mut report = PartReport::default();
        report_terms(&self.artifacts, task.run.repository, &terms, &mut report).await?;
        Ok(report)
    }
}
