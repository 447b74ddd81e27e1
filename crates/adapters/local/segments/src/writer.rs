//! Encodes points as the bytes of a segment file.
//!
//! The bytes depend only on the points, not on their order, so the same part always produces the same file.

use std::collections::BTreeMap;

use cairn_domain::{ChunkKey, ChunkKind, GenerationId, Point, RepositoryId, SymbolKind, Tenant};

use crate::blocks::{self, EncodedBlocks};
use crate::error::SegmentError;
use crate::format::{
    ALIGNMENT, DOCUMENTED, EXPORTED, FileEntry, FileTable, HAS_SECRETS, Header, IS_TEST, MAGIC, MAX_ROWS,
    NO_SYMBOL_KIND, NUM_SECTIONS, PREAMBLE_BYTES, RowLabels, RowRecord, Section, SectionEntry, VERSION, checksum,
    key_prefix,
};
use crate::postings;

const LABEL_BLOCK_BYTES: usize = 4 << 10;
const TEXT_BLOCK_BYTES: usize = 8 << 10;

/// A point with the generation in which it began.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row {
    pub(crate) generation: GenerationId,
    pub(crate) point: Point,
}

/// A key, and the generation that ends the earlier version of this key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Tombstone {
    pub(crate) key: ChunkKey,
    pub(crate) generation: GenerationId,
}

/// The contents of a segment file.
#[derive(Debug)]
pub(crate) struct SegmentContents {
    pub(crate) tenant: Tenant,
    pub(crate) repository: RepositoryId,
    pub(crate) rows: Vec<Row>,
    pub(crate) tombstones: Vec<Tombstone>,
    pub(crate) replaces: Vec<String>,
}

/// Returns the bytes of a segment file.
pub(crate) fn encode(mut contents: SegmentContents) -> Result<Vec<u8>, SegmentError> {
    let dimensions = common_dimensions(&contents.rows)?;
    order(&mut contents.rows);
    contents.tombstones.sort_unstable();
    contents.tombstones.dedup();
    let mut generations: Vec<u64> = contents.rows.iter().map(|row| row.generation.0).collect();
    generations.sort_unstable();
    generations.dedup();
    if contents.rows.len() > MAX_ROWS || generations.len() > usize::from(u16::MAX) {
        return Err(SegmentError::Invalid(format!("{} points do not fit into one segment", contents.rows.len())));
    }
    let sections = sections(&contents, &generations)?;
    let header = Header {
        tenant: contents.tenant.as_str().to_owned(),
        repository: contents.repository.0.0,
        generations,
        dimensions,
        num_rows: contents.rows.len() as u32,
        replaces: contents.replaces,
        sections: Vec::new(),
    };
    assemble(header, &sections)
}

/// Sorts the rows into the order in which a file stores them, and removes repeated rows.
pub(crate) fn order(rows: &mut Vec<Row>) {
    rows.sort_by(|left, right| {
        let (before, after) = (&left.point.chunk, &right.point.chunk);
        let places = before.path.cmp(&after.path).then_with(|| before.span.cmp(&after.span));
        places.then_with(|| before.key.cmp(&after.key)).then_with(|| left.generation.cmp(&right.generation))
    });
    rows.dedup_by(|left, right| left.point.chunk.key == right.point.chunk.key && left.generation == right.generation);
}

/// The number of dimensions that all vectors have. Returns an error if the vectors have different numbers of
/// dimensions.
pub(crate) fn common_dimensions(rows: &[Row]) -> Result<u16, SegmentError> {
    let dimensions = rows.first().map_or(0, |row| row.point.dense.0.len());
    let odd = rows.iter().find(|row| row.point.dense.0.len() != dimensions);
    match (odd, u16::try_from(dimensions)) {
        (None, Ok(dimensions)) => Ok(dimensions),
        (odd, _) => {
            let found = odd.map_or(dimensions, |row| row.point.dense.0.len());
            Err(SegmentError::Invalid(format!("a vector has {found} dimensions instead of {dimensions}")))
        }
    }
}

fn sections(contents: &SegmentContents, generations: &[u64]) -> Result<[Vec<u8>; NUM_SECTIONS], SegmentError> {
    let rows = &contents.rows;
    let points = || rows.iter().map(|row| &row.point);
    let generation_of = |row: &Row| generations.partition_point(|generation| *generation < row.generation.0) as u16;
    let postings = postings::encode(points().map(|point| &point.sparse));
    let labels = points().map(labels).collect::<Result<Vec<_>, _>>()?;
    let labels = compressed(labels.iter().map(Vec::as_slice), LABEL_BLOCK_BYTES)?;
    let texts = compressed(points().map(|point| point.chunk.text.as_bytes()), TEXT_BLOCK_BYTES)?;
    Ok([
        encode_files(rows)?,
        rows.iter().flat_map(|row| row_record(row, generation_of(row)).to_bytes()).collect(),
        points().flat_map(|point| point.chunk.key.0.0).collect(),
        key_order(rows),
        points().flat_map(|point| point.chunk.content_hash.0).collect(),
        points().flat_map(|point| point.vector_digest().0).collect(),
        dense(rows),
        postings.terms,
        postings.ends,
        postings.lists,
        labels.index,
        labels.data,
        texts.index,
        texts.data,
        contents.tombstones.iter().flat_map(tombstone_bytes).collect(),
    ])
}

