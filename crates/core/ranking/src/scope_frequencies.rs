//! Computes the rarity of terms in the repositories in which a question is searched.
//!
//! The counts come from the repositories that the caller searches, and from no other repository. The shipped
//! table is added to these counts with the weight of 100 chunks. Without the shipped table, all terms of a
//! small repository would be about equally rare.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use cairn_domain::TermCounts;

use crate::fixed::log2_of_ratio;
use crate::frequencies::UNITS_PER_BIT_LOG2;
use crate::terms::distinct_terms;
use crate::{StopWords, shipped_frequencies, terms};

/// The number of additional chunks that the shipped table represents.
const SHIPPED_CHUNKS: u64 = 100;

/// The number of searched chunks that contain each term of a question.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScopeFrequencies {
    num_chunks: u64,
    counts: BTreeMap<u32, u64>,
}

impl ScopeFrequencies {
    /// The terms of a question, before any chunks are counted.
    pub fn of(question: &str) -> Self {
        let terms = distinct_terms(question, StopWords::Kept);
        Self { num_chunks: 0, counts: terms.into_iter().map(|term| (term, 0)).collect() }
    }

    /// Adds the counts of a repository. The counts are the sums of `tables`, all tables of this repository.
    pub fn add(&mut self, tables: &[impl Borrow<TermCounts>]) {
        let sum = |count: &dyn Fn(&TermCounts) -> i64| {
            let sum: i64 = tables.iter().map(|table| count(table.borrow())).sum();
            u64::try_from(sum).unwrap_or_default()
        };
        self.num_chunks += sum(&|table| table.num_chunks);
        for (term, count) in &mut self.counts {
            *count += sum(&|table| i64::from(table.count(*term)));
        }
    }

    /// Number of chunks in the searched repositories. The result is 0 if no repository has term counts.
    pub fn num_chunks(&self) -> u64 {
        self.num_chunks
    }

    /// Number of searched chunks that contain the term. The result is 0 for a term that is not in the
    /// question.
    pub fn count(&self, term: u32) -> u64 {
        self.counts.get(&term).copied().unwrap_or_default().min(self.num_chunks)
    }

    /// Number of searched chunks that contain the word or an inflection of it. The word must be part of the
    /// question. In a script without spaces, a word has several terms; the result is then the number for the
    /// rarest of these terms.
    pub fn num_chunks_with(&self, word: &str) -> u64 {
        let mut rarest = None;
        terms(word, StopWords::Kept, |term| {
            let count = self.count(term);
            rarest = Some(rarest.map_or(count, |known: u64| known.min(count)));
        });
        rarest.unwrap_or_default()
    }

    /// BM25's `log(1 + (N - n + 0.5) / (n + 0.5))` in sixteenths of a bit. The result is at least 1.
    ///
    /// N is the number of chunks, and n is the number of chunks with the term. Both numbers include the
    /// chunks that the shipped table represents. If there are no chunks, the rarity in the shipped table is
    /// returned.
    pub fn inverse(&self, term: u32) -> u32 {
        let shipped = shipped_frequencies();
        if self.num_chunks == 0 {
            return shipped.inverse(term);
        }
        // The argument of the logarithm is equal to (2N + 2) / (2n + 1). The numerator and the denominator
        // are multiplied by the number of documents in the shipped table, so that the share of the shipped
        // table is an integer.
        let size = u64::from(shipped.num_documents()).max(1);
        let count = self.counts.get(&term).copied().unwrap_or_default().min(self.num_chunks);
        let num_chunks = self.num_chunks + SHIPPED_CHUNKS;
        let of_shipped = 2 * SHIPPED_CHUNKS * u64::from(shipped.count(term));
        log2_of_ratio((2 * num_chunks + 2) * size, (2 * count + 1) * size + of_shipped, UNITS_PER_BIT_LOG2).max(1)
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

    fn of(num_chunks: i64, counts: &[(&str, i32)]) -> TermCounts {
        let mut terms: Vec<(u32, i32)> = counts.iter().map(|(word, count)| (term(word), *count)).collect();
        terms.sort_unstable();
        TermCounts { num_chunks, terms, pairs: Vec::new() }
    }

    fn frequencies(tables: &[TermCounts]) -> ScopeFrequencies {
        let mut found = ScopeFrequencies::of("parser return zyzzyva");
        tables.iter().for_each(|table| found.add(std::slice::from_ref(table)));
        found
    }

    #[test]
    fn shipped_table_gives_rarity_if_scope_has_no_chunks() {
        for word in ["parser", "return", "zyzzyva"] {
            assert_eq!(frequencies(&[]).inverse(term(word)), shipped_frequencies().inverse(term(word)), "{word}");
        }
    }

    #[test]
    fn common_terms_of_the_scope_are_less_rare() {
        let parsers = frequencies(&[of(1000, &[("parser", 900), ("zyzzyva", 1)])]);
        assert!(parsers.inverse(term("parser")) < 10, "{}", parsers.inverse(term("parser")));
        assert!(parsers.inverse(term("parser")) < parsers.inverse(term("return")));
        // (2 · 1100 + 2) / (2 · 1 + 1) is about 734, whose logarithm is 9.5 bits.
        assert!((150..=153).contains(&parsers.inverse(term("zyzzyva"))), "{}", parsers.inverse(term("zyzzyva")));
    }

    #[test]
    fn repositories_and_their_tables_are_added() {
        let one = frequencies(&[of(300, &[("parser", 30)])]);
        let mut layers = ScopeFrequencies::of("parser return zyzzyva");
        let tables = [of(310, &[("parser", 35)]), of(-10, &[("parser", -5)])];
        layers.add(&tables);
        assert_eq!(one, layers);
        let two = frequencies(&[of(100, &[("parser", 10)]), of(200, &[("parser", 20)])]);
        assert_eq!(one, two);
    }

    #[test]
    fn negative_sums_count_as_zero() {
        let damaged = frequencies(&[of(-5, &[("parser", -7)])]);
        assert_eq!(damaged, ScopeFrequencies::of("parser return zyzzyva"));
    }
}
