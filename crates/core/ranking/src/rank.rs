//! Orders the results of an answer.
//!
//! A score is a sum of points, in millionths. A chunk gets points from each list of candidates in which it
//! was found (vectors, terms, names). These points are multiplied by the priors of the chunk. The best chunk
//! of each file gets points for the scores of all chunks of the file. Then points are added for a path that
//! matches the question, for a file of the requested kind, and for the definition of the requested name. If
//! several repositories have hits, the points are multiplied by a factor for the repository. The factor is
//! higher if more keywords of the question occur anywhere in the repository. Hits with equal texts are
//! joined into one hit with several places. The score of every further hit in the same file is multiplied by
//! a fixed factor.
//!
//! The hits are sorted by a total order (requested definition, score, repository, path, line, key). Therefore
//! the answer does not depend on the order in which stores return the candidates.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ChunkKind, ChunkRecord, ContentHash, RepoPath, RepositoryId};

use crate::candidate::{Candidate, Exactness, Lists, RelationRank};
use crate::fixed::{ONE, over, times};
use crate::hit::{Contribution, Place, RankedHit, Scores};
use crate::list_points::name_points;
use crate::named_repository::NAMED_REPOSITORY;
use crate::path_match::{Keyword, name_of_file, path_points};
use crate::priors::{Prior, Subjects, is_aside_directory, priors};
use crate::repository_evidence::{HitEvidence, unrelated_repositories};
use crate::repository_words::prior_of_share;
use crate::{
    FileKind, QueryWords, RepositoryWords, ScopeFrequencies, Signal, Signals, StopWords, Weights, fold_style, terms,
};

/// Maximum points that the best hit of a file gets for the scores of all hits in the file.
const FILE_EVIDENCE: u64 = 3 * ONE / 10;
/// Points for the definition whose name is exactly the requested name.
const DEFINITION: u64 = 2 * ONE;
/// Points for the definition whose name is the requested name in a different style, such as `get_user` for
/// `getUser`.
const DEFINITION_IN_OTHER_STYLE: u64 = ONE;
/// The points for a definition are multiplied by this factor if its file has the requested name.
const FILE_HAS_THE_NAME: u64 = 3 * ONE / 2;
/// Points for a file of the kind that the question asks for.
const FILE_KIND: u64 = ONE;
/// Subtracted from these points for each directory of the path, at most for `MAX_DIRECTORIES` directories, so
/// that the manifest of the whole repository comes before the manifests of its packages.
const BELOW_ROOT: u64 = 2 * ONE / 100;
const MAX_DIRECTORIES: u64 = 5;
/// Subtracted from these points for a test or an example that the question does not ask for.
const ASIDE: u64 = 2 * ONE / 10;
/// Points for code that the graph relates to a name of the question in the requested way, and for a pattern
/// that a pattern question names.
const LEADING: u64 = 20 * ONE;
/// The score of each further hit in a file is multiplied by this factor.
pub(crate) const FURTHER_HIT: Prior = Prior { name: "same_file", percent: 60 };
/// The name of the factor that places a pattern after the first hit that is not a pattern.
pub(crate) const PATTERN_NOT_ASKED_FOR: &str = "pattern_not_asked_for";
/// The contributions that do not depend on the words of a repository: they come from a name in the question
/// or from an edge of the graph.
pub(crate) const DIRECT: [&str; 3] = ["relation", "pattern", "definition"];

/// The facts about a question that the ranking uses.
#[derive(Clone, Copy, Debug)]
pub struct RankQuery<'a> {
    pub words: &'a QueryWords,
    pub subjects: Subjects,
    /// The repositories that the question names; empty if no other repositories are searched.
    pub repositories: &'a BTreeSet<RepositoryId>,
    /// The keywords of the question that each repository contains.
    pub of_repositories: &'a RepositoryWords,
    /// Whether repositories that have nothing to do with the question are left out.
    pub leaves_out: bool,
    pub weights: Weights,
    pub frequencies: &'a ScopeFrequencies,
    pub signals: Signals,
}

/// The ranked candidates.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranking {
    pub hits: Vec<RankedHit>,
    /// The repositories that have candidates, but were left out.
    pub left_out: BTreeSet<RepositoryId>,
}

