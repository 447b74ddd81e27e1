//! The parts of a run as sets of numbers. If the end of a part is reported twice, the set of ended parts
//! still contains the part only once.

/// A set of part numbers of one stage.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PartSet {
    /// Number `n` is bit `n % 64` of word `n / 64`. The last word is never zero, so that equal sets have
    /// equal `words`.
    words: Vec<u64>,
}

impl PartSet {
    pub fn from_words(mut words: Vec<u64>) -> Self {
        while words.last() == Some(&0) {
            words.pop();
        }
        Self { words }
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn contains(&self, number: u32) -> bool {
        let word = self.words.get(number as usize / 64).copied().unwrap_or(0);
        word & (1 << (number % 64)) != 0
    }

    /// Adds a number. Returns true if the number was not in the set before.
    pub fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    pub fn len(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the members of this set that `other` does not contain.
    pub fn without(&self, other: &PartSet) -> PartSet {
        let other = |at: usize| other.words.get(at).copied().unwrap_or(0);
        Self::from_words(self.words.iter().enumerate().map(|(at, word)| word & !other(at)).collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let bits = |word: u64| (0..64).filter(move |bit| word & (1_u64 << bit) != 0);
        (0_u32..).zip(&self.words).flat_map(move |(at, word)| bits(*word).map(move |bit| at * 64 + bit))
    }
}

impl FromIterator<u32> for PartSet {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut set = Self::default();
        for number in numbers {
            set.insert(number);
        }
        set
    }
}

/// The parts of one stage of a run, and the state of each part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StageParts {
    /// All parts of this stage in the plan.
    pub planned: PartSet,
    /// Parts that were released: their predecessors had ended, and fewer parts were in flight than the run
    /// allows.
    pub released: PartSet,
    /// Parts whose jobs the broker has confirmed.
    pub sent: PartSet,
    pub ended: PartSet,
    /// The members of `ended` that failed.
    pub failed: PartSet,
}

impl StageParts {
    /// The planned parts that have not ended.
    pub fn open(&self) -> PartSet {
        self.planned.without(&self.ended)
    }

    pub fn has_open(&self) -> bool {
        !self.open().is_empty()
    }

    /// The released parts that have not ended.
    pub fn in_flight(&self) -> PartSet {
        self.released.without(&self.ended)
    }

    /// Parts in flight whose jobs the broker has not confirmed yet.
    pub fn unsent(&self) -> PartSet {
        self.in_flight().without(&self.sent)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn part_sets_support_set_operations() {
        let numbers = [0, 1, 63, 64, 65, 200, 1000];
        let set: PartSet = numbers.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), numbers);
        assert_eq!(set.len() as usize, numbers.len());
        assert!(set.contains(64) && !set.contains(66) && !set.contains(5000));
        let mut again = set.clone();
        assert!(!again.insert(64) && again.insert(66));
        assert_eq!(again.without(&set).iter().collect::<BTreeSet<_>>(), BTreeSet::from([66]));
        assert!(set.without(&again).is_empty());
        assert_eq!(PartSet::from_words(again.words().to_vec()), again);
    }
}
