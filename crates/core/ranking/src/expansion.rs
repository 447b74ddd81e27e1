//! Hits that the graph adds to the ranked hits, and the path that answers a flow question.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ChunkKey, ChunkRecord, ContentHash, RepoPath, RepositoryId};

use crate::fixed::{ONE, times};
use crate::hit::{Contribution, RankedHit};
use crate::priors::{Subjects, priors};
use crate::rank::{FURTHER_HIT, factor, is_further_hit, leading_points, sort};
use crate::via::Via;
use crate::{Signal, Signals};

/// The score of an added hit is computed from the score of the hit from which it was reached, multiplied by
/// this percentage once for each edge between the two hits.
const EXPANSION_PERCENT: u64 = 50;

/// A chunk that was reached from a hit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expansion {
    pub chunk: ChunkRecord,
    /// The score of the hit from which the chunk was reached.
    pub source_score: u64,
    /// The product of the confidences of the edges between the hit and the chunk, in millionths.
    pub confidence: u64,
    /// Number of edges between the hit and the chunk, at least 1.
    pub depth: u32,
    pub via: Via,
}

impl Expansion {
    /// The score before the priors are applied.
    pub fn score(&self) -> u64 {
        let score = times(self.source_score, self.confidence.min(ONE));
        (0..self.depth).fold(score, |score, _| score * EXPANSION_PERCENT / 100)
    }
}

/// Adds expansions to sorted hits. If the chunk of an expansion is already a hit, the hit keeps the higher of
/// the two scores. An expansion whose text is equal to the text of a different hit is omitted.
pub fn expand(
    mut hits: Vec<RankedHit>,
    expansions: Vec<Expansion>,
    subjects: Subjects,
    signals: Signals,
) -> Vec<RankedHit> {
    let texts: BTreeSet<ContentHash> = hits.iter().map(|hit| hit.chunk.content_hash).collect();
    let mut files: BTreeSet<(RepositoryId, RepoPath)> = hits.iter().map(file_of).collect();
    let id_of = |chunk: &ChunkRecord| (chunk.repository, chunk.key);
    let mut index_of: BTreeMap<(RepositoryId, ChunkKey), usize> =
        hits.iter().enumerate().map(|(index, hit)| (id_of(&hit.chunk), index)).collect();
    for expansion in expansions {
        let id = id_of(&expansion.chunk);
        let known = index_of.get(&id).copied();
        if known.is_none() && texts.contains(&expansion.chunk.content_hash) {
            continue;
        }
        let mut added = hit_of(expansion, subjects, signals);
        let is_further = match known {
            Some(index) => is_further_hit(&hits[index]),
            None => !files.insert(file_of(&added)),
        };
        if is_further && signals.has(Signal::FurtherHits) {
            reduce(&mut added);
        }
        match known {
            Some(index) if hits[index].score >= added.score => {}
            Some(index) => {
                let also_at = std::mem::take(&mut hits[index].also_at);
                hits[index] = RankedHit { also_at, ..added };
            }
            None => {
                index_of.insert(id, hits.len());
                hits.push(added);
            }
        }
    }
    sort(&mut hits);
    hits
}

fn file_of(hit: &RankedHit) -> (RepositoryId, RepoPath) {
    (hit.chunk.repository, hit.chunk.path.clone())
}

fn hit_of(expansion: Expansion, subjects: Subjects, signals: Signals) -> RankedHit {
    let priors = priors(&expansion.chunk, subjects, signals);
    let score = times(expansion.score(), factor(&priors));
    let part = Contribution { name: "graph", rank: None, points: score.cast_signed() };
    let via = vec![expansion.via];
    RankedHit { score, contributions: vec![part], priors, via, ..RankedHit::new(expansion.chunk) }
}

fn reduce(hit: &mut RankedHit) {
    hit.score = hit.score * u64::from(FURTHER_HIT.percent) / 100;
    hit.priors.push(FURTHER_HIT);
}

/// Puts the chunks of a path first, in the order of the path. Their scores decrease from one position to the
/// next. Each chunk after the first chunk shows the edge that leads to it.
pub fn lead_with_path(mut hits: Vec<RankedHit>, path: Vec<(ChunkRecord, Option<Via>)>) -> Vec<RankedHit> {
    for (step, (chunk, via)) in (1..).zip(path) {
        let points = leading_points(step);
        let part = Contribution { name: "flow", rank: Some(step), points: points.cast_signed() };
        let is_chunk = |hit: &RankedHit| hit.chunk.repository == chunk.repository && hit.chunk.key == chunk.key;
        let known = hits.iter().position(is_chunk).map(|index| hits.swap_remove(index));
        let (also_at, definition) = known.map_or((Vec::new(), None), |hit| (hit.also_at, hit.definition));
        hits.push(RankedHit {
            score: points,
            contributions: vec![part],
            via: via.into_iter().collect(),
            step: Some(step),
            definition,
            also_at,
            ..RankedHit::new(chunk)
        });
    }
    sort(&mut hits);
    hits
}