/// Ranks the candidates. Their order in `candidates` does not matter. Two candidates must not have the same
/// chunk.
pub fn rank(candidates: Vec<Candidate>, lists: Lists, query: RankQuery<'_>) -> Ranking {
    let mut hits: Vec<RankedHit> =
        candidates.into_iter().map(|candidate| from_lists(candidate, lists, query)).collect();
    add_best_of_file(&mut hits);
    if query.signals.has(Signal::FileEvidence) {
        add_file_evidence(&mut hits);
    }
    normalise(&mut hits);
    add_names(&mut hits, query);
    let mut left_out = BTreeSet::new();
    if query.signals.has(Signal::RepositoryEvidence) {
        let shares = query.of_repositories.shares(query.frequencies);
        weigh_repositories(&mut hits, &shares);
        left_out = leave_out(&mut hits, query, &shares);
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
    Ranking { hits, left_out }
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
        hit.priors.push(Prior { name: PATTERN_NOT_ASKED_FOR, percent });
    }
    sort(hits);
}

/// A hit whose score is the points from the lists, multiplied by its priors.
fn from_lists(candidate: Candidate, lists: Lists, query: RankQuery<'_>) -> RankedHit {
    let RankQuery { signals, weights, .. } = query;
    let scores = scores(&candidate, lists);
    let Candidate { chunk, dense, terms, name_rank, relation_rank, via, pattern_rank, named, definition, .. } =
        candidate;
    let mut priors = priors(&chunk, query.subjects, signals);
    if query.repositories.contains(&chunk.repository) && signals.has(Signal::OtherPriors) {
        priors.push(NAMED_REPOSITORY);
    }
    let part = |name, rank, points: u64, percent: u64| {
        let points = times(points * percent / 100, factor(&priors));
        Contribution { name, rank, points: points.cast_signed() }
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
    RankedHit {
        score,
        contributions,
        scores,
        priors,
        relation_rank: relation_rank.filter(|_| signals.has(Signal::Relation)),
        via,
        pattern_rank: pattern_rank.filter(|_| signals.has(Signal::Patterns)),
        named,
        definition,
        ..RankedHit::new(chunk)
    }
}

/// The scores for the second stage. A chunk without a known vector score gets the lowest known score, because
/// the list ended before this chunk.
fn scores(candidate: &Candidate, lists: Lists) -> Scores {
    let dense = candidate.dense_score.unwrap_or(lists.last_dense);
    Scores { dense, best_of_file: dense, terms: candidate.terms.map_or(0, |listed| listed.score) }
}

/// The sum of the points, which is at least 0.
pub(crate) fn sum(contributions: &[Contribution]) -> u64 {
    u64::try_from(contributions.iter().map(|part| part.points).sum::<i64>()).unwrap_or_default()
}

/// The product of the priors in millionths.
pub(crate) fn factor(priors: &[Prior]) -> u64 {
    priors.iter().fold(ONE, |factor, prior| factor * u64::from(prior.percent) / 100)
}

/// Sets the highest vector score of each file.
fn add_best_of_file(hits: &mut [RankedHit]) {
    let mut files: BTreeMap<(RepositoryId, RepoPath), i64> = BTreeMap::new();
    for hit in hits.iter() {
        let best = files.entry((hit.chunk.repository, hit.chunk.path.clone())).or_insert(i64::MIN);
        *best = hit.scores.dense.max(*best);
    }
    for hit in hits {
        let best = files.get(&(hit.chunk.repository, hit.chunk.path.clone()));
        hit.scores.best_of_file = best.copied().unwrap_or_default();
    }
}

/// Divides all scores by the highest score, so that the highest score becomes 1.
fn normalise(hits: &mut [RankedHit]) {
    let highest = hits.iter().map(|hit| hit.score).max().unwrap_or_default();
    for hit in hits {
        for part in &mut hit.contributions {
            part.points = over(part.points.unsigned_abs(), highest).cast_signed();
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
/// asks for one name, and the points for the path and for the kind of the file otherwise.
fn add_names(hits: &mut [RankedHit], query: RankQuery<'_>) {
    let (words, signals) = (query.words, query.signals);
    let kind = asked_kind_of(hits, query);
    // The words for the kind do not distinguish the files of this kind, and the name of another file may
    // contain them: "manifest" is in the name of `Manifest.php`.
    let keywords = words.keywords.iter().filter(|word| kind.is_none_or(|kind| !kind.is_named_by(word)));
    let keywords: Vec<Keyword> = keywords.map(|word| keyword(word, query.frequencies)).collect();
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
        if let Some(kind) = kind.filter(|kind| kind.contains(&hit.chunk)) {
            add(hit, "file_kind", times(file_kind_points(&hit.chunk, kind, query.subjects), prior));
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

/// The kind of files that the question asks for, if a hit is in a file of this kind. If there is no such hit,
/// the words for the kind are ordinary words.
fn asked_kind_of(hits: &[RankedHit], query: RankQuery<'_>) -> Option<FileKind> {
    let is_used = query.words.whole.is_none() && query.signals.has(Signal::FileKind);
    let kind = query.subjects.file_kind.filter(|_| is_used)?;
    hits.iter().any(|hit| kind.contains(&hit.chunk)).then_some(kind)
}

fn file_kind_points(chunk: &ChunkRecord, kind: FileKind, subjects: Subjects) -> u64 {
    if kind.is_of_tests() {
        return FILE_KIND;
    }
    let directory = chunk.path.directory();
    let num_directories = directory.split('/').filter(|part| !part.is_empty()).count() as u64;
    let is_aside = chunk.is_test && !subjects.tests || is_aside_directory(directory) && !subjects.examples;
    FILE_KIND - num_directories.min(MAX_DIRECTORIES) * BELOW_ROOT - if is_aside { ASIDE } else { 0 }
}

/// Multiplies the points of each hit by a factor that depends on the share of the keywords that the hit's
/// repository contains. `shares` are relative to the highest share, in millionths.
fn weigh_repositories(hits: &mut [RankedHit], shares: &BTreeMap<RepositoryId, u64>) {
    for hit in hits {
        let Some(prior) = shares.get(&hit.chunk.repository).and_then(|share| prior_of_share(*share)) else { continue };
        for part in hit.contributions.iter_mut().filter(|part| !DIRECT.contains(&part.name)) {
            part.points = part.points * i64::from(prior.percent) / 100;
        }
        hit.score = sum(&hit.contributions);
        hit.priors.push(prior);
    }
}

/// Removes the hits of repositories that have nothing to do with the question. Returns these repositories.
/// They are removed before equal texts are joined, because the best of several copies may be in one of them.
fn leave_out(
    hits: &mut Vec<RankedHit>,
    query: RankQuery<'_>,
    shares: &BTreeMap<RepositoryId, u64>,
) -> BTreeSet<RepositoryId> {
    if !query.leaves_out {
        return BTreeSet::new();
    }
    // Patterns that the question does not ask for come after the first hit that is not a pattern.
    let holds_back = !query.subjects.patterns && query.signals.has(Signal::Patterns);
    let is_held_back = |hit: &RankedHit| holds_back && hit.chunk.kind == ChunkKind::Pattern;
    let first_other = hits.iter().filter(|hit| !is_held_back(hit)).map(|hit| hit.score).max();
    let evidence = |hit: &RankedHit| {
        let most = first_other.filter(|_| is_held_back(hit)).unwrap_or(u64::MAX);
        let is_direct = hit.named.is_some() || hit.relation_rank.is_some() || hit.pattern_rank.is_some();
        HitEvidence { repository: hit.chunk.repository, score: hit.score.min(most), is_direct }
    };
    let evidence: Vec<HitEvidence> = hits.iter().map(evidence).collect();
    let unrelated = unrelated_repositories(&evidence, shares).into_iter();
    let left_out: BTreeSet<_> = unrelated.filter(|repository| !query.repositories.contains(repository)).collect();
    hits.retain(|hit| !left_out.contains(&hit.chunk.repository));
    left_out
}

fn definition_points(named: Exactness, query: &QueryWords, path: &RepoPath) -> u64 {
    let points = match named {
        Exactness::Exact => DEFINITION,
        Exactness::OtherStyle | Exactness::Near(_) => DEFINITION_IN_OTHER_STYLE,
    };
    if query.names.contains(&fold_style(name_of_file(path))) { times(points, FILE_HAS_THE_NAME) } else { points }
}

/// A keyword, and the rarity of the keyword.
fn keyword(word: &str, frequencies: &ScopeFrequencies) -> Keyword {
    let mut weight = 1;
    terms(word, StopWords::Kept, |term| weight = u64::from(frequencies.inverse(term)));
    Keyword { word: word.to_owned(), weight }
}

fn add(hit: &mut RankedHit, name: &'static str, points: u64) {
    if points > 0 {
        hit.contributions.push(Contribution { name, rank: None, points: points.cast_signed() });
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

/// Whether a better hit of the same file reduced the score of the hit.
pub(crate) fn is_further_hit(hit: &RankedHit) -> bool {
    hit.priors.contains(&FURTHER_HIT) || hit.contributions.iter().any(|part| part.name == FURTHER_HIT.name)
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
mod tests;