fn dense(rows: &[Row]) -> Vec<u8> {
    let mut matrix = Vec::with_capacity(rows.len() * rows.first().map_or(0, |row| row.point.dense.0.len()));
    for row in rows {
        matrix.extend(row.point.dense.0.iter().map(|value| *value as u8));
    }
    matrix
}

fn tombstone_bytes(tombstone: &Tombstone) -> impl Iterator<Item = u8> + use<> {
    tombstone.key.0.0.into_iter().chain(tombstone.generation.0.to_le_bytes())
}

fn key_order(rows: &[Row]) -> Vec<u8> {
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    let key = |row: u32| rows[row as usize].point.chunk.key;
    order.sort_by_key(|row| key(*row));
    order.iter().flat_map(|row| [key_prefix(key(*row).0), *row]).flat_map(u32::to_le_bytes).collect()
}

fn row_record(row: &Row, generation: u16) -> RowRecord {
    let chunk = &row.point.chunk;
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    let kind = ChunkKind::ALL.iter().position(|kind| *kind == chunk.kind).unwrap_or_default() as u8;
    let symbol_kind = SymbolKind::ALL.iter().position(|kind| Some(*kind) == chunk.symbol_kind);
    RowRecord {
        start_line: chunk.span.start,
        end_line: chunk.span.end,
        generation,
        weight_percent: chunk.weight_percent,
        kind,
        symbol_kind: symbol_kind.map_or(NO_SYMBOL_KIND, |index| index as u8),
        flags: flag(chunk.is_test, IS_TEST)
            | flag(chunk.exported, EXPORTED)
            | flag(chunk.documented, DOCUMENTED)
            | flag(chunk.has_secrets, HAS_SECRETS),
    }
}

fn labels(point: &Point) -> Result<Vec<u8>, SegmentError> {
    let chunk = &point.chunk;
    let (symbol, heading, header) = (chunk.symbol.clone(), chunk.heading.clone(), chunk.header.clone());
    encoded(&RowLabels { symbol, heading, header })
}

fn encoded(value: &impl serde::Serialize) -> Result<Vec<u8>, SegmentError> {
    postcard::to_stdvec(value).map_err(|error| SegmentError::Invalid(error.to_string()))
}

fn compressed<'a>(rows: impl Iterator<Item = &'a [u8]>, block_bytes: usize) -> Result<EncodedBlocks, SegmentError> {
    blocks::encode(rows, block_bytes).map_err(|error| SegmentError::Invalid(error.to_string()))
}

fn encode_files(rows: &[Row]) -> Result<Vec<u8>, SegmentError> {
    let mut table = FileTable::default();
    let mut languages = Interner::default();
    let mut modules = Interner::default();
    let mut tag_sets = Interner::default();
    for row in rows {
        let chunk = &row.point.chunk;
        let entry = FileEntry {
            path: chunk.path.as_str().to_owned(),
            language: languages.index_of(&chunk.language),
            module: modules.index_of(&chunk.module_path),
            tag_set: tag_sets.index_of(&chunk.tags.to_vec()),
            changed_at: chunk.changed_at,
            num_rows: 0,
        };
        match table.files.last_mut() {
            Some(last) if (FileEntry { num_rows: 0, ..last.clone() }) == entry => last.num_rows += 1,
            _ => table.files.push(FileEntry { num_rows: 1, ..entry }),
        }
    }
    (table.languages, table.modules, table.tag_sets) = (languages.values, modules.values, tag_sets.values);
    let packed = encoded(&table)?;
    let mut bytes = (packed.len() as u32).to_le_bytes().to_vec();
    bytes.extend(zstd::bulk::compress(&packed, 3).map_err(|error| SegmentError::Invalid(error.to_string()))?);
    Ok(bytes)
}

/// Assigns a number to each distinct value, in the order of first appearance.
struct Interner<T> {
    values: Vec<T>,
    indexes: BTreeMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { values: Vec::new(), indexes: BTreeMap::new() }
    }
}

impl<T: Ord + Clone> Interner<T> {
    fn index_of(&mut self, value: &T) -> u32 {
        if let Some(index) = self.indexes.get(value) {
            return *index;
        }
        let index = self.values.len() as u32;
        self.values.push(value.clone());
        self.indexes.insert(value.clone(), index);
        index
    }
}

fn assemble(mut header: Header, sections: &[Vec<u8>; NUM_SECTIONS]) -> Result<Vec<u8>, SegmentError> {
    let mut offset = 0;
    let entries = Section::ALL.map(|section| {
        let bytes = &sections[section as usize];
        let entry = SectionEntry { offset, length: bytes.len() as u64, checksum: checksum(bytes) };
        offset += bytes.len().next_multiple_of(ALIGNMENT) as u64;
        entry
    });
    // Offsets are relative to the first section, so that they do not depend on the length of the header.
    header.sections = entries.to_vec();
    let header = encoded(&header)?;
    let mut file = Vec::with_capacity(PREAMBLE_BYTES + header.len() + ALIGNMENT + offset as usize);
    file.extend(MAGIC);
    file.extend(VERSION.to_le_bytes());
    file.extend((header.len() as u32).to_le_bytes());
    file.extend(checksum(&header));
    file.extend(header);
    for section in sections {
        file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
        file.extend(section);
    }
    file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
    Ok(file)
}
