//! Reads the files of a source that differ from the published generation, without indexing them.

use std::sync::Arc;

use cairn_domain::{ManifestEntry, RepoPath, SourceText};
use cairn_pipeline::StageError;
use cairn_ports::{ContentReader, SyncMeter, TreeEntry};

use super::content::{Blob, Content};
use super::deadline::check_stopped;
use super::inventory::Inventory;
use super::on_change::OnChange;
use super::reading::Reading;
use super::refusal::of_source;
use super::{Sync, SyncRequest};
use crate::threads::blocking;

/// A file that is new, or whose content differs from the published generation.
#[derive(Clone, Debug)]
pub struct ChangedSource {
    /// The entry that the manifest of the next generation would contain.
    pub entry: ManifestEntry,
    /// The redacted text.
    pub source: SourceText,
}

/// The files that differ from the published generation.
#[derive(Clone, Debug, Default)]
pub struct ChangedSources {
    /// The files that were read, in the order of their paths.
    pub sources: Vec<ChangedSource>,
    /// The files that were not read because of a limit.
    pub left_out: Vec<RepoPath>,
}

/// The limits on the number and the total size of the files that are read.
#[derive(Clone, Copy, Debug)]
pub struct ChangedLimits {
    pub max_files: usize,
    pub max_bytes: u64,
}

impl Sync {
    /// Reads the changed files in the order of their paths, until a limit is reached. This method writes
    /// nothing. The lists are empty if no generation is published.
    pub async fn changed_sources(
        &self,
        request: &SyncRequest,
        limits: ChangedLimits,
    ) -> Result<ChangedSources, StageError> {
        let view = self.catalogue.view().await?;
        let Some(published) = self.catalogue.published(&view, request.repository.id).await? else {
            return Ok(ChangedSources::default());
        };
        let previous = self.artifacts.manifest(&published.manifest).await?;
        let meter = Arc::new(SyncMeter::default());
        let tree = self.open(request, &meter).await?;
        let settings = Arc::new(self.settings(request, &tree, &meter, OnChange::Record).await?);
        let inventory = Inventory {
            reading: Reading { tools: self.tools.clone(), settings, tree, meter, on_change: OnChange::Record },
            inputs_digest: self.inputs_digest(request),
            previous,
            ceilings: self.operator.ceilings.clone(),
        };
        blocking(move || read(&inventory, limits)).await
    }
}

fn read(inventory: &Inventory, limits: ChangedLimits) -> Result<ChangedSources, StageError> {
    let (entries, to_read, _) = inventory.list()?;
    let reading = &inventory.reading;
    let mut reader = reading.tree.reader().map_err(of_source)?;
    let (mut changed, mut num_bytes) = (ChangedSources::default(), 0);
    for position in to_read {
        check_stopped(&reading.meter)?;
        let listed = &reading.tree.entries()[position];
        let fits = num_bytes + listed.size_bytes <= limits.max_bytes;
        if changed.sources.len() >= limits.max_files || !fits {
            changed.left_out.push(entries[position].path.clone());
            continue;
        }
        num_bytes += listed.size_bytes;
        changed.sources.extend(read_one(reading, listed, reader.as_mut(), &entries[position]));
    }
    Ok(changed)
}

/// Reads one file. `None` if the file cannot be read, or if its content is of a kind that is not indexed.
fn read_one(
    reading: &Reading,
    listed: &TreeEntry,
    reader: &mut dyn ContentReader,
    entry: &ManifestEntry,
) -> Option<ChangedSource> {
    let mut blob = Blob::new(reader.read(listed).ok()?);
    let content = blob.decide(reading, listed);
    if !content.outcome.is_indexed() {
        return None;
    }
    let source = blob.source(reading, listed, &content);
    let Content { outcome, language, facts_key, num_secrets, num_lines, low_weight, source: _ } = content;
    let entry = ManifestEntry { outcome, language, facts_key, num_secrets, num_lines, low_weight, ..entry.clone() };
    Some(ChangedSource { entry, source })
}
