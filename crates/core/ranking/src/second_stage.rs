//! The second stage of the ranking. It orders the first hits again, by sums of standardised values.
//!
//! The first stage decides which chunks are near a question. The points of the first stage are shares of the
//! best value of each list, so one outlier makes the points of all other hits nearly equal. The second stage
//! reads the texts of the first hits and adds standardised values (see [`crate::standard`]): the vector
//! score, the match of each word of the question, the sum of term weights, the length of literals, and the
//! scores of the file in the first stage. The logarithm of the product of the priors is added too. The
//! weights were measured on the tuning half of the evaluation set.
//!
//! Hits that come first because of an edge of the graph, a pattern or a definition keep their scores and
//! places. All other hits of the second stage come next, and then the remaining hits of the first stage.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use cairn_domain::{ChunkKind, RepoPath, RepositoryId};

use crate::fixed::{ONE, log2_of_ratio};
use crate::hit::{Contribution, RankedHit};
use crate::matched_words::matched_words;
use crate::mentions::mentioned_by;
use crate::rank::{DIRECT, FURTHER_HIT, PATTERN_NOT_ASKED_FOR, factor, sort, sum};
use crate::standard::{STANDARD, standardised};
use crate::text_facts::distinct_words;
use crate::word_match::{Vocabulary, WordSimilarity, matches};
use crate::{
    FactsOfTexts, ScopeFrequencies, Signal, Signals, StopWords, Subjects, TextFacts, WordKey, is_stop_word, terms,
    words,
};

/// Number of hits that the second stage orders.
const NUM_HITS: usize = 150;

/// The weights of the standardised values, in hundredths.
const DENSE: i64 = 30;
const BEST_OF_FILE: i64 = 35;
const MATCH: i64 = 65;
const PATH_MATCH: i64 = 27;
/// The weight of the sum of term weights if one chunk contains all words of the question. The weight is
/// multiplied by the fourth power of the largest share of the question's words that one chunk contains. If
/// no chunk contains most of the words, the words that chunks contain are accidental.
const TERMS: i64 = 100;
const LITERALS: i64 = 25;
const FILE: i64 = 15;
/// Number of best hits of a file whose mean score in the first stage counts.
const BEST_OF_FILE_HITS: usize = 3;
/// The weights of points of the first stage, in hundredths.
const PATH: i64 = 40;
/// The weight of the path in questions whose answers are several places, because such places have similar
/// paths, and for hits of several repositories, because the path shows which repository is meant.
const PATH_OF_SEVERAL: i64 = 200;
const NAMES: i64 = 50;
/// The weight of the natural logarithm of the product of the priors, in hundredths.
const PRIOR: i64 = 200;
/// The minimum and the maximum of the natural logarithm of the product of the priors, in thousandths.
const PRIOR_RANGE: (i64, i64) = (-2_500, 1_000);
/// Code that a good hit mentions gets this share, in percent, of the difference between the score of that hit
/// and the score at `UNMENTIONED_PERCENTILE`.
const MENTIONED: i64 = 22;
/// The percentile of the scores above which a hit is good. A mention by a hit that is not good has no effect.
const UNMENTIONED_PERCENTILE: usize = 30;
/// Subtracted from the score of each further hit in a file, in hundredths.
const SAME_FILE: i64 = 50;
/// The number of points of a standardised value of 1/1000 with the weight 1/100. A standardised value of 1
/// with the weight 1 gets half a point, so that all scores are below those of the hits that come first.
const UNIT: i64 = 5;
/// The highest score of a hit that comes after the hits of the second stage. All hits that the second stage
/// orders have higher scores.
const BASE: i64 = 200_000;
/// The number of points above `BASE` that an average hit scores. At the distance `HALF` below the average,
/// half of these points are left.
const AVERAGE: i64 = 300_000;
const HALF: i64 = 3_000_000;
/// Minimum number of points between a pattern that the question does not ask for and the best hit that is not
/// a pattern.
const BEHIND: i64 = 1_000;

