//! A segment file, mapped into memory and read in place.
//!
//! Whatever bytes the file contains, a read returns values or `SegmentError::Damaged` and never panics.
//! Lengths are checked when the file is opened. Indexes are checked when they are used.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use cairn_domain::{
    ChunkKey, ChunkKind, ChunkRecord, ContentHash, DenseVector, Digest, GenerationId, Key128, LineSpan, RepoPath,
    RepositoryId, SymbolKind,
};
use memmap2::Mmap;

use crate::blocks::{BlockReader, Blocks};
use crate::error::SegmentError;
use crate::format::{
    ALIGNMENT, DOCUMENTED, EXPORTED, FileEntry, FileTable, HAS_SECRETS, HASH_BYTES, Header, IS_TEST, KEY_BYTES,
    KEY_ORDER_BYTES, MAGIC, NUM_SECTIONS, PREAMBLE_BYTES, ROW_BYTES, RowLabels, RowRecord, Section, VERSION, checksum,
    key_prefix,
};
use crate::postings::Postings;
use crate::writer::Tombstone;

const TOMBSTONE_BYTES: usize = KEY_BYTES + 8;
/// Maximum size of the decompressed table of source files. Without the limit, a damaged length could allocate
/// all memory.
const MAX_TABLE_BYTES: usize = 1 << 30;

/// An open segment.
pub(crate) struct Segment {
    path: PathBuf,
    map: Mmap,
    header: Header,
    /// Position of each section in the segment file.
    ranges: [Range<usize>; NUM_SECTIONS],
    files: FileTable,
    /// First row of each source file.
    file_starts: Vec<u32>,
}

impl Segment {
    /// Maps the file and verifies the sections that every query reads.
    pub(crate) fn open(path: &Path) -> Result<Self, SegmentError> {
        let file = File::open(path).map_err(SegmentError::io("open", path))?;
        // SAFETY: segments are immutable. A segment is written under a temporary name and renamed when it is
        // complete. After that, the file can only be unlinked, which does not change the mapped bytes.
        let map = unsafe { Mmap::map(&file) }.map_err(SegmentError::io("map", path))?;
        let damaged = |what| SegmentError::damaged(path, what);
        let (header, start) = read_header(&map).map_err(damaged)?;
        let ranges =
            section_ranges(&header, start, map.len()).ok_or_else(|| damaged("its sections extend past its end"))?;
        for section in Section::ALL.into_iter().filter(|section| section.is_checked_at_open()) {
            if checksum(&map[ranges[section as usize].clone()]) != header.sections[section as usize].checksum {
                return Err(damaged("a checksum does not match"));
            }
        }
        let files = read_files(&map[ranges[Section::Files as usize].clone()])
            .ok_or_else(|| damaged("its table of files cannot be read"))?;
        let file_starts = file_starts(&files);
        let segment = Self { path: path.to_owned(), map, header, ranges, files, file_starts };
        segment.check_shape()?;
        Ok(segment)
    }

    fn check_shape(&self) -> Result<(), SegmentError> {
        let num_rows = self.num_rows() as usize;
        let num_file_rows: u64 = self.files.files.iter().map(|file| u64::from(file.num_rows)).sum();
        let has_length = |section, length: usize| self.section(section).len() == length;
        let known_names = self.files.files.iter().all(|file| {
            (file.language as usize) < self.files.languages.len()
                && (file.module as usize) < self.files.modules.len()
                && (file.tag_set as usize) < self.files.tag_sets.len()
        });
        let fits = num_file_rows == num_rows as u64
            && known_names
            && has_length(Section::Rows, num_rows * ROW_BYTES)
            && has_length(Section::Keys, num_rows * KEY_BYTES)
            && has_length(Section::KeyOrder, num_rows * KEY_ORDER_BYTES)
            && has_length(Section::ContentHashes, num_rows * HASH_BYTES)
            && has_length(Section::VectorDigests, num_rows * HASH_BYTES)
            && has_length(Section::Dense, num_rows * self.dimensions())
            && self.section(Section::Tombstones).len().is_multiple_of(TOMBSTONE_BYTES);
        let generations = self.header.generations.len();
        let known_generations = || (0..self.num_rows()).all(|row| usize::from(self.row(row).generation) < generations);
        if fits && known_generations() {
            Ok(())
        } else {
            Err(self.damaged("its columns are inconsistent with each other"))
        }
    }

