use cairn_domain::{ChunkKey, RepositoryName, Tenant, TermCounts};
use proptest::prelude::*;

use super::*;
use crate::QuestionWord;
use crate::list_points::{Listed, ScoreRange};
use crate::test_chunks::candidate;

const LISTS: Lists =
    Lists { dense: ScoreRange { first: 1000, last: 0 }, terms: ScoreRange { first: 100, last: 0 }, last_dense: 0 };

fn ranked(candidates: Vec<Candidate>, question: &str) -> Vec<RankedHit> {
    ranked_with(candidates, question, Signals::default())
}

fn ranked_with(candidates: Vec<Candidate>, question: &str, signals: Signals) -> Vec<RankedHit> {
    let query = RankQuery {
        words: &QueryWords::of(question),
        subjects: Subjects::of(question),
        repositories: &BTreeSet::new(),
        of_repositories: &RepositoryWords::default(),
        leaves_out: false,
        weights: Weights::TOPIC,
        frequencies: &ScopeFrequencies::default(),
        signals,
    };
    rank(candidates, LISTS, query).hits
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
    let candidates = vec![candidate("a", 1, "same", 10), candidate("b", 1, "same", 30), candidate("c", 1, "other", 20)];
    check(candidates, "some words", &[("b", 1, 1), ("c", 1, 0)]);
}

/// The best copy of a text may be in a repository that is left out. Then the copy in another repository is
/// shown, without the place of the best copy.
#[test]
fn copies_in_repositories_that_are_left_out_are_not_shown() {
    let id = |name: &str| RepositoryId::derive(&Tenant::local(), &RepositoryName::new(name));
    let within = |name: &str, candidate: Candidate| {
        let ChunkRecord { path, content_hash, span, .. } = &candidate.chunk;
        let key = ChunkKey::derive(id(name), path, *content_hash, span.start);
        Candidate { chunk: ChunkRecord { repository: id(name), key, ..candidate.chunk }, ..candidate }
    };
    let word = QuestionWord { word: "retry".to_owned(), other_forms: Vec::new() };
    let mut of_repositories = RepositoryWords::of(vec![word]);
    let mut counts = TermCounts { num_chunks: 1, ..TermCounts::default() };
    of_repositories.add(id("other"), &[counts.clone()]);
    terms("retry", StopWords::Kept, |term| counts.terms.push((term, 1)));
    of_repositories.add(id("own"), &[counts]);
    let candidates = vec![
        within("own", candidate("best.rs", 1, "best", 1_000)),
        within("own", candidate("copy.rs", 1, "copy", 100)),
        within("other", candidate("copy.rs", 1, "copy", 600)),
        within("own", candidate("second.rs", 1, "second", 900)),
        within("other", candidate("second.rs", 1, "second", 100)),
    ];
    let query = RankQuery {
        words: &QueryWords::of("how to retry"),
        subjects: Subjects::of("how to retry"),
        repositories: &BTreeSet::new(),
        of_repositories: &of_repositories,
        leaves_out: true,
        weights: Weights::TOPIC,
        frequencies: &ScopeFrequencies::default(),
        signals: Signals::default(),
    };
    let Ranking { hits, left_out } = rank(candidates.clone(), LISTS, query);
    assert_eq!(left_out, BTreeSet::from([id("other")]));
    let shown: Vec<(&str, RepositoryId, usize)> =
        hits.iter().map(|hit| (hit.chunk.path.as_str(), hit.chunk.repository, hit.also_at.len())).collect();
    let own = id("own");
    assert_eq!(shown, [("best.rs", own, 0), ("second.rs", own, 0), ("copy.rs", own, 0)]);
    let all = rank(candidates.clone(), LISTS, RankQuery { leaves_out: false, ..query });
    assert!(all.left_out.is_empty() && all.hits.iter().any(|hit| hit.chunk.repository == id("other")));
    let named = BTreeSet::from([id("other")]);
    assert!(rank(candidates, LISTS, RankQuery { repositories: &named, ..query }).left_out.is_empty());
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
    let listed =
        |path, score| Candidate { terms: Some(Listed { rank: None, score }), ..candidate(path, 1, path, 1000 - score) };
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

/// Checks the order of files that have no points except for the list of vectors, the path and the kind. The
/// first file has the best vector.
fn check_files(question: &str, paths: &[&str], expect: &[&str]) {
    let candidates = (1..).zip(paths).map(|(line, path)| {
        let mut candidate = candidate(path, line, path, 1000 - 60 * i64::from(line));
        candidate.chunk.kind = if path.ends_with(".php") { ChunkKind::Class } else { ChunkKind::Text };
        candidate.chunk.is_test = path.starts_with("tests/");
        candidate
    });
    let hits = ranked(candidates.collect(), question);
    let found: Vec<&str> = hits.iter().map(|hit| hit.chunk.path.as_str()).collect();
    assert_eq!(found, expect, "{question}");
}

#[test]
fn files_of_the_requested_kind_come_first() {
    let check = check_files;
    check(
        "composer manifest",
        &["src/Composer/Manifest.php", "docs/manifest.md", "examples/a/composer.json", "composer.json"],
        &["composer.json", "examples/a/composer.json", "src/Composer/Manifest.php", "docs/manifest.md"],
    );
    check(
        "stylesheet of the login page",
        &["src/StylesheetPage.php", "web/theme.css", "web/login.css"],
        &["web/login.css", "web/theme.css", "src/StylesheetPage.php"],
    );
    check("docker file of the worker", &["Dockerfile", "worker/Dockerfile"], &["worker/Dockerfile", "Dockerfile"]);
    check(
        "integration test of the connection pool",
        &["src/connection/pool.php", "tests/parser.php", "tests/pool.php"],
        &["tests/pool.php", "tests/parser.php", "src/connection/pool.php"],
    );
}

/// The question asks for no kind, or no hit is in a file of this kind. Then the words for the kind count as
/// words of the path.
#[test]
fn other_questions_get_no_points_for_kinds_of_files() {
    let check = check_files;
    let paths = ["composer.json", "src/Composer/Manifest.php"];
    check("where is the composer manifest parsed", &paths, &["src/Composer/Manifest.php", "composer.json"]);
    check("notebook of a user", &["src/Other.php", "src/Notebook.php"], &["src/Notebook.php", "src/Other.php"]);
}

#[test]
fn points_for_the_kind_of_a_file_are_explained() {
    let points = |question: &str, path: &str, signals: Signals| {
        let hits = ranked_with(vec![candidate(path, 1, "1", 900)], question, signals);
        hits[0].contributions.iter().find(|part| part.name == "file_kind").map(|part| part.points)
    };
    let all = Signals::default();
    assert_eq!(points("npm manifest", "package.json", all), Some(1_000_000));
    assert_eq!(points("npm manifest", "a/b/package.json", all), Some(960_000));
    assert_eq!(points("npm manifest", "examples/package.json", all), Some(780_000));
    assert_eq!(points("npm manifest of the examples", "examples/package.json", all), Some(980_000));
    assert_eq!(points("npm manifest", "src/manifest.js", all), None);
    assert_eq!(points("npm manifest", "package.json", all.without(Signal::FileKind)), None);
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
