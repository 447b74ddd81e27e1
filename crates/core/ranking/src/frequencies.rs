//! Reads the rarity of terms from a fixed table that is part of the program.
//!
//! The table was created from public code and contains nothing from indexed code. Therefore scores reveal
//! nothing about other tenants and do not depend on the order of indexing. The table is used only to weight
//! the terms of questions, so a new table does not require a new index. The example
//! `count_document_frequencies` writes the table to a file.
//!
//! The layout is little-endian: the magic `CDF1`; the number of documents (u32); the number of terms (u32);
//! the terms (u32 each, ascending); for each term, the number of documents that contain the term (u32).

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fixed::log2_of_ratio;
use crate::{StopWords, terms};

const MAGIC: [u8; 4] = *b"CDF1";
const HEADER_BYTES: usize = 12;

/// Inverse document frequencies are stored in units of `2^-UNITS_PER_BIT_LOG2` bits.
pub(crate) const UNITS_PER_BIT_LOG2: u32 = 4;

static SHIPPED: LazyLock<DocumentFrequencies<'static>> = LazyLock::new(|| {
    // A test reads the table, so a program with a damaged table is never shipped.
    DocumentFrequencies::read(include_bytes!("../data/document_frequencies.bin")).unwrap_or(DocumentFrequencies::EMPTY)
});

/// A table of document frequencies. The bytes of the table are read in place and not copied.
#[derive(Clone, Copy, Debug)]
pub struct DocumentFrequencies<'a> {
    num_documents: u32,
    terms: &'a [[u8; 4]],
    counts: &'a [[u8; 4]],
}

/// The error that is returned for bytes that are not a table of document frequencies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidFrequencies;

impl<'a> DocumentFrequencies<'a> {
    const EMPTY: Self = Self { num_documents: 0, terms: &[], counts: &[] };

    pub fn read(bytes: &'a [u8]) -> Result<Self, InvalidFrequencies> {
        let (words, []) = bytes.as_chunks::<4>() else { return Err(InvalidFrequencies) };
        let (header, body) = words.split_at_checked(HEADER_BYTES / 4).ok_or(InvalidFrequencies)?;
        let num_terms = u32::from_le_bytes(header[2]) as usize;
        if header[0] != MAGIC || body.len() != 2 * num_terms {
            return Err(InvalidFrequencies);
        }
        let (terms, counts) = body.split_at(num_terms);
        if !terms.is_sorted_by_key(|term| u32::from_le_bytes(*term)) {
            return Err(InvalidFrequencies);
        }
        Ok(Self { num_documents: u32::from_le_bytes(header[1]), terms, counts })
    }

    pub fn num_documents(&self) -> u32 {
        self.num_documents
    }

    pub fn num_terms(&self) -> usize {
        self.terms.len()
    }

    /// The number of documents that contain `term`. The result is 0 if the term is too rare to be in the
    /// table.
    pub fn count(&self, term: u32) -> u32 {
        let found = self.terms.binary_search_by_key(&term, |stored| u32::from_le_bytes(*stored));
        found.map_or(0, |index| u32::from_le_bytes(self.counts[index]))
    }

    /// BM25's `log(1 + (N - n + 0.5) / (n + 0.5))` in sixteenths of a bit. The result is at least 1.
    pub fn inverse(&self, term: u32) -> u32 {
        let documents = u64::from(self.num_documents);
        let count = u64::from(self.count(term)).min(documents);
        // The argument of the logarithm is equal to (2N + 2) / (2n + 1).
        log2_of_ratio(2 * documents + 2, 2 * count + 1, UNITS_PER_BIT_LOG2).max(1)
    }
}

/// The table that is part of the program.
pub fn shipped_frequencies() -> &'static DocumentFrequencies<'static> {
    &SHIPPED
}

/// Counts terms and creates a table of document frequencies.
#[derive(Default, Debug)]
pub struct FrequencyCounter {
    num_documents: u32,
    num_occurrences: u64,
    counts: FxHashMap<u32, u32>,
    seen: FxHashSet<u32>,
}

impl FrequencyCounter {
    /// Counts the terms of one document. The text should be about as long as a chunk.
    pub fn add(&mut self, text: &str) {
        self.seen.clear();
        terms(text, StopWords::Dropped, |term| {
            self.num_occurrences += 1;
            self.seen.insert(term);
        });
        self.num_documents += 1;
        for term in &self.seen {
            *self.counts.entry(*term).or_default() += 1;
        }
    }

    pub fn num_documents(&self) -> u32 {
        self.num_documents
    }

    /// The mean number of terms in a document.
    pub fn average_length(&self) -> u64 {
        self.num_occurrences / u64::from(self.num_documents.max(1))
    }

    /// The table as bytes. Terms that occur in fewer than `min_count` documents are omitted.
    pub fn finish(&self, min_count: u32) -> Vec<u8> {
        let mut kept: Vec<(u32, u32)> = self.counts.iter().map(|(term, count)| (*term, *count)).collect();
        kept.retain(|(_, count)| *count >= min_count);
        kept.sort_unstable();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.num_documents.to_le_bytes());
        bytes.extend((kept.len() as u32).to_le_bytes());
        bytes.extend(kept.iter().flat_map(|(term, _)| term.to_le_bytes()));
        bytes.extend(kept.iter().flat_map(|(_, count)| count.to_le_bytes()));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(word: &str) -> u32 {
        let mut found = 0;
        terms(word, StopWords::Kept, |term| found = term);
        found
    }

    #[test]
    fn counted_terms_are_read_back() {
        let mut counter = FrequencyCounter::default();
        for text in ["user user cache", "users", "parser"] {
            counter.add(text);
        }
        let bytes = counter.finish(1);
        let table = DocumentFrequencies::read(&bytes).expect("valid");
        assert_eq!((table.num_documents(), table.num_terms()), (3, 3));
        let check = |word, count, inverse| {
            assert_eq!((table.count(term(word)), table.inverse(term(word))), (count, inverse), "{word}");
        };
        check("user", 2, 10);
        check("cache", 1, 22);
        check("missing", 0, 48);
        assert_eq!(DocumentFrequencies::read(&counter.finish(2)).expect("valid").num_terms(), 1);
    }

    #[test]
    fn damaged_tables_are_refused() {
        let mut counter = FrequencyCounter::default();
        counter.add("user cache parser");
        let bytes = counter.finish(1);
        for damaged in [&bytes[..bytes.len() - 4], &bytes[1..], &bytes[..8], &[]] {
            assert!(DocumentFrequencies::read(damaged).is_err());
        }
        let mut unsorted = bytes;
        unsorted[12..24].reverse();
        assert!(DocumentFrequencies::read(&unsorted).is_err());
    }

    #[test]
    fn shipped_table_ranks_rare_terms_higher() {
        let table = shipped_frequencies();
        assert!(table.num_documents() > 10_000 && table.num_terms() > 10_000, "{table:?}");
        assert!(table.inverse(term("return")) < table.inverse(term("parser")));
        assert!(table.inverse(term("parser")) < table.inverse(term("zyzzyva")));
    }
}
