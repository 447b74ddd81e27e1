//! Checks that a question is refused if nothing in scope is relevant. The answer must contain the reason, and
//! suggested questions that have results.

use cairn_domain::SymbolKind;
use cairn_ports::ChunkFilter;
use cairn_search::{SearchAnswer, SuggestionKind};
use cairn_testkit::FakeContent;

use super::{request, searcher_over};

/// A repository with a server whose settings are read from a database.
fn server() -> FakeContent {
    let mut content = FakeContent::new("server", "c1");
    for number in 0..40 {
        let path = format!("src/net/connection_{number}.rs");
        let text = format!(
            "fn accept_{number}(socket: Socket) {{\n    // Accepts a connection and reads the request header.\n}}\n"
        );
        content =
            content.file(&path, "rust", &text).symbol(&path, &format!("accept_{number}"), SymbolKind::Function, (1, 3));
    }
    content.file("src/store/db.rs", "rust", "fn open_db() {\n    // Opens the db and reads the settings.\n}\n")
}

/// A repository with code that reads messages from Kafka.
fn consumer() -> FakeContent {
    let mut content = FakeContent::new("consumer", "c1");
    for number in 0..5 {
        let text = "// The Kafka consumer is rebalanced when a member joins the group.\nfn rebalance() {}\n";
        content = content.file(&format!("src/kafka_{number}.rs"), "rust", text);
    }
    content
}

async fn ask(contents: Vec<FakeContent>, query: &str, repositories: &[&str], filter: ChunkFilter) -> SearchAnswer {
    let (_, searcher) = searcher_over(contents).await;
    searcher.search(&request(query, repositories, filter)).await.expect("an answer")
}

#[tokio::test]
async fn question_about_absent_subject_gets_useful_suggestions() {
    let question = "where is the Kafka connection rebalanced";
    let answer = ask(vec![server()], question, &[], ChunkFilter::default()).await;
    assert!(!answer.relevance.is_relevant && answer.found.is_empty() && answer.num_results == 0, "{answer:?}");
    let nothing = answer.nothing_found.expect("an explanation");
    assert_eq!(nothing.missing_words, ["kafka", "rebalanced"]);
    assert_eq!(
        nothing.statement,
        "nothing relevant found: none of the 41 indexed chunks contains `kafka`, `rebalanced`"
    );
    assert!(nothing.not_indexed.is_empty() && answer.hidden_by_scope.is_none());
    assert!(!nothing.weak_matches.is_empty() && nothing.weak_matches.len() <= 3, "{nothing:?}");
    assert!(nothing.modules.len() <= 5 && nothing.modules.iter().all(|module| !module.reason.is_empty()));
    let partial = nothing.suggestions.iter().find(|found| found.kind == SuggestionKind::PartialMatch);
    let partial = partial.expect("a word of the question");
    assert_eq!((partial.query.as_str(), partial.num_matches), ("connection", 40));
    for suggestion in &nothing.suggestions {
        let answer = ask(vec![server()], &suggestion.query, &[], ChunkFilter::default()).await;
        assert!(answer.num_results > 0, "{suggestion:?}");
    }
}

/// A misspelled or longer word is not contained in any chunk, but names in scope contain a similar word.
#[tokio::test]
async fn similar_words_of_names_are_suggested() {
    let content = || {
        let hook = |number: usize, content: FakeContent| {
            let (path, name) = (format!("src/hooks/hook_{number}.rs"), format!("sendWebhook{number}"));
            let text = format!("fn {name}() {{\n    // Sends the webhook to its target.\n}}\n");
            content.file(&path, "rust", &text).symbol(&path, &name, SymbolKind::Function, (1, 3))
        };
        (0..3).fold(server(), |content, number| hook(number, content))
    };
    for (question, word) in [("where is the qwonkle webhookz", "webhookz"), ("flurbish qwonkle webhookin", "webhookin")]
    {
        let answer = ask(vec![content()], question, &[], ChunkFilter::default()).await;
        let suggestions = answer.nothing_found.expect("an explanation").suggestions;
        assert!(suggestions.len() <= 5, "{suggestions:?}");
        let near = suggestions.iter().find(|found| found.kind == SuggestionKind::NearWord).expect("a similar word");
        assert_eq!((near.query.as_str(), near.instead_of.as_str(), near.num_matches), ("webhook", word, 3));
        assert_eq!(near.reason(), format!("similar to `{word}`; 3 chunks contain it"));
    }
}

#[tokio::test]
async fn gibberish_is_refused_with_and_without_filter() {
    let rust = ChunkFilter { languages: vec!["rust".to_owned()], ..ChunkFilter::default() };
    for filter in [ChunkFilter::default(), rust] {
        let answer = ask(vec![server()], "flurbish qwonkle vextra", &[], filter.clone()).await;
        assert!(answer.found.is_empty() && !answer.relevance.is_relevant, "{filter:?}");
    }
}

#[tokio::test]
async fn direct_hits_are_not_refused() {
    let in_folder = ChunkFilter { paths: vec!["src/net/**".to_owned()], ..ChunkFilter::default() };
    let cases = [
        ("accept_7", ChunkFilter::default()),
        ("what calls accept_7 before sourdough", ChunkFilter::default()),
        ("src/store/db.rs", ChunkFilter::default()),
        ("database settings", ChunkFilter::default()),
        ("request header", ChunkFilter::default()),
        ("where is the Kafka connection rebalanced", in_folder),
    ];
    for (question, filter) in cases {
        let answer = ask(vec![server()], question, &[], filter).await;
        assert!(answer.num_results > 0 && answer.relevance.is_relevant, "{question}: {:?}", answer.relevance);
        assert_eq!(answer.nothing_found, None, "{question}");
    }
}

