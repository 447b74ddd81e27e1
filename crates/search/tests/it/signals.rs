//! Checks that the parts of the ranking that do not add points can be switched off.

use cairn_domain::EdgeKind;
use cairn_ranking::{Signal, Signals};
use cairn_search::{SearchAnswer, Searcher};

use crate::searcher_over;
use crate::strategies::{ask, importer, service, shown};

/// The answer with all signals, and the answer without one signal.
async fn both(without: Signal, question: &str) -> (SearchAnswer, SearchAnswer) {
    let document = "The authenticate module is the entry point of each login.\n";
    let content = service().pattern(importer()).file("AGENTS.md", "markdown", document).edge(
        "AGENTS.md",
        EdgeKind::Mentions,
        "store_session",
        1,
        100,
    );
    let (_, searcher) = searcher_over(vec![content]).await;
    let all = searcher.search(&ask(question)).await.expect("an answer");
    let searcher = Searcher { signals: Signals::default().without(without), ..searcher };
    (all, searcher.search(&ask(question)).await.expect("an answer"))
}

fn has_part(answer: &SearchAnswer, name: &str) -> bool {
    answer.found.iter().flat_map(|found| &found.hit.contributions).any(|part| part.name == name)
}

#[tokio::test]
async fn questions_without_relevant_code_are_refused() {
    let (all, without) = both(Signal::Relevance, "flurbish qwonkle vextra").await;
    assert!(all.found.is_empty() && !all.relevance.is_relevant);
    assert!(!without.found.is_empty() && without.relevance.is_relevant);
}

#[tokio::test]
async fn stated_filters_restrict_the_results() {
    let (all, without) = both(Signal::StatedFilters, "python session").await;
    assert_eq!(shown(&all), ["store_session"]);
    assert!(without.found.len() > 1, "{:?}", shown(&without));
    assert!(without.notes.is_empty(), "{:?}", without.notes);
}

#[tokio::test]
async fn names_of_files_find_files() {
    let (all, without) = both(Signal::FileNames, "docs/login.md").await;
    assert_eq!(all.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["docs/login.md"]);
    assert!(without.files.is_empty());
}

#[tokio::test]
async fn named_patterns_get_points() {
    let (all, without) = both(Signal::Patterns, "how do awsimporters work").await;
    assert!(has_part(&all, "pattern") && !has_part(&without, "pattern"));
}

#[tokio::test]
async fn weights_of_lists_depend_on_the_type() {
    let (all, without) = both(Signal::TypeWeights, "what calls authenticate").await;
    let points = |answer: &SearchAnswer| -> Vec<i64> {
        let parts = answer.found.iter().flat_map(|found| &found.hit.contributions);
        parts.filter(|part| part.name == "terms").map(|part| part.points).collect()
    };
    assert_ne!(points(&all), points(&without));
}

#[tokio::test]
async fn documents_add_the_code_that_they_name() {
    let (all, without) = both(Signal::DocumentedFiles, "which module is the entry point of a login").await;
    let is_mentioned = |answer: &SearchAnswer| shown(answer).iter().any(|shown| shown.contains("MENTIONS"));
    assert!(is_mentioned(&all), "{:?}", shown(&all));
    assert!(!is_mentioned(&without), "{:?}", shown(&without));
}
