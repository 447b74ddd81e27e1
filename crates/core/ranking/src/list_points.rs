//! Computes the points that a chunk gets from one ranked list: half for its score, half for its rank.
//!
//! Scores can be compared only within one list, but ranks can also be compared between lists. The mean of
//! score and rank gives a better order than the score alone or the rank alone.

use crate::fixed::{ONE, share};
use crate::{Signal, Signals};

/// The constant in the formula for the points of a rank. A larger constant makes the points of neighbouring
/// ranks more similar.
const RANK_CONSTANT: u64 = 20;
/// The constant for the list of names. This constant is smaller than `RANK_CONSTANT`, because the first
/// entries of this list are much better than the other entries.
const NAMES_CONSTANT: u64 = 10;

/// The position of a chunk in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The rank in the list; the first rank is 1. `None` if only the score of the chunk is known, because the
    /// list ends before the chunk.
    pub rank: Option<u32>,
    pub score: i64,
}

/// The highest and the lowest score of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScoreRange {
    pub first: i64,
    pub last: i64,
}

impl ScoreRange {
    /// The score range of a list whose scores are sorted, highest first.
    pub fn of(scores: impl Iterator<Item = i64> + Clone) -> Self {
        Self { first: scores.clone().next().unwrap_or_default(), last: scores.last().unwrap_or_default() }
    }

    /// Points for a dot product. A dot product of 0 has no special meaning, so the points are relative to the
    /// lowest dot product of the list: the last chunk gets 0 points for its score.
    pub(crate) fn dense_points(self, listed: Listed, signals: Signals) -> u64 {
        let is_first = listed.rank == Some(1);
        let of_score = if is_first { ONE } else { share(listed.score - self.last, self.first - self.last) };
        mean(of_score, listed.rank, signals)
    }

    /// Points for a sum of term weights.
    pub(crate) fn term_points(self, listed: Listed, signals: Signals) -> u64 {
        mean(share(listed.score, self.first), listed.rank, signals)
    }
}

/// The mean of the points for the score and the points for the rank.
fn mean(of_score: u64, rank: Option<u32>, signals: Signals) -> u64 {
    let of_rank = of_rank(rank, RANK_CONSTANT);
    match (signals.has(Signal::Scores), signals.has(Signal::Ranks)) {
        (true, false) => of_score,
        (false, true) => of_rank,
        _ => (of_score + of_rank) / 2,
    }
}

/// Points for a rank in the list of names. The first rank is 1.
pub(crate) fn name_points(rank: u32) -> u64 {
    of_rank(Some(rank), NAMES_CONSTANT)
}

/// The points for a rank. The first rank gets the maximum, [`ONE`].
fn of_rank(rank: Option<u32>, constant: u64) -> u64 {
    rank.map_or(0, |rank| ONE * (constant + 1) / (constant + u64::from(rank)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_points_come_from_the_score() {
        let range = ScoreRange::of([90, 50, 10].into_iter());
        let points = |rank, score| {
            let listed = Listed { rank, score };
            (range.dense_points(listed, Signals::default()), range.term_points(listed, Signals::default()))
        };
        assert_eq!(points(Some(1), 90), (ONE, ONE));
        assert_eq!(points(Some(2), 50), (727_272, 755_050));
        assert_eq!(points(Some(3), 10), (456_521, 512_077));
        assert_eq!(points(None, 5), (0, 27_777));
    }

    #[test]
    fn single_entry_gets_all_points() {
        let listed = Listed { rank: Some(1), score: -4 };
        assert_eq!(ScoreRange::of([-4].into_iter()).dense_points(listed, Signals::default()), ONE);
        assert_eq!(ScoreRange::default().term_points(Listed { rank: None, score: 0 }, Signals::default()), 0);
    }

    #[test]
    fn points_of_names_decrease_with_the_rank() {
        assert_eq!([1, 2, 12].map(name_points), [ONE, 916_666, 500_000]);
    }
}
