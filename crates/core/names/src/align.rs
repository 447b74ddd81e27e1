//! Pairs the words of a name with the requested words, and scores the name.

use crate::reasons::{Reason, Reasons};
use crate::wanted::{MAX_WORDS, WantedName, WantedWord};

/// One or more requested words, paired with the words of a name that match them. `wanted` and `name` are bit
/// sets of word positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub(crate) nearness: u32,
    pub(crate) wanted: u16,
    pub(crate) name: u16,
    pub(crate) reasons: Reasons,
}

/// The score is multiplied by this factor, in thousandths, if the words of the name have a different order
/// from the requested words.
const OTHER_ORDER: u32 = 975;
/// The weight of an optional requested word that the name does not contain. An optional word only describes
/// or links other words.
const OPTIONAL_WEIGHT: u32 = 1;
/// The nearness, in thousandths, of a requested word and a word of the name that are different, but are at
/// the same position relative to the near words.
pub(crate) const OTHER_WORD: u32 = 300;
/// Different words at the same position are paired only if the score without these pairs is at least this
/// value, in thousandths.
const MIN_NEAR_SHARE: u32 = 400;
/// The score is multiplied by this factor, in thousandths, if the name lacks requested words and contains
/// additional words.
const REPLACED_WORDS: u32 = 920;

/// Returns the score of a name in thousandths, and the reasons for the score. `pairs` contains all near
/// pairs; the function keeps only the nearest pairs that share no word, and sorts them. `weights` contains
/// the weights of the name's words.
pub(crate) fn align(wanted: &WantedName, weights: &[u32], pairs: &mut Vec<Pair>) -> (u32, Reasons) {
    choose(pairs);
    let mut paired = Paired::of(wanted, weights, pairs);
    let total = paired.weight_of_wanted(wanted) + weights.iter().sum::<u32>();
    if total == 0 {
        return (0, paired.reasons);
    }
    pairs.sort_unstable_by_key(|pair| pair.name);
    let is_ordered = pairs.is_sorted_by_key(|pair| pair.wanted);
    if is_ordered && paired.points / total >= MIN_NEAR_SHARE {
        paired.add_other_words(wanted, weights, pairs);
    }
    let (mut score, mut reasons) = (paired.points / total, paired.reasons);
    let (lacks_words, has_additional_words) = (paired.lacks_words(wanted), paired.has_additional_words(weights.len()));
    if lacks_words {
        reasons = reasons.with(Reason::MissingWords);
    }
    if has_additional_words {
        reasons = reasons.with(Reason::AdditionalWords);
    }
    if lacks_words && has_additional_words {
        score = score * REPLACED_WORDS / 1_000;
    }
    if !is_ordered {
        score = score * OTHER_ORDER / 1_000;
        reasons = reasons.with(Reason::OtherOrder);
    }
    (score, reasons)
}

/// The words that are paired. `wanted` and `name` are bit sets of word positions.
struct Paired {
    wanted: u16,
    name: u16,
    /// The sum of the weights of the paired words, each multiplied by the nearness of its pair.
    points: u32,
    reasons: Reasons,
}

impl Paired {
    fn of(wanted: &WantedName, weights: &[u32], pairs: &[Pair]) -> Self {
        let mut paired = Self { wanted: 0, name: 0, points: 0, reasons: Reasons::NONE };
        for pair in pairs {
            paired.wanted |= pair.wanted;
            paired.name |= pair.name;
            paired.points += pair.nearness * (weight_of(wanted, pair.wanted) + sum(weights, pair.name));
            paired.reasons = paired.reasons.and(pair.reasons);
        }
        paired
    }

    /// The sum of the weights of all requested words.
    fn weight_of_wanted(&self, wanted: &WantedName) -> u32 {
        let weight = |(index, word): (usize, &WantedWord)| {
            if self.wanted >> index & 1 == 0 && word.is_optional { OPTIONAL_WEIGHT } else { word.weight }
        };
        wanted.words.iter().enumerate().map(weight).sum()
    }

    /// Pairs the different words that are at the same position between the near pairs. `pairs` contains the
    /// near pairs, in the order of both names.
    fn add_other_words(&mut self, wanted: &WantedName, weights: &[u32], pairs: &[Pair]) {
        for (at_wanted, at_name) in same_places(wanted, weights.len(), pairs) {
            self.wanted |= 1 << at_wanted;
            self.name |= 1 << at_name;
            self.points += OTHER_WORD * (wanted.words[at_wanted].weight + weights[at_name]);
            self.reasons = self.reasons.with(Reason::OtherWord);
        }
    }

    /// Whether at least one requested word is neither optional nor paired.
    fn lacks_words(&self, wanted: &WantedName) -> bool {
        let is_missing = |index: usize| self.wanted >> index & 1 == 0 && !wanted.words[index].is_optional;
        (0..wanted.words.len()).any(is_missing)
    }

    /// Whether the name contains at least one word that is not paired.
    fn has_additional_words(&self, num_words: usize) -> bool {
        (0..num_words).any(|index| self.name >> index & 1 == 0)
    }
}

/// Pairs of a requested word and a word of the name that are at the same position between the near pairs.
/// Neither word belongs to a near pair. `pairs` contains the near pairs, in the order of both names.
fn same_places(wanted: &WantedName, num_words: usize, pairs: &[Pair]) -> Vec<(usize, usize)> {
    let (mut left, mut right) = (0, 0);
    let mut places = Vec::new();
    let ends = pairs.iter().map(|pair| {
        let first = |set: u16| set.trailing_zeros() as usize;
        let after = |set: u16| (16 - set.leading_zeros()) as usize;
        (first(pair.wanted), first(pair.name), after(pair.wanted), after(pair.name))
    });
    let num_wanted = wanted.words.len();
    for (end_left, end_right, next_left, next_right) in ends.chain([(num_wanted, num_words, num_wanted, num_words)]) {
        let required = (left..end_left.max(left)).filter(|at| !wanted.words[*at].is_optional);
        places.extend(required.zip(right..end_right.max(right)));
        (left, right) = (next_left, next_right);
    }
    places
}

/// Keeps the nearest pairs, so that no word belongs to two pairs.
fn choose(pairs: &mut Vec<Pair>) {
    let offset = |pair: &Pair| pair.wanted.trailing_zeros().abs_diff(pair.name.trailing_zeros());
    pairs.sort_unstable_by_key(|pair| (std::cmp::Reverse(pair.nearness), offset(pair), pair.wanted, pair.name));
    let (mut of_wanted, mut of_name) = (0_u16, 0_u16);
    pairs.retain(|pair| {
        let is_free = of_wanted & pair.wanted == 0 && of_name & pair.name == 0;
        if is_free {
            of_wanted |= pair.wanted;
            of_name |= pair.name;
        }
        is_free
    });
}

fn weight_of(wanted: &WantedName, set: u16) -> u32 {
    let words = wanted.words.iter().enumerate().take(MAX_WORDS);
    words.filter(|(index, _)| set >> index & 1 == 1).map(|(_, word)| word.weight).sum()
}

fn sum(weights: &[u32], set: u16) -> u32 {
    let weights = weights.iter().enumerate().take(MAX_WORDS);
    weights.filter(|(index, _)| set >> index & 1 == 1).map(|(_, weight)| weight).sum()
}
