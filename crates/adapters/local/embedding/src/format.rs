//! Reads the model file in place: opening it copies no data and builds no table.
//!
//! Numbers are little-endian. The file has a header of 64 bytes, followed by sections. Each section starts at
//! an offset that is a multiple of 64 bytes:
//!
//! | section | what |
//! | --- | --- |
//! | damped | `u16` × 256: the weight of `n` occurrences of a word, in 1/256: `256 · (1 + ln n)`; 0 for 0 |
//! | slots | `u16` × slots: hash table with open addressing: the row of a word, or 65,535 (empty) |
//! | fingerprints | `u32` × words: the hash of each row's word |
//! | weights | `u16` × 3 × rows, by row: the weight in a query, the weight in a passage, and the additional weight in a passage's head |
//! | table | `i8` × dimensions × rows |
//! | words | the words, one in each line, in the order of their rows: for developers and tests |
//!
//! A row is a vector of the table and belongs to one word or bucket. The elements of a row are rounded to
//! integers, and the row's scale converts them back to the original values. The weights of the row are
//! already multiplied by this scale, so a sum contains only integers. After the rows of the words, there is
//! one row for each bucket: a word outside the vocabulary has the row `words + hash mod buckets`. The hash is
//! FNV-1a in 32 bits. Two words of a vocabulary never have the same hash; the exporter checks this. Probing
//! starts at the slot whose number is in the upper bits of `hash · 0x9E3779B1`.
//!
//! The header contains the magic `CAIRNSTA`, six numbers (`u32` each) and the blake3 digest of all bytes
//! after the header (32 bytes). The numbers are the version, the dimensions, the counts of words, buckets and
//! slots, and the length of the section `words` in bytes.

use std::fmt::Write;

use cairn_ranking::WordKey;
use thiserror::Error;

use crate::sums::DIMENSIONS;

const MAGIC: &[u8; 8] = b"CAIRNSTA";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 64;
const DIGEST_AT: usize = 32;
const DAMPED: usize = 256;
/// The number of weights of a row: one for each role of a word (in a query, in a passage, and in the head of
/// a passage).
const ROLES: usize = 3;
const EMPTY_SLOT: u16 = u16::MAX;
/// The maximum weight. The product of this weight and the largest value in `damped` is below 2^15. Each row
/// adds this product times an 8-bit value, so the sum of 512 rows fits in 32 bits.
pub(crate) const MAX_WEIGHT: u16 = 4_095;

/// The error for bytes that are not a model of this version.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum InvalidModel {
    #[error("the bytes are not a model of version {VERSION}")]
    Version,
    #[error("the sizes in the model's header do not match its length")]
    Length,
    #[error("a model has {0} dimensions instead of {DIMENSIONS}")]
    Dimensions(u32),
}

/// A model file that is read in place.
#[derive(Clone, Copy, Debug)]
pub struct StaticModel<'a> {
    digest: [u8; 32],
    num_words: u32,
    num_buckets: u32,
    damped: &'a [[u8; 2]],
    slots: &'a [[u8; 2]],
    fingerprints: &'a [[u8; 4]],
    weights: &'a [[[u8; 2]; ROLES]],
    table: &'a [[u8; DIMENSIONS]],
    words: &'a [u8],
}

/// The weights of a row: one in a query, one in a passage, and one in the head of a passage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Weights {
    pub(crate) query: u16,
    pub(crate) passage: u16,
    pub(crate) head: u16,
}

