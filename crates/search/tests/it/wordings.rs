//! Checks synonyms, long questions, and questions that name a repository.

use cairn_ranking::{Signal, Signals};
use cairn_search::{QueryErrorCode, SearchRequest, Searcher, Target, TargetType};
use cairn_testkit::FakeContent;

use super::{request, searcher_over};

fn repository(name: &str, files: &[(&str, &str)]) -> FakeContent {
    files.iter().fold(FakeContent::new(name, "c"), |content, (path, text)| content.file(path, "rust", text))
}

/// The repository and path of the first result. The ranking uses only terms, because synonyms affect only
/// terms.
async fn first(searcher: &Searcher, question: &str) -> Option<String> {
    let signals = Signals::only(&[Signal::Terms, Signal::Scores, Signal::Synonyms, Signal::OtherPriors]);
    let searcher = Searcher { signals, ..searcher.clone() };
    let answer = searcher.search(&request(question, &[], Default::default())).await.expect("an answer");
    // The list of vectors contains other chunks, but vectors give no points in this test.
    answer
        .found
        .first()
        .filter(|found| found.hit.score > 0)
        .map(|found| format!("{}:{}", found.repository, found.hit.chunk.path))
}

#[tokio::test]
async fn configured_synonyms_are_searched() {
    let files = [("src/a.rs", "zorblat the rows\n"), ("src/b.rs", "other words\n")];
    let (_, searcher) = searcher_over(vec![repository("one", &files)]).await;
    assert_eq!(first(&searcher, "frobnicate").await, None);
    let searcher = searcher.with_synonyms(&[("frobnicate".to_owned(), vec!["zorblat".to_owned()])]);
    assert_eq!(first(&searcher, "frobnicate").await.as_deref(), Some("one:src/a.rs"));
}

/// A configured synonym also counts as evidence, so the question is not refused. The synonym is also
/// suggested.
#[tokio::test]
async fn configured_synonym_of_an_absent_word_is_evidence() {
    let files = [("src/a.rs", "zorblat the rows\n"), ("src/b.rs", "other words\n")];
    let (_, searcher) = searcher_over(vec![repository("one", &files)]).await;
    let ask = async |searcher: &Searcher, question: &str| {
        searcher.search(&request(question, &[], Default::default())).await.expect("an answer")
    };
    assert!(!ask(&searcher, "where is the frobnicator").await.relevance.is_relevant);
    let searcher = searcher.with_synonyms(&[("frobnicator".to_owned(), vec!["zorblat".to_owned()])]);
    let answer = ask(&searcher, "where is the frobnicator").await;
    assert!(answer.relevance.is_relevant, "{:?}", answer.relevance);
    assert_eq!(answer.found.first().map(|found| found.hit.chunk.path.as_str()), Some("src/a.rs"));
    let refused = ask(&searcher, "flurbish qwonkle vextra frobnicator").await;
    let suggestions = refused.nothing_found.map(|nothing| nothing.suggestions).unwrap_or_default();
    assert!(suggestions.iter().any(|found| found.query == "zorblat"), "{suggestions:?}");
}

#[tokio::test]
async fn long_questions_are_cut() {
    let files = [("src/a.rs", "zorblat the rows\n"), ("src/b.rs", "sprocket the rows\n")];
    let (_, searcher) = searcher_over(vec![repository("one", &files)]).await;
    let issue = format!("zorblat fails\n\n{} sprocket sprocket", "word ".repeat(2_000));
    assert_eq!(first(&searcher, &issue).await.as_deref(), Some("one:src/a.rs"));
    let answer = searcher.search(&request(&issue, &[], Default::default())).await.expect("an answer");
    assert!(answer.query.cut.is_some());
    let with_log = format!("zorblat fails\n\n{}", "2024-01-01 worker failed with status 17\n".repeat(5_000));
    assert_eq!(first(&searcher, &with_log).await.as_deref(), Some("one:src/a.rs"));
    let answer = searcher.search(&request(&with_log, &[], Default::default())).await.expect("an answer");
    let cut = answer.query.cut.expect("a report");
    assert_eq!((cut.original_bytes, cut.used_bytes), (with_log.trim().len(), answer.query.text.len()));
    assert!(cut.used_bytes < 1_300, "{cut:?}");
    let error = searcher.search(&request(&"word ".repeat(1_000_000), &[], Default::default())).await;
    assert_eq!(error.expect_err("too long").code, QueryErrorCode::ValidationError);
}

/// The name of a file or symbol is also cut.
#[tokio::test]
async fn long_names_are_cut() {
    let (_, searcher) = searcher_over(vec![repository("one", &[("src/a.rs", "zorblat the rows\n")])]).await;
    for target_type in [TargetType::Symbol, TargetType::File, TargetType::Auto] {
        let target = Target { target_type, ..Target::default() };
        let asked = SearchRequest { target, ..request(&"zorblat_rows".repeat(10_000), &[], Default::default()) };
        if let Err(error) = searcher.search(&asked).await {
            assert_eq!(error.code, QueryErrorCode::NotFound, "{target_type:?}: {}", error.message);
        }
    }
}

#[tokio::test]
async fn results_in_named_repositories_come_first() {
    let contents = || {
        let text = [("src/rows.rs", "rows of the ledger\n")];
        let other = [("src/rows.rs", "rows of the old ledger\n")];
        vec![repository("acme/alpha", &text), repository("acme/omega", &other)]
    };
    let (_, searcher) = searcher_over(contents()).await;
    assert_eq!(first(&searcher, "ledger rows in alpha").await.as_deref(), Some("acme/alpha:src/rows.rs"));
    assert_eq!(first(&searcher, "ledger rows in omega").await.as_deref(), Some("acme/omega:src/rows.rs"));
}