    /// Reads every section and verifies its checksum.
    pub(crate) fn verify(&self) -> Result<(), SegmentError> {
        for section in Section::ALL {
            if checksum(self.section(section)) != self.header.sections[section as usize].checksum {
                return Err(self.damaged("a checksum does not match"));
            }
        }
        self.postings()?.vectors(self.num_rows()).map(drop).ok_or_else(|| self.damaged("its postings cannot be read"))
    }

    pub(crate) fn damaged(&self, what: &'static str) -> SegmentError {
        SegmentError::damaged(&self.path, what)
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    pub(crate) fn repository(&self) -> RepositoryId {
        RepositoryId(Key128(self.header.repository))
    }

    pub(crate) fn num_rows(&self) -> u32 {
        self.header.num_rows
    }

    pub(crate) fn dimensions(&self) -> usize {
        usize::from(self.header.dimensions)
    }

    pub(crate) fn section(&self, section: Section) -> &[u8] {
        &self.map[self.ranges[section as usize].clone()]
    }

    /// The source files of the segment, each with its rows.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&FileEntry, Range<u32>)> {
        let ranges = self.file_starts.iter().zip(&self.files.files);
        ranges.map(|(start, file)| (file, *start..*start + file.num_rows))
    }

    pub(crate) fn file_table(&self) -> &FileTable {
        &self.files
    }

    /// The source file of a row. The number of the row must be less than `num_rows`.
    pub(crate) fn file_of(&self, row: u32) -> &FileEntry {
        &self.files.files[self.file_starts.partition_point(|start| *start <= row) - 1]
    }

    /// The columns of a row. The number of the row must be less than `num_rows`.
    pub(crate) fn row(&self, row: u32) -> RowRecord {
        RowRecord::from_bytes(element(self.section(Section::Rows), row))
    }

    /// The generation in which a row began. The number of the row must be less than `num_rows`.
    pub(crate) fn generation_of(&self, row: u32) -> GenerationId {
        GenerationId(self.header.generations[usize::from(self.row(row).generation)])
    }

    pub(crate) fn key(&self, row: u32) -> ChunkKey {
        ChunkKey(Key128(*element(self.section(Section::Keys), row)))
    }

    pub(crate) fn dense(&self, row: u32) -> DenseVector {
        let start = row as usize * self.dimensions();
        let bytes = &self.section(Section::Dense)[start..start + self.dimensions()];
        DenseVector(bytes.iter().map(|value| *value as i8).collect())
    }

    pub(crate) fn vector_digest(&self, row: u32) -> Digest {
        Digest(*element(self.section(Section::VectorDigests), row))
    }

    /// Returns the entry at a position in the order of keys: the prefix of the key, and the row of the key.
    fn key_order(&self, place: u32) -> Result<(u32, u32), SegmentError> {
        let bytes: &[u8; KEY_ORDER_BYTES] = element(self.section(Section::KeyOrder), place);
        let [a, b, c, d, e, f, g, h] = *bytes;
        let (prefix, row) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let damaged = || self.damaged("its order of keys contains a row that does not exist");
        if row < self.num_rows() { Ok((prefix, row)) } else { Err(damaged()) }
    }