#[cfg(test)]
mod tests {
    use cairn_domain::EdgeKind;

    use super::*;
    use crate::test_chunks::{candidate, chunk};
    use crate::{Lists, QueryWords, RankQuery, RepositoryWords, ScopeFrequencies, ScoreRange, Weights, rank};

    fn hits(paths: &[(&str, i64)]) -> Vec<RankedHit> {
        let lists = Lists {
            dense: ScoreRange { first: 1000, last: 0 },
            terms: ScoreRange { first: 1, last: 0 },
            last_dense: 0,
        };
        let query = RankQuery {
            words: &QueryWords::of("some words"),
            subjects: Subjects::default(),
            repositories: &BTreeSet::new(),
            weights: Weights::TOPIC,
            of_repositories: &RepositoryWords::default(),
            leaves_out: false,
            frequencies: &ScopeFrequencies::default(),
            signals: Signals::default(),
        };
        let candidates = paths.iter().map(|(path, score)| candidate(path, 1, path, *score)).collect();
        rank(candidates, lists, query).hits
    }

    fn via() -> Via {
        let path = RepoPath::parse("a").expect("a path");
        Via {
            edge: EdgeKind::Calls,
            is_outgoing: true,
            symbol: "f".into(),
            path: Some(path),
            line: 3,
            confidence_percent: 90,
        }
    }

    fn expansion(path: &str, text: &str, source_score: u64, confidence: u64, depth: u32) -> Expansion {
        Expansion { chunk: chunk(path, 1, text), source_score, confidence, depth, via: via() }
    }

    fn order(hits: &[RankedHit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.chunk.path.as_str()).collect()
    }

    #[test]
    fn expansions_have_half_the_score_of_their_source() {
        let check = |confidence, depth, expect| {
            assert_eq!(expansion("x", "x", 2 * ONE, confidence, depth).score(), expect);
        };
        check(ONE, 1, ONE);
        check(ONE, 3, ONE / 4);
        check(ONE / 2, 1, ONE / 2);
        check(900_000, 2, 450_000);
    }

    #[test]
    fn expansions_are_sorted_among_the_hits() {
        let found = hits(&[("a", 1000), ("b", 700), ("c", 100)]);
        let (top, last) = (found[0].score, found[2].score);
        let expansions = vec![
            expansion("new", "new", top, ONE, 1),
            // The score of this expansion is higher than the score of the hit.
            expansion("c", "c", top, ONE, 1),
            // The score of the hit is higher than the score of this expansion.
            expansion("a", "a", last, ONE, 1),
            // A hit already has the text of this expansion.
            expansion("copy", "b", top, ONE, 1),
        ];
        let expanded = expand(found, expansions, Subjects::default(), Signals::default());
        assert_eq!(order(&expanded), ["a", "b", "c", "new"]);
        for hit in &expanded[2..] {
            assert_eq!((hit.score, hit.via.clone()), (top / 2, vec![via()]));
        }
        assert_eq!((expanded[0].score, expanded[0].via.len()), (top, 0));
    }

    #[test]
    fn tests_are_reduced_among_the_expansions() {
        let mut test = expansion("t", "t", ONE, ONE, 1);
        test.chunk.is_test = true;
        let expanded = expand(Vec::new(), vec![test], Subjects::default(), Signals::default());
        assert_eq!(expanded[0].score, ONE / 2 * 30 / 100);
    }

    #[test]
    fn paths_come_first_in_their_order() {
        let found = hits(&[("a", 1000), ("b", 900), ("c", 100)]);
        let path =
            vec![(chunk("c", 1, "c"), None), (chunk("new", 1, "new"), Some(via())), (chunk("a", 1, "a"), Some(via()))];
        let found = lead_with_path(found, path);
        assert_eq!(order(&found), ["c", "new", "a", "b"]);
        assert_eq!(found.iter().map(|hit| hit.step).collect::<Vec<_>>(), [Some(1), Some(2), Some(3), None]);
        assert!(found.is_sorted_by_key(|hit| std::cmp::Reverse(hit.score)));
    }
}
