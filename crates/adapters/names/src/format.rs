//! The format of a layer in bytes.
//!
//! ```text
//! 0   magic `CAIRNNAM`
//! 8   version of the format, u32
//! 12  length of the header, u32
//! 16  checksum of the bytes that follow (first 16 bytes of their blake3)
//! 32  header (postcard), then the sections:
//!     the fst, ends of the symbols' records (u32 each), number of chunk keys (u32),
//!     chunk keys (16 bytes each), the table of near names (see `near_table.rs`), the records (postcard)
//! ```
//!
//! The fst maps each name, folded by `fold_style`, to its symbols: the number of the first symbol, and the
//! count of symbols. Symbols are sorted by folded name and by the words of the name, so the symbols of a name
//! are adjacent. The key of a chunk is stored once for all symbols in the chunk.
//!
//! Version 2 has no table of near names, and its symbols are not sorted by words. Version 1 also has no chunk
//! keys, and no position (span and chunk) follows the record of a symbol. A symbol of version 1 spans the
//! line of its name and has no chunk. Both versions are supported, because an index of an older release is
//! used until its repositories are indexed again. For near names, a layer of an older version is encoded
//! again in memory.

use serde::{Deserialize, Serialize};

const MAGIC: [u8; 8] = *b"CAIRNNAM";
pub(crate) const FIRST_VERSION: u32 = 1;
/// The first version with a table of near names.
pub(crate) const WITH_NEAR_NAMES: u32 = 3;
const VERSION: u32 = 3;
const PREAMBLE_BYTES: usize = 32;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) tenant: String,
    pub(crate) repository: [u8; 16],
    pub(crate) replaces: Vec<String>,
    /// The sorted paths. Symbols refer to a path by its index. `is_file` is false for paths that only occur
    /// in symbols.
    pub(crate) paths: Vec<PathEntry>,
    /// Sorted.
    pub(crate) ended: Vec<(String, u64)>,
    pub(crate) languages: Vec<String>,
    pub(crate) modules: Vec<String>,
    pub(crate) fst_bytes: u64,
    pub(crate) num_symbols: u32,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct PathEntry {
    pub(crate) path: String,
    pub(crate) generation: u64,
    pub(crate) is_file: bool,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SymbolRecord<'a> {
    pub(crate) name: &'a str,
    pub(crate) qualified_name: &'a str,
    pub(crate) kind: u8,
    pub(crate) path: u32,
    pub(crate) line: u32,
    pub(crate) node: [u8; 16],
    pub(crate) language: u32,
    pub(crate) module: u32,
    pub(crate) flags: u8,
}

pub(crate) const EXPORTED: u8 = 1;
pub(crate) const DOCUMENTED: u8 = 2;
pub(crate) const IS_TEST: u8 = 4;

/// The position of a symbol. Since version 2, a position follows each record.
#[derive(Serialize, Deserialize)]
pub(crate) struct SymbolPosition {
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
    /// One-based number of the chunk's key, or [`NO_CHUNK`].
    pub(crate) chunk: u32,
}

pub(crate) const NO_CHUNK: u32 = 0;

/// The error for bytes that are not a layer or are a damaged layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the name index is damaged: {0}; `cairn index --rebuild` writes it again")]
pub(crate) struct DamagedLayer(pub(crate) &'static str);

/// Returns the bytes of a layer: the preamble, the header and the sections.
pub(crate) fn assemble(header: &[u8], sections: &[&[u8]]) -> Vec<u8> {
    let body: Vec<u8> = header.iter().chain(sections.iter().copied().flatten()).copied().collect();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(&blake3::hash(&body).as_bytes()[..16]);
    bytes.extend(body);
    bytes
}

/// The checked preamble of a layer.
pub(crate) struct Preamble {
    pub(crate) version: u32,
    pub(crate) header_bytes: usize,
}

impl Preamble {
    /// Reads the preamble and checks its magic, version and checksum. Also returns the bytes after the
    /// preamble.
    pub(crate) fn read(bytes: &bytes::Bytes) -> Result<(Self, bytes::Bytes), DamagedLayer> {
        let (preamble, _) = bytes.split_at_checked(PREAMBLE_BYTES).ok_or(DamagedLayer("it is too short"))?;
        let number =
            |at: usize| u32::from_le_bytes([preamble[at], preamble[at + 1], preamble[at + 2], preamble[at + 3]]);
        let version = number(8);
        if preamble[..8] != MAGIC || !(FIRST_VERSION..=VERSION).contains(&version) {
            return Err(DamagedLayer("its format belongs to another version of Cairn"));
        }
        let body = bytes.slice(PREAMBLE_BYTES..);
        if blake3::hash(&body).as_bytes()[..16] != preamble[16..] {
            return Err(DamagedLayer("its checksum does not match"));
        }
        Ok((Self { version, header_bytes: number(12) as usize }, body))
    }
}
