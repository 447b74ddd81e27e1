//! The table of near names in a layer: its distinct names as lists of words.
//!
//! ```text
//! counts (u32 each): names, distinct words, words in all names, bytes of text, bytes of postings
//! for each name: the number of its first symbol (u32), the end of its words (u32)
//! the words of all names (u32 each)
//! for each word: the end of its text (u32), the end of its postings (u32)
//! the texts of the words in ascending order, and the postings: for each word, the differences between the
//! numbers of its names (variable-length integers of 7 bits)
//! ```
//!
//! Symbols whose names consist of the same words are adjacent, so each name has one range of symbols.

use bytes::Bytes;
use cairn_name_match::{MemoryTable, NameTable};

const NUM_COUNTS: usize = 5;

/// Encodes the table of names. `firsts` contains the number of the first symbol of each name.
pub(crate) fn encode(table: &MemoryTable, firsts: &[u32]) -> Vec<u8> {
    let (mut name_ends, mut name_words) = (Vec::new(), Vec::new());
    for words in &table.names {
        name_words.extend_from_slice(words);
        name_ends.push(name_words.len() as u32);
    }
    let (mut text_ends, mut text) = (Vec::new(), String::new());
    for word in &table.words {
        text.push_str(word);
        text_ends.push(text.len() as u32);
    }
    let (mut posting_ends, mut postings) = (Vec::new(), Vec::new());
    for names in &table.postings {
        let mut last = 0;
        for name in names {
            write_number(name - last, &mut postings);
            last = *name;
        }
        posting_ends.push(postings.len() as u32);
    }
    let counts = [name_ends.len(), text_ends.len(), name_words.len(), text.len(), postings.len()];
    let counts: Vec<u32> = counts.iter().map(|count| *count as u32).collect();
    let mut bytes = Vec::new();
    for numbers in [&counts[..], firsts, &name_ends, &name_words, &text_ends, &posting_ends] {
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
    bytes.extend(text.as_bytes());
    bytes.extend(postings);
    bytes
}

fn write_number(mut number: u32, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A table whose bytes are read in place. Reading a damaged table may return wrong names, but does not panic.
pub(crate) struct NearTable {
    firsts: Bytes,
    name_ends: Bytes,
    name_words: Bytes,
    text_ends: Bytes,
    posting_ends: Bytes,
    text: Bytes,
    postings: Bytes,
}

impl NearTable {
    /// Returns the table at the start of the bytes, and the bytes after the table. `None` if the bytes are
    /// too short, or if the text of the table is not UTF-8.
    pub(crate) fn read(bytes: &Bytes) -> Option<(Self, Bytes)> {
        let mut at = 0_usize;
        let mut take = |length: usize| {
            let end = at.checked_add(length)?;
            bytes.get(at..end)?;
            let taken = bytes.slice(at..end);
            at = end;
            Some(taken)
        };
        let counts = take(4 * NUM_COUNTS)?;
        let count = |index: usize| number_at(&counts, index).unwrap_or_default() as usize;
        let [names, words, name_words, text, postings] = std::array::from_fn(count);
        let table = Self {
            firsts: take(4 * names)?,
            name_ends: take(4 * names)?,
            name_words: take(4 * name_words)?,
            text_ends: take(4 * words)?,
            posting_ends: take(4 * words)?,
            text: take(text)?,
            postings: take(postings)?,
        };
        str::from_utf8(&table.text).ok()?;
        Some((table, bytes.slice(at..)))
    }

    /// The numbers of the symbols with this name.
    pub(crate) fn symbols_of(&self, name: u32, num_symbols: u32) -> std::ops::Range<u32> {
        let first = |name: u32| number_at(&self.firsts, name as usize).unwrap_or(num_symbols);
        first(name)..first(name + 1)
    }
}

fn number_at(numbers: &[u8], index: usize) -> Option<u32> {
    numbers.as_chunks::<4>().0.get(index).map(|number| u32::from_le_bytes(*number))
}

/// The part of `values` with this index. `ends` contains the ends of all parts.
fn part<'a>(values: &'a [u8], ends: &[u8], index: u32, width: usize) -> &'a [u8] {
    let end = |index: u32| number_at(ends, index as usize).unwrap_or_default() as usize * width;
    let start = if index == 0 { 0 } else { end(index - 1) };
    values.get(start..end(index)).unwrap_or_default()
}

/// Decodes the postings of a word.
struct Postings<'a> {
    bytes: std::slice::Iter<'a, u8>,
    last: u32,
    num_names: u32,
}

impl Iterator for Postings<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let (mut number, mut shift) = (0_u32, 0);
        loop {
            let byte = *self.bytes.next()?;
            number |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or_default();
            if byte < 0x80 {
                break;
            }
            shift += 7;
        }
        self.last = self.last.wrapping_add(number);
        (self.last < self.num_names).then_some(self.last)
    }
}

impl NameTable for NearTable {
    fn num_names(&self) -> u32 {
        (self.name_ends.len() / 4) as u32
    }

    fn num_words(&self) -> u32 {
        (self.text_ends.len() / 4) as u32
    }

    #[inline]
    fn word(&self, word: u32) -> &str {
        str::from_utf8(part(&self.text, &self.text_ends, word, 1)).unwrap_or_default()
    }

    #[inline]
    fn words_of(&self, name: u32) -> impl Iterator<Item = u32> {
        let num_words = self.num_words();
        let words = part(&self.name_words, &self.name_ends, name, 4).as_chunks::<4>().0;
        words.iter().map(|word| u32::from_le_bytes(*word)).filter(move |word| *word < num_words)
    }

    fn names_with(&self, word: u32) -> impl Iterator<Item = u32> {
        let bytes = part(&self.postings, &self.posting_ends, word, 1).iter();
        Postings { bytes, last: 0, num_names: self.num_names() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_read_as_written() {
        let names = ["getUser", "getUserById", "größe", "", "user"];
        let many: Vec<String> = (0..300).map(|number| format!("name{number}_user")).collect();
        let table = MemoryTable::of(names.into_iter().chain(many.iter().map(String::as_str)));
        let firsts: Vec<u32> = (0..305).map(|name| name * 2).collect();
        let mut bytes = encode(&table, &firsts);
        bytes.extend(b"rest");
        let (read, rest) = NearTable::read(&Bytes::from(bytes.clone())).expect("a table");
        assert_eq!(rest, "rest");
        assert_eq!((read.num_names(), read.num_words()), (table.num_names(), table.num_words()));
        for word in 0..table.num_words() {
            assert_eq!(read.word(word), table.word(word));
            assert!(read.names_with(word).eq(table.names_with(word)));
        }
        for name in 0..table.num_names() {
            assert!(read.words_of(name).eq(table.words_of(name)));
            assert_eq!(read.symbols_of(name, 610), name * 2..name * 2 + 2);
        }
        for end in 0..bytes.len() - 4 {
            assert!(NearTable::read(&Bytes::from(bytes[..end].to_vec())).is_none(), "{end}");
        }
    }
}
