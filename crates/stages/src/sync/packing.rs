//! Reads new contents, redacts them and packs them.
//!
//! A blob is read, decoded and redacted once, even if many paths have this content. The paths are divided
//! into batches by position, so that the same tree gives the same packs. When a thread is free, it takes the
//! next batch. Finished packs are written while further batches are processed, so only a few finished packs
//! are in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cairn_domain::{ArtifactRef, BlobId, FactsKey, Outcome, RepositoryId, Slot};
use cairn_pipeline::StageError;
use cairn_ports::{ContentReader, ErrorKind, TreeEntry};
use cairn_wire::{ArtifactKind, PackWriter};
use rustc_hash::FxHashMap;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::content::{Blob, Content, unreadable};
use super::deadline::check_stopped;
use super::on_change::{CHANGES, OnChange};
use super::reading::Reading;
use super::refusal::of_source;
use crate::artifacts::Artifacts;

/// Maximum number of bytes of content in one batch. A pack contains the new contents of one batch.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;
/// The smallest limit for the size of a batch. For small snapshots, the limit is lower than `BATCH_BYTES`, so
/// that every thread has work.
const MIN_BATCH_BYTES: u64 = 256 * 1024;
/// If a blob has several paths and cannot be read from one of them, the worker tries at most this many paths.
/// On a disk, one copy may be unreadable while another copy is readable.
const MAX_READS: usize = 3;

pub(crate) struct Packed {
    /// The decisions about contents, each with its position in the manifest.
    pub contents: Vec<(usize, Content)>,
    pub packs: Vec<ArtifactRef>,
}

/// Facts of the previous generation. Content that already has facts is not packed again.
#[derive(Clone)]
pub(crate) struct Known {
    pub slot: Slot,
    pub outcome: Outcome,
}

pub(crate) struct Contents<'a> {
    pub reading: &'a Reading,
    /// Facts of the previous generation by key.
    pub known: Arc<FxHashMap<FactsKey, Known>>,
}

/// Positions of the paths with the same blob, in order.
type Group = Vec<usize>;

/// The contents of a batch, and its pack. Each content has its position in the manifest, and each new content
/// has its slot in the pack.
struct Batch {
    number: usize,
    contents: Vec<(usize, Content, Option<u32>)>,
    pack: Option<Vec<u8>>,
}

impl Contents<'_> {
    pub(crate) async fn read(
        self,
        artifacts: &Artifacts,
        repository: RepositoryId,
        positions: &[usize],
        num_threads: usize,
    ) -> Result<Packed, StageError> {
        let entries = self.reading.tree.entries();
        let batches = cut(groups(positions, entries), entries, num_threads);
        let mut packed = Packed { contents: Vec::with_capacity(positions.len()), packs: Vec::new() };
        if batches.is_empty() {
            return Ok(packed);
        }
        let (sender, receiver) = mpsc::channel(num_threads * 2);
        let worker = Worker {
            reading: self.reading.clone(),
            known: self.known,
            batches: Arc::new(batches),
            next: Arc::new(AtomicUsize::new(0)),
        };
        let threads = worker.start(num_threads, sender);
        let mut finished = write_packs(receiver, artifacts, repository).await?;
        for thread in threads {
            thread.await.map_err(|error| StageError::panicked(error.to_string()))?;
        }
        finished.sort_by_key(|(batch, _)| batch.number);
        for (batch, pack) in finished {
            packed.add(batch, pack);
        }
        Ok(packed)
    }
}

/// Writes the pack of each batch while the workers process further batches. Returns when all workers have
/// ended, or when a batch fails.
async fn write_packs(
    mut receiver: mpsc::Receiver<Result<Batch, StageError>>,
    artifacts: &Artifacts,
    repository: RepositoryId,
) -> Result<Vec<(Batch, Option<ArtifactRef>)>, StageError> {
    let mut finished = Vec::new();
    while let Some(batch) = receiver.recv().await {
        let mut batch = batch?;
        let pack = match batch.pack.take() {
            Some(bytes) => Some(artifacts.put_by_content("packs", repository, bytes).await?),
            None => None,
        };
        finished.push((batch, pack));
    }
    Ok(finished)
}

impl Packed {
    fn add(&mut self, batch: Batch, pack: Option<ArtifactRef>) {
        for (position, mut content, slot) in batch.contents {
            if let (Some(index), Some(artifact)) = (slot, &pack) {
                content.source = Some(Slot { artifact: artifact.clone(), index });
            }
            self.contents.push((position, content));
        }
        self.packs.extend(pack);
    }
}

/// Groups the positions by blob. The groups are in the order of the first path of each blob. Each file
/// without a blob id is a separate group.
fn groups(positions: &[usize], entries: &[TreeEntry]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::with_capacity(positions.len());
    let mut by_blob: FxHashMap<BlobId, usize> = FxHashMap::default();
    for position in positions {
        let blob = entries[*position].blob;
        let next = groups.len();
        let group = if blob == BlobId([0; 20]) { next } else { *by_blob.entry(blob).or_insert(next) };
        match groups.get_mut(group) {
            Some(group) => group.push(*position),
            None => groups.push(vec![*position]),
        }
    }
    groups
}

