//! Counts how many chunks contain each term, and adds such tables.

use cairn_domain::{SparseVector, TermCounts};
use rustc_hash::FxHashMap;

/// Counts the terms of chunks.
#[derive(Default, Debug)]
pub struct TermCounter {
    num_chunks: i64,
    counts: FxHashMap<u32, i32>,
}

impl TermCounter {
    /// Counts a chunk that begins.
    pub fn begin(&mut self, terms: &SparseVector) {
        self.add(terms, 1);
    }

    /// Counts a chunk that ends.
    pub fn end(&mut self, terms: &SparseVector) {
        self.add(terms, -1);
    }

    fn add(&mut self, terms: &SparseVector, sign: i32) {
        self.num_chunks += i64::from(sign);
        for (term, _) in &terms.0 {
            *self.counts.entry(*term).or_default() += sign;
        }
    }

    pub fn finish(self) -> TermCounts {
        let mut terms: Vec<(u32, i32)> = self.counts.into_iter().filter(|(_, count)| *count != 0).collect();
        terms.sort_unstable();
        TermCounts { num_chunks: self.num_chunks, terms }
    }
}

/// The sum of several tables. The order of the tables does not matter.
pub fn sum_of_counts<'a>(tables: impl IntoIterator<Item = &'a TermCounts>) -> TermCounts {
    let mut sum = TermCounts::default();
    for table in tables {
        sum.num_chunks += table.num_chunks;
        sum.terms.extend(&table.terms);
    }
    sum.terms.sort_unstable();
    sum.terms.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        if is_same {
            kept.1 = kept.1.saturating_add(later.1);
        }
        is_same
    });
    sum.terms.retain(|(_, count)| *count != 0);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(terms: &[u32]) -> SparseVector {
        SparseVector(terms.iter().map(|term| (*term, 7)).collect())
    }

    #[test]
    fn begun_and_ended_chunks_are_counted() {
        let mut counter = TermCounter::default();
        counter.begin(&chunk(&[1, 5, 9]));
        counter.begin(&chunk(&[5]));
        counter.end(&chunk(&[1, 9, 11]));
        assert_eq!(counter.finish(), TermCounts { num_chunks: 1, terms: vec![(5, 2), (11, -1)] });
    }

    #[test]
    fn tables_are_added() {
        let table = |num_chunks, terms: &[(u32, i32)]| TermCounts { num_chunks, terms: terms.to_vec() };
        let (base, change) = (table(3, &[(1, 3), (4, 1), (8, 2)]), table(-1, &[(2, 1), (4, -1), (8, -1)]));
        let expect = table(2, &[(1, 3), (2, 1), (8, 1)]);
        assert_eq!(sum_of_counts([&base, &change]), expect);
        assert_eq!(sum_of_counts([&change, &base]), expect);
        assert_eq!((expect.count(8), expect.count(4)), (1, 0));
        assert!(sum_of_counts([&change, &table(1, &[(2, -1), (4, 1), (8, 1)])]).is_empty());
    }
}