/// The facts about a question that the second stage uses.
#[derive(Clone, Copy)]
pub struct SecondStage<'a> {
    pub question: &'a str,
    /// The facts about the texts of the hits. A hit whose text is missing is compared by its other values.
    pub texts: &'a FactsOfTexts,
    pub similarity: &'a dyn WordSimilarity,
    pub frequencies: &'a ScopeFrequencies,
    pub subjects: Subjects,
    /// Whether the scores of further hits in a file are reduced.
    pub further_hits_count_less: bool,
    pub signals: Signals,
}

/// The hits that the second stage orders. The facts about their texts must be read before [`rerank`] is
/// called. `hits` must be sorted.
pub fn hits_of_second_stage(hits: &[RankedHit]) -> impl Iterator<Item = &RankedHit> {
    hits.iter().filter(|hit| !is_first(hit)).take(NUM_HITS)
}

/// Whether the hit keeps its place before all other hits.
fn is_first(hit: &RankedHit) -> bool {
    hit.contributions.iter().any(|part| DIRECT.contains(&part.name))
}

/// Orders the first hits by their scores in the second stage. `hits` must be sorted.
pub fn rerank(hits: Vec<RankedHit>, stage: SecondStage<'_>) -> Vec<RankedHit> {
    let (mut all, others): (Vec<RankedHit>, Vec<RankedHit>) = hits.into_iter().partition(is_first);
    let mut rest = others;
    let mut later = rest.split_off(rest.len().min(NUM_HITS));
    for hit in &mut rest {
        // The rules for further hits in a file and for patterns are applied again, to the scores of this
        // stage.
        hit.priors.retain(|prior| prior.name != FURTHER_HIT.name && prior.name != PATTERN_NOT_ASKED_FOR);
    }
    let parts = stage.parts(&rest);
    for (hit, parts) in rest.iter_mut().zip(parts) {
        hit.contributions = parts;
    }
    if stage.signals.has(Signal::Mentions) {
        add_mentions(&mut rest, stage.texts);
    }
    if stage.further_hits_count_less && stage.signals.has(Signal::FurtherHits) {
        reduce_further_hits(&all, &mut rest);
    }
    if !stage.subjects.patterns && stage.signals.has(Signal::Patterns) {
        hold_patterns_back(&mut rest);
    }
    for hit in &mut rest {
        set_score(hit);
    }
    lower(&mut later);
    all.append(&mut rest);
    all.extend(later);
    sort(&mut all);
    all
}

/// The sum of the points so far. It may be negative.
fn points(hit: &RankedHit) -> i64 {
    hit.contributions.iter().map(|part| part.points).sum()
}

fn add(hit: &mut RankedHit, name: &'static str, points: i64) {
    if points != 0 {
        hit.contributions.push(Contribution { name, rank: None, points });
    }
}

/// Adds the points that make the score positive and higher than `BASE`. The differences between scores above
/// the average are kept, because hits that the graph adds get shares of these scores.
fn set_score(hit: &mut RankedHit) {
    let points = points(hit);
    let score = if points >= 0 { AVERAGE + points } else { AVERAGE * HALF / (HALF - points) };
    add(hit, "base", BASE + 1 + score - points);
    hit.score = sum(&hit.contributions);
}

/// Lowers the scores of the hits that come after the hits of the second stage, so that none is higher than
/// `BASE`. Their order is kept.
fn lower(later: &mut [RankedHit]) {
    let best = later.iter().map(|hit| hit.score).max().unwrap_or_default();
    let most = BASE.cast_unsigned();
    if best <= most {
        return;
    }
    for hit in later {
        let lowered = hit.score * most / best;
        add(hit, "base", lowered.cast_signed() - hit.score.cast_signed());
        hit.score = lowered;
    }
}

/// The parts of the scores of the hits.
struct Parts<'a> {
    hits: &'a [RankedHit],
    of_hits: Vec<Vec<Contribution>>,
}