/// Divides the groups into batches. A batch ends when its contents reach the limit.
fn cut(groups: Vec<Group>, entries: &[TreeEntry], num_threads: usize) -> Vec<Vec<Group>> {
    let size_of = |group: &Group| group.first().map_or(0, |position| entries[*position].size_bytes);
    let total: u64 = groups.iter().map(size_of).sum();
    let limit = (total / (num_threads as u64 * 4)).clamp(MIN_BATCH_BYTES, BATCH_BYTES);
    let mut batches = Vec::new();
    let (mut batch, mut size_bytes) = (Vec::new(), 0);
    for group in groups {
        size_bytes += size_of(&group);
        batch.push(group);
        if size_bytes >= limit {
            batches.push(std::mem::take(&mut batch));
            size_bytes = 0;
        }
    }
    if !batch.is_empty() {
        batches.push(batch);
    }
    batches
}

#[derive(Clone)]
struct Worker {
    reading: Reading,
    known: Arc<FxHashMap<FactsKey, Known>>,
    batches: Arc<Vec<Vec<Group>>>,
    next: Arc<AtomicUsize>,
}

impl Worker {
    /// Starts the threads. The channel closes when the last thread has ended.
    fn start(&self, num_threads: usize, sender: mpsc::Sender<Result<Batch, StageError>>) -> Vec<JoinHandle<()>> {
        let start_one = |_| {
            let (worker, sender) = (self.clone(), sender.clone());
            tokio::task::spawn_blocking(move || worker.run(&sender))
        };
        let threads = (0..num_threads).map(start_one).collect();
        drop(sender);
        threads
    }

    /// Takes batches until no batch is left, a batch fails, or the receiver is closed.
    fn run(&self, sender: &mpsc::Sender<Result<Batch, StageError>>) {
        let mut reader = match self.reading.tree.reader() {
            Ok(reader) => reader,
            Err(error) => return drop(sender.blocking_send(Err(of_source(error)))),
        };
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(groups) = self.batches.get(number) else { return };
            let batch = self.read_batch(number, groups, reader.as_mut());
            let failed = batch.is_err();
            if sender.blocking_send(batch).is_err() || failed {
                return;
            }
        }
    }

    fn read_batch(&self, number: usize, groups: &[Group], reader: &mut dyn ContentReader) -> Result<Batch, StageError> {
        let mut writer = PackWriter::new(ArtifactKind::SourcePack);
        let mut contents = Vec::with_capacity(groups.len());
        for group in groups {
            check_stopped(&self.reading.meter)?;
            self.read_group(group, reader, &mut writer, &mut contents)?;
        }
        let pack = (writer.num_records() > 0).then(|| writer.finish());
        Ok(Batch { number, contents, pack })
    }

    fn read_group(
        &self,
        group: &Group,
        reader: &mut dyn ContentReader,
        writer: &mut PackWriter,
        contents: &mut Vec<(usize, Content, Option<u32>)>,
    ) -> Result<(), StageError> {
        let mut copies = Copies::default();
        let mut slots: FxHashMap<FactsKey, u32> = FxHashMap::default();
        for position in group {
            let entry = &self.reading.tree.entries()[*position];
            copies.read(entry, reader, self.reading.on_change)?;
            let Some(blob) = &mut copies.blob else {
                contents.push((*position, unreadable(&copies.message), None));
                continue;
            };
            self.reading.meter.file_read();
            let mut content = blob.decide(&self.reading, entry);
            let has_facts = self.reuse_facts(&mut content);
            let new_facts = content.facts_key.filter(|_| !has_facts);
            let source = || blob.source(&self.reading, entry, &content);
            let slot = new_facts.map(|key| *slots.entry(key).or_insert_with(|| writer.push(&source())));
            contents.push((*position, content, slot));
        }
        Ok(())
    }

    /// If the content already has facts, it gets the slot and the outcome of these facts. Returns whether the
    /// content has facts.
    fn reuse_facts(&self, content: &mut Content) -> bool {
        let Some(known) = content.facts_key.and_then(|key| self.known.get(&key)) else { return false };
        content.source = Some(known.slot.clone());
        content.outcome = known.outcome.clone();
        true
    }
}

/// The copies of one blob: the blob, if a copy was readable, and the last error.
#[derive(Default)]
struct Copies {
    blob: Option<Blob>,
    num_failed: usize,
    message: String,
}

impl Copies {
    /// Reads this copy, unless the blob was already read or too many copies are unreadable. Returns an error
    /// if the file changed and the tree must be listed again.
    fn read(
        &mut self,
        entry: &TreeEntry,
        reader: &mut dyn ContentReader,
        on_change: OnChange,
    ) -> Result<(), StageError> {
        if self.blob.is_some() || self.num_failed >= MAX_READS {
            return Ok(());
        }
        match reader.read(entry) {
            Ok(bytes) => self.blob = Some(Blob::new(bytes)),
            Err(error) if error.kind == ErrorKind::Conflict => match on_change {
                OnChange::ListAgain => return Err(error.into()),
                OnChange::Record => self.fail(CHANGES.to_owned()),
            },
            Err(error) => self.fail(error.to_string()),
        }
        Ok(())
    }

    fn fail(&mut self, message: String) {
        self.num_failed += 1;
        self.message = message;
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{EntryKind, RepoPath};

    use super::*;

    #[test]
    fn paths_of_one_blob_are_one_group() {
        let entry = |path: &str, blob| TreeEntry {
            path: RepoPath::parse(path).expect("a path"),
            kind: EntryKind::File,
            blob: BlobId([blob; 20]),
            size_bytes: MIN_BATCH_BYTES,
            unreadable: None,
            changed_at: None,
        };
        let entries = [entry("a", 1), entry("b", 0), entry("c", 2), entry("d", 1), entry("e", 0)];
        let groups = groups(&[0, 1, 2, 3, 4], &entries);
        assert_eq!(groups, [vec![0, 3], vec![1], vec![2], vec![4]]);
        assert_eq!(cut(groups, &entries, 1).len(), 4);
    }
}