    /// The first position, in key order, of a key whose prefix is at least `prefix`.
    ///
    /// Keys are hashes, so the position can be estimated. From the estimate, the search doubles its step
    /// until it has passed the position, and then continues as a binary search.
    fn place_of_prefix(&self, prefix: u32) -> Result<u32, SegmentError> {
        let num_rows = self.num_rows();
        let is_before = |place: u32| Ok::<_, SegmentError>(self.key_order(place)?.0 < prefix);
        let guess = ((u64::from(prefix) * u64::from(num_rows)) >> 32) as u32;
        let (mut low, mut high, mut step) = (0, num_rows, 8);
        if guess < num_rows && is_before(guess)? {
            low = guess + 1;
            while low + step < num_rows && is_before(low + step)? {
                low += step + 1;
                step *= 2;
            }
            high = num_rows.min(low + step);
        } else if guess < num_rows {
            high = guess;
            while high > step && !is_before(high - step)? {
                high -= step;
                step *= 2;
            }
            low = high.saturating_sub(step);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle)? {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The rows whose keys are at least `from`, in the order of their keys.
    pub(crate) fn rows_from_key(
        &self,
        from: Key128,
    ) -> Result<impl Iterator<Item = Result<u32, SegmentError>> + use<'_>, SegmentError> {
        let mut place = self.place_of_prefix(key_prefix(from))?;
        while place < self.num_rows() && self.key(self.key_order(place)?.1).0 < from {
            place += 1;
        }
        Ok((place..self.num_rows()).map(|place| self.key_order(place).map(|(_, row)| row)))
    }

    /// The rows of a key: no row, one row, or in a merged segment one row for each generation.
    pub(crate) fn rows_of_key(&self, key: ChunkKey) -> Result<Vec<u32>, SegmentError> {
        let mut rows = Vec::new();
        let prefix = key_prefix(key.0);
        for place in self.place_of_prefix(prefix)?..self.num_rows() {
            let (found, row) = self.key_order(place)?;
            if found != prefix {
                break;
            }
            if self.key(row) == key {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    pub(crate) fn tombstones(&self) -> impl ExactSizeIterator<Item = Tombstone> {
        self.section(Section::Tombstones).as_chunks::<TOMBSTONE_BYTES>().0.iter().map(|bytes| {
            let mut key = [0; KEY_BYTES];
            key.copy_from_slice(&bytes[..KEY_BYTES]);
            let mut generation = [0; 8];
            generation.copy_from_slice(&bytes[KEY_BYTES..]);
            Tombstone { key: ChunkKey(Key128(key)), generation: GenerationId(u64::from_le_bytes(generation)) }
        })
    }

    pub(crate) fn postings(&self) -> Result<Postings<'_>, SegmentError> {
        let [terms, ends, lists] =
            [Section::Terms, Section::TermEnds, Section::PostingLists].map(|section| self.section(section));
        Postings::new(terms, ends, lists).ok_or_else(|| self.damaged("its postings are inconsistent with each other"))
    }

    pub(crate) fn reader(&self, with_text: bool) -> Result<RecordReader<'_>, SegmentError> {
        let blocks = |index, data| {
            let blocks = Blocks::new(self.section(index), self.section(data), self.num_rows());
            blocks.map(BlockReader::new).ok_or_else(|| self.damaged("an index of blocks is incomplete"))
        };
        let labels = blocks(Section::LabelIndex, Section::LabelData)?;
        let texts = if with_text { Some(blocks(Section::TextIndex, Section::TextData)?) } else { None };
        Ok(RecordReader { segment: self, labels, texts })
    }
}

/// Returns the header and the position at which the sections start.
fn read_header(map: &[u8]) -> Result<(Header, usize), &'static str> {
    let preamble = map.get(..PREAMBLE_BYTES).ok_or("it is too short")?;
    if preamble[..8] != MAGIC {
        return Err("it does not start with the magic bytes of a segment");
    }
    let number = |at: usize| u32::from_le_bytes([preamble[at], preamble[at + 1], preamble[at + 2], preamble[at + 3]]);
    if number(8) != VERSION {
        return Err("its format belongs to another version of Cairn");
    }
    let end = PREAMBLE_BYTES + number(12) as usize;
    let bytes = map.get(PREAMBLE_BYTES..end).ok_or("it is cut off")?;
    if checksum(bytes) != preamble[16..32] {
        return Err("the checksum of its header does not match");
    }
    let header: Header = postcard::from_bytes(bytes).map_err(|_| "its header cannot be read")?;
    if header.sections.len() != NUM_SECTIONS {
        return Err("it does not have the sections of a segment");
    }
    Ok((header, end.next_multiple_of(ALIGNMENT)))
}

fn section_ranges(header: &Header, start: usize, length: usize) -> Option<[Range<usize>; NUM_SECTIONS]> {
    let mut ranges = std::array::from_fn(|_| 0..0);
    for (range, entry) in ranges.iter_mut().zip(&header.sections) {
        let from = start.checked_add(usize::try_from(entry.offset).ok()?)?;
        let to = from.checked_add(usize::try_from(entry.length).ok()?)?;
        if to > length {
            return None;
        }
        *range = from..to;
    }
    Some(ranges)
}

fn read_files(bytes: &[u8]) -> Option<FileTable> {
    let (length, compressed) = bytes.split_first_chunk::<4>()?;
    let length = (u32::from_le_bytes(*length) as usize).min(MAX_TABLE_BYTES);
    postcard::from_bytes(&zstd::bulk::decompress(compressed, length).ok()?).ok()
}

fn file_starts(files: &FileTable) -> Vec<u32> {
    let starts = files.files.iter().scan(0u32, |next, file| {
        let start = *next;
        *next = next.saturating_add(file.num_rows);
        Some(start)
    });
    starts.collect()
}

/// An element of a column whose length was checked when the segment was opened.
fn element<const SIZE: usize>(column: &[u8], row: u32) -> &[u8; SIZE] {
    &column.as_chunks().0[row as usize]
}

/// Reads complete records. Reading is fastest in the order of rows, because adjacent rows share blocks.
pub(crate) struct RecordReader<'a> {
    segment: &'a Segment,
    labels: BlockReader<'a>,
    texts: Option<BlockReader<'a>>,
}

