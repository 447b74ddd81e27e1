//! The ceiling on chunks, checked before a run pays for embedding.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use cairn_domain::{PartEnd, RunId};
use cairn_pipeline::StageError;
use cairn_ports::{FailureCode, LedgerRead};
use cairn_wire::PartReport;

use crate::sync::over_budget;

/// Runs whose check is remembered.
const REMEMBERED: usize = 64;

/// Counts the chunks that parse reported, with one read of the ledger per run and process. `publish` checks
/// the whole snapshot again: here, unchanged files do not count, and a content with several paths counts
/// once. So no run is refused here that `publish` would accept.
pub(crate) struct ChunkCeiling {
    ledger: Arc<dyn LedgerRead>,
    max_chunks: u64,
    passed: Mutex<VecDeque<RunId>>,
}

impl ChunkCeiling {
    pub(crate) fn new(ledger: Arc<dyn LedgerRead>, max_chunks: u64) -> Self {
        Self { ledger, max_chunks, passed: Mutex::default() }
    }

    /// For the parts of stages that start after parse has ended.
    pub(crate) async fn check(&self, run: RunId) -> Result<(), StageError> {
        if self.passed().contains(&run) {
            return Ok(());
        }
        let mut num_chunks = 0u64;
        for part in self.ledger.parts(run).await?.iter().filter(|part| part.end == Some(PartEnd::Done)) {
            let report = PartReport::from_json(&part.report).map_err(|error| {
                StageError::permanent(FailureCode::Corrupt, format!("report of {}: {error}", part.id))
            })?;
            num_chunks = num_chunks.saturating_add(report.chunks_parsed);
        }
        if num_chunks > self.max_chunks {
            let what = "chunks in new and changed files";
            return Err(over_budget(what, num_chunks, self.max_chunks, "ceilings.max_chunks"));
        }
        let mut passed = self.passed();
        passed.push_back(run);
        if passed.len() > REMEMBERED {
            passed.pop_front();
        }
        Ok(())
    }

    fn passed(&self) -> std::sync::MutexGuard<'_, VecDeque<RunId>> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use cairn_domain::{ArtifactRef, Lane, PartId, RepositoryName, Source, StageName, Tenant};
    use cairn_metastore::Metastore;
    use cairn_ports::{Catalogue, Ledger, NewRun, RepositoryRecord};
    use cairn_testkit::MemoryRuns;
    use cairn_wire::RunResult;

    use super::*;

    pub(crate) const EMBED: PartId = PartId { stage: StageName::Embed, number: 0 };

    /// A run whose two parts of parse reported 4 and 3 chunks.
    pub(crate) async fn parsed() -> (Arc<Metastore>, RunId) {
        let runs = Arc::new(Metastore::new(Arc::new(MemoryRuns::new())));
        let source = Source::Bare { path: "r".to_owned() };
        let record = RepositoryRecord::new(Tenant::local(), RepositoryName::new("r"), source);
        let repository = record.id;
        runs.register(record).await.expect("registered");
        let artifact = ArtifactRef { key: "x".to_owned(), size_bytes: 1, hash: [0; 32] };
        let parse = [0, 1].map(|number| PartId { stage: StageName::Parse, number });
        let lease = runs.lease(repository, 0, 1_000).await.expect("free");
        let new = NewRun {
            repository,
            previous: None,
            manifest: artifact.clone(),
            plan: artifact,
            parts: vec![parse[0], parse[1], EMBED, PartId { stage: StageName::Publish, number: 0 }],
            lane: Lane::Bulk,
            window: 8,
            revision: String::new(),
            branch: None,
            result: RunResult::default(),
            started_at_ms: 0,
        };
        let run = runs.begin(lease, new).await.expect("begun");
        for (part, chunks_parsed) in parse.into_iter().zip([4, 3]) {
            let report = PartReport { chunks_parsed, ..PartReport::default() };
            runs.end_part(run, part, PartEnd::Done, report.to_json(), 1).await.expect("ended");
        }
        (runs, run)
    }

    #[tokio::test]
    async fn parsed_chunks_are_limited() {
        let (runs, run) = parsed().await;
        ChunkCeiling::new(runs.clone(), 7).check(run).await.expect("within the ceiling");
        let error = ChunkCeiling::new(runs, 6).check(run).await.expect_err("over the ceiling");
        assert_eq!(error.code, FailureCode::OverBudget);
        for part in ["7 chunks", "the limit is 6", "ceilings.max_chunks", "exclude files"] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
