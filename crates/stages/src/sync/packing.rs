//! Reads the contents that are new, redacts them and packs them.
//!
//! The work is cut into batches by position, so that the same tree gives the same packs. Threads take batches in turn;
//! what they finish is written while they go on, and at most a few packs wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cairn_domain::{ArtifactRef, FactsKey, Outcome, Reason, RepositoryId, Slot, SourceText};
use cairn_inventory::ContentDecision;
use cairn_pipeline::StageError;
use cairn_ports::{ContentReader, ErrorKind, TreeEntry};
use cairn_wire::{ArtifactKind, PackWriter};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::mpsc;

use super::inventory::Inventory;
use super::of_source;
use crate::artifacts::Artifacts;

/// Bytes of content in one batch; a pack is what is new of a batch.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;
/// Small snapshots are cut finer, so that every thread has work.
const MIN_BATCH_BYTES: u64 = 256 * 1024;
/// What language a file is in shows in its first bytes, if its name does not say.
const HEAD_BYTES: usize = 4096;

/// What the content of a path says.
pub(crate) struct Content {
    pub outcome: Outcome,
    pub language: Option<String>,
    pub facts_key: Option<FactsKey>,
    pub source: Option<Slot>,
    pub num_secrets: u32,
    pub num_lines: u32,
    pub low_weight: bool,
}

pub(crate) struct Packed {
    /// By position in the manifest.
    pub contents: Vec<(usize, Content)>,
    pub packs: Vec<ArtifactRef>,
}

/// Facts that need no pack.
#[derive(Clone)]
pub(crate) struct Known {
    pub slot: Slot,
    pub outcome: Outcome,
}

pub(crate) struct Contents<'a> {
    pub inventory: &'a Inventory,
    /// Facts that need no pack.
    pub known: FxHashMap<FactsKey, Known>,
}

/// A batch that was read: its contents, with slots that still lack their artifact, and the pack.
struct Batch {
    number: usize,
    contents: Vec<(usize, Content, Option<u32>)>,
    pack: Option<Vec<u8>>,
}

impl Contents<'_> {
    pub(crate) async fn read(
        mut self,
        artifacts: &Artifacts,
        repository: RepositoryId,
        positions: &[usize],
        num_threads: usize,
    ) -> Result<Packed, StageError> {
        // Copies of a blob are read after it, when its facts are known.
        let entries = self.inventory.tree.entries();
        let mut seen = FxHashSet::default();
        let (first, copies): (Vec<usize>, Vec<usize>) =
            positions.iter().partition(|position| seen.insert(entries[**position].blob));
        let mut packed = Packed { contents: Vec::with_capacity(positions.len()), packs: Vec::new() };
        for positions in [first, copies] {
            self.read_batches(artifacts, repository, positions, num_threads, &mut packed).await?;
        }
        Ok(packed)
    }

    async fn read_batches(
        &mut self,
        artifacts: &Artifacts,
        repository: RepositoryId,
        positions: Vec<usize>,
        num_threads: usize,
        packed: &mut Packed,
    ) -> Result<(), StageError> {
        let batches = cut(&positions, self.inventory.tree.entries(), num_threads);
        if batches.is_empty() {
            return Ok(());
        }
        let (sender, mut receiver) = mpsc::channel(num_threads * 2);
        let worker = Worker {
            inventory: self.inventory.clone(),
            known: Arc::new(self.known.clone()),
            batches: Arc::new(batches),
            next: Arc::new(AtomicUsize::new(0)),
        };
        let threads: Vec<_> = (0..num_threads)
            .map(|_| {
                let (worker, sender) = (worker.clone(), sender.clone());
                tokio::task::spawn_blocking(move || worker.run(&sender))
            })
            .collect();
        drop(sender);
        let mut finished = Vec::new();
        while let Some(batch) = receiver.recv().await {
            let mut batch: Batch = batch?;
            let pack = match batch.pack.take() {
                Some(bytes) => Some(artifacts.put_by_content("packs", repository, bytes).await?),
                None => None,
            };
            finished.push((batch, pack));
        }
        for thread in threads {
            thread.await.map_err(|error| StageError::panicked(error.to_string()))?;
        }
        finished.sort_by_key(|(batch, _)| batch.number);
        for (batch, pack) in finished {
            self.collect(batch, pack, packed);
        }
        Ok(())
    }

    fn collect(&mut self, batch: Batch, pack: Option<ArtifactRef>, packed: &mut Packed) {
        for (position, mut content, slot) in batch.contents {
            if let (Some(index), Some(artifact)) = (slot, &pack) {
                content.source = Some(Slot { artifact: artifact.clone(), index });
            }
            if let (Some(key), Some(slot)) = (content.facts_key, &content.source) {
                let known = || Known { slot: slot.clone(), outcome: content.outcome.clone() };
                self.known.entry(key).or_insert_with(known);
            }
            packed.contents.push((position, content));
        }
        packed.packs.extend(pack);
    }
}

