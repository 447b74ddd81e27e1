//! Orders the results of an answer.
//!
//! A score is a sum of points, in millionths. A chunk gets points from each list of candidates in which it
//! was found (vectors, terms, names). These points are multiplied by the priors of the chunk. The best chunk
//! of each file gets points for the scores of all chunks of the file. Then points are added for a path that
//! matches the question and for the definition of the requested name. If several repositories have hits, the
//! points are multiplied by a factor for the repository. The factor is higher if more keywords of the
//! question occur anywhere in the repository. Hits with equal texts are joined into one hit with several
//! places. The score of every further hit in the same file is multiplied by a fixed factor.
//!
//! The hits are sorted by a total order (requested definition, score, repository, path, line, key). Therefore
//! the answer does not depend on the order in which stores return the candidates.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ChunkKey, ChunkKind, ChunkRecord, ContentHash, LineSpan, RepoPath, RepositoryId};

use crate::fixed::{ONE, over, times};
use crate::list_points::{Listed, ScoreRange, name_points};
use crate::named_repository::NAMED_REPOSITORY;
use crate::path_match::{Keyword, name_of_file, path_points};
use crate::priors::{Prior, Subjects, priors};
use crate::repository_words::prior_of_share;
use crate::via::Via;
use crate::{QueryWords, RepositoryWords, ScopeFrequencies, Signal, Signals, StopWords, Weights, fold_style, terms};

/// Points of the best hit of a file for the scores of all hits in the file.
const FILE_EVIDENCE: u64 = 3 * ONE / 10;
/// Points for the definition whose name is exactly the requested name.
const DEFINITION: u64 = 2 * ONE;
/// Points for the definition whose name is the requested name in a different style, such as `get_user` for
/// `getUser`.
const DEFINITION_IN_OTHER_STYLE: u64 = ONE;
/// The points for a definition are multiplied by this factor if its file has the requested name.
const FILE_HAS_THE_NAME: u64 = 3 * ONE / 2;
/// Points for code that the graph relates to a name of the question in the requested way, and for a pattern
/// that a pattern question names.
const LEADING: u64 = 20 * ONE;
/// The score of each further hit in a file is multiplied by this factor.
pub(crate) const FURTHER_HIT: Prior = Prior { name: "same_file", percent: 60 };
/// The contributions that do not depend on the words of a repository: they come from a name in the question
/// or from an edge of the graph.
const DIRECT: [&str; 3] = ["relation", "pattern", "definition"];

/// A chunk that may become a hit, with its positions in the lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub chunk: ChunkRecord,
    /// `None` if the chunk is not in the list of vectors.
    pub dense: Option<Listed>,
    /// `None` if the chunk contains no term of the question.
    pub terms: Option<Listed>,
    /// The rank in the list of names; the first rank is 1.
    pub name_rank: Option<u32>,
    /// The position in the list of code that has the requested relation to a name in the question.
    pub relation_rank: Option<RelationRank>,
    /// The edges that relate the chunk to a name of the question.
    pub via: Vec<Via>,
    /// The rank among the patterns that the question names; the first rank is 1.
    pub pattern_rank: Option<u32>,
    /// Set if the whole question is the name of a definition in the chunk, or the path of the chunk's file.
    pub named: Option<Exactness>,
    /// A definition that the question names and that is not the chunk's own symbol.
    pub definition: Option<Definition>,
}

/// The ranks of code that has the requested relation to a definition of a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RelationRank {
    /// The zero-based position of the definition. All code that is related to the first definition comes
    /// first, then all code that is related to the second definition, and so on. The code is not mixed,
    /// because the definitions have only their name in common.
    pub definition: u32,
    /// The rank among the code that is related to any of the definitions; the first rank is 1.
    pub rank: u32,
}

/// One of the definitions in a chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// Qualified name.
    pub symbol: String,
    /// The lines of the definition.
    pub span: LineSpan,
}

/// How exactly a question spells a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exactness {
    /// The question is the name, its qualified form, or the end of the path.
    Exact,
    /// The question is the name in a different style or case, such as `get_user` for `getUser`.
    OtherStyle,
    /// The question is a misspelled name. The value is the rank of this definition among the definitions of
    /// near names; the first rank is 1. These definitions come before all other hits.
    Near(u32),
}

