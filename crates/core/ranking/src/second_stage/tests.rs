use std::sync::Arc;

use cairn_domain::ChunkRecord;
use proptest::prelude::*;

use super::*;
use crate::EqualWords;
use crate::hit::Scores;
use crate::priors::Prior;
use crate::test_chunks::{chunk, hit};

/// A hit of a file with this text and this vector score. The scores of the first stage do not matter.
fn hit_of(path: &str, text: &str, dense: i64) -> RankedHit {
    let scores = Scores { dense, best_of_file: dense, terms: 0 };
    RankedHit { chunk: chunk(path, 1, text), scores, ..hit("", text) }
}

fn with_part(name: &'static str, points: i64, hit: RankedHit) -> RankedHit {
    RankedHit { contributions: vec![Contribution { name, rank: Some(1), points }], score: points.unsigned_abs(), ..hit }
}

fn ranked_with(hits: Vec<RankedHit>, question: &str, signals: Signals) -> Vec<RankedHit> {
    let texts = hits.iter().map(|hit| (hit.chunk.content_hash, Arc::new(TextFacts::read(&hit.chunk.text)))).collect();
    let stage = SecondStage {
        question,
        texts: &texts,
        similarity: &EqualWords,
        frequencies: &ScopeFrequencies::default(),
        subjects: Subjects::default(),
        further_hits_count_less: true,
        signals,
    };
    rerank(hits, stage)
}

fn ranked(hits: Vec<RankedHit>, question: &str) -> Vec<RankedHit> {
    ranked_with(hits, question, Signals::default())
}

fn paths(hits: &[RankedHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.chunk.path.as_str()).collect()
}

fn points_of(hit: &RankedHit, name: &str) -> i64 {
    part_of(hit, name)
}

fn check(hits: Vec<RankedHit>, question: &str, expect: &[&str]) {
    let found = ranked(hits, question);
    assert_eq!(paths(&found), expect, "{question}");
    for hit in &found {
        assert_eq!(hit.score, sum(&hit.contributions), "{}", hit.chunk.path);
    }
}

#[test]
fn matching_words_decide_among_equal_vectors() {
    let hits = vec![hit_of("a", "send(packet)", 5), hit_of("b", "retry(packet)", 5), hit_of("c", "drop(packet)", 5)];
    check(hits.clone(), "how is a packet sent once more after a retry", &["b", "a", "c"]);
    check(hits, "who drops what they drop", &["c", "a", "b"]);
}

/// The mean of the vector scores is 20, and the standard deviation is 10. So the standardised values are -1
/// and 1, and the points are 0.3 / 2 for the hit, and 0.35 / 2 for the best hit of the file.
#[test]
fn standardised_values_are_weighted() {
    let found = ranked(vec![hit_of("a", "", 10), hit_of("b", "", 30)], "some question");
    let parts = |hit: &RankedHit| (points_of(hit, "dense"), points_of(hit, "best_of_file"), points_of(hit, "base"));
    assert_eq!(parts(&found[0]), (150_000, 175_000, 500_001));
    assert_eq!(found[0].score, 825_001);
    // 300,000 · 3,000,000 / 3,325,000 is 270,676. The part `base` raises the score to the sum of this value,
    // `BASE` and 1.
    assert_eq!(parts(&found[1]), (-150_000, -175_000, 795_677));
    assert_eq!(found[1].score, 470_677);
}

#[test]
fn hits_that_a_name_or_an_edge_places_first_stay_first() {
    for name in DIRECT {
        let first = with_part(name, 20_000_000, hit_of("first", "", 1));
        check(vec![first.clone(), hit_of("a", "retry", 9), hit_of("b", "", 5)], "retry", &["first", "a", "b"]);
        let found = ranked(vec![first.clone(), hit_of("a", "retry", 9)], "retry");
        assert_eq!(found[0], first, "{name}");
    }
}

#[test]
fn only_the_first_hits_are_ordered_again() {
    let hit = |number: usize| {
        let path = format!("f{number:03}");
        let text = if number + 1 == NUM_HITS || number == NUM_HITS { "retry" } else { "" };
        with_part("terms", 2_000_000 - number as i64, hit_of(&path, &format!("{text} {number}"), 0))
    };
    let hits: Vec<RankedHit> = (0..NUM_HITS + 2).map(hit).collect();
    assert_eq!(hits_of_second_stage(&hits).count(), NUM_HITS);
    let found = ranked(hits, "retry");
    let paths = paths(&found);
    assert_eq!((paths[0], &paths[NUM_HITS..]), ("f149", ["f150", "f151"].as_slice()));
    assert_eq!(found[NUM_HITS].score, BASE as u64);
    assert!(found.iter().all(|hit| hit.score == sum(&hit.contributions)));
}

