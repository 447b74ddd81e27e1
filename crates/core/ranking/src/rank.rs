//! Orders the hits of an answer.
//!
//! The points from the fusion are multiplied by the factors of the signals. Then hits with equal text are
//! joined into one hit with several places, and the scores of further hits of the same file are reduced. The
//! hits are sorted by a total order (score, repository, path, line, key). Therefore the answer does not
//! depend on the order in which stores return the candidates.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use cairn_domain::{ChunkKey, ChunkRecord, ContentHash, LineSpan, RepoPath, RepositoryId};

use crate::{Contribution, QueryWords, Signal, TestWeight, signals};

/// The first hit of a file keeps its score. The score of each further hit is multiplied by a factor, which is
/// this percentage of the factor of the hit before.
const DECAY_PERCENT: u32 = 85;
/// The factor is never smaller than this percentage.
const LEAST_DECAY_PERCENT: u32 = 40;

/// A chunk with its points from the fusion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub chunk: ChunkRecord,
    pub points: u64,
    pub contributions: Vec<Contribution>,
    /// Signals that the caller of this crate adds, for example that the chunk contains a definition.
    pub extra_signals: Vec<Signal>,
    /// A definition in the chunk. The question names it, and it is not the own symbol of the chunk.
    pub definition: Option<Definition>,
}

/// A definition in a chunk that contains several definitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The qualified name.
    pub symbol: String,
    /// The lines of the definition.
    pub span: LineSpan,
}

/// The place of a text in a repository.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    pub repository: RepositoryId,
    pub path: RepoPath,
    pub span: LineSpan,
    pub key: ChunkKey,
}

/// One entry of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankedHit {
    pub chunk: ChunkRecord,
    /// The points after all signals.
    pub score: u64,
    /// The points from each list, before the signals.
    pub contributions: Vec<Contribution>,
    pub signals: Vec<Signal>,
    pub definition: Option<Definition>,
    /// The other places that contain the same text, sorted.
    pub also_at: Vec<Place>,
}

/// Scores and orders the candidates, which may be in any order. No two candidates may have the same chunk.
pub fn rank(candidates: Vec<Candidate>, query: &QueryWords, tests: TestWeight) -> Vec<RankedHit> {
    let mut hits: Vec<RankedHit> = candidates.into_iter().map(|candidate| scored(candidate, query, tests)).collect();
    sort(&mut hits);
    let mut hits = join_equal_texts(hits);
    decay_within_files(&mut hits);
    sort(&mut hits);
    hits
}

fn scored(candidate: Candidate, query: &QueryWords, tests: TestWeight) -> RankedHit {
    let Candidate { chunk, points, contributions, extra_signals, definition } = candidate;
    let mut signals = signals(&chunk, query, tests);
    signals.extend(extra_signals);
    let score = signals.iter().fold(points, |score, signal| signal.apply(score));
    RankedHit { chunk, score, contributions, signals, definition, also_at: Vec::new() }
}

fn place(chunk: &ChunkRecord) -> Place {
    Place { repository: chunk.repository, path: chunk.path.clone(), span: chunk.span, key: chunk.key }
}

fn sort(hits: &mut [RankedHit]) {
    hits.sort_by(|left, right| {
        let scores = Reverse(left.score).cmp(&Reverse(right.score));
        let (left, right) = (&left.chunk, &right.chunk);
        scores
            .then_with(|| left.repository.cmp(&right.repository))
            .then_with(|| left.path.cmp(&right.path))
            .then_with(|| left.span.cmp(&right.span))
            .then_with(|| left.key.cmp(&right.key))
    });
}

