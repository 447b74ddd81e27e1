//! Searches the files in order, in batches, on several threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cairn_domain::{RepositoryId, SourceText, View};
use cairn_exact::{GramQuery, Hit, Pattern};
use cairn_ports::{ChunkFilter, IncludeTests, TextFile};
use cairn_redaction::Own;
use cairn_wire::{DecodeError, Pack, PackReader};
use futures::{StreamExt, TryStreamExt, stream};

use super::types::{COUNTING, LONGEST, MAX_COUNTED, ResumePoint};
use crate::chunk_filter::CompiledFilter;
use crate::code::damaged;
use crate::cursor::expired;
use crate::repositories::KnownRepository;
use crate::{QueryError, QueryErrorCode, Searcher};

/// Number of files in the first batch of a repository. Each following batch is twice as large, up to
/// `LARGEST_BATCH`.
const FIRST_BATCH: usize = 32;
const LARGEST_BATCH: usize = 512;
/// Number of repositories or packs that are read at the same time. Concurrent reads save time, because each
/// read may wait for a store.
const AT_ONCE: usize = 8;
/// Maximum number of threads that search one batch.
const MAX_THREADS: usize = 4;
/// A thread checks the time limit each time it has found this number of hits.
const HITS_BETWEEN_CHECKS: usize = 256;

/// A search in progress.
pub(super) struct Scan<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) view: &'a View,
    pub(super) pattern: Arc<Pattern>,
    pub(super) filter: &'a ChunkFilter,
    pub(super) started: Instant,
}

/// The result of a search: the files with the hits of the page, and counts.
#[derive(Default)]
pub(super) struct Progress {
    /// The files with the hits of the page. Later files with hits are only counted.
    pub(super) files: Vec<FileHits>,
    pub(super) num_hits: usize,
    pub(super) num_files: usize,
    /// Whether all files of all repositories were searched.
    pub(super) is_complete: bool,
    /// The last file that was searched, if the search ended before all files were searched.
    pub(super) last_searched: Option<ResumePoint>,
}

/// The hits of a file.
pub(super) struct FileHits {
    pub(super) id: RepositoryId,
    pub(super) repository: String,
    pub(super) file: TextFile,
    pub(super) text: String,
    pub(super) hits: Vec<Hit>,
}

/// The result for one file. `None` if the time limit was reached before the file was searched completely.
type Searched = Result<Option<(String, Vec<Hit>)>, DecodeError>;

