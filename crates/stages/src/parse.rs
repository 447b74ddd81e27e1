//! parse: a source pack becomes a facts pack, and the outlines beside it.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{ArtifactRef, FileFacts, Outline, ParseStatus, SourceText, StageName};
use cairn_linking::outline;
use cairn_pipeline::{Stage, StageError, Task};
use cairn_ports::FileParser;
use cairn_wire::{ArtifactKind, PackReader, PackWriter, PartReport, SlotStatus};

use crate::artifacts::{Artifacts, facts_key_of, outlines_key_of};
use crate::sync::blocking;

/// May be run twice and stopped anywhere: it writes its artifacts, create-only, under names that the pack determines.
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
        let pack = pack.ok_or_else(|| StageError::permanent("invalid", "the plan has no such pack"))?;
        if let Some(facts) = self.written_facts(pack).await? {
            return Ok(report(&facts));
        }
        let texts = read_all::<SourceText>(self.artifacts.source_pack(pack).await?, &pack.key)?;
        let facts = self.parser.parse(texts).await?;
        let report = report(&facts);
        let (outlines, facts) =
            blocking(move || Ok((pack_outlines(facts.iter().map(outline)), pack_facts(&facts)))).await?;
        self.artifacts.blobs.put(&facts_key_of(pack), Bytes::from(facts)).await?;
        // Last: who finds outlines takes it that the facts are there. Facts without them are no harm: who needs the
        // outlines makes them.
        self.artifacts.blobs.put(&outlines_key_of(pack), Bytes::from(outlines)).await?;
        Ok(report)
    }
}

impl ParseStage {
    /// The facts that an earlier run of this part wrote. What lies there and cannot be read is removed: it would fail every run
    /// of the part, and nobody writes over it.
    async fn written_facts(&self, pack: &ArtifactRef) -> Result<Option<Vec<FileFacts>>, StageError> {
        let key = facts_key_of(pack);
        let facts = match self.artifacts.facts_pack(pack).await {
            Ok(None) => return Ok(None),
            Ok(Some(reader)) => read_all(reader, &key),
            Err(error) => Err(error),
        };
        match facts {
            Err(error) if error.is_corrupt() => {
                tracing::warn!(key, %error, "facts are written anew");
                self.artifacts.blobs.delete(&key).await?;
                Ok(None)
            }
            facts => facts.map(Some),
        }
    }
}

pub(crate) fn read_all<T: cairn_wire::Decode>(mut reader: PackReader, key: &str) -> Result<Vec<T>, StageError> {
    let mut records = Vec::with_capacity(reader.num_records() as usize);
    for slot in 0..reader.num_records() {
        records.push(reader.read(slot).map_err(|error| StageError::corrupt(key, &error))?);
    }
    Ok(records)
}

pub(crate) fn pack_outlines(outlines: impl Iterator<Item = Outline>) -> Vec<u8> {
    let mut writer = PackWriter::new(ArtifactKind::OutlinePack);
    for outline in outlines {
        writer.push(&outline);
    }
    writer.finish()
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
    for (slot, facts) in facts.iter().enumerate() {
        if !matches!(facts.status, ParseStatus::Parsed | ParseStatus::Partial | ParseStatus::NoParser) {
            report.slots.push(SlotStatus { slot: slot as u32, status: facts.status.as_str().to_owned() });
        }
    }
    report
}