impl Parts<'_> {
    fn values(&self, value: impl Fn(&RankedHit) -> i64) -> Vec<i64> {
        self.hits.iter().map(value).collect()
    }

    /// Adds a part to each hit. The values are thousandths, and the weight is in hundredths.
    fn add(&mut self, name: &'static str, weight: i64, values: &[i64]) {
        for ((parts, hit), value) in self.of_hits.iter_mut().zip(self.hits).zip(values) {
            let rank = hit.contributions.iter().find(|part| part.name == name).and_then(|part| part.rank);
            let points = weight * value * UNIT;
            if points != 0 {
                parts.push(Contribution { name, rank, points });
            }
        }
    }

    fn add_standardised(&mut self, name: &'static str, weight: i64, values: &[i64]) {
        self.add(name, weight, &standardised(values));
    }
}

impl SecondStage<'_> {
    /// The parts of the score of each hit.
    fn parts(&self, hits: &[RankedHit]) -> Vec<Vec<Contribution>> {
        let has = |signal| self.signals.has(signal);
        let mut parts = Parts { hits, of_hits: vec![Vec::new(); hits.len()] };
        if has(Signal::Vectors) {
            parts.add_standardised("dense", DENSE, &parts.values(|hit| hit.scores.dense));
            if has(Signal::BestOfFile) {
                parts.add_standardised("best_of_file", BEST_OF_FILE, &parts.values(|hit| hit.scores.best_of_file));
            }
        }
        self.add_words(&mut parts);
        if has(Signal::Literals) {
            let length = |hit: &RankedHit| length_of_literals(text_of(hit, self.texts));
            parts.add_standardised("literals", LITERALS, &parts.values(length));
        }
        if self.further_hits_count_less && has(Signal::FileEvidence) {
            parts.add("file", FILE, &scores_of_files(hits));
        }
        let is_about_one_place = self.further_hits_count_less && are_of_one_repository(hits);
        let path = if is_about_one_place { PATH } else { PATH_OF_SEVERAL };
        for (name, weight) in [("path", path), ("names", NAMES)] {
            // Points of the first stage are counted in millionths, so they are converted to thousandths.
            parts.add(name, 1, &parts.values(|hit| weight * part_of(hit, name) / STANDARD));
        }
        parts.add("prior", PRIOR, &parts.values(logarithm_of_priors));
        parts.of_hits
    }

    /// Adds the parts for the words that the question has in common with the hits.
    fn add_words(&self, parts: &mut Parts<'_>) {
        let asked = matched_words(self.question, |word| self.rarity(word));
        let words = Words::read(parts.hits, self.texts, &asked);
        let asked: Vec<WordKey> = asked.iter().map(|word| WordKey::of(word)).collect();
        let similarities = self.similarity.similarities(&asked, &words.vocabulary.keys());
        if self.signals.has(Signal::WordMatch) {
            parts.add_standardised("match", MATCH, &matches(&similarities, &words.of_texts));
        }
        if self.signals.has(Signal::PathMatch) {
            parts.add_standardised("path_match", PATH_MATCH, &matches(&similarities, &words.of_paths));
        }
        if self.signals.has(Signal::Terms) {
            let weight = weight_of_terms(self.coverage(&words));
            let values = standardised(&parts.values(|hit| hit.scores.terms));
            parts.add("terms", 1, &values.iter().map(|value| value * weight / STANDARD).collect::<Vec<_>>());
        }
    }

    fn rarity(&self, word: &str) -> u32 {
        let mut rarity = 0;
        terms(word, StopWords::Kept, |term| rarity = self.frequencies.inverse(term));
        rarity
    }

    /// The largest share of the question's words, weighted by rarity, that one text contains, in thousandths.
    fn coverage(&self, read: &Words) -> i64 {
        let mut asked: BTreeMap<u32, usize> = BTreeMap::new();
        let mut weights: Vec<i64> = Vec::new();
        words(self.question, |word| {
            if !is_stop_word(word) && !read.vocabulary.is_too_short(word) {
                terms(word, StopWords::Kept, |term| {
                    let is_unknown = self.frequencies.num_chunks() > 0 && self.frequencies.count(term) == 0;
                    if !is_unknown && weights.len() < MAX_COVERED && !asked.contains_key(&term) {
                        asked.insert(term, weights.len());
                        weights.push(i64::from(self.frequencies.inverse(term)));
                    }
                });
            }
        });
        let place = |term: u32| asked.get(&term).map_or(0_u64, |index| 1 << index);
        let places: Vec<u64> = read.vocabulary.words().iter().map(|word| place(word.term)).collect();
        let weight_of = |set: u64| -> i64 {
            weights.iter().enumerate().filter(|(index, _)| set >> index & 1 == 1).map(|(_, weight)| weight).sum()
        };
        let covered = |text: &Vec<u32>| weight_of(text.iter().fold(0, |set, word| set | places[*word as usize]));
        let most = read.of_texts.iter().map(covered).max().unwrap_or_default();
        (most * STANDARD).checked_div(weights.iter().sum()).unwrap_or_default()
    }
}

