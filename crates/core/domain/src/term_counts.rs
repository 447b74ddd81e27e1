//! The number of chunks that contain each term, and the number of chunks for each pair of words.

/// The number of chunks for each term. If the table describes a change, chunks that the change removes are
/// subtracted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TermCounts {
    pub num_chunks: i64,
    /// Sorted by term, without duplicates and without zeros.
    pub terms: Vec<(u32, i32)>,
    /// The number of chunks for each pair of words. A chunk is counted for a pair if the name of its symbol
    /// contains both words, or if its code shows an abbreviation together with the whole word. Sorted by
    /// pair, without duplicates and without zeros.
    pub pairs: Vec<(WordPair, i32)>,
}

/// Two different words of one name, or an abbreviation and its word, in lower case. Two words form two pairs,
/// one for each order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WordPair {
    pub word: String,
    pub other: String,
}

impl TermCounts {
    pub fn is_empty(&self) -> bool {
        self.num_chunks == 0 && self.terms.is_empty() && self.pairs.is_empty()
    }

    /// The number of chunks that contain the term.
    pub fn count(&self, term: u32) -> i32 {
        let found = self.terms.binary_search_by_key(&term, |(known, _)| *known);
        found.map_or(0, |index| self.terms[index].1)
    }
}
