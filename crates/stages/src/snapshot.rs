//! The outlines of all indexed files of a snapshot: what linking and aggregation look at as a whole.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use cairn_domain::{ArtifactRef, FileFacts, ManifestEntry, Outline, RepoPath, RepositoryId};
use cairn_linking::{FilePlace, outline};
use cairn_pipeline::StageError;
use cairn_wire::{Manifest, PackReader};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::artifacts::{Artifacts, outlines_key_of};
use crate::parse::{pack_outlines, read_all};
use crate::sync::blocking;

/// Packs that are read at the same time.
const PACKS_AT_ONCE: usize = 4;

/// One indexed file.
pub struct SnapshotFile {
    /// Position of its entry in the manifest.
    pub position: usize,
    pub module_path: String,
    pub is_test: bool,
    pub outline: Arc<Outline>,
}

impl SnapshotFile {
    fn new(position: usize, path: &RepoPath, outline: Arc<Outline>) -> Self {
        let module_path = cairn_syntax::module_path(&outline.language, path);
        let is_test = cairn_syntax::is_test_path(&outline.language, path);
        Self { position, module_path, is_test, outline }
    }
}

/// The indexed files of a snapshot (or those of them that were asked for), sorted by path.
pub struct Snapshot {
    pub repository: RepositoryId,
    pub manifest: Arc<Manifest>,
    pub files: Vec<SnapshotFile>,
}

impl Snapshot {
    pub fn entry(&self, file: &SnapshotFile) -> &ManifestEntry {
        &self.manifest.entries[file.position]
    }

    pub fn path(&self, file: &SnapshotFile) -> &RepoPath {
        &self.entry(file).path
    }

    pub fn place<'a>(&'a self, file: &'a SnapshotFile) -> FilePlace<'a> {
        let entry = self.entry(file);
        FilePlace {
            path: &entry.path,
            module_path: &file.module_path,
            is_test: file.is_test,
            module: entry.module.as_deref(),
        }
    }

    /// The files of a manifest that are wanted, if they are indexed and their pack could be parsed.
    pub async fn load(
        artifacts: &Arc<Artifacts>,
        repository: RepositoryId,
        manifest: Arc<Manifest>,
        wanted: impl Fn(&ManifestEntry) -> bool,
    ) -> Result<Self, StageError> {
        let is_wanted = |entry: &ManifestEntry| entry.outcome.is_indexed() && entry.source.is_some() && wanted(entry);
        let mut positions: Vec<usize> =
            (0..manifest.entries.len()).filter(|at| is_wanted(&manifest.entries[*at])).collect();
        positions.sort_by(|left, right| slot(&manifest, *left).cmp(&slot(&manifest, *right)));
        let mut packs = positions.chunk_by(|left, right| slot(&manifest, *left).0 == slot(&manifest, *right).0);
        let mut reading = JoinSet::new();
        let mut files = Vec::with_capacity(positions.len());
        loop {
            while let Some(positions) = (reading.len() < PACKS_AT_ONCE).then(|| packs.next()).flatten() {
                let (artifacts, manifest) = (Arc::clone(artifacts), Arc::clone(&manifest));
                reading.spawn(read_pack(artifacts, manifest, positions.to_vec()));
            }
            let Some(read) = reading.join_next().await else { break };
            files.extend(read.map_err(|error| StageError::panicked(error.to_string()))??);
        }
        files.sort_by_key(|file: &SnapshotFile| file.position);
        Ok(Self { repository, manifest, files })
    }
}

/// Loads snapshots; stages that look at the same one at the same time share it.
#[derive(Default)]
pub struct Snapshots {
    shared: Mutex<Option<(String, Weak<Snapshot>)>>,
}

impl Snapshots {
    pub async fn load(
        &self,
        artifacts: &Arc<Artifacts>,
        repository: RepositoryId,
        manifest: &ArtifactRef,
    ) -> Result<Arc<Snapshot>, StageError> {
        let mut shared = self.shared.lock().await;
        if let Some((key, snapshot)) = shared.as_ref()
            && *key == manifest.key
            && let Some(snapshot) = snapshot.upgrade()
        {
            return Ok(snapshot);
        }
        let decoded = artifacts.manifest(manifest).await?;
        let loaded = Arc::new(Snapshot::load(artifacts, repository, decoded, |_| true).await?);
        *shared = Some((manifest.key.clone(), Arc::downgrade(&loaded)));
        Ok(loaded)
    }
}

fn slot(manifest: &Manifest, position: usize) -> (&str, u32) {
    manifest.entries[position].source.as_ref().map_or(("", 0), |slot| (&slot.artifact.key, slot.index))
}

/// The files of one pack, at the positions that its entries have in the manifest.
async fn read_pack(
    artifacts: Arc<Artifacts>,
    manifest: Arc<Manifest>,
    positions: Vec<usize>,
) -> Result<Vec<SnapshotFile>, StageError> {
    let source = positions.first().and_then(|at| manifest.entries[*at].source.as_ref());
    let Some(pack) = source.map(|slot| slot.artifact.clone()) else { return Ok(Vec::new()) };
    let reader = match artifacts.outline_pack(&pack).await? {
        Some(reader) => reader,
        None => match make_outlines(&artifacts, &pack).await? {
            Some(reader) => reader,
            None => return Ok(Vec::new()),
        },
    };
    blocking(move || read_files(reader, &pack, &positions, &manifest)).await
}

fn read_files(
    mut reader: PackReader,
    pack: &ArtifactRef,
    positions: &[usize],
    manifest: &Manifest,
) -> Result<Vec<SnapshotFile>, StageError> {
    let mut files = Vec::with_capacity(positions.len());
    let mut last: Option<(u32, Arc<Outline>)> = None;
    for position in positions {
        let entry = &manifest.entries[*position];
        let Some(index) = entry.source.as_ref().map(|slot| slot.index) else { continue };
        // Copies of a file share its slot and stand beside each other.
        let outline = match &last {
            Some((slot, outline)) if *slot == index => Arc::clone(outline),
            _ => Arc::new(reader.read(index).map_err(|error| StageError::corrupt(&outlines_key_of(pack), &error))?),
        };
        files.push(SnapshotFile::new(*position, &entry.path, Arc::clone(&outline)));
        last = Some((index, outline));
    }
    Ok(files)
}

/// Outlines are made with the facts. Where they are not beside them (another version made those facts), they are made
/// from them now.
async fn make_outlines(artifacts: &Artifacts, pack: &ArtifactRef) -> Result<Option<PackReader>, StageError> {
    let Some(facts) = artifacts.facts_pack(pack).await? else { return Ok(None) };
    let key = pack.key.clone();
    let outlines = blocking(move || {
        let facts = read_all::<FileFacts>(facts, &key)?;
        Ok(pack_outlines(facts.iter().map(outline)))
    });
    artifacts.blobs.put(&outlines_key_of(pack), Bytes::from(outlines.await?)).await?;
    artifacts.outline_pack(pack).await
}
