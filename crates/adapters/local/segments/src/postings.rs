//! Stores postings: for each term, the rows that contain the term, with their weights.
//!
//! Postings consist of three arrays: the terms in ascending order, the end of each term's list, and the
//! lists. A list contains two values for each row. The first is the distance from the previous row as LEB128;
//! for the first row, this is the distance from -1. The second is the weight (one byte).

use cairn_domain::SparseVector;

/// The three arrays, in the form in which a segment contains them.
#[derive(Default, Debug)]
pub(crate) struct EncodedPostings {
    pub(crate) terms: Vec<u8>,
    pub(crate) ends: Vec<u8>,
    pub(crate) lists: Vec<u8>,
}

/// Encodes the vectors of rows 0, 1, 2 …
pub(crate) fn encode<'a>(vectors: impl Iterator<Item = &'a SparseVector>) -> EncodedPostings {
    let mut entries = Vec::new();
    for (row, vector) in (0u64..).zip(vectors) {
        entries.extend(vector.0.iter().map(|(term, weight)| u64::from(*term) << 32 | row << 8 | u64::from(*weight)));
    }
    sort_by_term(&mut entries);
    let mut encoded = EncodedPostings::default();
    for list in entries.chunk_by(|left, right| left >> 32 == right >> 32) {
        let mut next_row = 0;
        for entry in list {
            let row = (*entry as u32) >> 8;
            push_varint(&mut encoded.lists, row - next_row);
            encoded.lists.push(*entry as u8);
            next_row = row + 1;
        }
        encoded.terms.extend(((list[0] >> 32) as u32).to_le_bytes());
        encoded.ends.extend((encoded.lists.len() as u32).to_le_bytes());
    }
    encoded
}

/// Sorts by the upper 32 bits and preserves the order of equal entries. The algorithm is a radix sort in
/// three passes. For these entries, it is several times faster than a comparison sort.
fn sort_by_term(entries: &mut Vec<u64>) {
    const BITS: u32 = 11;
    let mut sorted = vec![0; entries.len()];
    for shift in [32, 32 + BITS, 32 + 2 * BITS] {
        let digit = |entry: u64| (entry >> shift) as usize & ((1 << BITS) - 1);
        let mut places = [0usize; 1 << BITS];
        for entry in entries.iter() {
            places[digit(*entry)] += 1;
        }
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        for entry in entries.iter() {
            let place = &mut places[digit(*entry)];
            sorted[*place] = *entry;
            *place += 1;
        }
        std::mem::swap(entries, &mut sorted);
    }
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The postings of a segment, which are read in place.
#[derive(Clone, Copy)]
pub(crate) struct Postings<'a> {
    terms: &'a [[u8; 4]],
    ends: &'a [[u8; 4]],
    lists: &'a [u8],
}

impl<'a> Postings<'a> {
    /// Returns `None` if the lengths of the arrays are inconsistent.
    pub(crate) fn new(terms: &'a [u8], ends: &'a [u8], lists: &'a [u8]) -> Option<Self> {
        let (terms, []) = terms.as_chunks() else { return None };
        let (ends, []) = ends.as_chunks() else { return None };
        (terms.len() == ends.len()).then_some(Self { terms, ends, lists })
    }

    /// The rows and weights of one term. Empty if no row contains the term. `None` if the list is damaged.
    pub(crate) fn list(&self, term: u32) -> Option<PostingList<'a>> {
        match self.terms.binary_search_by_key(&term, |stored| u32::from_le_bytes(*stored)) {
            Ok(index) => self.list_at(index),
            Err(_) => Some(PostingList { bytes: &[], next_row: 0 }),
        }
    }

    fn list_at(&self, index: usize) -> Option<PostingList<'a>> {
        let end = |index: usize| u32::from_le_bytes(self.ends[index]) as usize;
        let start = if index == 0 { 0 } else { end(index - 1) };
        let bytes = self.lists.get(start..end(index))?;
        Some(PostingList { bytes, next_row: 0 })
    }

    /// The vectors of all rows. `None` if the postings are damaged.
    pub(crate) fn vectors(&self, num_rows: u32) -> Option<Vec<SparseVector>> {
        let mut vectors = vec![SparseVector::default(); num_rows as usize];
        for index in 0..self.terms.len() {
            let term = u32::from_le_bytes(self.terms[index]);
            let mut list = self.list_at(index)?;
            for (row, weight) in list.by_ref() {
                vectors.get_mut(row as usize)?.0.push((term, weight));
            }
            if !list.is_finished() {
                return None;
            }
        }
        Some(vectors)
    }
}

/// A cursor over the rows of a term.
pub(crate) struct PostingList<'a> {
    bytes: &'a [u8],
    next_row: u32,
}

impl PostingList<'_> {
    /// Whether the whole list was read. If this is false after `next` returned `None`, the list is damaged.
    pub(crate) fn is_finished(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl Iterator for PostingList<'_> {
    type Item = (u32, u8);

    #[inline]
    fn next(&mut self) -> Option<(u32, u8)> {
        let (mut distance, mut shift, mut read) = (0u32, 0, 0);
        loop {
            let byte = *self.bytes.get(read)?;
            distance |= u32::from(byte & 0x7f).checked_shl(shift)?;
            (shift, read) = (shift + 7, read + 1);
            if byte < 0x80 {
                break;
            }
        }
        let weight = *self.bytes.get(read)?;
        let row = self.next_row.checked_add(distance)?;
        self.next_row = row.checked_add(1)?;
        self.bytes = &self.bytes[read + 1..];
        Some((row, weight))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn vectors() -> impl Strategy<Value = Vec<SparseVector>> {
        let vector = prop::collection::btree_map(prop_oneof![0u32..20, any::<u32>()], 1u8.., 0..12);
        prop::collection::vec(vector.prop_map(|vector| SparseVector(vector.into_iter().collect())), 0..300)
    }

    proptest! {
        #[test]
        fn encoded_lists_are_read_back(vectors in vectors()) {
            let encoded = encode(vectors.iter());
            let postings = Postings::new(&encoded.terms, &encoded.ends, &encoded.lists).expect("fits");
            let read = postings.vectors(vectors.len() as u32);
            prop_assert_eq!(read.as_ref(), Some(&vectors));
            let mut by_term: BTreeMap<u32, Vec<(u32, u8)>> = BTreeMap::from([(21, Vec::new())]);
            for (row, vector) in (0..).zip(&vectors) {
                for (term, weight) in &vector.0 {
                    by_term.entry(*term).or_default().push((row, *weight));
                }
            }
            for (term, rows) in by_term {
                prop_assert_eq!(postings.list(term).expect("sound").collect::<Vec<_>>(), rows);
            }
        }

        #[test]
        fn damaged_lists_end_without_panic(lists in prop::collection::vec(any::<u8>(), 0..40)) {
            let ends = (lists.len() as u32).to_le_bytes();
            let postings = Postings::new(&[0; 4], &ends, &lists).expect("fits");
            let mut list = postings.list(0).expect("in bounds");
            prop_assert!(list.by_ref().count() <= lists.len());
            prop_assert!(Postings::new(&[0; 4], &[9, 0, 0, 0], &[]).expect("fits").list(0).is_none());
        }
    }
}
