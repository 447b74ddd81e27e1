//! The format of a layer in bytes.
//!
//! ```text
//! 0   magic `CAIRNTXT`
//! 8   version of the format, u32
//! 12  length of the header, u32
//! 16  checksum of the bytes that follow (first 16 bytes of their blake3)
//! 32  header (postcard), then the sections: directory, dictionary, postings
//! ```
//!
//! The dictionary lists the trigrams in ascending order, in blocks of [`BLOCK_GRAMS`] trigrams. The directory
//! has an entry for each block: the first trigram, the position of the block in the dictionary, and the
//! position of its first list in the postings (u32 each). An entry of the dictionary has three varints: the
//! distance from the previous trigram, the number of files, and the size of its list in bytes. The lists
//! follow each other in the order of the dictionary. `postings` describes their format.

use serde::{Deserialize, Serialize};

const MAGIC: [u8; 8] = *b"CAIRNTXT";
const VERSION: u32 = 1;
const PREAMBLE_BYTES: usize = 32;
pub(crate) const BLOCK_GRAMS: usize = 64;
pub(crate) const DIRECTORY_ENTRY_BYTES: usize = 12;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) tenant: String,
    pub(crate) repository: [u8; 16],
    /// Keys of the layers that this layer replaces.
    pub(crate) replaces: Vec<String>,
    /// The version of the trigrams, or 0 if the files have trigrams of different versions.
    pub(crate) grams_version: u64,
    pub(crate) packs: Vec<PackEntry>,
    pub(crate) languages: Vec<String>,
    /// The sorted files. Lists of files refer to a file by its index.
    pub(crate) files: Vec<FileEntry>,
    /// Sorted paths, each with the generation from which the earlier texts of the path are no longer valid.
    pub(crate) ended: Vec<(String, u64)>,
    pub(crate) directory_bytes: u64,
    pub(crate) dictionary_bytes: u64,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct PackEntry {
    pub(crate) key: String,
    pub(crate) size_bytes: u64,
    pub(crate) hash: [u8; 32],
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct FileEntry {
    pub(crate) path: String,
    pub(crate) generation: u64,
    pub(crate) language: u32,
    pub(crate) pack: u32,
    pub(crate) slot: u32,
}

/// The error for bytes that are not a layer or are a damaged layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the text index is damaged: {0}; `cairn index --rebuild` writes it again")]
pub(crate) struct DamagedLayer(pub(crate) &'static str);

/// Returns the bytes of a layer: the preamble, the header and the sections.
pub(crate) fn assemble(header: &[u8], sections: [&[u8]; 3]) -> Vec<u8> {
    let num_bytes = header.len() + sections.iter().map(|section| section.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(PREAMBLE_BYTES + num_bytes);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend([0; 16]);
    bytes.extend(header);
    sections.iter().for_each(|section| bytes.extend(*section));
    let hash = blake3::hash(&bytes[PREAMBLE_BYTES..]);
    bytes[16..PREAMBLE_BYTES].copy_from_slice(&hash.as_bytes()[..16]);
    bytes
}

/// Checks the magic, the version and the checksum. Returns the length of the header, and the bytes after the
/// preamble.
pub(crate) fn read_preamble(bytes: &bytes::Bytes) -> Result<(usize, bytes::Bytes), DamagedLayer> {
    let (preamble, _) = bytes.split_at_checked(PREAMBLE_BYTES).ok_or(DamagedLayer("it is too short"))?;
    let number = |at: usize| u32::from_le_bytes([preamble[at], preamble[at + 1], preamble[at + 2], preamble[at + 3]]);
    if preamble[..8] != MAGIC || number(8) != VERSION {
        return Err(DamagedLayer("its format belongs to another version of Cairn"));
    }
    let body = bytes.slice(PREAMBLE_BYTES..);
    if blake3::hash(&body).as_bytes()[..16] != preamble[16..] {
        return Err(DamagedLayer("its checksum does not match"));
    }
    Ok((number(12) as usize, body))
}

pub(crate) fn put_varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a varint, and moves the start of `bytes` to the first byte after the varint.
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for shift in (0..32).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
