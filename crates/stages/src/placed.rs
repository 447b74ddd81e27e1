//! The chunk records of a path in the previous and the new snapshot, and the changes between them.

use cairn_domain::{ChunkRecord, Digest, FileFacts, Key128, ManifestEntry, RepositoryId, SourceText};
use cairn_pipeline::StageError;
use cairn_records::{Placement, chunk_records};
use cairn_wire::{Manifest, PackReader};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::artifacts::Artifacts;
use crate::sync::is_doubtful;

/// The open packs that contain the paths of a part. Each pack is opened only once.
#[derive(Default)]
pub struct OpenPacks {
    facts: FxHashMap<String, Option<PackReader>>,
    sources: FxHashMap<String, PackReader>,
}

impl OpenPacks {
    /// Opens the source packs of the entries.
    pub async fn open_texts(
        &mut self,
        artifacts: &Artifacts,
        entries: impl Iterator<Item = &ManifestEntry>,
    ) -> Result<(), StageError> {
        for slot in entries.filter_map(|entry| entry.source.as_ref()) {
            let key = &slot.artifact.key;
            if !self.sources.contains_key(key) {
                self.sources.insert(key.clone(), artifacts.source_pack(&slot.artifact).await?);
            }
        }
        Ok(())
    }

    /// Opens the facts packs of the entries. If `with_text` is set, also opens their source packs.
    pub async fn open(
        &mut self,
        artifacts: &Artifacts,
        entries: impl Iterator<Item = &ManifestEntry>,
        with_text: bool,
    ) -> Result<(), StageError> {
        let entries: Vec<&ManifestEntry> = entries.collect();
        for slot in entries.iter().filter_map(|entry| entry.source.as_ref()) {
            let key = &slot.artifact.key;
            if !self.facts.contains_key(key) {
                self.facts.insert(key.clone(), artifacts.facts_pack(&slot.artifact).await?);
            }
        }
        if with_text {
            self.open_texts(artifacts, entries.into_iter()).await?;
        }
        Ok(())
    }

    /// Reads the facts of an entry. `None` if the entry is not indexed or its pack could not be parsed. Even
    /// if the `parse` part of an entry failed, the entry may have facts: another worker may have parsed the
    /// pack and staged records (`is_doubtful`).
    pub fn facts(&mut self, entry: &ManifestEntry) -> Result<Option<FileFacts>, StageError> {
        let may_have = entry.outcome.is_indexed() || is_doubtful(entry);
        let (true, Some(slot)) = (may_have, &entry.source) else { return Ok(None) };
        let Some(Some(reader)) = self.facts.get_mut(&slot.artifact.key) else { return Ok(None) };
        let facts = reader.read(slot.index).map_err(|error| StageError::corrupt(&slot.artifact.key, &error))?;
        Ok(Some(facts))
    }

    pub fn text(&mut self, entry: &ManifestEntry) -> Result<Option<SourceText>, StageError> {
        let Some(slot) = &entry.source else { return Ok(None) };
        let Some(reader) = self.sources.get_mut(&slot.artifact.key) else { return Ok(None) };
        let text = reader.read(slot.index).map_err(|error| StageError::corrupt(&slot.artifact.key, &error))?;
        Ok(Some(text))
    }

    /// Returns the chunks of a path in a manifest. The chunks contain texts only if the source pack is open.
    pub fn chunks(
        &mut self,
        repository: RepositoryId,
        manifest: &Manifest,
        path: &str,
    ) -> Result<Vec<ChunkRecord>, StageError> {
        let Some(entry) = manifest.find(path) else { return Ok(Vec::new()) };
        let Some(facts) = self.facts(entry)? else { return Ok(Vec::new()) };
        let text = self.text(entry)?;
        Ok(chunk_records(Placement { repository, entry }, &facts, text.as_ref().map(|text| text.text.as_str())))
    }
}

/// The changes that a part makes: the new chunks, and the chunks that it retires.
#[derive(Default)]
pub struct ChunkChanges {
    pub begun: Vec<ChunkRecord>,
    pub ended: Vec<ChunkRecord>,
}

/// Compares the records of a path. A record is *unchanged* if its key and its digest are equal in both
/// snapshots. If `rebuild` is set, every record is treated as changed.
pub fn chunk_changes(before: Vec<ChunkRecord>, now: Vec<ChunkRecord>, rebuild: bool) -> ChunkChanges {
    let kept: FxHashSet<(Key128, Digest)> = if rebuild {
        FxHashSet::default()
    } else {
        let old: FxHashSet<_> = before.iter().map(|record| (record.key.0, record.digest())).collect();
        now.iter().map(|record| (record.key.0, record.digest())).filter(|record| old.contains(record)).collect()
    };
    let is_kept = |record: &ChunkRecord| kept.contains(&(record.key.0, record.digest()));
    let ended = before.into_iter().filter(|record| !is_kept(record)).collect();
    let begun = now.into_iter().filter(|record| !is_kept(record)).collect();
    ChunkChanges { begun, ended }
}
