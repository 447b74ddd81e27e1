//! Finds the pairs of sets whose Jaccard similarity reaches a threshold, in near-linear time.
//!
//! The *prefix* of a set consists of its rarest elements. The prefixes of two similar sets have an element in
//! common. Therefore only sets that share a rare element are compared. An element that thousands of classes
//! have, such as `__init__`, causes no comparison.
//!
//! Even with this rule, thousands of similar sets would all be compared with each other. Therefore, if many
//! sets share a rare element, only the first of them are compared with all the others. The clusters around
//! these first sets have the same members as if all pairs had been compared.

use rustc_hash::FxHashMap;

/// The numbers of the elements of a set, in ascending order. Rare elements have small numbers.
pub(crate) type Set = Vec<u32>;

/// Whether the similarity of two sets is at least `percent`.
pub(crate) fn is_alike(a: &[u32], b: &[u32], percent: u8) -> bool {
    let common = num_common(a, b);
    let union = a.len() + b.len() - common;
    common * 100 >= usize::from(percent) * union
}

fn num_common(a: &[u32], b: &[u32]) -> usize {
    let (mut at_a, mut at_b, mut common) = (0, 0, 0);
    while at_a < a.len() && at_b < b.len() {
        match a[at_a].cmp(&b[at_b]) {
            std::cmp::Ordering::Less => at_a += 1,
            std::cmp::Ordering::Greater => at_b += 1,
            std::cmp::Ordering::Equal => {
                common += 1;
                at_a += 1;
                at_b += 1;
            }
        }
    }
    common
}

/// The approximate maximum number of comparisons, if the prefix of each set has one element.
const MOST_COMPARISONS: usize = 4_000_000;

/// If at most this number of sets share a rare element, all pairs of these sets are compared. If more sets
/// share the element, only the pairs that include one of the first sets are compared.
fn most_compared(num_sets: usize) -> usize {
    (MOST_COMPARISONS / num_sets.max(1)).clamp(16, 1_000)
}

/// The neighbours of each set: the indices of the other sets that are similar to it, in ascending order. The
/// sets must be distinct.
pub(crate) fn neighbours(sets: &[Set], percent: u8) -> Vec<Vec<u32>> {
    let most_compared = most_compared(sets.len());
    let mut order: Vec<u32> = (0..sets.len() as u32).collect();
    order.sort_by_key(|index| sets[*index as usize].len());
    let mut neighbours = vec![Vec::new(); sets.len()];
    let mut by_element: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let mut candidates = Vec::new();
    for index in order {
        let set = &sets[index as usize];
        candidates.clear();
        for element in &set[..prefix_len(set.len(), percent)] {
            candidates.extend(by_element.get(element).into_iter().flatten());
        }
        candidates.sort_unstable();
        candidates.dedup();
        for other in &candidates {
            if is_alike(set, &sets[*other as usize], percent) {
                neighbours[index as usize].push(*other);
                neighbours[*other as usize].push(index);
            }
        }
        for element in &set[..prefix_len(set.len(), percent)] {
            let sharing = by_element.entry(*element).or_default();
            if sharing.len() < most_compared {
                sharing.push(index);
            }
        }
    }
    neighbours.iter_mut().for_each(|list| list.sort_unstable());
    neighbours
}

/// The length of the prefix of a set with `len` elements. A set that is similar to a set of `n` elements
/// contains at least `⌈t·n⌉` of these elements, where `t` is the threshold. So it lacks at most `n − ⌈t·n⌉`
/// of them, and contains at least one of the `n − ⌈t·n⌉ + 1` rarest elements.
fn prefix_len(len: usize, percent: u8) -> usize {
    let needed = (len * usize::from(percent)).div_ceil(100);
    (len - needed + 1).min(len)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn similarity_is_compared_without_rounding() {
        assert!(is_alike(&[1, 2, 3, 4], &[1, 2, 3, 4, 5], 80));
        assert!(!is_alike(&[1, 2, 3], &[1, 2, 3, 4], 80));
        assert!(is_alike(&[1, 2, 3], &[1, 2, 3, 4], 75));
        assert!(!is_alike(&[1], &[2], 1));
    }

    #[test]
    fn many_similar_sets_are_compared_only_with_the_first_few() {
        // Each set has nine elements. All sets have eight elements in common.
        let set = |own: u32| std::iter::once(own).chain(1_000_000..1_000_008).collect();
        let sets: Vec<Set> = (0..5_000).map(set).collect();
        let found = neighbours(&sets, 80);
        let most = most_compared(sets.len());
        assert!(found[..most].iter().all(|others| others.len() == sets.len() - 1));
        assert!(found[most..].iter().all(|others| others.len() == most));
    }

    proptest! {
        #[test]
        fn join_finds_exactly_the_similar_pairs(
            sets in prop::collection::btree_set(prop::collection::btree_set(0u32..12, 1..8), 0..40),
            percent in 1u8..=100,
        ) {
            let sets: Vec<Set> = sets.into_iter().map(|set| set.into_iter().collect()).collect();
            let found = neighbours(&sets, percent);
            for (a, set) in sets.iter().enumerate() {
                let others = sets.iter().enumerate().filter(|(b, other)| *b != a && is_alike(set, other, percent));
                let expect: Vec<u32> = others.map(|(b, _)| b as u32).collect();
                prop_assert_eq!(&found[a], &expect);
            }
        }
    }
}
