//! Sets of rows of one segment, with one bit for each row.

/// A set of rows. Row numbers are zero-based. The number of rows is fixed when the set is created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RowSet {
    words: Vec<u64>,
    num_rows: u32,
}

impl RowSet {
    pub(crate) fn none(num_rows: u32) -> Self {
        Self { words: vec![0; (num_rows as usize).div_ceil(64)], num_rows }
    }

    pub(crate) fn all(num_rows: u32) -> Self {
        let mut rows = Self::none(num_rows);
        rows.insert_range(0, num_rows);
        rows
    }

    #[cfg(test)]
    fn contains(&self, row: u32) -> bool {
        self.words.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    pub(crate) fn remove(&mut self, row: u32) {
        if let Some(word) = self.words.get_mut(row as usize / 64) {
            *word &= !(1 << (row % 64));
        }
    }

    /// Adds the rows from `start` up to `end` (exclusive).
    pub(crate) fn insert_range(&mut self, start: u32, end: u32) {
        let end = end.min(self.num_rows);
        let mut row = start;
        while row < end {
            let in_word = row % 64;
            let count = (64 - in_word).min(end - row);
            self.words[row as usize / 64] |= (u64::MAX >> (64 - count)) << in_word;
            row += count;
        }
    }

    pub(crate) fn intersect(&mut self, other: &RowSet) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    /// Keeps the rows that `keep` accepts.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        for (index, word) in self.words.iter_mut().enumerate() {
            let mut bits = *word;
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                if !keep(index as u32 * 64 + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// The rows in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let bits = |(index, word): (u32, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
        };
        (0..).zip(&self.words).filter(|(_, word)| **word != 0).flat_map(bits)
    }

    pub(crate) fn len(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The set as words of 64 bits: `words()[i]` contains the 64 rows that start at row `64 i`.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_and_removals_give_the_expected_rows(
            ranges in prop::collection::vec((0u32..200, 0u32..220), 0..5),
            removed in prop::collection::vec(0u32..220, 0..5),
        ) {
            let mut rows = RowSet::none(200);
            for (start, end) in &ranges {
                rows.insert_range(*start, *end);
            }
            for row in &removed {
                rows.remove(*row);
            }
            rows.retain(|row| row % 7 != 3);
            let expect: Vec<u32> = (0..200)
                .filter(|row| ranges.iter().any(|(start, end)| start <= row && row < end))
                .filter(|row| !removed.contains(row) && row % 7 != 3)
                .collect();
            prop_assert_eq!(rows.len(), expect.len() as u64);
            prop_assert_eq!((0..200).filter(|row| rows.contains(*row)).collect::<Vec<_>>(), expect);
        }
    }

    #[test]
    fn full_set_ends_at_the_last_row() {
        assert_eq!(RowSet::all(70).len(), 70);
        assert_eq!(RowSet::all(0).len(), 0);
        assert!(!RowSet::all(70).contains(70));
    }
}
