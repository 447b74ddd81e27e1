//! Checks how many calls one question makes to each store and to the embedder.
//!
//! In an earlier version, each symbol needed a search and each retrieval needed an embedding. Now symbols
//! have chunk keys, and a question is prepared only once. These two changes reduced the number of calls:
//!
//! - a search for eight names: from 33 to 17;
//! - a search with an empty answer: from 23 to 12;
//! - a search for a path with an empty answer: from 44, of which six were embeddings, to 22;
//! - a search for eight names with an empty answer: from 180 to 32.

mod changed;
mod cheap;
mod counting;
mod empty_result;
mod exact;
mod files;
mod frequencies;
mod groups;
mod misspelled;
mod models;
mod places;
mod relations;
mod several_definitions;
mod signals;
mod small_pages;
mod stamps;
mod strategies;
mod symbols;
mod unrelated;
mod wordings;

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{LineSpan, SymbolKind};
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_search::{
    Caller, CodeRequest, CursorKey, GraphRequest, Relation, RepositorySelection, SearchRequest, Searcher, Target,
};
use cairn_testkit::{FakeContent, FakeIndex, ManualClock};

use counting::Counted;

const NUM_FILES: u32 = 60;
const NAMES: [&str; 8] =
    ["open_file", "close_file", "read_line", "write_line", "seek_to", "flush_all", "lock_it", "free_it"];

/// Sixty files, each of which defines the same eight names.
async fn counted() -> (Arc<Counted>, Searcher) {
    let mut many = FakeContent::new("many", "c1");
    for file in 0..NUM_FILES {
        let path = format!("src/file_{file}.rs");
        let text: String = NAMES.iter().map(|name| format!("pub fn {name}() {{\n    work({file});\n}}\n")).collect();
        many = many.file(&path, "rust", &text);
        for (line, name) in (1..).step_by(3).zip(NAMES) {
            many = many.symbol(&path, name, SymbolKind::Function, (line, line + 2));
        }
    }
    let other = FakeContent::new("other", "c2").file("notes.md", "markdown", "How a file is opened.\n");
    searcher_over(vec![many, other]).await
}

/// A request for the relations of a name in all repositories.
fn relations_of(name: &str, relation: Relation) -> GraphRequest {
    let repositories = RepositorySelection::default();
    GraphRequest { name: name.to_owned(), context_path: None, relation, repositories, limit: 10 }
}

async fn searcher_over(contents: Vec<FakeContent>) -> (Arc<Counted>, Searcher) {
    let index = Arc::new(FakeIndex::new(contents).await.expect("an index"));
    let counted = Arc::new(Counted::new(Arc::clone(&index)));
    let searcher = Searcher {
        caller: Caller::local(),
        catalogue: Arc::<Counted>::clone(&counted),
        ledger: Arc::<Counted>::clone(&counted),
        blobs: Arc::<cairn_testkit::MemoryBlobs>::clone(&index.blobs),
        vectors: Arc::<Counted>::clone(&counted),
        graph: Arc::<Counted>::clone(&counted),
        names: Arc::<Counted>::clone(&counted),
        texts: Arc::<FakeIndex>::clone(&index),
        packs: Arc::default(),
        embedder: Arc::<Counted>::clone(&counted),
        similarity: Arc::new(cairn_ranking::EqualWords),
        clock: Arc::new(ManualClock::new(1_000)),
        cursor_key: CursorKey([7; 32]),
        signals: cairn_ranking::Signals::default(),
        term_tables: Arc::default(),
        changed: None,
        heads: None,
        answers: Arc::default(),
        known_texts: Arc::default(),
        pattern_members: Arc::default(),
        file_places: Arc::default(),
        synonyms: Arc::default(),
    };
    (counted, searcher)
}

fn request(query: &str, repositories: &[&str], filter: ChunkFilter) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        repositories: RepositorySelection(repositories.iter().map(ToString::to_string).collect()),
        filter,
        query_type: None,
        limit: Some(10),
        max_tokens: 4_000,
        cursor: None,
        target: Target::default(),
    }
}

/// The number of calls to each port, sorted by the name of the port.
fn by_port(counted: &Counted) -> Vec<(&'static str, usize)> {
    let mut by_port: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (call, number) in counted.calls() {
        *by_port.entry(call.split("::").next().unwrap_or(call)).or_default() += number;
    }
    by_port.into_iter().collect()
}

/// Checks the number of calls of one search to each port, and whether the search has results.
async fn check(request: SearchRequest, has_results: bool, expect: [usize; 7]) {
    let (counted, searcher) = counted().await;
    let answer = searcher.search(&request).await.expect("an answer");
    assert_eq!(answer.num_results > 0, has_results, "{request:?}");
    let ports = ["Catalogue", "ChunkPlaces", "Embedder", "GraphTraversal", "LedgerRead", "Names", "VectorStore"];
    let expect: Vec<(&str, usize)> = ports.into_iter().zip(expect).filter(|(_, number)| *number > 0).collect();
    assert_eq!(by_port(&counted), expect, "{request:?}: {:?}", counted.calls());
}

fn everything() -> ChunkFilter {
    ChunkFilter::default()
}

/// A filter that excludes all chunks.
fn nothing() -> ChunkFilter {
    ChunkFilter { languages: vec!["cobol".to_owned()], ..ChunkFilter::default() }
}