/// The lists in which the candidates were found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lists {
    pub dense: ScoreRange,
    pub terms: ScoreRange,
}

/// The facts about a question that the ranking uses.
#[derive(Clone, Copy, Debug)]
pub struct RankQuery<'a> {
    pub words: &'a QueryWords,
    pub subjects: Subjects,
    /// The repositories that the question names; empty if no other repositories are searched.
    pub repositories: &'a BTreeSet<RepositoryId>,
    /// The keywords of the question that each repository contains.
    pub of_repositories: &'a RepositoryWords,
    pub weights: Weights,
    pub frequencies: &'a ScopeFrequencies,
    pub signals: Signals,
}

/// A place that contains the text of a hit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    pub repository: RepositoryId,
    pub path: RepoPath,
    pub span: LineSpan,
    pub key: ChunkKey,
}

/// A part of a score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contribution {
    /// `dense`, `terms`, `names`, `file`, `relation`, `pattern`, `path`, `definition`, `graph` or `flow`.
    pub name: &'static str,
    /// The rank in the list; the first rank is 1. `None` for parts that do not come from a list.
    pub rank: Option<u32>,
    /// In millionths, after all priors.
    pub points: u64,
}

/// An entry of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankedHit {
    pub chunk: ChunkRecord,
    /// The sum of the contributions. For a further hit in a file, and for a pattern that the question does
    /// not ask for, the sum is multiplied by a factor.
    pub score: u64,
    pub contributions: Vec<Contribution>,
    /// All factors that changed the score. The priors multiply the contributions. The factors for a further
    /// hit in a file, and for a pattern that the question does not ask for, multiply the sum.
    pub priors: Vec<Prior>,
    pub relation_rank: Option<RelationRank>,
    /// The edges over which the hit was found, the best first.
    pub via: Vec<Via>,
    pub pattern_rank: Option<u32>,
    /// The position on the path that answers a flow question; the first position is 1.
    pub step: Option<u32>,
    pub named: Option<Exactness>,
    pub definition: Option<Definition>,
    /// Other places that contain the same text, sorted.
    pub also_at: Vec<Place>,
}

/// Ranks the candidates. Their order in `candidates` does not matter. Two candidates must not have the same
/// chunk.
pub fn rank(candidates: Vec<Candidate>, lists: Lists, query: RankQuery<'_>) -> Vec<RankedHit> {
    let mut hits: Vec<RankedHit> =
        candidates.into_iter().map(|candidate| from_lists(candidate, lists, query)).collect();
    if query.signals.has(Signal::FileEvidence) {
        add_file_evidence(&mut hits);
    }
    normalise(&mut hits);
    add_names(&mut hits, query);
    if query.signals.has(Signal::RepositoryEvidence) {
        weigh_repositories(&mut hits, &query.of_repositories.shares(query.frequencies));
    }
    sort(&mut hits);
    let mut hits = join_equal_texts(hits);
    if query.weights.further_hits_count_less && query.signals.has(Signal::FurtherHits) {
        reduce_further_hits(&mut hits);
    }
    sort(&mut hits);
    if !query.subjects.patterns && query.signals.has(Signal::Patterns) {
        hold_patterns_back(&mut hits);
    }
    hits
}

/// Reduces the scores of patterns so that they come after the first hit that is not a pattern. `hits` must be
/// sorted.
fn hold_patterns_back(hits: &mut [RankedHit]) {
    let is_pattern = |hit: &RankedHit| hit.chunk.kind == ChunkKind::Pattern;
    let Some(first_other) = hits.iter().find(|hit| !is_pattern(hit)).map(|hit| hit.score) else { return };
    for hit in hits.iter_mut().filter(|hit| is_pattern(hit) && hit.score >= first_other) {
        // The factor is at most 99 percent, so the score of the pattern decreases even if it was equal to the
        // score of the other hit.
        let percent = (first_other.saturating_sub(1) * 100 / hit.score.max(1)).min(99) as u32;
        hit.score = hit.score * u64::from(percent) / 100;
        hit.priors.push(Prior { name: "pattern_not_asked_for", percent });
    }
    sort(hits);
}