impl Scan<'_> {
    /// Searches the repositories in order, starting after the place `after`. After the page is full, the
    /// search continues to count hits, up to a limit.
    pub(super) async fn run(
        &self,
        selected: &[KnownRepository],
        after: Option<ResumePoint>,
        wanted: usize,
    ) -> Result<Progress, QueryError> {
        let filter = CompiledFilter::new(self.filter)?;
        let mut progress = Progress::default();
        let mut after = after;
        let published: Vec<&KnownRepository> = selected.iter().filter(|known| known.published.is_some()).collect();
        let candidates_in = |index: usize| self.candidates(published[index], self.pattern.query());
        let mut candidates = stream::iter(0..published.len()).map(candidates_in).buffered(AT_ONCE);
        for known in &published {
            let Some(mut files) = candidates.try_next().await? else { continue };
            files.retain(|file| self.lets_through(&filter, file));
            let mut first_line = 0;
            if let Some(place) = after {
                // The previous page ended in this file, so the file is a candidate again.
                let is_there = |file: &TextFile| ResumePoint::of(known.record.id, &file.path, 0).file == place.file;
                let Some(position) = files.iter().position(is_there) else { continue };
                files.drain(..position);
                (first_line, after) = (place.line, None);
            }
            if !self.search_repository(known, files, first_line, wanted, &mut progress).await? {
                return Ok(progress);
            }
        }
        // The view of the cursor contains the file of the place. If the file was not found, its repository
        // was removed.
        if after.is_some() {
            return Err(expired());
        }
        progress.is_complete = true;
        progress.last_searched = None;
        Ok(progress)
    }

    /// The files of a repository whose trigrams satisfy the query.
    pub(super) async fn candidates(
        &self,
        known: &KnownRepository,
        query: &GramQuery,
    ) -> Result<Vec<TextFile>, QueryError> {
        let scope = self.searcher.scope_of(std::slice::from_ref(known));
        Ok(self.searcher.texts.candidates(self.view, &scope, known.record.id, query).await?)
    }

    pub(super) fn lets_through(&self, filter: &CompiledFilter<'_>, file: &TextFile) -> bool {
        let ChunkFilter { languages, include_tests, .. } = self.filter;
        let is_test = || cairn_languages::is_test_path(&file.language, &file.path);
        (languages.is_empty() || languages.iter().any(|language| **language == *file.language))
            && filter.lets_file_through(&file.path)
            && match include_tests {
                IncludeTests::Include => true,
                IncludeTests::Exclude => !is_test(),
                IncludeTests::Only => is_test(),
            }
    }

    /// Searches the files of a repository. In the first file, only the hits after `first_line` are used.
    /// Returns whether all files were searched.
    async fn search_repository(
        &self,
        known: &KnownRepository,
        files: Vec<TextFile>,
        mut first_line: u32,
        wanted: usize,
        progress: &mut Progress,
    ) -> Result<bool, QueryError> {
        let mut files = files.into_iter();
        let mut size = FIRST_BATCH;
        while files.len() > 0 {
            if !self.goes_on(progress, wanted) {
                return Ok(false);
            }
            let batch: Vec<TextFile> = files.by_ref().take(size).collect();
            size = (2 * size).min(LARGEST_BATCH);
            let searched = self.search_batch(known, &batch, progress.num_hits < wanted).await?;
            for (file, searched) in batch.into_iter().zip(searched) {
                let searched = searched.map_err(|error| damaged(&file.pack.key, &error))?;
                let Some((text, mut hits)) = searched else { return Ok(false) };
                let skipped = std::mem::take(&mut first_line);
                hits.retain(|hit| hit.first_line > skipped);
                progress.last_searched = Some(ResumePoint::of(known.record.id, &file.path, u32::MAX));
                if hits.is_empty() {
                    continue;
                }
                let is_shown = progress.num_hits < wanted;
                progress.num_hits += hits.len();
                progress.num_files += 1;
                if is_shown {
                    let (id, repository) = (known.record.id, known.record.name.to_string());
                    progress.files.push(FileHits { id, repository, file, text, hits });
                }
            }
        }
        Ok(true)
    }

    /// Whether the search must continue with more files.
    fn goes_on(&self, progress: &Progress, wanted: usize) -> bool {
        let time = self.started.elapsed();
        if progress.num_hits < wanted { time < LONGEST } else { progress.num_hits <= MAX_COUNTED && time < COUNTING }
    }

    /// Searches the files of a batch. Returns the results in the order of the files.
    async fn search_batch(
        &self,
        known: &KnownRepository,
        batch: &[TextFile],
        is_page_open: bool,
    ) -> Result<Vec<Searched>, QueryError> {
        let mut keys: Vec<&str> = batch.iter().map(|file| file.pack.key.as_str()).collect();
        keys.sort_unstable();
        keys.dedup();
        // The packs are read into the cache at the same time. If a pack cannot be read, the error is reported
        // when its file is opened.
        let Searcher { blobs, packs, .. } = self.searcher;
        let read = |index: usize| packs.get(blobs.as_ref(), keys[index]);
        stream::iter(0..keys.len()).map(read).buffer_unordered(AT_ONCE).for_each(|_| async {}).await;
        let mut opened = Vec::with_capacity(batch.len());
        for file in batch {
            opened.push(self.open(known, file).await?);
        }
        let num_threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let size = opened.len().div_ceil(num_threads);
        let deadline = self.started + if is_page_open { LONGEST } else { COUNTING };
        let is_over = Arc::new(AtomicBool::new(false));
        let mut opened = opened.into_iter();
        let mut threads = Vec::new();
        while opened.len() > 0 {
            let piece: Vec<(Arc<Pack>, u32)> = opened.by_ref().take(size).collect();
            let (pattern, is_over) = (Arc::clone(&self.pattern), Arc::clone(&is_over));
            threads.push(tokio::task::spawn_blocking(move || search_piece(&pattern, piece, deadline, &is_over)));
        }
        let mut searched = Vec::with_capacity(batch.len());
        for thread in threads {
            searched.extend(thread.await.map_err(|error| {
                QueryError::new(QueryErrorCode::InternalError, Own(format!("a search thread failed: {error}")))
            })?);
        }
        Ok(searched)
    }

    /// The pack and the slot of a file. The pack may have been removed, because the same content is now
    /// stored in a different pack. If the pack was removed, the published manifest contains the current pack
    /// and slot.
    async fn open(&self, known: &KnownRepository, file: &TextFile) -> Result<(Arc<Pack>, u32), QueryError> {
        let Searcher { blobs, packs, .. } = self.searcher;
        let error = match packs.get(blobs.as_ref(), &file.pack.key).await {
            Ok(pack) => return Ok((pack, file.slot)),
            Err(error) => error,
        };
        let manifest = self.searcher.manifest(known).await?;
        let entry = manifest.as_ref().and_then(|manifest| manifest.find(file.path.as_str()));
        let slot = entry.and_then(|entry| entry.source.as_ref()).filter(|slot| slot.artifact.key != file.pack.key);
        let Some(slot) = slot else { return Err(error) };
        Ok((packs.get(blobs.as_ref(), &slot.artifact.key).await?, slot.index))
    }
}

/// Searches these texts in order. No text is searched after the deadline.
fn search_piece(
    pattern: &Pattern,
    piece: Vec<(Arc<Pack>, u32)>,
    deadline: Instant,
    is_over: &AtomicBool,
) -> Vec<Searched> {
    let mut reader: Option<(Arc<Pack>, PackReader)> = None;
    let mut searched = Vec::with_capacity(piece.len());
    for (pack, slot) in piece {
        if is_over.load(Ordering::Relaxed) || Instant::now() >= deadline {
            is_over.store(true, Ordering::Relaxed);
            searched.push(Ok(None));
            continue;
        }
        if reader.as_ref().is_none_or(|(open, _)| !Arc::ptr_eq(open, &pack)) {
            reader = Some((Arc::clone(&pack), PackReader::of(pack)));
        }
        let Some((_, reader)) = &mut reader else { continue };
        searched.push(search_text(pattern, reader, slot, deadline));
    }
    searched
}

fn search_text(pattern: &Pattern, reader: &mut PackReader, slot: u32, deadline: Instant) -> Searched {
    let source: SourceText = reader.read(slot)?;
    let mut hits = Vec::new();
    for hit in pattern.hits(&source.text) {
        hits.push(hit);
        if hits.len().is_multiple_of(HITS_BETWEEN_CHECKS) && Instant::now() >= deadline {
            return Ok(None);
        }
    }
    Ok(Some((source.text, hits)))
}