/// Positions in order, cut where the contents reach a batch's size.
fn cut(positions: &[usize], entries: &[TreeEntry], num_threads: usize) -> Vec<Vec<usize>> {
    let total: u64 = positions.iter().map(|position| entries[*position].size_bytes).sum();
    let limit = (total / (num_threads as u64 * 4)).clamp(MIN_BATCH_BYTES, BATCH_BYTES);
    let mut batches = Vec::new();
    let (mut batch, mut size_bytes) = (Vec::new(), 0);
    for position in positions {
        batch.push(*position);
        size_bytes += entries[*position].size_bytes;
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
    inventory: Inventory,
    known: Arc<FxHashMap<FactsKey, Known>>,
    batches: Arc<Vec<Vec<usize>>>,
    next: Arc<AtomicUsize>,
}

impl Worker {
    /// Takes batches until there are none. A receiver that is gone wants no more.
    fn run(&self, sender: &mpsc::Sender<Result<Batch, StageError>>) {
        let mut reader = match self.inventory.tree.reader() {
            Ok(reader) => reader,
            Err(error) => return drop(sender.blocking_send(Err(of_source(error)))),
        };
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(positions) = self.batches.get(number) else { return };
            let batch = self.read_batch(number, positions, reader.as_mut());
            let failed = batch.is_err();
            if sender.blocking_send(batch).is_err() || failed {
                return;
            }
        }
    }

    fn read_batch(
        &self,
        number: usize,
        positions: &[usize],
        reader: &mut dyn ContentReader,
    ) -> Result<Batch, StageError> {
        let mut writer = PackWriter::new(ArtifactKind::SourcePack);
        let mut slots: FxHashMap<FactsKey, u32> = FxHashMap::default();
        let mut contents = Vec::with_capacity(positions.len());
        for position in positions {
            let entry = &self.inventory.tree.entries()[*position];
            let bytes = match reader.read(entry) {
                Ok(bytes) => bytes,
                Err(error) if error.kind == ErrorKind::Conflict => return Err(error.into()),
                Err(error) => {
                    contents.push((*position, unreadable(&error.to_string()), None));
                    continue;
                }
            };
            let (mut content, text) = self.decide(entry, bytes);
            self.inventory.meter.file_read();
            let mut slot = None;
            if let (Some(key), Some(text)) = (content.facts_key, text) {
                match self.known.get(&key) {
                    Some(known) => {
                        content.source = Some(known.slot.clone());
                        content.outcome = known.outcome.clone();
                    }
                    None => slot = Some(*slots.entry(key).or_insert_with(|| writer.push(&text))),
                }
            }
            contents.push((*position, content, slot));
        }
        let pack = (writer.num_records() > 0).then(|| writer.finish());
        Ok(Batch { number, contents, pack })
    }

    fn decide(&self, entry: &TreeEntry, bytes: Vec<u8>) -> (Content, Option<SourceText>) {
        let settings = &self.inventory.settings;
        let (text, low_weight) = match settings.rules.decide_content(&entry.path, bytes) {
            ContentDecision::Text { text, low_weight } => (text, low_weight),
            ContentDecision::Skip(reason) => return (skipped(reason), None),
        };
        let mut head = text.len().min(HEAD_BYTES);
        while !text.is_char_boundary(head) {
            head -= 1;
        }
        let row = cairn_syntax::language_of(&entry.path, &text.as_bytes()[..head]);
        let language = row.map_or("text", |row| row.name).to_owned();
        let reason = if row.is_none() { Some(Reason::NoParser) } else { None };
        let redacted = self.inventory.is_searched(&entry.path).then(|| settings.redactor.redact(&text));
        let (text, secrets) = match redacted {
            Some(redacted) => (redacted.text.into_owned(), redacted.findings),
            None => (text, Vec::new()),
        };
        let facts_key = self.inventory.facts_key(&entry.path, entry.blob, &language);
        let content = Content {
            outcome: Outcome::Indexed(reason),
            language: Some(language.clone()),
            facts_key: Some(facts_key),
            source: None,
            num_secrets: secrets.len() as u32,
            num_lines: num_lines(&text),
            low_weight,
        };
        let source = SourceText { facts_key, blob: entry.blob, language: Some(language), text, secrets };
        (content, Some(source))
    }
}

/// Lines as editors count them: a last line without its newline counts, an empty text has none.
fn num_lines(text: &str) -> u32 {
    let newlines = text.bytes().filter(|byte| *byte == b'\n').count() as u32;
    newlines + u32::from(!text.is_empty() && !text.ends_with('\n'))
}

fn skipped(reason: Reason) -> Content {
    Content {
        outcome: Outcome::Skipped(reason),
        language: None,
        facts_key: None,
        source: None,
        num_secrets: 0,
        num_lines: 0,
        low_weight: false,
    }
}

fn unreadable(message: &str) -> Content {
    let outcome = Outcome::Failed { reason: Reason::Unreadable, message: message.to_owned() };
    Content { outcome, ..skipped(Reason::Unreadable) }
}
