//! The outlines of all indexed files of a snapshot. The stages `link` and `aggregate` need all outlines at
//! the same time.

use std::sync::{Arc, Mutex as StdMutex, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use cairn_domain::{ArtifactRef, FileFacts, ManifestEntry, Outline, RepoPath, RepositoryId};
use cairn_linking::{FilePlace, outline};
use cairn_pipeline::StageError;
use cairn_wire::{Manifest, PackReader};
use rustc_hash::FxHashMap;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::artifacts::{Artifacts, outlines_key_of, pack_outlines, read_all};
use crate::threads::blocking;

/// Number of packs that are read concurrently.
const PACKS_AT_ONCE: usize = 4;
/// The memory in bytes that linking needs for each byte of the snapshot's files, and for each file. In a
/// measurement, linking 10,184 files with 17 MB in total needed 311 MiB. Other stages need less.
const MEMORY_PER_BYTE: u64 = 12;
const MEMORY_PER_FILE: u64 = 16 << 10;
/// The default limit for the total memory of the snapshots in use.
pub const SNAPSHOT_MEMORY_BYTES: u64 = 1 << 30;
/// The number of bytes of memory for which one permit of the semaphore is needed.
const UNIT_BYTES: u64 = 1 << 20;
/// A number of permits that a semaphore supports on every machine.
const MOST_UNITS: u32 = u32::MAX >> 3;
/// How long a job waits for memory before it is postponed. This time must leave enough of the job's total
/// time for the work itself.
const PATIENCE: Duration = Duration::from_secs(300);

/// One indexed file.
pub struct SnapshotFile {
    /// Position of the file's entry in the manifest.
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

/// The indexed files of a snapshot, or only the requested files, sorted by path.
pub struct Snapshot {
    pub repository: RepositoryId,
    pub manifest: Arc<Manifest>,
    pub files: Vec<SnapshotFile>,
    /// This field must be the last field, so that the memory is released only after all other fields are
    /// dropped.
    _memory: Option<OwnedSemaphorePermit>,
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

    /// Loads the files that `wanted` selects, except files that are not indexed and files whose pack could
    /// not be parsed.
    pub async fn load(
        artifacts: &Arc<Artifacts>,
        repository: RepositoryId,
        manifest: Arc<Manifest>,
        wanted: impl Fn(&ManifestEntry) -> bool,
    ) -> Result<Self, StageError> {
        let is_wanted = |entry: &ManifestEntry| may_have_outline(entry) && wanted(entry);
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
        Ok(Self { repository, manifest, files, _memory: None })
    }
}

/// Loads snapshots. If several stages need the same snapshot at the same time, these stages share this
/// snapshot.
///
/// The size of a repository is not limited, so the limit applies to the total memory of the snapshots in use,
/// not to their number.
pub struct Snapshots {
    /// One cell for each snapshot in use, by the key of its manifest. A cell is locked while its snapshot is
    /// loaded.
    cells: StdMutex<FxHashMap<String, Cell>>,
    memory: Arc<Semaphore>,
    num_units: u32,
}

type Cell = Arc<Mutex<Weak<Snapshot>>>;

impl Snapshots {
    /// Limits the total memory of the snapshots in use. The memory of a snapshot is estimated from its files.
    /// A snapshot that needs more memory than the limit is loaded when no other snapshot is in use.
    pub fn new(memory_bytes: u64) -> Self {
        let num_units = num_units(memory_bytes).clamp(1, MOST_UNITS);
        Self { cells: StdMutex::default(), memory: Arc::new(Semaphore::new(num_units as usize)), num_units }
    }

    /// Waits for memory and loads the snapshot. `beside_bytes` (see `memory_of`) is additional memory that
    /// the caller needs while it uses the snapshot.
    pub async fn load(
        &self,
        artifacts: &Arc<Artifacts>,
        repository: RepositoryId,
        manifest: &ArtifactRef,
        beside_bytes: u64,
    ) -> Result<Arc<Snapshot>, StageError> {
        let cell = self.cell_of(&manifest.key);
        let mut cell = cell.lock().await;
        if let Some(snapshot) = cell.upgrade() {
            return Ok(snapshot);
        }
        let decoded = artifacts.manifest(manifest).await?;
        let memory = self.memory_for(memory_of(&decoded, |_| true).saturating_add(beside_bytes)).await?;
        let loaded = Snapshot::load(artifacts, repository, decoded, |_| true).await?;
        let loaded = Arc::new(Snapshot { _memory: Some(memory), ..loaded });
        *cell = Arc::downgrade(&loaded);
        Ok(loaded)
    }

    fn cell_of(&self, key: &str) -> Cell {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let is_taken = |cell: &Cell| cell.try_lock().map_or(true, |snapshot| snapshot.strong_count() > 0);
        cells.retain(|_, cell| Arc::strong_count(cell) > 1 || is_taken(cell));
        Arc::clone(cells.entry(key.to_owned()).or_default())
    }

    /// Reserves memory. After a wait of `PATIENCE`, returns an error that postpones the job without counting
    /// an attempt.
    async fn memory_for(&self, memory_bytes: u64) -> Result<OwnedSemaphorePermit, StageError> {
        let wanted = num_units(memory_bytes).clamp(1, self.num_units);
        match timeout(PATIENCE, Arc::clone(&self.memory).acquire_many_owned(wanted)).await {
            Ok(permit) => permit.map_err(|closed| StageError::panicked(closed.to_string())),
            Err(_) => Err(StageError::no_capacity(format!(
                "the repository needs {wanted} MiB of memory, but other jobs are using the memory"
            ))),
        }
    }
}

/// Estimates the memory, in bytes, for the files that `wanted` selects and that may have an outline.
pub(crate) fn memory_of(manifest: &Manifest, wanted: impl Fn(&ManifestEntry) -> bool) -> u64 {
    let files = manifest.entries.iter().filter(|entry| may_have_outline(entry) && wanted(entry));
    files.map(|entry| entry.size_bytes.saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_PER_FILE)).sum()
}

fn num_units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

fn may_have_outline(entry: &ManifestEntry) -> bool {
    entry.outcome.is_indexed() && entry.source.is_some()
}

fn slot(manifest: &Manifest, position: usize) -> (&str, u32) {
    manifest.entries[position].source.as_ref().map_or(("", 0), |slot| (&slot.artifact.key, slot.index))
}

/// Reads the files at these positions in the manifest. All these files must be in the same pack.
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
        // Copies of a file have the same slot and are adjacent, because the positions are sorted by slot.
        let outline = match &last {
            Some((slot, outline)) if *slot == index => Arc::clone(outline),
            _ => Arc::new(reader.read(index).map_err(|error| StageError::corrupt(&outlines_key_of(pack), &error))?),
        };
        files.push(SnapshotFile::new(*position, &entry.path, Arc::clone(&outline)));
        last = Some((index, outline));
    }
    Ok(files)
}

