//! Checks that each type of question is answered by its strategy.

use cairn_domain::{
    Digester, EdgeKind, LineSpan, NodeKey, PatternKey, PatternMember, PatternRecord, RepoPath, RepositoryId,
    RepositoryName, SymbolKind, Tenant,
};
use cairn_ports::ChunkFilter;
use cairn_question::QueryType;
use cairn_search::{SearchAnswer, SearchRequest};
use cairn_testkit::FakeContent;

use crate::{request, searcher_over};

/// A login that creates a session over two calls, and an importer pattern.
fn service() -> FakeContent {
    let function = |name: &str, body: &str| format!("fn {name}() {{\n    {body}\n}}\n");
    let api = function("login", "authenticate()") + &function("logout", "end()");
    let auth = function("authenticate", "store()");
    let session = function("store_session", "write()");
    let names = ["login", "logout"];
    let mut content = FakeContent::new("service", "c1")
        .file("src/api.rs", "rust", &api)
        .file("src/auth.rs", "rust", &auth)
        .file("src/session.py", "python", &session)
        .file("docs/login.md", "markdown", "How a login creates a session.\n");
    for (line, name) in (1..).step_by(3).zip(names) {
        content = content.symbol("src/api.rs", name, SymbolKind::Function, (line, line + 2));
    }
    content
        .symbol("src/auth.rs", "authenticate", SymbolKind::Function, (1, 3))
        .symbol("src/session.py", "store_session", SymbolKind::Function, (1, 3))
        .edge("login", EdgeKind::Calls, "authenticate", 2, 100)
        .edge("authenticate", EdgeKind::Calls, "store_session", 2, 80)
}

fn importer() -> PatternRecord {
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("service"));
    let path = RepoPath::parse("src/auth.rs").expect("a path");
    let member = PatternMember {
        node: NodeKey::file(repository, &path),
        path,
        name: "AWSImporter".to_owned(),
        span: LineSpan::new(1, 3),
        extra_methods: Vec::new(),
        missing_methods: Vec::new(),
    };
    PatternRecord {
        key: PatternKey(Digester::new("test").text("Importer").key()),
        repository,
        name: "Importer".to_owned(),
        description: "Importers read records".to_owned(),
        shared_methods: Vec::new(),
        shared_bases: Vec::new(),
        shared_decorators: Vec::new(),
        canonical: 0,
        members: vec![member],
        module_path: String::new(),
        language: "rust".to_owned(),
    }
}