/// The weight of the term scores, in units of 1/100,000.
fn weight_of_terms(coverage: i64) -> i64 {
    let square = coverage * coverage / STANDARD;
    TERMS * square * square / STANDARD
}

/// Maximum number of words of the question whose share is computed: the number of bits of a set.
const MAX_COVERED: usize = 64;

/// The words of the hits.
#[derive(Default)]
struct Words {
    vocabulary: Vocabulary,
    /// The words of the name and the text of each hit.
    of_texts: Vec<Vec<u32>>,
    /// The words of the path and the name of each hit.
    of_paths: Vec<Vec<u32>>,
}

impl Words {
    /// The words of the hits, for a comparison with the words of a question.
    fn read(hits: &[RankedHit], texts: &FactsOfTexts, asked: &[String]) -> Self {
        let mut words = Self { vocabulary: Vocabulary::for_words(asked), ..Self::default() };
        for hit in hits {
            let chunk = &hit.chunk;
            let name = distinct_words(chunk.symbol.as_deref().or(chunk.heading.as_deref()).unwrap_or_default());
            let path = distinct_words(chunk.path.as_str());
            words.of_texts.push(words.vocabulary.read(&[&name, text_of(hit, texts).words()]));
            words.of_paths.push(words.vocabulary.read(&[&path, &name]));
        }
        words
    }
}

fn are_of_one_repository(hits: &[RankedHit]) -> bool {
    hits.windows(2).all(|pair| pair[0].chunk.repository == pair[1].chunk.repository)
}

/// For each hit, the mean of the best standardised scores of its file in the first stage, in thousandths.
/// Several good hits in one file are evidence for all hits of the file.
fn scores_of_files(hits: &[RankedHit]) -> Vec<i64> {
    let scores: Vec<i64> = hits.iter().map(|hit| hit.score.cast_signed()).collect();
    let mut of_files: BTreeMap<(RepositoryId, &RepoPath), Vec<i64>> = BTreeMap::new();
    for (hit, score) in hits.iter().zip(standardised(&scores)) {
        of_files.entry((hit.chunk.repository, &hit.chunk.path)).or_default().push(score);
    }
    for scores in of_files.values_mut() {
        scores.sort_unstable_by_key(|score| Reverse(*score));
        scores.truncate(BEST_OF_FILE_HITS);
    }
    let mean = |scores: &Vec<i64>| scores.iter().sum::<i64>() / scores.len() as i64;
    hits.iter().map(|hit| of_files.get(&(hit.chunk.repository, &hit.chunk.path)).map_or(0, mean)).collect()
}

/// The points of a part of the first stage.
fn part_of(hit: &RankedHit, name: &str) -> i64 {
    hit.contributions.iter().filter(|part| part.name == name).map(|part| part.points).sum()
}