/// Computes missing outlines from the facts. The parse stage writes outlines together with the facts, but
/// another version of Cairn may have written these facts.
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

#[cfg(test)]
mod tests {
    use cairn_domain::{BlobId, EntryKind, Outcome, RepositoryName, Slot, Tenant};
    use cairn_ports::ErrorClass;
    use cairn_testkit::MemoryBlobs;

    use super::*;

    /// Stores a manifest with one file of this size, whose pack has not been parsed.
    async fn manifest_of(artifacts: &Artifacts, repository: RepositoryId, size_bytes: u64) -> ArtifactRef {
        let pack = ArtifactRef { key: "packs/none".to_owned(), size_bytes: 1, hash: [0; 32] };
        let entry = ManifestEntry {
            path: RepoPath::parse("a.py").expect("a path"),
            kind: EntryKind::File,
            blob: BlobId([1; 20]),
            size_bytes,
            outcome: Outcome::Indexed(None),
            language: Some("python".to_owned()),
            facts_key: None,
            source: Some(Slot { artifact: pack, index: 0 }),
            num_secrets: 0,
            num_lines: 1,
            low_weight: false,
            navigation: false,
            tags: Arc::default(),
            changed_at: None,
            module: None,
        };
        artifacts
            .put_manifest(repository, Arc::new(Manifest { entries: vec![entry], ..Manifest::default() }))
            .await
            .expect("put")
    }

    #[tokio::test(start_paused = true)]
    async fn huge_snapshot_is_loaded_alone() {
        let artifacts = Artifacts::new(Arc::new(MemoryBlobs::default()));
        let snapshots = Snapshots::new(24 << 20);
        let load = async |name: &str, size_bytes: u64| {
            let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new(name));
            let manifest = manifest_of(&artifacts, repository, size_bytes).await;
            timeout(Duration::from_secs(1), snapshots.load(&artifacts, repository, &manifest, 0)).await.ok()
        };
        let half = ((12 << 20) - MEMORY_PER_FILE) / MEMORY_PER_BYTE;
        let first = load("a", half).await.expect("memory is free").expect("loaded");
        let second = load("b", half - 1).await.expect("memory is free").expect("loaded");
        assert!(load("c", 1).await.is_none(), "all memory is in use");
        drop(first);
        let third = load("c", 1).await.expect("memory is free again").expect("loaded");
        assert!(load("d", 1 << 40).await.is_none(), "a huge snapshot must be loaded alone");
        drop((second, third));
        let huge = load("d", 1 << 40).await.expect("it is alone").expect("loaded");
        assert!(load("e", 0).await.is_none(), "no memory is free beside a huge snapshot");
        // A second user of the same snapshot needs no additional memory.
        let same = load("d", 1 << 40).await.expect("it is loaded").expect("loaded");
        assert!(Arc::ptr_eq(&huge, &same));
        drop((huge, same));
        assert!(load("e", 0).await.is_some());
        assert!(snapshots.cells.lock().expect("no panic").len() <= 2, "cells of dropped snapshots are not removed");
    }

    #[tokio::test(start_paused = true)]
    async fn job_that_waits_for_memory_pauses() {
        let artifacts = Artifacts::new(Arc::new(MemoryBlobs::default()));
        let snapshots = Snapshots::new(1);
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("a"));
        let load = async |size_bytes: u64, beside_bytes: u64| {
            let manifest = manifest_of(&artifacts, repository, size_bytes).await;
            snapshots.load(&artifacts, repository, &manifest, beside_bytes).await
        };
        let held = load(1, 1 << 30).await.expect("it is alone");
        let error = load(2, 0).await.err().expect("no memory");
        assert!(matches!(error.class, ErrorClass::Pause { retry_after: None }), "{error:?}");
        drop(held);
        load(2, 0).await.expect("memory is free");
    }
}