#[tokio::test]
async fn relevant_results_outside_the_scope_are_counted() {
    let both = || vec![server(), consumer()];
    let question = "where is the Kafka consumer rebalanced";
    let hidden = ask(both(), question, &["server"], ChunkFilter::default()).await;
    assert!(hidden.found.is_empty());
    let message = hidden.hidden_by_scope.expect("results of the other repository");
    let everywhere = ask(both(), question, &[], ChunkFilter::default()).await;
    let num_outside = everywhere.found.iter().filter(|found| found.repository == "consumer").count();
    assert!(num_outside > 0, "{everywhere:?}");
    assert!(message.starts_with(&format!("at least {num_outside} results are outside")), "{message}");
    let nonsense = ask(both(), "flurbish qwonkle vextra", &["server"], ChunkFilter::default()).await;
    assert_eq!(nonsense.hidden_by_scope, None);
}

#[tokio::test]
async fn counts_of_suggestions_respect_the_filter() {
    let filter = ChunkFilter { paths: vec!["src/store/**".to_owned()], ..ChunkFilter::default() };
    let answer = ask(vec![server()], "flurbish qwonkle connection reads", &[], ChunkFilter::default()).await;
    assert!(!answer.relevance.is_relevant);
    let (_, searcher) = searcher_over(vec![server()]).await;
    let of_filter = searcher.search(&request("flurbish qwonkle connection", &[], filter)).await.expect("an answer");
    let suggestions = of_filter.nothing_found.map(|nothing| nothing.suggestions).unwrap_or_default();
    assert!(suggestions.iter().all(|found| found.query != "connection"), "{suggestions:?}");
}

/// A near name is not suggested if none of its definitions passes the filter.
#[tokio::test]
async fn near_names_are_counted_with_the_filter() {
    let content = || {
        let paths = ["src/ledger/entries.rs", "src/ledger/old.rs", "src/store/entries.rs"];
        paths.into_iter().fold(server(), |content, path| {
            let text = "fn enable_ledger_entries() {\n    // Compares both sides.\n}\n";
            content.file(path, "rust", text).symbol(path, "enable_ledger_entries", SymbolKind::Function, (1, 3))
        })
    };
    let in_net = ChunkFilter { paths: vec!["src/net/**".to_owned()], ..ChunkFilter::default() };
    for (filter, expected) in [(ChunkFilter::default(), Some(3)), (in_net, None)] {
        let question = "who uses disable_ledger_entries in zeppelins";
        let answer = ask(vec![content()], question, &[], filter.clone()).await;
        let suggestions = answer.nothing_found.expect("an explanation").suggestions;
        let near = suggestions.iter().find(|found| found.kind == SuggestionKind::NearName);
        assert_eq!(near.map(|near| near.num_matches), expected, "{filter:?}: {suggestions:?}");
        assert!(near.is_none_or(|near| near.query == "enable_ledger_entries" && near.is_exact));
    }
}

/// Only a few of the repositories that are not indexed are named.
#[tokio::test]
async fn repositories_that_are_not_indexed_are_counted() {
    let waiting = |number: usize| FakeContent::new(&format!("waiting-{number}"), "c1").waiting();
    let contents = [server()].into_iter().chain((0..40).map(waiting)).collect();
    let answer = ask(contents, "flurbish qwonkle vextra", &[], ChunkFilter::default()).await;
    let nothing = answer.nothing_found.expect("an explanation");
    assert_eq!((nothing.not_indexed.len(), nothing.num_not_indexed), (3, 40));
}

/// An answer without results has the stamps of only some of the repositories that were searched.
#[tokio::test]
async fn stamps_of_an_empty_answer_are_bounded() {
    let small = |number: usize| FakeContent::new(&format!("small-{number}"), "c1").file("a.rs", "rust", "fn a() {}\n");
    let answer = ask((0..30).map(small).collect(), "flurbish qwonkle vextra", &[], ChunkFilter::default()).await;
    assert_eq!((answer.num_results, answer.stamps.len()), (0, 20));
    assert_eq!(answer.nothing_found.map(|nothing| nothing.num_searched), Some(30));
}

/// No code is called by the name, and no text mentions it, although the texts contain its words.
#[tokio::test]
async fn relations_of_an_absent_name_are_refused() {
    for question in ["what calls read_connection_socket", "who uses readRequestHeader"] {
        let answer = ask(vec![server()], question, &[], ChunkFilter::default()).await;
        let nothing = answer.nothing_found.as_ref().expect("no results");
        assert!(answer.found.is_empty() && nothing.statement.contains("none of the 41 indexed chunks"), "{question}");
    }
    let answer = ask(vec![server()], "what calls accept_3", &[], ChunkFilter::default()).await;
    assert!(!answer.found.is_empty());
}

#[tokio::test]
async fn question_without_words_is_refused() {
    for question in ["???", "-- >> !!"] {
        let answer = ask(vec![server()], question, &[], ChunkFilter::default()).await;
        let nothing = answer.nothing_found.as_ref().expect("no results");
        let expect = "nothing found: the question contains no word; describe in words what to find";
        assert_eq!(nothing.statement, expect, "{question}");
    }
}
