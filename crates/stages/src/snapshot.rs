//! The facts of all indexed files of a snapshot: what linking and aggregation look at as a whole.

use std::sync::{Arc, Weak};

use cairn_domain::{FileFacts, ManifestEntry, RepoPath, RepositoryId};
use cairn_pipeline::StageError;
use cairn_wire::{Manifest, PackReader};
use tokio::sync::Mutex;

use crate::artifacts::Artifacts;
use crate::sync::blocking;

/// One indexed file.
pub struct SnapshotFile {
    /// Position of its entry in the manifest.
    pub position: usize,
    pub module_path: String,
    pub is_test: bool,
    pub facts: FileFacts,
}

impl SnapshotFile {
    pub fn new(position: usize, path: &RepoPath, facts: FileFacts) -> Self {
        let module_path = cairn_syntax::module_path(&facts.language, path);
        let is_test = cairn_syntax::is_test_path(&facts.language, path);
        Self { position, module_path, is_test, facts }
    }
}

/// The indexed files of a snapshot, sorted by path.
pub struct SnapshotFacts {
    pub repository: RepositoryId,
    pub manifest: Arc<Manifest>,
    pub files: Vec<SnapshotFile>,
}

impl SnapshotFacts {
    pub fn entry(&self, file: &SnapshotFile) -> &ManifestEntry {
        &self.manifest.entries[file.position]
    }

    pub fn path(&self, file: &SnapshotFile) -> &RepoPath {
        &self.entry(file).path
    }
}

/// Loads snapshots; stages that look at the same one at the same time share it.
#[derive(Default)]
pub struct Snapshots {
    shared: Mutex<Option<(String, Weak<SnapshotFacts>)>>,
}

impl Snapshots {
    pub async fn load(
        &self,
        artifacts: &Artifacts,
        repository: RepositoryId,
        manifest: &cairn_domain::ArtifactRef,
    ) -> Result<Arc<SnapshotFacts>, StageError> {
        let mut shared = self.shared.lock().await;
        if let Some((key, facts)) = shared.as_ref()
            && *key == manifest.key
            && let Some(facts) = facts.upgrade()
        {
            return Ok(facts);
        }
        let loaded = Arc::new(load(artifacts, repository, artifacts.manifest(manifest).await?).await?);
        *shared = Some((manifest.key.clone(), Arc::downgrade(&loaded)));
        Ok(loaded)
    }
}

async fn load(
    artifacts: &Artifacts,
    repository: RepositoryId,
    manifest: Arc<Manifest>,
) -> Result<SnapshotFacts, StageError> {
    let mut by_pack: Vec<(usize, u32)> = Vec::new();
    let mut files = Vec::new();
    let mut positions: Vec<usize> =
        (0..manifest.entries.len()).filter(|at| is_loaded(&manifest.entries[*at])).collect();
    positions.sort_by(|left, right| slot_key(&manifest, *left).cmp(&slot_key(&manifest, *right)));
    let groups = positions.chunk_by(|left, right| slot_key(&manifest, *left).0 == slot_key(&manifest, *right).0);
    for group in groups {
        let Some(slot) = group.first().and_then(|at| manifest.entries[*at].source.as_ref()) else { continue };
        let Some(reader) = artifacts.facts_pack(&slot.artifact).await? else { continue };
        by_pack.clear();
        by_pack.extend(group.iter().filter_map(|at| Some((*at, manifest.entries[*at].source.as_ref()?.index))));
        let (key, wanted, manifest) = (slot.artifact.key.clone(), by_pack.clone(), Arc::clone(&manifest));
        files.extend(blocking(move || read(reader, &key, &wanted, &manifest)).await?);
    }
    files.sort_by_key(|file| file.position);
    Ok(SnapshotFacts { repository, manifest, files })
}

fn is_loaded(entry: &ManifestEntry) -> bool {
    entry.outcome.is_indexed() && entry.source.is_some()
}

fn slot_key(manifest: &Manifest, position: usize) -> (&str, u32) {
    manifest.entries[position].source.as_ref().map_or(("", 0), |slot| (&slot.artifact.key, slot.index))
}

fn read(
    mut reader: PackReader,
    key: &str,
    wanted: &[(usize, u32)],
    manifest: &Manifest,
) -> Result<Vec<SnapshotFile>, StageError> {
    let mut files = Vec::with_capacity(wanted.len());
    for (position, slot) in wanted {
        let facts: FileFacts = reader.read(*slot).map_err(|error| StageError::corrupt(key, &error))?;
        files.push(SnapshotFile::new(*position, &manifest.entries[*position].path, facts));
    }
    Ok(files)
}