/// A hit whose score is the points from the lists, multiplied by its priors.
fn from_lists(candidate: Candidate, lists: Lists, query: RankQuery<'_>) -> RankedHit {
    let RankQuery { signals, weights, .. } = query;
    let Candidate { chunk, dense, terms, name_rank, relation_rank, via, pattern_rank, named, definition } = candidate;
    let mut priors = priors(&chunk, query.subjects, signals);
    if query.repositories.contains(&chunk.repository) && signals.has(Signal::OtherPriors) {
        priors.push(NAMED_REPOSITORY);
    }
    let part = |name, rank, points: u64, percent: u64| {
        let points = times(points * percent / 100, factor(&priors));
        Contribution { name, rank, points }
    };
    let dense = dense.filter(|_| signals.has(Signal::Vectors));
    let dense =
        dense.map(|listed| part("dense", listed.rank, lists.dense.dense_points(listed, signals), weights.dense));
    let terms = terms.filter(|_| signals.has(Signal::Terms));
    let terms = terms.map(|listed| part("terms", listed.rank, lists.terms.term_points(listed, signals), weights.terms));
    let names = name_rank
        .filter(|_| signals.has(Signal::Names))
        .map(|rank| part("names", Some(rank), name_points(rank), weights.names));
    let contributions: Vec<Contribution> = [dense, terms, names].into_iter().flatten().collect();
    let score = sum(&contributions);
    let (step, also_at) = (None, Vec::new());
    RankedHit {
        score,
        chunk,
        contributions,
        priors,
        relation_rank: relation_rank.filter(|_| signals.has(Signal::Relation)),
        via,
        pattern_rank: pattern_rank.filter(|_| signals.has(Signal::Patterns)),
        step,
        named,
        definition,
        also_at,
    }
}

fn sum(contributions: &[Contribution]) -> u64 {
    contributions.iter().map(|part| part.points).sum()
}

/// The product of the priors in millionths.
pub(crate) fn factor(priors: &[Prior]) -> u64 {
    priors.iter().fold(ONE, |factor, prior| factor * u64::from(prior.percent) / 100)
}

/// Divides all scores by the highest score, so that the highest score becomes 1.
fn normalise(hits: &mut [RankedHit]) {
    let highest = hits.iter().map(|hit| hit.score).max().unwrap_or_default();
    for hit in hits {
        for part in &mut hit.contributions {
            part.points = over(part.points, highest);
        }
        hit.score = sum(&hit.contributions);
    }
}

/// Adds points to the best hit of each file. The points are proportional to the sum of the scores of all hits
/// in the file; the file with the highest sum gets the full points.
fn add_file_evidence(hits: &mut [RankedHit]) {
    normalise(hits);
    let mut files: BTreeMap<(RepositoryId, RepoPath), (u64, usize)> = BTreeMap::new();
    for (index, hit) in hits.iter().enumerate() {
        let file = files.entry((hit.chunk.repository, hit.chunk.path.clone())).or_insert((0, index));
        file.0 += hit.score;
        if order(&hits[file.1], hit).is_gt() {
            file.1 = index;
        }
    }
    let highest = files.values().map(|(total, _)| *total).max().unwrap_or_default();
    for (total, best) in files.into_values() {
        add(&mut hits[best], "file", times(over(total, highest), FILE_EVIDENCE));
    }
}

/// Points for a rank in a list whose hits come before all other hits. These points exceed the sum of all
/// other parts of a score.
pub(crate) fn leading_points(rank: u32) -> u64 {
    LEADING * 100 / (100 + u64::from(rank))
}

