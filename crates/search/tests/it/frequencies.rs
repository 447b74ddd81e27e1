//! Checks that the rarity of terms and the learned words depend only on the repositories that the caller
//! searches.

use cairn_domain::SymbolKind;
use cairn_ranking::{Signal, Signals};
use cairn_search::{Allowed, Caller, Searcher};
use cairn_testkit::FakeContent;

use super::{request, searcher_over};

/// A repository in which every file except one contains the word "ledger", and one file contains "quorum".
/// Names use "ledger" together with "zorbl".
fn visible() -> FakeContent {
    let mut content = FakeContent::new("visible", "c1");
    for number in 0..30 {
        let path = format!("src/a{number}.rs");
        content = content.file(&path, "rust", "ledger writes rows\n");
        content = content.symbol(&path, "zorbl_ledger", SymbolKind::Function, (1, 1));
    }
    content.file("src/b.rs", "rust", "quorum of rows\n")
}

/// A repository in which the word "quorum" is common. Names use "quorum" together with "zorbl".
fn hidden(tenant: Option<&str>) -> FakeContent {
    let mut content = match tenant {
        Some(tenant) => FakeContent::of(cairn_domain::Tenant::new(tenant), "hidden", "c2"),
        None => FakeContent::new("hidden", "c2"),
    };
    for number in 0..200 {
        let path = format!("src/q{number}.rs");
        content = content.file(&path, "rust", "quorum quorum vote\n");
        content = content.symbol(&path, "zorbl_quorum", SymbolKind::Function, (1, 1));
    }
    content
}

/// The question as it was read, and the results with their scores, as text.
async fn answer(contents: Vec<FakeContent>, question: &str) -> String {
    let (_, searcher) = searcher_over(contents).await;
    let allowed = Allowed::Only(vec!["visible".to_owned()]);
    let searcher = searcher.asked_by(Caller { allowed, ..Caller::local() });
    let answer = searcher.search(&request(question, &[], Default::default())).await.expect("an answer");
    assert!(answer.num_results > 0, "{question}");
    let hits = answer.found.iter().map(|found| format!("{} {:?}\n", found.repository, found.hit));
    format!("{:?}\n{}", answer.query, hits.collect::<String>())
}

#[tokio::test]
async fn hidden_repositories_change_no_byte() {
    for question in ["ledger quorum", "quorum", "where are rows of the quorum written", "zorbl rows"] {
        let alone = answer(vec![visible()], question).await;
        assert_eq!(answer(vec![visible(), hidden(None)], question).await, alone, "{question}");
        assert_eq!(answer(vec![visible(), hidden(Some("rival"))], question).await, alone, "{question}");
    }
}

/// A second repository in scope changes the weights, because a word that is common in one repository is rare
/// in both repositories together.
#[tokio::test]
async fn repositories_in_scope_change_the_rarity() {
    let (_, searcher) = searcher_over(vec![visible(), hidden(None)]).await;
    let signals = Signals::only(&[Signal::Terms, Signal::Scores, Signal::ScopeFrequencies]);
    let searcher = Searcher { signals, ..searcher };
    let first = async |repositories: &[&str]| {
        let answer = searcher.search(&request("ledger quorum", repositories, Default::default())).await;
        let first = answer.expect("an answer").found.into_iter().next().expect("a result");
        first.hit.chunk.path.to_string()
    };
    assert_eq!(first(&["visible"]).await, "src/b.rs");
    assert_ne!(first(&[]).await, "src/b.rs");
}

/// The wordings of a question contain words that the names in scope use together.
#[tokio::test]
async fn repositories_in_scope_change_the_learned_words() {
    let (_, searcher) = searcher_over(vec![visible(), hidden(None)]).await;
    let wordings = async |repositories: &[&str]| {
        let answer =
            searcher.search(&request("zorbl rows", repositories, Default::default())).await.expect("an answer");
        answer.query.expansions.into_iter().map(|expansion| expansion.text).collect::<Vec<_>>()
    };
    assert_eq!(wordings(&["visible"]).await, ["ledger rows"]);
    assert_eq!(wordings(&["hidden"]).await, ["quorum rows"]);
    assert_eq!(wordings(&[]).await, ["quorum rows", "ledger rows"]);
}
