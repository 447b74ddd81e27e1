//! Distances between words, and signatures that exclude distant words without a comparison.

/// The number of insertions, deletions, substitutions and swaps of adjacent characters that change one text
/// into the other. `None` if the number exceeds `max`. If both texts are ASCII, the function compares bytes
/// and allocates no memory.
pub fn bounded_distance(left: &str, right: &str, max: u32) -> Option<u32> {
    if left.is_ascii() && right.is_ascii() {
        return smallest(left.as_bytes(), right.as_bytes(), max);
    }
    let characters = |text: &str| text.chars().collect::<Vec<char>>();
    smallest(&characters(left), &characters(right), max)
}

fn smallest<T: PartialEq>(left: &[T], right: &[T], max: u32) -> Option<u32> {
    let first = left.len().abs_diff(right.len()) as u32;
    (first..=max).find(|edits| within(left, right, *edits))
}

/// Whether `left` becomes `right` with at most this number of edits. Tries each kind of edit at the first
/// difference, then compares the rest.
fn within<T: PartialEq>(left: &[T], right: &[T], edits: u32) -> bool {
    if left.len().abs_diff(right.len()) > edits as usize {
        return false;
    }
    let num_same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let (left, right) = (&left[num_same..], &right[num_same..]);
    let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) else {
        return left.len().max(right.len()) <= edits as usize;
    };
    if edits == 0 {
        return false;
    }
    let swapped = left_rest.first() == Some(second) && right_rest.first() == Some(first);
    within(left_rest, right_rest, edits - 1)
        || within(left_rest, right, edits - 1)
        || within(left, right_rest, edits - 1)
        || (swapped && within(&left_rest[1..], &right_rest[1..], edits - 1))
}

/// Maximum number of consecutive bytes that a text may lack.
pub(crate) const MAX_GAP: usize = 5;

/// Whether `long` becomes `short` if one contiguous part is removed at the start, in the middle or at the
/// end.
pub(crate) fn gap(short: &str, long: &str) -> bool {
    let num_same = short.bytes().zip(long.bytes()).take_while(|(left, right)| left == right).count();
    let end = short.bytes().rev().zip(long.bytes().rev()).take_while(|(left, right)| left == right).count();
    short.len() < long.len() && num_same + end >= short.len()
}

/// The number of insertions, deletions, substitutions and swaps of adjacent characters that change one text
/// into the other.
pub(crate) fn edit_distance(left: &str, right: &str) -> u32 {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before_last = vec![0; right.len() + 1];
    let mut last: Vec<u32> = (0..=right.len() as u32).collect();
    for row in 1..=left.len() {
        let mut current = vec![row as u32; right.len() + 1];
        for column in 1..=right.len() {
            let substituted = last[column - 1] + u32::from(left[row - 1] != right[column - 1]);
            current[column] = substituted.min(last[column] + 1).min(current[column - 1] + 1);
            let swapped =
                row > 1 && column > 1 && left[row - 1] == right[column - 2] && left[row - 2] == right[column - 1];
            if swapped {
                current[column] = current[column].min(before_last[column - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

/// The share of letter pairs that both texts contain, in thousandths. Spaces are ignored.
pub fn closeness(left: &str, right: &str) -> u32 {
    let (mut of_left, mut of_right) = (pairs(left), pairs(right));
    let total = of_left.len() + of_right.len();
    if total == 0 {
        return 0;
    }
    of_left.sort_unstable();
    of_right.sort_unstable();
    let (mut at_left, mut at_right, mut num_common) = (0, 0, 0);
    while let (Some(first), Some(second)) = (of_left.get(at_left), of_right.get(at_right)) {
        num_common += usize::from(first == second);
        at_left += usize::from(first <= second);
        at_right += usize::from(second <= first);
    }
    (2_000 * num_common / total) as u32
}

/// The pairs of adjacent letters. The start and the end of the text count as letters.
fn pairs(text: &str) -> Vec<(char, char)> {
    let mut pairs = Vec::with_capacity(text.len() + 1);
    let mut last = '^';
    for character in text.chars().filter(|character| *character != ' ').chain(['$']) {
        pairs.push((last, character));
        last = character;
    }
    pairs
}

/// The letters of a text as a set. The second occurrence of a letter is a separate member. One edit removes
/// at most one member and adds at most one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signature(pub(crate) u64);

const LETTERS: u32 = 26;
const OTHER_BITS: u32 = 64 - 2 * LETTERS;

impl Signature {
    pub(crate) fn of(characters: impl Iterator<Item = char>) -> Self {
        let mut set = 0_u64;
        for character in characters {
            let bit = match character {
                'a'..='z' => {
                    let letter = character as u32 - 'a' as u32;
                    if set >> letter & 1 == 0 { letter } else { LETTERS + letter }
                }
                _ => 2 * LETTERS + character as u32 % OTHER_BITS,
            };
            set |= 1 << bit;
        }
        Self(set)
    }

    /// Returns false only if the signatures show that more than `edits` edits are needed to change one text
    /// into the other.
    #[inline]
    pub(crate) fn may_be_within(self, other: Self, edits: u32) -> bool {
        has_at_most(self.0 & !other.0, edits) && has_at_most(other.0 & !self.0, edits)
    }

    /// Returns false only if the signatures show that the other text lacks a letter of this text.
    #[inline]
    pub(crate) fn may_be_part_of(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}

/// Whether a set has at most `limit` members. On processors without an instruction that counts bits, this
/// loop is faster than counting all members.
#[inline]
fn has_at_most(mut set: u64, limit: u32) -> bool {
    for _ in 0..limit {
        set &= set.wrapping_sub(1);
    }
    set == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn edits_are_counted() {
        let check = |left, right, expect| assert_eq!(bounded_distance(left, right, 2), expect, "{left} {right}");
        check("parser", "parser", Some(0));
        check("parser", "prser", Some(1));
        check("parser", "aprser", Some(1));
        check("parser", "prasre", Some(2));
        check("parser", "render", None);
        check("größe", "größen", Some(1));
        check("", "ab", Some(2));
        check("", "abc", None);
    }

    #[test]
    fn text_may_lack_one_consecutive_part() {
        let check = |short, long, expect| assert_eq!(gap(short, long), expect, "{short} {long}");
        check("piler", "compiler", true);
        check("compi", "compiler", true);
        check("coler", "compiler", true);
        check("cmplr", "compiler", false);
        check("compiler", "compiler", false);
    }

    #[test]
    fn closeness_counts_common_pairs() {
        assert_eq!(closeness("get user", "getuser"), 1_000);
        assert_eq!(closeness("ab", "cd"), 0);
        assert_eq!(closeness("ab", "ac"), 333);
    }

    proptest! {
        #[test]
        fn bounded_distance_is_the_edit_distance(left in "[ab]{0,7}", right in "[abé]{0,7}") {
            let distance = Some(edit_distance(&left, &right)).filter(|distance| *distance <= 2);
            prop_assert_eq!(bounded_distance(&left, &right, 2), distance);
        }

        #[test]
        fn signatures_exclude_no_near_text(left in "[a-d0-2é]{0,8}", right in "[a-d0-2é]{0,8}") {
            if let Some(edits) = bounded_distance(&left, &right, 2) {
                let of = |text: &str| Signature::of(text.chars());
                prop_assert!(of(&left).may_be_within(of(&right), edits));
            }
        }
    }
}
