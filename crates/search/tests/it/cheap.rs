//! Checks how many calls an ordinary question makes to the stores, and which questions the cache answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{EdgeKind, SymbolKind};
use cairn_ports::ChunkFilter;
use cairn_question::QueryType;
use cairn_search::{AnswerCache, Caller, Found, SearchAnswer, SearchRequest, Searcher};
use cairn_testkit::FakeContent;

use crate::counting::Counted;
use crate::{request, searcher_over};

/// A repository with calls and imports between the functions of its files, and with many definitions of
/// `render`.
fn service(name: &str) -> FakeContent {
    let mut content = FakeContent::new(name, "c1").file("docs/guide.md", "markdown", "How the user signs in.\n");
    for number in 0..40 {
        let (path, own) = (format!("src/file_{number}.rs"), format!("step_{number}"));
        let text = format!("fn {own}() {{\n    sign the user in({number})\n}}\nfn render() {{\n}}\n");
        content = content.file(&path, "rust", &text).symbol(&path, &own, SymbolKind::Function, (1, 3)).symbol(
            &path,
            "render",
            SymbolKind::Function,
            (4, 5),
        );
    }
    for number in 1..40 {
        let (from, to) = (format!("step_{}", number - 1), format!("step_{number}"));
        content = content.edge(&from, EdgeKind::Calls, &to, 2, 100).edge(&to, EdgeKind::Imports, "render", 1, 100);
    }
    content
}

fn ask(query: &str) -> SearchRequest {
    request(query, &[], ChunkFilter::default())
}

/// The maximum number of calls that a question may make to the graph and to the store of chunks.
#[derive(Clone, Copy)]
struct Most {
    graph: usize,
    /// Searches. One search returns all lists that do not depend on an earlier result.
    search: usize,
    /// Reads of chunks. One of these reads fetches the texts of the page.
    fetch: usize,
    /// Reads of the places of chunks in files that no earlier question read.
    places: usize,
}

/// Asks the questions one at a time. Only the first question may read places of chunks: all questions concern
/// the same files, so the later questions find the places in the cache.
async fn check(queries: &[&str], query_type: QueryType, most: Most) {
    let (counted, searcher) = searcher_over(vec![service("one"), service("two")]).await;
    let mut before = BTreeMap::new();
    for (number, query) in queries.iter().enumerate() {
        let answer = searcher.search(&ask(query)).await.expect("an answer");
        assert!(answer.num_results > 0, "{query}");
        assert_eq!(answer.query.query_type, query_type, "{query}");
        let mut calls = counted.calls();
        calls.iter_mut().for_each(|(call, number)| *number -= before.get(call).copied().unwrap_or_default());
        before = counted.calls();
        let sum = |names: &[&str]| {
            let is_counted = |call: &str| names.iter().any(|name| call.starts_with(name));
            calls.iter().filter(|(call, _)| is_counted(call)).map(|(_, number)| number).sum::<usize>()
        };
        assert!(sum(&["GraphTraversal", "GraphStore"]) <= most.graph, "{query}: {calls:?}");
        assert_eq!(sum(&["VectorStore::search"]), most.search, "{query}: {calls:?}");
        assert!(sum(&["VectorStore::fetch"]) <= most.fetch, "{query}: {calls:?}");
        assert!(sum(&["ChunkPlaces"]) <= if number == 0 { most.places } else { 0 }, "{query}: {calls:?}");
        assert_eq!(sum(&["Embedder", "LedgerRead"]), 2, "{query}: {calls:?}");
        assert_eq!(sum(&["Catalogue"]), 3, "{query}: {calls:?}");
        // One call is allowed for each list, and one for the texts.
        let num_lists = if query_type == QueryType::Pattern { 3 } else { 2 };
        assert!(sum(&["VectorStore", "ChunkPlaces"]) <= num_lists + 1, "{query}: {calls:?}");
    }
}

/// One call returns both lists with the records of their first hits. One call reads the texts of the page,
/// together with the neighbours of the hits or the steps of a path. A pattern question needs a third list,
/// which an earlier call reads.
#[tokio::test]
async fn ordinary_question_makes_one_call_for_each_list() {
    use QueryType::{Concept, Flow, Pattern, Relationship, Symbol};
    let no_edges = Most { graph: 0, search: 1, fetch: 1, places: 0 };
    let over_edges = Most { graph: 1, search: 1, fetch: 1, places: 1 };
    check(&["step_7", "step_8"], Symbol, no_edges).await;
    check(&["where is step_7 defined", "where is render defined"], Symbol, over_edges).await;
    check(&["where is the user signed in", "how is a user signed in"], Concept, over_edges).await;
    check(&["what calls step_7", "who calls step_7"], Relationship, over_edges).await;
    check(&["what uses render", "who uses render"], Relationship, over_edges).await;
    check(&["path from step_1 to step_3", "path from step_1 to step_4"], Flow, over_edges).await;
    check(&["user pattern", "sign pattern"], Pattern, Most { search: 2, ..over_edges }).await;
}

