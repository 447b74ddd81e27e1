//! Checks that the rarity of terms and the learned words depend only on the repositories that the caller
//! searches.

use cairn_domain::SymbolKind;
use cairn_ranking::{Signal, Signals};
use cairn_search::{Allowed, Caller, CodeRequest, Searcher};
use cairn_testkit::FakeContent;

use super::{request, searcher_over};

/// A repository in which every file except one contains the word "ledger", and one file contains "quorum".
/// Symbol names contain "ledger" together with "zorbl".
fn visible() -> FakeContent {
    let mut content = FakeContent::new("visible", "c1");
    for number in 0..30 {
        let path = format!("src/a{number}.rs");
        content = content.file(&path, "rust", "ledger writes rows\n");
        content = content.symbol(&path, "zorbl_ledger", SymbolKind::Function, (1, 1));
    }
    content.file("src/b.rs", "rust", "quorum of rows\n")
}

/// A repository in which the word "quorum" is common. Symbol names contain "quorum" together with "zorbl".
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

/// The interpretation of the question, and the results with their scores, as text.
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
async fn hidden_repositories_do_not_change_the_answer() {
    for question in ["ledger quorum", "quorum", "where are rows of the quorum written", "zorbl rows"] {
        let alone = answer(vec![visible()], question).await;
        assert_eq!(answer(vec![visible(), hidden(None)], question).await, alone, "{question}");
        assert_eq!(answer(vec![visible(), hidden(Some("rival"))], question).await, alone, "{question}");
    }
}

/// A second repository in scope changes the weights: a word that is common in the first repository may be
/// rare in the two repositories together.
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

/// A question is also searched in other wordings, with words that occur together with the question's words in
/// the names in scope.
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

/// A repository whose code abbreviates "zorblatt" as `zt`.
fn teaching(name: &str) -> FakeContent {
    let mut content = FakeContent::new(name, "c3");
    for number in 0..3 {
        let (path, symbol) = (format!("src/t{number}.py"), format!("make_{number}"));
        content = content.file(&path, "python", &format!("def {symbol}():\n    zt = Zorblatt({number})\n"));
        content = content.symbol(&path, &symbol, SymbolKind::Function, (1, 2));
    }
    content
}

/// Abbreviations are learned from the code in scope: the short form then finds the long form, and the long
/// form finds the short form. Nothing is learned from code that the caller may not see.
#[tokio::test]
async fn abbreviations_are_learned_from_repositories_in_scope() {
    let names = FakeContent::new("visible", "c1")
        .file("src/a.py", "python", "def open_zorblatt():\n    pass\n\ndef close_zt_rows():\n    pass\n")
        .symbol("src/a.py", "open_zorblatt", SymbolKind::Function, (1, 2))
        .symbol("src/a.py", "close_zt_rows", SymbolKind::Function, (4, 5));
    let (_, all) = searcher_over(vec![names, teaching("teaching")]).await;
    let used = async |searcher: &Searcher, symbol: &str, repository: Option<&str>| {
        let request = CodeRequest {
            repository: repository.map(str::to_owned),
            path: None,
            symbol: Some(symbol.to_owned()),
            context_path: None,
            lines: None,
            max_tokens: 1_000,
        };
        let score = searcher.read_code(&request).await.ok().and_then(|code| code.substitution);
        score.map(|used| (used.used, used.score, used.reason))
    };
    let expect = |name: &str, score| Some((name.to_owned(), score, "abbreviation".to_owned()));
    assert_eq!(used(&all, "openZt", None).await, expect("open_zorblatt", 940));
    assert_eq!(used(&all, "closeZorblattRows", None).await, expect("close_zt_rows", 940));
    let allowed = Allowed::Only(vec!["visible".to_owned()]);
    let restricted = all.clone().asked_by(Caller { allowed, ..Caller::local() });
    for searcher in [&all, &restricted] {
        let untaught = used(searcher, "openZt", Some("visible")).await;
        assert!(untaught.as_ref().is_none_or(|(_, score, _)| *score < 900), "{untaught:?}");
    }
}
