//! Counts how many chunks contain each term, each pair of words in a name, and each abbreviation next to its
//! word. Also adds up tables of these counts.

use cairn_domain::{ChunkRecord, SparseVector, TermCounts, WordPair};
use rustc_hash::FxHashMap;

use crate::taught::taught_pairs;
use crate::word_pairs::word_pairs;

/// Counts the terms of chunks, the pairs of words in the names of their symbols, and the abbreviations in
/// their code.
#[derive(Default, Debug)]
pub struct TermCounter {
    num_chunks: i64,
    counts: FxHashMap<u32, i32>,
    pairs: FxHashMap<WordPair, i32>,
}

impl TermCounter {
    /// Adds a chunk that begins in a generation to the counts.
    pub fn begin(&mut self, chunk: &ChunkRecord, terms: &SparseVector) {
        self.add(chunk, terms, 1);
    }

    /// Subtracts a chunk that ends in a generation from the counts.
    pub fn end(&mut self, chunk: &ChunkRecord, terms: &SparseVector) {
        self.add(chunk, terms, -1);
    }

    fn add(&mut self, chunk: &ChunkRecord, terms: &SparseVector, sign: i32) {
        self.num_chunks += i64::from(sign);
        for (term, _) in &terms.0 {
            *self.counts.entry(*term).or_default() += sign;
        }
        for pair in word_pairs(chunk).into_iter().chain(taught_pairs(chunk)) {
            *self.pairs.entry(pair).or_default() += sign;
        }
    }

    pub fn finish(self) -> TermCounts {
        let mut terms: Vec<(u32, i32)> = self.counts.into_iter().filter(|(_, count)| *count != 0).collect();
        terms.sort_unstable();
        let mut pairs: Vec<(WordPair, i32)> = self.pairs.into_iter().filter(|(_, count)| *count != 0).collect();
        pairs.sort_unstable();
        TermCounts { num_chunks: self.num_chunks, terms, pairs }
    }
}

/// The sum of several tables. The order of the tables does not affect the sum.
pub fn sum_of_counts<'a>(tables: impl IntoIterator<Item = &'a TermCounts>) -> TermCounts {
    let mut sum = TermCounts::default();
    for table in tables {
        sum.num_chunks += table.num_chunks;
        sum.terms.extend(&table.terms);
        sum.pairs.extend(table.pairs.iter().cloned());
    }
    add_equal(&mut sum.terms);
    add_equal(&mut sum.pairs);
    sum
}

/// Sorts the counts by key and adds the counts of equal keys. Counts that become zero are removed.
fn add_equal<Key: Ord>(counts: &mut Vec<(Key, i32)>) {
    counts.sort_unstable();
    counts.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        if is_same {
            kept.1 = kept.1.saturating_add(later.1);
        }
        is_same
    });
    counts.retain(|(_, count)| *count != 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_chunks::chunk_of;

    fn terms(terms: &[u32]) -> SparseVector {
        SparseVector(terms.iter().map(|term| (*term, 7)).collect())
    }

    fn pair(word: &str, other: &str) -> WordPair {
        WordPair { word: word.to_owned(), other: other.to_owned() }
    }

    #[test]
    fn begun_and_ended_chunks_are_counted() {
        let mut counter = TermCounter::default();
        counter.begin(&chunk_of("Session.validate_token"), &terms(&[1, 5, 9]));
        counter.begin(&chunk_of("validateToken"), &terms(&[5]));
        counter.end(&chunk_of("open_file"), &terms(&[1, 9, 11]));
        let pairs = [("file", "open", -1), ("open", "file", -1), ("token", "validate", 2), ("validate", "token", 2)];
        let pairs = pairs.map(|(word, other, count)| (pair(word, other), count)).to_vec();
        assert_eq!(counter.finish(), TermCounts { num_chunks: 1, terms: vec![(5, 2), (11, -1)], pairs });
    }

    #[test]
    fn tables_are_added() {
        let table = |num_chunks, terms: &[(u32, i32)], pairs: &[(&str, &str, i32)]| TermCounts {
            num_chunks,
            terms: terms.to_vec(),
            pairs: pairs.iter().map(|(word, other, count)| (pair(word, other), *count)).collect(),
        };
        let base = table(3, &[(1, 3), (4, 1), (8, 2)], &[("a", "b", 2), ("c", "d", 1)]);
        let change = table(-1, &[(2, 1), (4, -1), (8, -1)], &[("a", "b", 1), ("c", "d", -1)]);
        let expect = table(2, &[(1, 3), (2, 1), (8, 1)], &[("a", "b", 3)]);
        assert_eq!(sum_of_counts([&base, &change]), expect);
        assert_eq!(sum_of_counts([&change, &base]), expect);
        assert_eq!((expect.count(8), expect.count(4)), (1, 0));
        let undo = table(1, &[(2, -1), (4, 1), (8, 1)], &[("a", "b", -1), ("c", "d", 1)]);
        assert!(sum_of_counts([&change, &undo]).is_empty());
    }
}