async fn answer(content: FakeContent, request: SearchRequest) -> (SearchAnswer, Vec<(&'static str, usize)>) {
    let (counted, searcher) = searcher_over(vec![content]).await;
    let answer = searcher.search(&request).await.expect("an answer");
    let calls = counted.calls();
    (answer, calls.into_iter().collect())
}

fn ask(query: &str) -> SearchRequest {
    SearchRequest { limit: None, ..request(query, &[], ChunkFilter::default()) }
}

/// The symbols or paths of the results, each with its step and its edge.
fn shown(answer: &SearchAnswer) -> Vec<String> {
    let text = |found: &cairn_search::Found| {
        let hit = &found.hit;
        let name = hit.chunk.symbol.clone().unwrap_or_else(|| hit.chunk.path.to_string());
        let step = hit.step.map(|step| format!("{step}: ")).unwrap_or_default();
        let via = hit.via.as_ref().map(|via| format!(" via {via}")).unwrap_or_default();
        format!("{step}{name}{via}")
    };
    answer.found.iter().map(text).collect()
}

#[tokio::test]
async fn flow_is_answered_by_an_ordered_path() {
    let (answer, calls) = answer(service(), ask("path from login to session")).await;
    assert_eq!(answer.query.query_type, QueryType::Flow);
    assert_eq!(
        shown(&answer)[..3],
        [
            "1: login",
            "2: authenticate via login (src/api.rs) CALLS this at line 2, 100 %",
            "3: store_session via authenticate (src/auth.rs) CALLS this at line 2, 80 %",
        ]
    );
    assert_eq!(answer.notes, [""; 0]);
    let graph: Vec<_> = calls.iter().filter(|(call, _)| call.starts_with("Graph")).collect();
    assert_eq!(graph, [&("GraphTraversal::traverse", 1)], "{calls:?}");
}

#[tokio::test]
async fn flow_without_a_path_says_so() {
    let (answer, _) = answer(service(), ask("path from logout to session")).await;
    let expect = "No path from \"logout\" to \"session\" was found over three edges";
    assert!(answer.notes.iter().any(|note| note.starts_with(expect)), "{:?}", answer.notes);
}

#[tokio::test]
async fn relationship_is_one_traversal_and_one_lookup() {
    let (answer, calls) = answer(service(), ask("what calls authenticate")).await;
    assert_eq!(answer.query.query_type, QueryType::Relationship);
    assert_eq!(shown(&answer)[0], "login via CALLS authenticate (src/auth.rs) at line 2, 100 %");
    let number = |name: &str| calls.iter().find(|(call, _)| *call == name).map_or(0, |(_, number)| *number);
    assert_eq!((number("GraphTraversal::traverse"), number("GraphStore::neighbours")), (1, 0), "{calls:?}");
    assert_eq!((number("Names::symbols_of"), number("VectorStore::search_dense")), (1, 1), "{calls:?}");
}

/// More chunks than a list of candidates contains, so that some callees are found only over the graph.
#[tokio::test]
async fn concept_is_extended_over_one_edge() {
    let mut content = FakeContent::new("many", "c1")
        .file("src/api.rs", "rust", "fn login() {\n    sign the user in\n}\n")
        .symbol("src/api.rs", "login", SymbolKind::Function, (1, 3));
    for number in 0..300 {
        let (path, name) = (format!("src/file_{number}.rs"), format!("step_{number}"));
        content = content
            .file(&path, "rust", &format!("fn {name}() {{\n    work({number})\n}}\n"))
            .symbol(&path, &name, SymbolKind::Function, (1, 3))
            .edge("login", EdgeKind::Calls, &name, 2, if number < 20 { 100 } else { 10 });
    }
    let wide = SearchRequest { limit: Some(100), max_tokens: 100_000, ..ask("where is the user signed in") };
    let (answer, calls) = answer(content, wide).await;
    assert_eq!(answer.query.query_type, QueryType::Concept);
    let source = &answer.found[0].hit;
    assert_eq!(source.chunk.symbol.as_deref(), Some("login"));
    let added: Vec<_> = answer.found.iter().filter(|found| found.hit.via.is_some()).collect();
    assert!((1..=3).contains(&added.len()), "{:?}", shown(&answer));
    for found in added {
        assert_eq!(found.hit.score, source.score / 2);
        let via = found.hit.via.as_ref().map(ToString::to_string);
        assert_eq!(via.as_deref(), Some("login (src/api.rs) CALLS this at line 2, 100 %"));
    }
    let number = |name: &str| calls.iter().find(|(call, _)| *call == name).map_or(0, |(_, number)| *number);
    assert_eq!((number("GraphTraversal::traverse"), number("Names::symbols_of")), (1, 1), "{calls:?}");
    assert_eq!((number("VectorStore::search_dense"), number("VectorStore::fetch")), (1, 3), "{calls:?}");
}

#[tokio::test]
async fn limits_follow_the_type_unless_one_is_given() {
    let check = async |request: SearchRequest, query_type: QueryType, num_shown: usize| {
        let mut content = FakeContent::new("many", "c1");
        for number in 0..40 {
            let path = format!("src/file_{number}.rs");
            content = content.file(&path, "rust", &format!("fn open_{number}() {{ work with files {number} }}\n"));
        }
        let (answer, _) = answer(content, SearchRequest { max_tokens: 100_000, ..request }).await;
        assert_eq!((answer.query.query_type, answer.found.len()), (query_type, num_shown));
    };
    check(ask("work with files"), QueryType::Concept, 10).await;
    check(SearchRequest { limit: Some(7), ..ask("work with files") }, QueryType::Concept, 7).await;
    for (query_type, num_shown) in [(QueryType::Flow, 15), (QueryType::Relationship, 20), (QueryType::Symbol, 10)] {
        let forced = SearchRequest { query_type: Some(query_type), ..ask("work with files") };
        check(forced, query_type, num_shown).await;
    }
    // No pattern is indexed, so the strategy of concept questions is used, with its limit.
    check(SearchRequest { query_type: Some(QueryType::Pattern), ..ask("work with files") }, QueryType::Pattern, 10)
        .await;
}

#[tokio::test]
async fn how_do_questions_ask_for_patterns_in_scope() {
    let with_pattern = service().pattern(importer());
    let (found, _) = answer(with_pattern, ask("how do importers work")).await;
    assert_eq!((found.query.query_type, found.query.strategy.limit), (QueryType::Pattern, 5));
    assert_eq!(shown(&found)[0], "Importer");
    assert_eq!(found.notes, [""; 0]);
    let (found, _) = answer(service(), ask("how do importers work")).await;
    assert_eq!((found.query.query_type, found.query.strategy.limit), (QueryType::Concept, 10));
    let note = "No pattern in scope has the name \"importers\"; searched as a concept question.";
    assert_eq!(found.notes, [note]);
    let (found, _) = answer(service(), ask("importer pattern")).await;
    assert_eq!((found.query.query_type, found.query.strategy.limit), (QueryType::Pattern, 10));
    assert!(found.notes[0].starts_with("No pattern in scope fits the question"), "{:?}", found.notes);
}

#[tokio::test]
async fn filters_in_words_are_applied_or_dropped() {
    let (found, _) = answer(service(), ask("python session")).await;
    assert_eq!(shown(&found), ["store_session"]);
    assert_eq!(found.notes, ["The question restricts the results: \"python\"."]);
    let (found, _) = answer(service(), ask("kotlin login")).await;
    assert!(shown(&found).contains(&"login".to_owned()), "{:?}", shown(&found));
    assert_eq!(found.notes, ["Nothing matches the restrictions in the question, so they are ignored: \"kotlin\"."]);
    // A filter of the caller is never dropped.
    let rust = ChunkFilter { languages: vec!["rust".to_owned()], ..ChunkFilter::default() };
    let (found, _) = answer(service(), SearchRequest { limit: None, ..request("python session", &[], rust) }).await;
    assert!(found.found.iter().all(|found| found.hit.chunk.language == "rust"), "{:?}", shown(&found));
}

/// Later pages have the results that follow, also if the question states filters and a time.
#[tokio::test]
async fn pages_continue_with_the_filters_in_the_question() {
    let (_, searcher) = searcher_over(vec![service()]).await;
    let first = SearchRequest { limit: Some(1), ..ask("rust login since 1970-01-01") };
    let page = searcher.search(&first).await.expect("the first page");
    let second = SearchRequest { cursor: page.next_cursor.clone(), ..first };
    let next = searcher.search(&second).await.expect("the second page");
    assert_eq!((page.offset, next.offset, page.num_results), (0, 1, next.num_results));
    assert_ne!(shown(&page), shown(&next));
    assert_eq!(page.notes, next.notes);
}
