//! Groups similar sets into clusters around medoids. The members of a set are the shapes that have this set.
//!
//! Connected components would form chains: A is similar to B, B to C, and so on, until the two ends have
//! nothing in common. Therefore each cluster is a star. The set that is similar to the largest number of
//! members becomes the medoid. The cluster of the medoid consists of the sets that are similar to the medoid
//! itself. The remaining sets are clustered in the same way. Every member is similar to the medoid. Clusters
//! with more members come first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of the medoid, and the numbers of all sets in the cluster (including the medoid) in ascending
/// order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cluster {
    pub(crate) medoid: u32,
    pub(crate) sets: Vec<u32>,
}

/// Forms the clusters. `weights` contains the number of members of each set. If two sets are similar to
/// equally many members, the set with the smaller number becomes the medoid.
pub(crate) fn clusters(neighbours: &[Vec<u32>], weights: &[usize], min_size: usize) -> Vec<Cluster> {
    let mut is_taken = vec![false; weights.len()];
    let mut sizes: Vec<usize> = neighbours
        .iter()
        .enumerate()
        .map(|(set, list)| weights[set] + list.iter().map(|other| weights[*other as usize]).sum::<usize>())
        .collect();
    let mut heap: BinaryHeap<(usize, usize, Reverse<u32>)> =
        sizes.iter().enumerate().map(|(set, size)| (*size, weights[set], Reverse(set as u32))).collect();
    let mut clusters = Vec::new();
    while let Some((size, _, Reverse(medoid))) = heap.pop() {
        if size < min_size {
            break;
        }
        // The size of the cluster around a set only decreases. If the size in this entry is outdated, the
        // heap also contains an entry of this set with the current size, which follows later.
        if is_taken[medoid as usize] || size != sizes[medoid as usize] {
            continue;
        }
        let mut sets: Vec<u32> =
            neighbours[medoid as usize].iter().copied().filter(|set| !is_taken[*set as usize]).collect();
        sets.push(medoid);
        sets.sort_unstable();
        for set in &sets {
            is_taken[*set as usize] = true;
        }
        for set in &sets {
            for other in neighbours[*set as usize].iter().filter(|other| !is_taken[**other as usize]) {
                sizes[*other as usize] -= weights[*set as usize];
                heap.push((sizes[*other as usize], weights[*other as usize], Reverse(*other)));
            }
        }
        clusters.push(Cluster { medoid, sets });
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_does_not_become_one_cluster() {
        // The chain is 0 - 1 - 2 - 3 - 4. The ends of the chain have nothing in common.
        let neighbours = vec![vec![1], vec![0, 2], vec![1, 3], vec![2, 4], vec![3]];
        let found = clusters(&neighbours, &[1, 1, 1, 1, 1], 2);
        assert_eq!(found, [Cluster { medoid: 1, sets: vec![0, 1, 2] }, Cluster { medoid: 3, sets: vec![3, 4] }]);
    }

    #[test]
    fn cluster_size_counts_members_not_sets() {
        let neighbours = vec![vec![], vec![2], vec![1]];
        assert_eq!(clusters(&neighbours, &[5, 1, 1], 5), [Cluster { medoid: 0, sets: vec![0] }]);
        assert_eq!(clusters(&neighbours, &[4, 1, 1], 5), []);
    }

    #[test]
    fn set_with_most_members_is_the_medoid() {
        assert_eq!(clusters(&[vec![1], vec![0]], &[1, 4], 5)[0].medoid, 1);
    }
}