#[test]
fn priors_are_added_as_logarithms() {
    let check = |percents: &[u32], expect: i64| {
        let priors = percents.iter().map(|percent| Prior { name: "test", percent: *percent }).collect();
        assert_eq!(logarithm_of_priors(&RankedHit { priors, ..hit_of("a", "", 0) }), expect, "{percents:?}");
    };
    check(&[], 0);
    check(&[50], -693);
    check(&[30], -1_203);
    check(&[150], 405);
    check(&[50, 50], -1_386);
    check(&[30, 30, 30], -2_500);
    // The factors for further hits in a file and for patterns are removed, because the second stage applies
    // these two rules again.
    let not_asked_for = Prior { name: PATTERN_NOT_ASKED_FOR, percent: 50 };
    let hit = RankedHit { priors: vec![FURTHER_HIT, not_asked_for], ..hit_of("a", "", 0) };
    let found = ranked(vec![hit], "some question");
    assert_eq!((points_of(&found[0], "prior"), found[0].priors.len()), (0, 0));
}

#[test]
fn further_hits_of_a_file_lose_points() {
    let further = |line: u32, dense| {
        let hit = hit_of("a", "", dense);
        RankedHit { chunk: ChunkRecord { ..chunk("a", line, &line.to_string()) }, ..hit }
    };
    let hits = vec![further(1, 10), further(2, 30), hit_of("b", "", 20)];
    let found = ranked(hits.clone(), "some question");
    assert_eq!(found.iter().map(|hit| points_of(hit, "same_file")).collect::<Vec<_>>(), [0, 0, -250_000]);
    let found = ranked_with(hits, "some question", Signals::default().without(Signal::FurtherHits));
    assert!(found.iter().all(|hit| points_of(hit, "same_file") == 0));
}

#[test]
fn pattern_comes_after_another_hit() {
    let mut pattern = hit_of("pattern", "", 900);
    pattern.chunk.kind = ChunkKind::Pattern;
    check(vec![pattern.clone(), hit_of("a", "", 10), hit_of("b", "", 5)], "some question", &["a", "pattern", "b"]);
    let found = ranked_with(vec![pattern, hit_of("a", "", 10)], "x", Signals::default().without(Signal::Patterns));
    assert_eq!(paths(&found), ["pattern", "a"]);
}

/// The weight of the term scores grows with the largest share of the question's words in one text.
#[test]
fn term_scores_count_if_a_text_contains_the_words() {
    let with_terms = |path: &str, text: &str, terms: i64| {
        let hit = hit_of(path, text, 0);
        RankedHit { scores: Scores { terms, ..hit.scores }, ..hit }
    };
    let points = |first: &str| {
        let found = ranked(vec![with_terms("a", first, 10), with_terms("b", "nothing", 0)], "retry packets");
        points_of(&found[0], "terms")
    };
    // One text contains all words, so the weight is 1, and the standardised value of the first hit is 1.
    assert_eq!(points("retry the packet"), 500_000);
    assert_eq!(points("other text"), 0);
    let half = points("retry the other");
    assert!(half > 0 && half < 125_000, "{half}");
}

#[test]
fn mentioned_code_gets_points_from_the_best_hit() {
    let named = |name: &str, text: &str, dense| {
        let hit = hit_of(name, text, dense);
        let chunk = ChunkRecord { symbol: Some(name.to_owned()), ..hit.chunk };
        RankedHit { chunk, ..hit }
    };
    let hits = vec![named("first", "helper()", 30), named("helper", "x", 10), named("other", "y", 10)];
    let found = ranked_with(hits, "z", Signals::only(&[Signal::Vectors, Signal::Mentions]));
    assert_eq!(paths(&found), ["first", "helper", "other"]);
    // The standardised vector scores are 1.414, -0.707 and -0.707, so the scores are 212,100 and -106,050.
    // The points for the mention are 22 % of the difference between these scores.
    assert_eq!(points_of(&found[1], "mentioned"), 69_993);
    assert_eq!(points_of(&found[2], "mentioned"), 0);
}

proptest! {
    #[test]
    fn scores_are_the_sums_of_their_parts(
        texts in prop::collection::vec(("[a-c]{1,2}", "(send |retry |drop |\"text\" ){0,6}", -1_000i64..1_000), 0..12),
    ) {
        let hits: Vec<RankedHit> = texts.iter().map(|(path, text, dense)| hit_of(path, text, *dense)).collect();
        let found = ranked(hits.clone(), "retry send");
        prop_assert!(found.iter().all(|hit| hit.score > 0 && hit.score == sum(&hit.contributions)));
        prop_assert!(found.iter().all(|hit| hit.score < 9_000_000));
        prop_assert!(found.is_sorted_by_key(|hit| std::cmp::Reverse(hit.score)));
        prop_assert_eq!(found.len(), hits.len());
        let mut backwards = hits;
        backwards.reverse();
        let backwards = ranked(backwards, "retry send");
        let key = |hits: &[RankedHit]| hits.iter().map(|hit| (hit.score, hit.chunk.path.clone())).collect::<Vec<_>>();
        prop_assert_eq!(key(&found), key(&backwards));
    }
}