const MANY_NAMES: &str = "open_file() close_file() read_line() write_line() seek_to() flush_all() lock_it() free_it()";

/// Retrieval makes one search, which returns all lists. One fetch reads the texts of the page. A concept
/// question looks up the definitions in its best hits once, reads their neighbours from the graph once, and
/// fetches the chunks of these neighbours together with the page.
#[tokio::test]
async fn search_calls_each_store_once() {
    check(request("where is work done", &[], everything()), true, [3, 0, 1, 1, 1, 1, 2]).await;
    check(request("open_file", &[], everything()), true, [3, 0, 1, 0, 1, 2, 2]).await;
    check(request("open_file", &["many"], everything()), true, [3, 0, 1, 0, 1, 2, 2]).await;
}

/// A named file needs one additional call, which finds its first chunk.
#[tokio::test]
async fn named_file_is_embedded_once() {
    check(request("src/file_7.rs", &[], everything()), true, [3, 1, 1, 0, 1, 5, 2]).await;
}

/// Each name is looked up separately, and the first three names are resolved. One more fetch reads all chunks
/// of these names that neither list contains.
#[tokio::test]
async fn named_symbols_add_no_chunk_search() {
    check(request(MANY_NAMES, &[], everything()), true, [3, 0, 1, 0, 1, 11, 3]).await;
}

/// If the answer is empty, a second retrieval runs without filters and in all repositories. In addition, the
/// chunks that would match without each restriction are counted.
#[tokio::test]
async fn empty_search_is_widened_once() {
    check(request("where is work done", &[], nothing()), false, [3, 0, 1, 0, 1, 0, 4]).await;
    check(request("src/file_7.rs", &[], nothing()), false, [3, 2, 1, 0, 1, 10, 4]).await;
    check(request(MANY_NAMES, &["many"], nothing()), false, [5, 0, 1, 0, 1, 19, 7]).await;
}

/// If nothing matches the filters that a question states in words, a second retrieval drops these filters.
/// Both retrievals use one embedding call and one resolution of the names.
#[tokio::test]
async fn dropped_filters_are_embedded_once() {
    let searches = async |question: &str| {
        let (counted, searcher) = counted().await;
        let answer = searcher.search(&request(question, &[], everything())).await.expect("an answer");
        assert!(answer.num_results > 0, "{question}");
        let calls = counted.calls();
        let sum =
            |port: &str| calls.iter().filter(|(call, _)| call.starts_with(port)).map(|(_, num)| num).sum::<usize>();
        (calls["Embedder::embed"], calls["VectorStore::search"], sum("Names"))
    };
    assert_eq!(searches("open_file() in rust").await, (1, 1, 2));
    assert_eq!(searches("open_file() in java").await, (1, 2, 3));
}

/// A search without restrictions and without results makes no second retrieval.
#[tokio::test]
async fn unrestricted_empty_search_is_not_widened() {
    let (counted, searcher) = searcher_over(vec![FakeContent::new("empty", "c1")]).await;
    let answer = searcher.search(&request("where is work done", &[], everything())).await.expect("an answer");
    assert_eq!(answer.num_results, 0);
    let calls = counted.calls();
    assert_eq!(calls["VectorStore::search"], 1, "{calls:?}");
}

/// Reading a symbol makes no call to the graph, because the name index contains the lines of the symbol.
#[tokio::test]
async fn reading_a_symbol_does_not_query_the_graph() {
    let (counted, searcher) = counted().await;
    let request = CodeRequest {
        repository: None,
        path: Some("src/file_3.rs".to_owned()),
        symbol: Some("read_line".to_owned()),
        context_path: None,
        lines: None,
        max_tokens: 100,
    };
    let code = searcher.read_code(&request).await.expect("code");
    assert_eq!(code.span, Some(LineSpan::new(7, 9)));
    assert_eq!(by_port(&counted), [("Catalogue", 3), ("LedgerRead", 1), ("Names", 1)]);
}

/// The filter of the question also applies to the chunk of a named symbol, although the chunk is fetched by
/// its key.
#[tokio::test]
async fn named_symbols_obey_the_filter() {
    let paths = |paths: &[&str]| ChunkFilter { paths: paths.iter().map(ToString::to_string).collect(), ..everything() };
    let found = async |filter: ChunkFilter| {
        let (_, searcher) = counted().await;
        let wide = SearchRequest { limit: Some(100), max_tokens: 100_000, ..request("open_file", &[], filter) };
        let found = searcher.search(&wide).await.expect("an answer").found;
        let defining = found.iter().filter(|found| found.hit.chunk.symbol.as_deref() == Some("open_file"));
        defining.map(|found| found.hit.chunk.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found(paths(&["src/file_59.rs"])).await, ["src/file_59.rs"]);
    assert_eq!(found(paths(&["file_5?.rs"])).await.len(), 10);
    assert_eq!(found(paths(&["lib/**"])).await, [""; 0]);
    // A list of 100 files or folders; each entry becomes two globs.
    let many: Vec<String> =
        (0..100).flat_map(|number| [format!("src/file_{number}.rs"), format!("src/file_{number}.rs/**")]).collect();
    assert!(found(ChunkFilter { paths: many, ..everything() }).await.len() >= 50);
    assert_eq!(found(ChunkFilter { include_tests: IncludeTests::Only, ..everything() }).await, [""; 0]);
    assert!(found(everything()).await.len() >= 50);
}
