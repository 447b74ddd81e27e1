//! Defines the layout of a segment file.
//!
//! ```text
//! 0   magic `CAIRNSEG`
//! 8   version of the format, u32
//! 12  length of the header, u32
//! 16  checksum of the header, 16 bytes
//! 32  header (postcard): identity, counts, table of sections
//!     sections, each at an offset that is a multiple of 64 bytes
//! ```
//!
//! Numbers are little-endian. Checksums are the first 16 bytes of blake3. When a file is opened, the header
//! and the sections that every query reads are verified (`Section::is_checked_at_open`). `verify` checks all
//! sections. Rows are sorted by path, span and key. So the rows of one source file are adjacent, and hits
//! with equal scores are already in the order of the results.

use cairn_domain::Key128;
use serde::{Deserialize, Serialize};

pub(crate) const MAGIC: [u8; 8] = *b"CAIRNSEG";
pub(crate) const VERSION: u32 = 1;
pub(crate) const PREAMBLE_BYTES: usize = 32;
pub(crate) const ALIGNMENT: usize = 64;
pub(crate) const KEY_BYTES: usize = 16;
pub(crate) const HASH_BYTES: usize = 32;
/// Maximum number of rows. The limit exists because the sort of postings uses only 24 bits for a row number.
pub(crate) const MAX_ROWS: usize = 1 << 24;

/// The sections of a file, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Section {
    /// [`FileTable`], compressed.
    Files,
    /// [`RowRecord`] of each row.
    Rows,
    /// Key of each row, 16 bytes.
    Keys,
    /// Rows in the order of their keys. Each entry has the first four bytes of the key as a number, and the
    /// row (u32 each).
    KeyOrder,
    /// Content hash of each row, 32 bytes.
    ContentHashes,
    /// Digest of each row's vectors, 32 bytes.
    VectorDigests,
    /// Dense vector of each row, one byte for each dimension.
    Dense,
    Terms,
    TermEnds,
    PostingLists,
    /// Blocks of [`RowLabels`].
    LabelIndex,
    LabelData,
    /// Blocks of texts.
    TextIndex,
    TextData,
    /// Retired keys (16 bytes), each with the generation that retires the key (u64), in ascending order.
    Tombstones,
}

pub(crate) const NUM_SECTIONS: usize = 15;

impl Section {
    pub(crate) const ALL: [Section; NUM_SECTIONS] = [
        Section::Files,
        Section::Rows,
        Section::Keys,
        Section::KeyOrder,
        Section::ContentHashes,
        Section::VectorDigests,
        Section::Dense,
        Section::Terms,
        Section::TermEnds,
        Section::PostingLists,
        Section::LabelIndex,
        Section::LabelData,
        Section::TextIndex,
        Section::TextData,
        Section::Tombstones,
    ];

    /// Whether the section is verified when a file is opened. This is true for small sections, and for
    /// sections in which damage would change results without an error. Texts and labels have separate
    /// checksums. Posting lists and vectors are too large to be read before the first query.
    pub(crate) fn is_checked_at_open(self) -> bool {
        use Section::{Files, LabelIndex, Rows, TextIndex, Tombstones};
        matches!(self, Files | Rows | LabelIndex | TextIndex | Tombstones)
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) tenant: String,
    pub(crate) repository: [u8; KEY_BYTES],
    /// The generations in which rows began, in ascending order. Rows refer to these generations by index.
    pub(crate) generations: Vec<u64>,
    pub(crate) dimensions: u16,
    pub(crate) num_rows: u32,
    /// Names of the files that this file replaces. Readers ignore these files.
    pub(crate) replaces: Vec<String>,
    pub(crate) sections: Vec<SectionEntry>,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct SectionEntry {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) checksum: [u8; 16],
}

pub(crate) const KEY_ORDER_BYTES: usize = 8;

/// The first four bytes of a key as a number with the same sort order as the key.
pub(crate) fn key_prefix(key: Key128) -> u32 {
    let [a, b, c, d, ..] = key.0;
    u32::from_be_bytes([a, b, c, d])
}

pub(crate) fn checksum(bytes: &[u8]) -> [u8; 16] {
    let mut first = [0; 16];
    first.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    first
}

/// Properties that all rows of one source file share. Filters test these properties once per source file,
/// instead of once per row.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FileTable {
    pub(crate) languages: Vec<String>,
    pub(crate) modules: Vec<String>,
    pub(crate) tag_sets: Vec<Vec<String>>,
    /// The source files in the order of their rows.
    pub(crate) files: Vec<FileEntry>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct FileEntry {
    pub(crate) path: String,
    pub(crate) language: u32,
    pub(crate) module: u32,
    pub(crate) tag_set: u32,
    pub(crate) changed_at: Option<i64>,
    /// Number of rows of this source file. The first of these rows follows the last row of the previous
    /// source file.
    pub(crate) num_rows: u32,
}

/// The columns that filters test and that order rows with equal scores: 16 bytes per row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowRecord {
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
    /// Index into `Header::generations`.
    pub(crate) generation: u16,
    pub(crate) weight_percent: u16,
    /// Index into `ChunkKind::ALL`.
    pub(crate) kind: u8,
    /// Index into `SymbolKind::ALL`, or `NO_SYMBOL_KIND` if the row has no symbol kind.
    pub(crate) symbol_kind: u8,
    pub(crate) flags: u8,
}

pub(crate) const ROW_BYTES: usize = 16;
pub(crate) const NO_SYMBOL_KIND: u8 = u8::MAX;
pub(crate) const IS_TEST: u8 = 1;
pub(crate) const EXPORTED: u8 = 2;
pub(crate) const DOCUMENTED: u8 = 4;
pub(crate) const HAS_SECRETS: u8 = 8;

impl RowRecord {
    pub(crate) fn to_bytes(self) -> [u8; ROW_BYTES] {
        let mut bytes = [0; ROW_BYTES];
        bytes[..4].copy_from_slice(&self.start_line.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.end_line.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.generation.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.weight_percent.to_le_bytes());
        bytes[12..15].copy_from_slice(&[self.kind, self.symbol_kind, self.flags]);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; ROW_BYTES]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, kind, symbol_kind, flags, _] = *bytes;
        Self {
            start_line: u32::from_le_bytes([a, b, c, d]),
            end_line: u32::from_le_bytes([e, f, g, h]),
            generation: u16::from_le_bytes([i, j]),
            weight_percent: u16::from_le_bytes([k, l]),
            kind,
            symbol_kind,
            flags,
        }
    }
}

/// The short texts of a row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct RowLabels {
    pub(crate) symbol: Option<String>,
    pub(crate) heading: Option<String>,
    pub(crate) header: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_and_section_layout_is_fixed() {
        let row = RowRecord {
            start_line: 1,
            end_line: u32::MAX,
            generation: 3,
            weight_percent: 150,
            kind: 4,
            symbol_kind: NO_SYMBOL_KIND,
            flags: IS_TEST | HAS_SECRETS,
        };
        assert_eq!(RowRecord::from_bytes(&row.to_bytes()), row);
        for (index, section) in Section::ALL.into_iter().enumerate() {
            assert_eq!(section as usize, index);
        }
    }
}
