//! Stages the texts of the changed files in the text index.

use std::sync::Arc;

use cairn_domain::{ManifestEntry, RepoPath, Slot, SourceText};
use cairn_pipeline::{StageError, Task};
use cairn_ports::{StagedText, StagedTexts, Texts};
use cairn_wire::PackReader;
use rustc_hash::FxHashMap;

use super::linker::Linker;
use crate::artifacts::Artifacts;
use crate::threads::blocking;

/// Maximum size of the texts that are in memory at the same time. The texts are staged as one part.
const BATCH_BYTES: u64 = 32 << 20;

/// Stages every changed path: retires its earlier text and adds its current text. The texts are read and
/// staged in batches, so the memory is bounded.
pub(super) async fn stage_texts(
    artifacts: &Arc<Artifacts>,
    texts: &Arc<dyn Texts>,
    task: &Task,
    linker: &Linker,
) -> Result<(), StageError> {
    let mut replaced: Vec<RepoPath> = linker.changed.values().map(|path| path.path.clone()).collect();
    replaced.sort();
    let files = linker.now.files.iter().map(|file| linker.now.entry(file));
    let mut entries: Vec<&ManifestEntry> =
        files.filter(|entry| entry.source.is_some() && linker.changed.contains_key(entry.path.as_str())).collect();
    entries.sort_by(|left, right| place(left).cmp(&place(right)));
    let mut batches = batches(&entries).into_iter();
    // A run that only removes files has no batches, so it stages one part without texts.
    let mut batch = batches.next().unwrap_or_default();
    loop {
        let staged = StagedTexts { replaced: std::mem::take(&mut replaced), texts: read(artifacts, batch).await? };
        texts.stage(&task.tenant, task.run, staged).await?;
        match batches.next() {
            Some(next) => batch = next,
            None => return Ok(()),
        }
    }
}

/// The place of an entry's text. If entries are sorted by place, entries of the same pack are adjacent.
fn place(entry: &ManifestEntry) -> Option<(&str, u32)> {
    entry.source.as_ref().map(|slot| (slot.artifact.key.as_str(), slot.index))
}

fn batches(entries: &[&ManifestEntry]) -> Vec<Vec<ManifestEntry>> {
    let mut batches: Vec<Vec<ManifestEntry>> = Vec::new();
    let mut size_bytes = u64::MAX;
    for entry in entries {
        if size_bytes >= BATCH_BYTES {
            batches.push(Vec::new());
            size_bytes = 0;
        }
        size_bytes += entry.size_bytes;
        if let Some(batch) = batches.last_mut() {
            batch.push((*entry).clone());
        }
    }
    batches
}

async fn read(artifacts: &Arc<Artifacts>, entries: Vec<ManifestEntry>) -> Result<Vec<StagedText>, StageError> {
    let mut packs: FxHashMap<String, PackReader> = FxHashMap::default();
    for slot in entries.iter().filter_map(|entry| entry.source.as_ref()) {
        if !packs.contains_key(&slot.artifact.key) {
            packs.insert(slot.artifact.key.clone(), artifacts.source_pack(&slot.artifact).await?);
        }
    }
    blocking(move || {
        let mut texts = Vec::with_capacity(entries.len());
        for entry in entries {
            let Some(slot) = entry.source else { continue };
            let Some(pack) = packs.get_mut(&slot.artifact.key) else { continue };
            let source: SourceText =
                pack.read(slot.index).map_err(|error| StageError::corrupt(&slot.artifact.key, &error))?;
            texts.push(staged_text(entry.path, entry.language, slot, source.text));
        }
        Ok(texts)
    })
    .await
}

fn staged_text(path: RepoPath, language: Option<String>, slot: Slot, text: String) -> StagedText {
    StagedText { path, language: language.unwrap_or_else(|| "text".to_owned()), slot, text }
}