/// Adds the points for a relation and for a pattern. Then adds the points for the definition if the question
/// asks for one name, and the points for the path otherwise.
fn add_names(hits: &mut [RankedHit], query: RankQuery<'_>) {
    let (words, signals) = (query.words, query.signals);
    let keywords: Vec<Keyword> = words.keywords.iter().map(|word| keyword(word, query.frequencies)).collect();
    let mut of_paths: BTreeMap<RepoPath, u64> = BTreeMap::new();
    for hit in hits {
        let prior = factor(&hit.priors);
        if let Some(RelationRank { rank, .. }) = hit.relation_rank {
            add(hit, "relation", times(leading_points(rank), prior));
        }
        if let Some(rank) = hit.pattern_rank {
            add(hit, "pattern", leading_points(rank));
        }
        if words.whole.is_none() && signals.has(Signal::Path) {
            let path = &hit.chunk.path;
            let points = *of_paths.entry(path.clone()).or_insert_with(|| path_points(path, &keywords));
            add(hit, "path", times(points, prior));
        }
        match hit.named.filter(|_| signals.has(Signal::Definition)) {
            // The rank is multiplied by 10, so that the difference between the points of two ranks exceeds
            // the sum of all other parts.
            Some(Exactness::Near(rank)) => add(hit, "definition", leading_points(10 * rank)),
            Some(named) if words.whole.is_some() => {
                let points = definition_points(named, words, &hit.chunk.path);
                add(hit, "definition", times(points, prior));
            }
            _ => {}
        }
    }
}

/// Multiplies the points of each hit by a factor for the share of the keywords that its repository contains.
/// `shares` are relative to the highest share, in millionths.
fn weigh_repositories(hits: &mut [RankedHit], shares: &BTreeMap<RepositoryId, u64>) {
    for hit in hits {
        let Some(prior) = shares.get(&hit.chunk.repository).and_then(|share| prior_of_share(*share)) else { continue };
        for part in hit.contributions.iter_mut().filter(|part| !DIRECT.contains(&part.name)) {
            part.points = part.points * u64::from(prior.percent) / 100;
        }
        hit.score = sum(&hit.contributions);
        hit.priors.push(prior);
    }
}

fn definition_points(named: Exactness, query: &QueryWords, path: &RepoPath) -> u64 {
    let points = match named {
        Exactness::Exact => DEFINITION,
        Exactness::OtherStyle | Exactness::Near(_) => DEFINITION_IN_OTHER_STYLE,
    };
    if query.names.contains(&fold_style(name_of_file(path))) { times(points, FILE_HAS_THE_NAME) } else { points }
}

/// A keyword with the rarity of its term.
fn keyword(word: &str, frequencies: &ScopeFrequencies) -> Keyword {
    let mut weight = 1;
    terms(word, StopWords::Kept, |term| weight = u64::from(frequencies.inverse(term)));
    Keyword { word: word.to_owned(), weight }
}

fn add(hit: &mut RankedHit, name: &'static str, points: u64) {
    if points > 0 {
        hit.contributions.push(Contribution { name, rank: None, points });
        hit.score += points;
    }
}

fn place(chunk: &ChunkRecord) -> Place {
    Place { repository: chunk.repository, path: chunk.path.clone(), span: chunk.span, key: chunk.key }
}

pub(crate) fn sort(hits: &mut [RankedHit]) {
    hits.sort_by(order);
}

fn order(left: &RankedHit, right: &RankedHit) -> std::cmp::Ordering {
    let definition = |hit: &RankedHit| hit.relation_rank.map_or(u32::MAX, |rank| rank.definition);
    let definitions = definition(left).cmp(&definition(right));
    let scores = Reverse(left.score).cmp(&Reverse(right.score));
    let (left, right) = (&left.chunk, &right.chunk);
    definitions
        .then(scores)
        .then_with(|| left.repository.cmp(&right.repository))
        .then_with(|| left.path.cmp(&right.path))
        .then_with(|| left.span.cmp(&right.span))
        .then_with(|| left.key.cmp(&right.key))
}

/// Joins hits with equal texts: keeps the best hit, and adds the places of the other hits to it. `hits` must
/// be sorted.
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