impl RecordReader<'_> {
    /// The record of a row. The number of the row must be less than `num_rows`. The text of the record is
    /// empty if the reader was created without texts.
    pub(crate) fn record(&mut self, row: u32) -> Result<ChunkRecord, SegmentError> {
        let segment = self.segment;
        let damaged = || segment.damaged("a block of texts cannot be read");
        let labels: RowLabels =
            self.labels.row(row).and_then(|bytes| postcard::from_bytes(bytes).ok()).ok_or_else(damaged)?;
        let text = match &mut self.texts {
            Some(texts) => str::from_utf8(texts.row(row).ok_or_else(damaged)?).map_err(|_| damaged())?.to_owned(),
            None => String::new(),
        };
        let (columns, file, names) = (segment.row(row), segment.file_of(row), segment.file_table());
        let flag = |flag| columns.flags & flag != 0;
        Ok(ChunkRecord {
            key: segment.key(row),
            repository: segment.repository(),
            path: RepoPath::parse(&file.path).map_err(|_| segment.damaged("a path is not valid"))?,
            language: names.languages[file.language as usize].clone(),
            kind: *ChunkKind::ALL.get(usize::from(columns.kind)).ok_or_else(|| segment.damaged("a kind is unknown"))?,
            span: LineSpan::new(columns.start_line, columns.end_line),
            symbol: labels.symbol,
            symbol_kind: SymbolKind::ALL.get(usize::from(columns.symbol_kind)).copied(),
            heading: labels.heading,
            header: labels.header,
            text,
            content_hash: ContentHash(*element(segment.section(Section::ContentHashes), row)),
            module_path: names.modules[file.module as usize].clone(),
            is_test: flag(IS_TEST),
            exported: flag(EXPORTED),
            documented: flag(DOCUMENTED),
            has_secrets: flag(HAS_SECRETS),
            weight_percent: columns.weight_percent,
            tags: names.tag_sets[file.tag_set as usize].as_slice().into(),
            changed_at: file.changed_at,
        })
    }
}