/// Keeps the best hit of each text. The places of the other hits are added to the best hit (`also_at`).
fn join_equal_texts(hits: Vec<RankedHit>) -> Vec<RankedHit> {
    let mut kept: Vec<RankedHit> = Vec::with_capacity(hits.len());
    let mut index_of: BTreeMap<ContentHash, usize> = BTreeMap::new();
    for hit in hits {
        match index_of.get(&hit.chunk.content_hash) {
            Some(index) => kept[*index].also_at.push(place(&hit.chunk)),
            None => {
                index_of.insert(hit.chunk.content_hash, kept.len());
                kept.push(hit);
            }
        }
    }
    for hit in &mut kept {
        hit.also_at.sort();
    }
    kept
}

/// Reduces the scores of further hits of the same file. The hits must be sorted, so that the best hit of a
/// file keeps its score.
fn decay_within_files(hits: &mut [RankedHit]) {
    let mut next_percent: BTreeMap<(RepositoryId, RepoPath), u32> = BTreeMap::new();
    for hit in hits {
        let percent = next_percent.entry((hit.chunk.repository, hit.chunk.path.clone())).or_insert(100);
        if *percent < 100 {
            let signal = Signal::new("same_file", *percent);
            hit.score = signal.apply(hit.score);
            hit.signals.push(signal);
        }
        *percent = (*percent * DECAY_PERCENT / 100).max(LEAST_DECAY_PERCENT);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_chunks::chunk;

    fn candidate(path: &str, line: u32, text: &str, points: u64) -> Candidate {
        let chunk = chunk(path, line, text);
        Candidate { chunk, points, contributions: Vec::new(), extra_signals: Vec::new(), definition: None }
    }

    fn check(candidates: Vec<Candidate>, expect: &[(&str, u32, u64, usize)]) {
        let hits = rank(candidates, &QueryWords::default(), TestWeight::Half);
        let found: Vec<(&str, u32, u64, usize)> = hits
            .iter()
            .map(|hit| (hit.chunk.path.as_str(), hit.chunk.span.start, hit.score, hit.also_at.len()))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn equal_scores_are_ordered_by_place() {
        check(
            vec![candidate("b", 1, "1", 10), candidate("a", 9, "2", 10), candidate("c", 1, "3", 11)],
            &[("c", 1, 11, 0), ("a", 9, 10, 0), ("b", 1, 10, 0)],
        );
    }

    #[test]
    fn equal_texts_are_merged_into_one_hit() {
        check(
            vec![candidate("a", 1, "same", 10), candidate("b", 1, "same", 30), candidate("c", 1, "other", 20)],
            &[("b", 1, 30, 1), ("c", 1, 20, 0)],
        );
    }

    #[test]
    fn scores_of_further_chunks_of_a_file_decay() {
        let candidates = (1..=8).map(|line| candidate("a", line, &line.to_string(), 1000 - u64::from(line))).collect();
        let hits = rank(candidates, &QueryWords::default(), TestWeight::Half);
        let decays: Vec<u32> =
            hits.iter().map(|hit| hit.signals.first().map_or(100, |signal| signal.percent)).collect();
        assert_eq!(decays, [100, 85, 72, 61, 51, 43, 40, 40]);
    }

    #[test]
    fn every_change_of_a_score_is_recorded() {
        let mut boosted = candidate("examples/a", 1, "1", 1000);
        boosted.extra_signals.push(Signal::new("graph", 50));
        let hits = rank(vec![boosted], &QueryWords::of("a"), TestWeight::Half);
        let explained = hits[0].signals.iter().fold(1000, |score, signal| signal.apply(score));
        assert_eq!((hits[0].signals.len(), hits[0].score), (3, explained));
    }

    proptest! {
        #[test]
        fn order_of_candidates_does_not_matter(
            shuffled in Just((0u32..12).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let make = |number: u32| candidate(&format!("f{}", number % 3), number + 1, &(number % 8).to_string(), u64::from(number % 4) * 100);
            let expect = rank((0..12).map(make).collect(), &QueryWords::default(), TestWeight::Half);
            let found = rank(shuffled.into_iter().map(make).collect(), &QueryWords::default(), TestWeight::Half);
            prop_assert_eq!(found, expect);
        }
    }
}