/// The second stage of the ranking reads the texts of the first hits in one call. All neighbours of the hits
/// are among these first hits, so their texts are not read again.
#[tokio::test]
async fn second_stage_reads_texts_once() {
    let over_edges = Most { graph: 1, search: 1, fetch: 1, places: 1 };
    let questions = ["where is each new user signed in by number", "how does a new user sign in with a number"];
    check(&questions, QueryType::Concept, over_edges).await;
    check(&["typical sign user pattern"], QueryType::Pattern, Most { search: 2, ..over_edges }).await;
}

/// Names decide the order of the hits of all other questions.
#[tokio::test]
async fn only_questions_about_meaning_have_a_second_stage() {
    let named = service("one").file("src/named.rs", "rust", "fn sign_new_user_quickly() {\n}\n").symbol(
        "src/named.rs",
        "sign_new_user_quickly",
        SymbolKind::Function,
        (1, 2),
    );
    let (_, searcher) = searcher_over(vec![named]).await;
    for (query, expect) in [
        ("where is each new user signed in by number", true),
        ("where is each new user signed in by number, without tests", true),
        ("path of a new user from step_1 to step_3", true),
        ("typical sign user pattern", true),
        ("what calls step_7", false),
        ("where is step_7 defined", false),
        ("step_7", false),
        ("docs/guide.md", false),
        ("user sign", false),
        ("script that signs the user in by number", false),
        ("sign new user quickly", false),
        // The table of words contains no words of this script.
        ("как пользователь регистрируется в guide", false),
    ] {
        let answer = searcher.search(&ask(query)).await.expect("an answer");
        assert_eq!(answer.found.iter().any(|found| has_part(found, "match")), expect, "{query}");
    }
}

/// The second stage compares the question without the words that state filters.
#[tokio::test]
async fn words_that_state_filters_are_not_compared() {
    let (_, searcher) = searcher_over(vec![service("one")]).await;
    let question = "where is each new user signed in by number";
    let plain = searcher.search(&ask(question)).await.expect("an answer");
    let filtered = searcher.search(&ask(&format!("{question}, without tests"))).await.expect("an answer");
    let hits = |answer: &SearchAnswer| answer.found.iter().map(|found| found.hit.clone()).collect::<Vec<_>>();
    assert_eq!(hits(&plain), hits(&filtered));
}

/// A neighbour that is not among the first hits needs one more read. The question then makes as many calls as
/// if each list needed a separate call.
#[tokio::test]
async fn distant_neighbour_needs_one_more_read() {
    let first = "fn admit() {\n    register the new user by number()\n}\n";
    let mut content = FakeContent::new("many", "c1").file("src/first.rs", "rust", first);
    for number in 0..250 {
        let (path, own) = (format!("src/file_{number}.rs"), format!("step_{number}"));
        content = content.file(&path, "rust", &format!("fn {own}() {{\n    sign the user in({number})\n}}\n"));
    }
    let content = content
        .file("src/z_far.rs", "rust", "fn far() {\n}\n")
        .symbol("src/first.rs", "admit", SymbolKind::Function, (1, 3))
        .symbol("src/z_far.rs", "far", SymbolKind::Function, (1, 2))
        .edge("admit", EdgeKind::Calls, "far", 2, 100);
    let (counted, searcher) = searcher_over(vec![content]).await;
    let answer = searcher.search(&ask("how is a new user registered by number")).await.expect("an answer");
    let shown: Vec<(&str, bool)> =
        answer.found.iter().map(|found| (found.hit.chunk.path.as_str(), has_part(found, "graph"))).collect();
    assert!(shown[0] == ("src/first.rs", false) && shown.contains(&("src/z_far.rs", true)), "{shown:?}");
    let calls = counted.calls();
    assert_eq!((calls["VectorStore::search"], calls["VectorStore::fetch"]), (1, 2), "{calls:?}");
}

fn has_part(found: &Found, name: &str) -> bool {
    found.hit.contributions.iter().any(|part| part.name == name)
}

/// A question that is the name of a file reads the place of the first chunk of the file.
#[tokio::test]
async fn named_file_needs_one_more_read() {
    check(&["guide.md", "docs/guide.md"], QueryType::Symbol, Most { graph: 0, search: 1, fetch: 1, places: 1 }).await;
}

/// The decision to refuse a question needs no additional call. The explanation makes a bounded number of
/// calls, regardless of the number of hits and words.
#[tokio::test]
async fn refused_question_makes_one_call_for_each_list() {
    let (counted, searcher) = searcher_over(vec![service("one"), service("two")]).await;
    let question = "where is the sourdough flurbished by the qwonkle of the kafka marinade";
    let answer = searcher.search(&ask(question)).await.expect("an answer");
    assert!(answer.found.is_empty() && !answer.relevance.is_relevant, "{:?}", answer.relevance);
    let calls = counted.calls();
    for once in ["Embedder::embed", "VectorStore::search"] {
        assert_eq!(calls.get(once), Some(&1), "{once}: {calls:?}");
    }
    let num_calls = |port: &str| calls.iter().filter(|(call, _)| call.starts_with(port)).map(|(_, num)| num).sum();
    let num_graph: usize = num_calls("Graph");
    assert_eq!(num_graph, 0, "{calls:?}");
    let num_all: usize = num_calls("");
    assert!(num_all <= 20, "{calls:?}");
}