/// The logarithm of the number of words in string literals. Literals are messages, options and errors, which
/// describe behaviour. Most chunks without literals are declarations.
fn length_of_literals(text: &TextFacts) -> i64 {
    i64::from(log2_of_ratio(1 + text.num_words_in_literals(), 1, FRACTION_BITS))
}

/// The facts about the text of a hit.
fn text_of<'a>(hit: &RankedHit, texts: &'a FactsOfTexts) -> &'a TextFacts {
    static NO_TEXT: LazyLock<TextFacts> = LazyLock::new(TextFacts::default);
    texts.get(&hit.chunk.content_hash).map_or(&NO_TEXT, |text| text)
}

/// Number of bits of a logarithm after the binary point.
const FRACTION_BITS: u32 = 10;
/// The natural logarithm of 2, in millionths.
const LN_2: i64 = 693_147;

/// The natural logarithm of the product of the priors, in thousandths.
fn logarithm_of_priors(hit: &RankedHit) -> i64 {
    let factor = factor(&hit.priors).max(1);
    let log2 = |numerator, denominator| i64::from(log2_of_ratio(numerator, denominator, FRACTION_BITS));
    let log2 = log2(factor, ONE) - log2(ONE, factor);
    let (least, most) = PRIOR_RANGE;
    (log2 * LN_2 / (1_000 << FRACTION_BITS)).clamp(least, most)
}

/// Adds points to the code that a good hit mentions. A mention by a hit that is not good has no effect.
fn add_mentions(hits: &mut [RankedHit], texts: &FactsOfTexts) {
    let scores: Vec<i64> = hits.iter().map(points).collect();
    let mut sorted = scores.clone();
    sorted.sort_unstable();
    let Some(unmentioned) = sorted.get(sorted.len().saturating_sub(1) * UNMENTIONED_PERCENTILE / 100) else { return };
    let texts: Vec<&TextFacts> = hits.iter().map(|hit| text_of(hit, texts)).collect();
    let mentions = mentioned_by(hits, &texts);
    for (hit, mentions) in hits.iter_mut().zip(mentions) {
        let best = mentions.into_iter().map(|index| scores[index]).fold(*unmentioned, i64::max);
        add(hit, "mentioned", (best - unmentioned) * MENTIONED / 100);
    }
}

/// Reduces the scores of all hits of a file except the best one. `first` contains the hits that keep their
/// places before `hits`.
fn reduce_further_hits(first: &[RankedHit], hits: &mut [RankedHit]) {
    sort_by_points(hits);
    let file = |hit: &RankedHit| (hit.chunk.repository, hit.chunk.path.clone());
    let mut files: BTreeSet<(RepositoryId, RepoPath)> = first.iter().map(file).collect();
    for hit in hits {
        if !files.insert(file(hit)) {
            add(hit, FURTHER_HIT.name, -SAME_FILE * STANDARD * UNIT);
        }
    }
}

/// Reduces the scores of patterns, so that they come after the first hit that is not a pattern.
fn hold_patterns_back(hits: &mut [RankedHit]) {
    let is_pattern = |hit: &&mut RankedHit| hit.chunk.kind == ChunkKind::Pattern;
    let others = hits.iter().filter(|hit| hit.chunk.kind != ChunkKind::Pattern);
    let Some(first_other) = others.map(points).max() else { return };
    for hit in hits.iter_mut().filter(is_pattern) {
        let excess = points(hit) - first_other + BEHIND;
        if excess > 0 {
            add(hit, PATTERN_NOT_ASKED_FOR, -excess);
        }
    }
}

/// Sorts the hits by their points, best first. Hits with equal points are sorted by their places.
fn sort_by_points(hits: &mut [RankedHit]) {
    hits.sort_by(|left, right| {
        let place = |hit: &RankedHit| (hit.chunk.repository, hit.chunk.path.clone(), hit.chunk.span, hit.chunk.key);
        points(right).cmp(&points(left)).then_with(|| place(left).cmp(&place(right)))
    });
}

#[cfg(test)]
mod tests;
