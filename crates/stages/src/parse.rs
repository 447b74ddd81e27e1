//! parse: creates a facts pack and an outline pack from a source pack.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{ArtifactRef, FileFacts, ParseStatus, SourceText, StageName};
use cairn_linking::outline;
use cairn_pipeline::{Stage, StageError, Task};
use cairn_ports::{FailureCode, FileParser};
use cairn_records::num_records;
use cairn_wire::{ArtifactKind, PackWriter, PartReport, SlotStatus};

use crate::artifacts::{Artifacts, facts_key_of, outlines_key_of, pack_outlines, read_all};
use crate::threads::blocking;

/// The stage may be run twice and may be stopped at any point: the source pack determines the keys of the
/// artifacts that the stage writes, and an existing artifact is not overwritten.
pub struct ParseStage {
    pub artifacts: Arc<Artifacts>,
    pub parser: Arc<dyn FileParser>,
}

#[async_trait]
impl Stage for ParseStage {
    fn name(&self) -> StageName {
        StageName::Parse
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        let plan = self.artifacts.plan(&task.plan).await?;
        let pack = plan.packs.get(task.part.number as usize);
        let pack = pack.ok_or_else(|| {
            StageError::permanent(FailureCode::Invalid, "the plan contains no source pack with the number of the part")
        })?;
        let facts = match self.written_facts(pack).await? {
            Some(facts) => facts,
            None => {
                let texts = read_all::<SourceText>(self.artifacts.source_pack(pack).await?, &pack.key)?;
                self.parser.parse(texts).await?
            }
        };
        let report = report(&facts);
        let (outlines, facts) =
            blocking(move || Ok((pack_outlines(facts.iter().map(outline)), pack_facts(&facts)))).await?;
        // The facts are written even if they exist, because the write renews their modification time. A sweep
        // that began before this run uses only this time to decide whether it deletes the facts.
        self.artifacts.blobs.put(&facts_key_of(pack), Bytes::from(facts)).await?;
        // Outlines are written last, because readers of outlines assume that the facts exist. If only the
        // facts exist, readers compute the missing outlines from the facts.
        self.artifacts.blobs.put(&outlines_key_of(pack), Bytes::from(outlines)).await?;
        Ok(report)
    }
}

impl ParseStage {
    /// Returns the facts that an earlier run of this part wrote. Removes damaged facts: a write does not
    /// replace an existing object, so every later run of the part would otherwise fail.
    async fn written_facts(&self, pack: &ArtifactRef) -> Result<Option<Vec<FileFacts>>, StageError> {
        let key = facts_key_of(pack);
        let facts = match self.artifacts.facts_pack(pack).await {
            Ok(None) => return Ok(None),
            Ok(Some(reader)) => read_all(reader, &key),
            Err(error) => Err(error),
        };
        match facts {
            Err(error) if error.is_corrupt() => {
                tracing::warn!(key, %error, "the facts are damaged: they are removed and written again");
                self.artifacts.blobs.delete(&key).await?;
                Ok(None)
            }
            facts => facts.map(Some),
        }
    }
}

fn pack_facts(facts: &[FileFacts]) -> Vec<u8> {
    let mut writer = PackWriter::new(ArtifactKind::FactsPack);
    for facts in facts {
        writer.push(facts);
    }
    writer.finish()
}

fn report(facts: &[FileFacts]) -> PartReport {
    let mut report = PartReport { files_parsed: facts.len() as u64, ..PartReport::default() };
    report.chunks_parsed = facts.iter().map(|facts| facts.chunks.len() as u64).sum();
    report.records_parsed = facts.iter().map(num_records).sum();
    for (slot, facts) in facts.iter().enumerate() {
        if !matches!(facts.status, ParseStatus::Parsed | ParseStatus::Partial | ParseStatus::NoParser) {
            report.slots.push(SlotStatus { slot: slot as u32, status: facts.status.as_str().to_owned() });
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::Range;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use cairn_domain::{GenerationId, PartId, RepositoryId, RepositoryName, RunId, Tenant};
    use cairn_ports::{BlobMeta, BlobStore, BlobStoreError, BlobStoreExt, FileParserError, Put};
    use cairn_testkit::MemoryBlobs;
    use cairn_wire::{Plan, encode};

    use super::*;

    /// A blob store that records the keys of all writes.
    #[derive(Default)]
    struct RecordingBlobs {
        blobs: MemoryBlobs,
        put: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl BlobStore for RecordingBlobs {
        async fn put(&self, key: &str, bytes: Bytes) -> Result<Put, BlobStoreError> {
            self.put.lock().expect("no panic").push(key.to_owned());
            self.blobs.put(key, bytes).await
        }

        async fn get(&self, key: &str) -> Result<Bytes, BlobStoreError> {
            self.blobs.get(key).await
        }

        async fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes, BlobStoreError> {
            self.blobs.get_range(key, range).await
        }

        async fn list(&self, prefix: &str) -> Result<Vec<BlobMeta>, BlobStoreError> {
            self.blobs.list(prefix).await
        }

        async fn delete(&self, key: &str) -> Result<(), BlobStoreError> {
            self.blobs.delete(key).await
        }
    }

    #[derive(Default)]
    struct CountingParser(AtomicU64);

    #[async_trait]
    impl FileParser for CountingParser {
        async fn parse(&self, _: Vec<SourceText>) -> Result<Vec<FileFacts>, FileParserError> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(Vec::new())
        }
    }

    #[tokio::test]
    async fn existing_facts_are_rewritten_without_parsing() {
        let (blobs, parser) = (Arc::new(RecordingBlobs::default()), Arc::new(CountingParser::default()));
        let artifacts = Artifacts::new(blobs.clone());
        let pack = PackWriter::new(ArtifactKind::SourcePack).finish();
        let pack = blobs.put_artifact("packs/r/x", Bytes::from(pack)).await.expect("put");
        let plan = encode(ArtifactKind::Plan, &Plan { packs: vec![pack.clone()], ..Plan::default() });
        let plan = blobs.put_artifact("plans/r/x", Bytes::from(plan)).await.expect("put");
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
        let task = Task {
            tenant: Tenant::local(),
            run: RunId { repository, generation: GenerationId(1) },
            part: PartId { stage: StageName::Parse, number: 0 },
            plan,
            aborted: BTreeSet::new(),
        };
        let stage = ParseStage { artifacts, parser: parser.clone() };
        for _ in 0..2 {
            blobs.put.lock().expect("no panic").clear();
            stage.run(&task).await.expect("parsed");
            assert_eq!(*blobs.put.lock().expect("no panic"), [facts_key_of(&pack), outlines_key_of(&pack)]);
        }
        assert_eq!(parser.0.load(Ordering::SeqCst), 1);
    }
}