/// Returns the calls of the second question if both questions use the same cache.
async fn second_calls(
    (contents, first): (Vec<FakeContent>, SearchRequest),
    (next_contents, second): (Vec<FakeContent>, SearchRequest),
    caller: Caller,
) -> BTreeMap<&'static str, usize> {
    let answers = Arc::new(AnswerCache::default());
    let cached = async |contents: Vec<FakeContent>, caller: Caller| -> (Arc<Counted>, Searcher) {
        let (counted, searcher) = searcher_over(contents).await;
        (counted, Searcher { answers: Arc::clone(&answers), caller, ..searcher })
    };
    let (_, searcher) = cached(contents, Caller::local()).await;
    let before = searcher.search(&first).await.expect("the first answer");
    let (counted, searcher) = cached(next_contents, caller).await;
    let after = searcher.search(&second).await.expect("the second answer");
    if !counted.calls().contains_key("Embedder::embed") {
        assert_eq!((before.num_results, before.query, before.stamps), (after.num_results, after.query, after.stamps));
    }
    counted.calls()
}

fn is_searched(calls: &BTreeMap<&'static str, usize>) -> bool {
    calls.contains_key("Embedder::embed") && calls.contains_key("VectorStore::search")
}

#[tokio::test]
async fn equal_question_to_the_same_state_is_cached() {
    let question = ask("where is the user signed in");
    let first = || (vec![service("one")], question.clone());
    let check = async |next: Vec<FakeContent>, second: SearchRequest, caller: Caller, expect: bool| {
        let calls = second_calls(first(), (next, second.clone()), caller).await;
        assert_eq!(is_searched(&calls), expect, "{second:?}: {calls:?}");
    };
    let local = Caller::local;
    check(vec![service("one")], question.clone(), local(), false).await;
    check(vec![service("one")], SearchRequest { limit: Some(3), max_tokens: 900, ..question.clone() }, local(), false)
        .await;
    // The cache is not used for a different scope, for a different question, or after a publication in the
    // scope.
    let only_one = |request: SearchRequest| SearchRequest {
        repositories: cairn_search::RepositorySelection(vec!["one".to_owned()]),
        ..request
    };
    check(vec![service("other"), service("one")], only_one(question.clone()), local(), true).await;
    check(vec![service("one"), service("other")], question.clone(), local(), true).await;
    check(vec![service("one")], ask("where is the user signed in?"), local(), true).await;
    let rust = ChunkFilter { languages: vec!["rust".to_owned()], ..ChunkFilter::default() };
    check(vec![service("one")], SearchRequest { filter: rust, ..question.clone() }, local(), true).await;
    // After a publication outside the scope, the cache still answers.
    let named = only_one(question);
    let next = vec![service("one"), service("other")];
    let calls = second_calls((vec![service("one")], named.clone()), (next, named), local()).await;
    assert!(!is_searched(&calls), "{calls:?}");
}

/// The cached hits of one tenant are never returned to a different tenant, even if both have repositories
/// with the same names.
#[tokio::test]
async fn cache_is_separate_for_each_tenant() {
    let other = cairn_domain::Tenant::new("other");
    let of_other =
        FakeContent::of(other.clone(), "one", "c1").file("docs/guide.md", "markdown", "The user signs in.\n");
    let question = ask("where is the user signed in");
    let caller = Caller { tenant: other, ..Caller::local() };
    let calls = second_calls((vec![service("one")], question.clone()), (vec![of_other], question), caller).await;
    assert!(is_searched(&calls), "{calls:?}");
}

/// Every page reports how many results follow the page, even if the token limit ends the page early.
#[tokio::test]
async fn pages_report_all_remaining_results() {
    let (counted, searcher) = searcher_over(vec![service("one")]).await;
    let mut request = SearchRequest { limit: Some(4), max_tokens: 150, ..ask("where is the user signed in") };
    let mut num_shown = 0;
    loop {
        let page = searcher.search(&request).await.expect("a page");
        num_shown += page.found.len();
        let num_left = match page.cut {
            cairn_ranking::Cut::Nothing => 0,
            cairn_ranking::Cut::Limit { num_left } | cairn_ranking::Cut::Tokens { num_left } => num_left,
        };
        assert_eq!(num_shown + num_left, page.num_results);
        let Some(cursor) = page.next_cursor else { break };
        request.cursor = Some(cursor);
    }
    let calls = counted.calls();
    assert!(num_shown > 20, "{num_shown}");
    assert_eq!((calls["Embedder::embed"], calls["VectorStore::search"]), (1, 1), "{calls:?}");
}
