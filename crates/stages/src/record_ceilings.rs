//! Checks the ceilings on the numbers of records, which are known only after parsing. Every stage that stores
//! data for each path calls this check first.

use std::collections::VecDeque;
use std::sync::Arc;

use cairn_config::Ceilings;
use cairn_domain::{PartEnd, RunId};
use cairn_pipeline::StageError;
use cairn_ports::{FailureCode, LedgerRead};
use cairn_wire::{PartReport, Plan};
use tokio::sync::Mutex;

use crate::artifacts::Artifacts;
use crate::repeated_contents::RepeatedContents;
use crate::sync::{Ceiling, over_budget};

/// The maximum number of checked runs whose ids are kept in memory.
const REMEMBERED: usize = 64;

/// Checks the ceilings for the stages that start after `parse`. A process checks each run only once.
///
/// Later, `publish` counts the chunks of the whole snapshot. This check uses the numbers that `parse`
/// reported: they do not include unchanged files, and count the same content at several paths only once.
/// Therefore this check never refuses a run for a number of chunks that `publish` would accept.
pub struct RecordCeilings {
    ledger: Arc<dyn LedgerRead>,
    artifacts: Arc<Artifacts>,
    ceilings: Ceilings,
    passed: Mutex<VecDeque<RunId>>,
}

impl RecordCeilings {
    pub fn new(ledger: Arc<dyn LedgerRead>, artifacts: Arc<Artifacts>, ceilings: &Ceilings) -> Self {
        Self { ledger, artifacts, ceilings: ceilings.clone(), passed: Mutex::default() }
    }

    pub(crate) fn max_chunks(&self) -> u64 {
        self.ceilings.max_chunks
    }

    pub(crate) async fn check(&self, run: RunId, plan: &Plan) -> Result<(), StageError> {
        // The lock is held during the check, so that parts that start at the same time check the run only
        // once.
        let mut passed = self.passed.lock().await;
        if passed.contains(&run) {
            return Ok(());
        }
        self.check_parsed(run).await?;
        self.check_repeated(plan).await?;
        passed.push_back(run);
        if passed.len() > REMEMBERED {
            passed.pop_front();
        }
        Ok(())
    }

    /// Checks the counts that `parse` reported. The function reads the ledger once.
    async fn check_parsed(&self, run: RunId) -> Result<(), StageError> {
        let Ceilings { max_chunks, max_records, .. } = self.ceilings;
        let (mut num_chunks, mut num_records) = (0u64, 0u64);
        for part in self.ledger.parts(run).await?.iter().filter(|part| part.end == Some(PartEnd::Done)) {
            let report = PartReport::from_json(&part.report).map_err(|error| {
                StageError::permanent(
                    FailureCode::Corrupt,
                    format!("the report of the part {} cannot be read: {error}", part.id),
                )
            })?;
            num_chunks = num_chunks.saturating_add(report.chunks_parsed);
            num_records = num_records.saturating_add(report.records_parsed);
        }
        if num_chunks > max_chunks {
            let what = "chunks in new and changed files";
            return Err(over_budget(what, num_chunks, max_chunks, Ceiling::Chunks));
        }
        if num_records > max_records {
            let what = "records in new and changed files";
            return Err(over_budget(what, num_records, max_records, Ceiling::Records));
        }
        Ok(())
    }

    /// Checks the number of records that belong to copies of the same content, or to long paths, in the whole
    /// snapshot. A repository with little content can have a large number of copies, or very long paths.
    async fn check_repeated(&self, plan: &Plan) -> Result<(), StageError> {
        let manifest = self.artifacts.manifest_or_empty(plan.manifest.as_ref()).await?;
        let repeated = RepeatedContents::of(&manifest);
        let limit = repeated.limit(self.ceilings.max_repeated_records);
        if repeated.most_records() <= limit || !repeated.has_any(&manifest, plan) {
            return Ok(());
        }
        let num_records = repeated.num_records(&self.artifacts).await?;
        if num_records > limit {
            let what = "records of files with the same content as other files or with long paths";
            return Err(over_budget(what, num_records, limit, Ceiling::RepeatedRecords));
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use cairn_domain::{ArtifactRef, Lane, PartId, RepositoryName, Source, StageName, Tenant};
    use cairn_metastore::Metastore;
    use cairn_ports::{Catalogue, Ledger, NewRun, RepositoryRecord};
    use cairn_testkit::{MemoryBlobs, MemoryRuns};
    use cairn_wire::RunResult;

    use super::*;

    pub(crate) const EMBED: PartId = PartId { stage: StageName::Embed, number: 0 };

    /// A run with two `parse` parts. The first part reported 4 chunks and 40 records, and the second part
    /// reported 3 chunks and 30 records.
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
            let report = PartReport { chunks_parsed, records_parsed: chunks_parsed * 10, ..PartReport::default() };
            runs.end_part(run, part, PartEnd::Done, report.to_json(), 1).await.expect("ended");
        }
        (runs, run)
    }

    pub(crate) fn ceilings(runs: Arc<Metastore>, max_chunks: u64, max_records: u64) -> Arc<RecordCeilings> {
        let artifacts = Artifacts::new(Arc::new(MemoryBlobs::default()));
        let ceilings = Ceilings { max_chunks, max_records, ..Ceilings::default() };
        Arc::new(RecordCeilings::new(runs, artifacts, &ceilings))
    }

    #[tokio::test]
    async fn parsed_chunks_and_records_are_limited() {
        let (runs, run) = parsed().await;
        ceilings(runs.clone(), 7, 70).check(run, &Plan::default()).await.expect("within the ceilings");
        for (max_chunks, max_records, expect) in [
            (6, 70, ["7 chunks", "the limit is 6", "ceilings.max_chunks", "exclude files"]),
            (7, 69, ["70 records", "the limit is 69", "ceilings.max_records", "exclude files"]),
        ] {
            let ceilings = ceilings(runs.clone(), max_chunks, max_records);
            let error = ceilings.check(run, &Plan::default()).await.expect_err("over a ceiling");
            assert_eq!(error.code, FailureCode::OverBudget);
            for part in expect {
                assert!(error.to_string().contains(part), "{error}");
            }
        }
    }
}