impl<'a> StaticModel<'a> {
    /// Reads a model, and checks the header and the lengths. The digest is not checked here, but in a test.
    pub fn read(bytes: &'a [u8]) -> Result<Self, InvalidModel> {
        let (header, body) = bytes.split_at_checked(HEADER_BYTES).ok_or(InvalidModel::Length)?;
        let field = |index: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| header[8 + 4 * index + byte]));
        if &header[..8] != MAGIC || field(0) != VERSION {
            return Err(InvalidModel::Version);
        }
        if field(1) as usize != DIMENSIONS {
            return Err(InvalidModel::Dimensions(field(1)));
        }
        let (num_words, num_buckets, num_slots) = (field(2), field(3), field(4));
        let num_rows = num_words as usize + num_buckets as usize;
        let sizes_are_sound = num_slots.is_power_of_two() && num_slots > num_words && num_buckets.is_power_of_two();
        if !sizes_are_sound || num_rows >= usize::from(EMPTY_SLOT) {
            return Err(InvalidModel::Length);
        }
        let mut sections = Sections { rest: body };
        Ok(Self {
            digest: [(); 32].map({
                let mut at = DIGEST_AT;
                move |()| {
                    at += 1;
                    header[at - 1]
                }
            }),
            num_words,
            num_buckets,
            damped: sections.take(DAMPED)?,
            slots: sections.take(num_slots as usize)?,
            fingerprints: sections.take(num_words as usize)?,
            weights: sections.take_pairs(num_rows)?,
            table: sections.take(num_rows)?,
            words: sections.take::<1>(field(5) as usize)?.as_flattened(),
        })
    }

    /// The blake3 digest of all bytes after the header.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    pub fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    /// `cairn-static-<version>-<start of the digest>`. A model with different weights has a different name.
    pub fn name(&self) -> String {
        let mut name = format!("cairn-static-{VERSION}-");
        for byte in &self.digest[..6] {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        name
    }

    /// The words of the vocabulary, in the order of their rows.
    pub fn words(&self) -> impl Iterator<Item = &'a str> {
        self.words
            .split(|byte| *byte == b'\n')
            .filter_map(|word| str::from_utf8(word).ok())
            .filter(|word| !word.is_empty())
    }

    pub(crate) fn num_rows(&self) -> usize {
        self.table.len()
    }

    /// The row of a word: the row in the vocabulary, or else the bucket of the word's hash.
    #[inline]
    pub(crate) fn row_of(&self, WordKey(hash): WordKey) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (hash.wrapping_mul(0x9E37_79B1) >> (32 - self.slots.len().trailing_zeros())) as usize;
        loop {
            let row = usize::from(u16::from_le_bytes(self.slots[slot]));
            // An empty slot contains a row number that is greater than those of all words, so the word is not
            // in the vocabulary.
            let Some(fingerprint) = self.fingerprints.get(row) else { return self.bucket(WordKey(hash)) };
            if u32::from_le_bytes(*fingerprint) == hash {
                return row;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The row of a word outside the vocabulary. Several such words share one row.
    pub(crate) fn bucket(&self, WordKey(hash): WordKey) -> usize {
        (self.num_words + hash % self.num_buckets) as usize
    }

    #[inline]
    pub(crate) fn weights(&self, row: usize) -> Weights {
        let [query, passage, head] = self.weights[row].map(|weight| u16::from_le_bytes(weight).min(MAX_WEIGHT));
        Weights { query, passage, head }
    }

    /// The weight of `count` occurrences of a word, in units of 1/256.
    #[inline]
    pub(crate) fn damped(&self, count: u8) -> u16 {
        u16::from_le_bytes(self.damped[usize::from(count)])
    }

    #[inline]
    pub(crate) fn row(&self, row: usize) -> &'a [u8; DIMENSIONS] {
        &self.table[row]
    }
}

/// The rest of the file, after the sections that are already read.
struct Sections<'a> {
    rest: &'a [u8],
}

impl<'a> Sections<'a> {
    /// Reads the next `count` elements of `N` bytes and skips the padding after them.
    fn take<const N: usize>(&mut self, count: usize) -> Result<&'a [[u8; N]], InvalidModel> {
        let size = N.checked_mul(count).ok_or(InvalidModel::Length)?;
        let (section, _) = self.rest.split_at_checked(size).ok_or(InvalidModel::Length)?;
        self.rest = self.rest.get(size.next_multiple_of(64)..).unwrap_or_default();
        Ok(section.as_chunks::<N>().0)
    }

    fn take_pairs(&mut self, count: usize) -> Result<&'a [[[u8; 2]; ROLES]], InvalidModel> {
        let halves = self.take::<2>(count * ROLES)?;
        Ok(halves.as_chunks::<ROLES>().0)
    }
}