/// Reduces the score of each hit of a file except the best one. `hits` must be sorted, so that the best hit
/// of a file keeps its score. The factor is the same for all further hits: a factor that decreases with each
/// hit would hide functions in a large file.
fn reduce_further_hits(hits: &mut [RankedHit]) {
    let mut files: BTreeSet<(RepositoryId, RepoPath)> = BTreeSet::new();
    for hit in hits {
        if !files.insert((hit.chunk.repository, hit.chunk.path.clone())) {
            hit.score = hit.score * u64::from(FURTHER_HIT.percent) / 100;
            hit.priors.push(FURTHER_HIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_chunks::chunk;

    const LISTS: Lists =
        Lists { dense: ScoreRange { first: 1000, last: 0 }, terms: ScoreRange { first: 100, last: 0 } };

    /// A candidate that is only in the list of vectors.
    fn candidate(path: &str, line: u32, text: &str, score: i64) -> Candidate {
        let dense = Some(Listed { rank: None, score });
        Candidate {
            chunk: chunk(path, line, text),
            dense,
            terms: None,
            name_rank: None,
            relation_rank: None,
            via: Vec::new(),
            pattern_rank: None,
            named: None,
            definition: None,
        }
    }

    fn ranked(candidates: Vec<Candidate>, question: &str) -> Vec<RankedHit> {
        ranked_with(candidates, question, Signals::default())
    }

    fn ranked_with(candidates: Vec<Candidate>, question: &str, signals: Signals) -> Vec<RankedHit> {
        let query = RankQuery {
            words: &QueryWords::of(question),
            subjects: Subjects::of(question),
            repositories: &BTreeSet::new(),
            of_repositories: &RepositoryWords::default(),
            weights: Weights::TOPIC,
            frequencies: &ScopeFrequencies::default(),
            signals,
        };
        rank(candidates, LISTS, query)
    }

    fn check(candidates: Vec<Candidate>, question: &str, expect: &[(&str, u32, usize)]) {
        let hits = ranked(candidates, question);
        let found: Vec<(&str, u32, usize)> =
            hits.iter().map(|hit| (hit.chunk.path.as_str(), hit.chunk.span.start, hit.also_at.len())).collect();
        assert_eq!(found, expect, "{question}");
    }

    #[test]
    fn equal_scores_are_ordered_by_place() {
        let candidates = vec![candidate("b", 1, "1", 10), candidate("a", 9, "2", 10), candidate("c", 1, "3", 11)];
        check(candidates, "some words", &[("c", 1, 0), ("a", 9, 0), ("b", 1, 0)]);
    }

    #[test]
    fn relations_of_definitions_are_not_mixed() {
        let related = |path, score, definition, rank| Candidate {
            relation_rank: Some(RelationRank { definition, rank }),
            ..candidate(path, 1, path, score)
        };
        let candidates = vec![
            related("src/a.rs", 10, 0, 1),
            related("src/b.rs", 1_000, 1, 2),
            related("src/c.rs", 20, 0, 3),
            candidate("src/d.rs", 1, "other", 900),
        ];
        let expect = [("src/a.rs", 1, 0), ("src/c.rs", 1, 0), ("src/b.rs", 1, 0), ("src/d.rs", 1, 0)];
        check(candidates, "what calls run", &expect);
    }

    #[test]
    fn equal_texts_are_merged_into_one_hit() {
        let candidates =
            vec![candidate("a", 1, "same", 10), candidate("b", 1, "same", 30), candidate("c", 1, "other", 20)];
        check(candidates, "some words", &[("b", 1, 1), ("c", 1, 0)]);
    }

    #[test]
    fn further_hits_of_a_file_have_one_factor() {
        let candidates = (1..=4).map(|line| candidate("a", line, &line.to_string(), 1000 - i64::from(line))).collect();
        let hits = ranked(candidates, "some words");
        let factors: Vec<u32> = hits.iter().map(|hit| hit.priors.first().map_or(100, |prior| prior.percent)).collect();
        assert_eq!(factors, [100, 60, 60, 60]);
    }

    #[test]
    fn pattern_is_first_only_if_the_question_asks_for_patterns() {
        let mut pattern = candidate("pattern", 1, "1", 1000);
        pattern.chunk.kind = ChunkKind::Pattern;
        let candidates = vec![pattern.clone(), candidate("a", 1, "2", 100), candidate("b", 1, "3", 50)];
        check(candidates.clone(), "some words", &[("a", 1, 0), ("pattern", 1, 0), ("b", 1, 0)]);
        check(candidates, "pattern of words", &[("pattern", 1, 0), ("a", 1, 0), ("b", 1, 0)]);
        check(vec![pattern], "some words", &[("pattern", 1, 0)]);
    }

    /// If only the scores of terms are used, relations and patterns do not change the order.
    #[test]
    fn single_list_alone_decides_the_order() {
        let listed = |path, score| Candidate {
            terms: Some(Listed { rank: None, score }),
            ..candidate(path, 1, path, 1000 - score)
        };
        let mut pattern = Candidate { pattern_rank: Some(1), ..listed("pattern", 90) };
        pattern.chunk.kind = ChunkKind::Pattern;
        let relation_rank = Some(RelationRank { definition: 0, rank: 1 });
        let related = Candidate { relation_rank, ..listed("related", 50) };
        let candidates = vec![related, listed("first", 100), pattern, listed("third", 70)];
        let hits = ranked_with(candidates, "what calls run", Signals::only(&[Signal::Terms, Signal::Scores]));
        let order: Vec<&str> = hits.iter().map(|hit| hit.chunk.path.as_str()).collect();
        assert_eq!(order, ["first", "pattern", "third", "related"]);
    }

    #[test]
    fn evidence_of_the_file_raises_its_best_chunk() {
        let candidates = vec![
            candidate("lone", 1, "1", 500),
            candidate("many", 1, "2", 490),
            candidate("many", 2, "3", 480),
            candidate("many", 3, "4", 470),
        ];
        check(candidates, "some words", &[("many", 1, 0), ("lone", 1, 0), ("many", 2, 0), ("many", 3, 0)]);
    }

    #[test]
    fn matching_words_of_the_path_give_points() {
        let candidates = vec![candidate("src/other.rs", 1, "1", 300), candidate("src/retry.rs", 1, "2", 200)];
        check(candidates, "retry a request", &[("src/retry.rs", 1, 0), ("src/other.rs", 1, 0)]);
    }

    #[test]
    fn tests_and_documents_come_after_code() {
        let mut test = candidate("a_test.go", 1, "1", 1000);
        test.chunk.is_test = true;
        let candidates = vec![test, candidate("a.go", 1, "2", 500)];
        check(candidates.clone(), "some words", &[("a.go", 1, 0), ("a_test.go", 1, 0)]);
        check(candidates, "tests of words", &[("a_test.go", 1, 0), ("a.go", 1, 0)]);
    }

    #[test]
    fn definition_of_the_requested_name_comes_first() {
        let named = |path, text, named| Candidate { named: Some(named), ..candidate(path, 1, text, 10) };
        let exact = named("x.py", "1", Exactness::Exact);
        let styled = named("y.py", "2", Exactness::OtherStyle);
        let same_file = named("get_user.py", "3", Exactness::Exact);
        let candidates = vec![candidate("z.py", 1, "4", 1000), styled, exact, same_file];
        check(candidates, "get_user", &[("get_user.py", 1, 0), ("x.py", 1, 0), ("y.py", 1, 0), ("z.py", 1, 0)]);
    }

    #[test]
    fn definitions_of_near_names_come_first_in_rank_order() {
        let near = |path: &str, dense: i64, rank| Candidate {
            named: Some(Exactness::Near(rank)),
            ..candidate(path, 1, path, dense)
        };
        let candidates = vec![candidate("z.py", 1, "4", 1000), near("y.py", 900, 2), near("x.py", 10, 1)];
        let expect = &[("x.py", 1, 0), ("y.py", 1, 0), ("z.py", 1, 0)];
        check(candidates.clone(), "get_usr", expect);
        check(candidates, "gets the usr", expect);
    }

    #[test]
    fn contributions_explain_the_score() {
        let mut first = candidate("src/retry/a.rs", 1, "1", 900);
        first.terms = Some(Listed { rank: Some(1), score: 90 });
        first.name_rank = Some(2);
        let hits = ranked(vec![first, candidate("src/b.rs", 1, "2", 500)], "how to retry");
        for hit in &hits {
            assert_eq!(hit.score, sum(&hit.contributions), "{hit:?}");
        }
        let names: Vec<&str> = hits[0].contributions.iter().map(|part| part.name).collect();
        assert_eq!(names, ["dense", "terms", "names", "file", "path"]);
    }

    proptest! {
        #[test]
        fn order_of_candidates_does_not_matter(
            shuffled in Just((0u32..12).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let make = |number: u32| {
                candidate(&format!("f{}", number % 3), number + 1, &(number % 8).to_string(), i64::from(number % 4) * 100)
            };
            let expect = ranked((0..12).map(make).collect(), "some words");
            let found = ranked(shuffled.into_iter().map(make).collect(), "some words");
            prop_assert_eq!(found, expect);
        }
    }
}
