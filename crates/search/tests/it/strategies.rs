//! Checks that each type of question is answered by its strategy.

use cairn_domain::{
    ChunkKind, Digester, EdgeKind, LineSpan, NodeKey, PatternKey, PatternMember, PatternRecord, RepoPath, RepositoryId,
    RepositoryName, SymbolKind, Tenant,
};
use cairn_ports::ChunkFilter;
use cairn_question::QueryType;
use cairn_ranking::via_text;
use cairn_search::{SearchAnswer, SearchRequest};
use cairn_testkit::FakeContent;

use crate::{request, searcher_over};

/// A service with an importer pattern, and with a login that creates a session through two calls.
pub(crate) fn service() -> FakeContent {
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

pub(crate) fn importer() -> PatternRecord {
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

pub(crate) async fn answer(content: FakeContent, request: SearchRequest) -> (SearchAnswer, Vec<(&'static str, usize)>) {
    let (counted, searcher) = searcher_over(vec![content]).await;
    let answer = searcher.search(&request).await.expect("an answer");
    let calls = counted.calls();
    (answer, calls.into_iter().collect())
}

pub(crate) fn ask(query: &str) -> SearchRequest {
    SearchRequest { limit: None, ..request(query, &[], ChunkFilter::default()) }
}

/// The symbols or paths of the results, each with its step and its edge.
pub(crate) fn shown(answer: &SearchAnswer) -> Vec<String> {
    let text = |found: &cairn_search::Found| {
        let hit = &found.hit;
        let name = hit.chunk.symbol.clone().unwrap_or_else(|| hit.chunk.path.to_string());
        let step = hit.step.map(|step| format!("{step}: ")).unwrap_or_default();
        let via = via_text(&hit.via).map(|via| format!(" via {via}")).unwrap_or_default();
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

/// The answer says so if an end of the path matches only a part of the stated end, or only contains the name
/// that other code has.
#[tokio::test]
async fn inexact_ends_of_a_path_are_reported() {
    let (vague, _) = answer(service(), ask("path from login to the session database")).await;
    assert_eq!(vague.notes, ["The path ends at «store_session», the nearest match to \"session database\"."]);
    let session = service().file("src/other.rs", "rust", "fn session() {}\n");
    let session = session.symbol("src/other.rs", "session", SymbolKind::Function, (1, 1));
    let (named, _) = answer(session, ask("path from login to session")).await;
    assert_eq!(named.notes, ["The path ends at «store_session», the nearest match to \"session\"."]);
}

#[tokio::test]
async fn absent_path_of_a_flow_is_reported() {
    // `store_log` contains a word of `write_log`, but it is not the code that the question names.
    let log = || {
        service()
            .file("src/log.rs", "rust", "fn write_log() {}\nfn store_log() {}\n")
            .symbol("src/log.rs", "write_log", SymbolKind::Function, (1, 1))
            .symbol("src/log.rs", "store_log", SymbolKind::Function, (2, 2))
            .edge("store_session", EdgeKind::Calls, "store_log", 2, 100)
    };
    let check = async |content: FakeContent, question: &str, expect: &str| {
        let (answer, _) = answer(content, ask(question)).await;
        let is_stated = answer.notes.iter().any(|note| note.starts_with(expect));
        assert!(is_stated, "{question}: {:?} {:?}", answer.notes, shown(&answer));
    };
    let expect = "No path from \"logout\" to \"session\" was found over three edges";
    check(service(), "path from logout to session", expect).await;
    let expect = "No path from \"login\" to \"write_log\" was found over three edges";
    check(log(), "path from login to write_log", expect).await;
    let expect = "No path from \"write_log\" was found over three edges";
    check(log(), "what happens when write_log is called", expect).await;
}

/// A path may end at code that is no hit.
#[tokio::test]
async fn flow_of_a_named_function_begins_at_the_function() {
    let write = service().file("lib/disk.rs", "rust", "fn put_bytes() {}\n");
    let write = write.symbol("lib/disk.rs", "put_bytes", SymbolKind::Function, (1, 1));
    let write = write.edge("store_session", EdgeKind::Calls, "put_bytes", 2, 90);
    let (answer, _) = answer(write, ask("what happens when store_session is called")).await;
    assert_eq!(answer.query.query_type, QueryType::Flow);
    let expect = ["1: store_session", "2: put_bytes via store_session (src/session.py) CALLS this at line 2, 90 %"];
    assert_eq!(shown(&answer)[..2], expect, "{:?}", answer.notes);
}

#[tokio::test]
async fn relationship_question_makes_one_traversal_and_one_lookup() {
    let (answer, calls) = answer(service(), ask("what calls authenticate")).await;
    assert_eq!(answer.query.query_type, QueryType::Relationship);
    assert_eq!(shown(&answer)[0], "login via CALLS authenticate (src/auth.rs) at line 2, 100 %");
    let number = |name: &str| calls.iter().find(|(call, _)| *call == name).map_or(0, |(_, number)| *number);
    assert_eq!((number("GraphTraversal::traverse"), number("GraphStore::neighbours")), (1, 0), "{calls:?}");
    assert_eq!((number("Names::symbols_of"), number("VectorStore::search")), (1, 1), "{calls:?}");
}

/// The repository has more chunks than a list of candidates can contain, so some callees are found only
/// through the graph.
#[tokio::test]
async fn concept_answer_is_extended_over_one_edge() {
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
    let added: Vec<_> = answer.found.iter().filter(|found| !found.hit.via.is_empty()).collect();
    assert!((1..=3).contains(&added.len()), "{:?}", shown(&answer));
    for found in added {
        assert_eq!(found.hit.score, source.score / 2);
        let via = via_text(&found.hit.via);
        assert_eq!(via.as_deref(), Some("login (src/api.rs) CALLS this at line 2, 100 %"));
    }
    let number = |name: &str| calls.iter().find(|(call, _)| *call == name).map_or(0, |(_, number)| *number);
    assert_eq!((number("GraphTraversal::traverse"), number("Names::symbols_of")), (1, 1), "{calls:?}");
    assert_eq!((number("VectorStore::search"), number("VectorStore::fetch")), (1, 1), "{calls:?}");
}

#[tokio::test]
async fn type_sets_the_limit_unless_the_caller_does() {
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
    let note = "No pattern in scope has the name \"importers\", so the question is treated as a concept question.";
    assert_eq!(found.notes, [note]);
    let (found, _) = answer(service(), ask("importer pattern")).await;
    assert_eq!((found.query.query_type, found.query.strategy.limit), (QueryType::Pattern, 10));
    assert!(found.notes[0].starts_with("No pattern in scope fits the question"), "{:?}", found.notes);
}

#[tokio::test]
async fn question_for_every_pattern_lists_the_patterns() {
    // The text of every pattern chunk contains the word "pattern".
    let pattern = PatternRecord { description: "Importer pattern: how importers work".to_owned(), ..importer() };
    for question in ["what patterns exist here", "list patterns", "what conventions does this code base follow"] {
        let (found, _) = answer(service().pattern(pattern.clone()), ask(question)).await;
        assert_eq!(found.query.query_type, QueryType::Pattern, "{question}");
        assert_eq!(shown(&found).first().map(String::as_str), Some("Importer"), "{question}: {:?}", found.notes);
    }
}

/// A pattern that only shares words such as "pattern" and "structure" with a question does not answer it.
#[tokio::test]
async fn question_that_names_no_pattern_in_scope_uses_the_concept_strategy() {
    let description = "Pattern: how importers work, the typical structure of an importer";
    let content = || service().pattern(PatternRecord { description: description.to_owned(), ..importer() });
    for question in ["pattern for a session", "typical structure of a login", "usual way to create a session"] {
        let (found, _) = answer(content(), ask(question)).await;
        assert_eq!((found.query.query_type, found.query.strategy.limit), (QueryType::Pattern, 10), "{question}");
        assert!(found.notes[0].starts_with("No pattern in scope fits the question"), "{question}: {:?}", found.notes);
        assert_ne!(shown(&found).first().map(String::as_str), Some("Importer"), "{question}");
    }
    for question in ["typical structure of an importer", "conventions for importers"] {
        let (found, _) = answer(content(), ask(question)).await;
        assert_eq!((found.query.strategy.limit, found.notes.len()), (5, 0), "{question}: {:?}", found.notes);
    }
}

/// A kind in the question restricts the code that follows the pattern. A kind in the caller's filter also
/// excludes the pattern, and the answer says so.
#[tokio::test]
async fn kinds_in_a_pattern_question_do_not_exclude_the_pattern() {
    let content = || {
        let content = service().file("src/aws.py", "python", "class AWSImporter:\n    def read(self):\n        pass\n");
        content.symbol("src/aws.py", "AWSImporter", SymbolKind::Class, (1, 3)).pattern(importer())
    };
    for question in ["which classes follow the importer pattern", "list all classes that follow the Importer pattern"] {
        let (found, _) = answer(content(), ask(question)).await;
        assert_eq!(found.query.query_type, QueryType::Pattern, "{question}");
        assert_eq!(shown(&found)[0], "Importer", "{question}: {:?} {:?}", shown(&found), found.notes);
        assert!(shown(&found).contains(&"AWSImporter".to_owned()), "{question}: {:?}", shown(&found));
    }
    let (found, _) = answer(content(), ask("importer pattern in python")).await;
    let stated = found.notes.iter().find(|note| note.starts_with("The restrictions exclude the pattern "));
    assert!(stated.is_some_and(|note| note.contains("Importer")), "{:?} {:?}", shown(&found), found.notes);
    let classes = ChunkFilter { kinds: vec![ChunkKind::Class], ..ChunkFilter::default() };
    for (question, expect) in [
        ("importer pattern", "The filters exclude patterns, so the strategy of concept questions is used."),
        ("how do importers work", "The filters exclude patterns, so the question is treated as a concept question."),
    ] {
        let asked = SearchRequest { limit: None, ..request(question, &[], classes.clone()) };
        let (found, _) = answer(content(), asked).await;
        assert_eq!(found.notes, [expect], "{question}");
    }
}

/// The chunk of a class contains its short methods, so a question that asks for methods or functions also
/// finds classes.
#[tokio::test]
async fn questions_for_methods_find_the_classes_that_contain_them() {
    let class = "class Server:\n    def listen(self):\n        accept(zorblat, authenticate())\n";
    let content = || {
        service()
            .file("src/server.py", "python", class)
            .symbol("src/server.py", "Server", SymbolKind::Class, (1, 3))
            .file("src/refuse.rs", "rust", "fn refuse() {\n    reject(zorblat)\n}\n")
            .symbol("src/refuse.rs", "refuse", SymbolKind::Function, (1, 3))
            .edge("Server", EdgeKind::Calls, "authenticate", 3, 100)
    };
    let (found, _) = answer(content(), ask("methods that listen for a zorblat")).await;
    assert_eq!(shown(&found)[0], "Server", "{:?} {:?}", shown(&found), found.notes);
    assert!(found.notes.iter().any(|note| note.contains("\"methods that\"")), "{:?}", found.notes);
    let (found, _) = answer(content(), ask("functions that call authenticate")).await;
    let names = shown(&found);
    assert!(names.iter().any(|name| name.starts_with("Server via CALLS authenticate")), "{names:?}");
    assert!(!found.notes.iter().any(|note| note.contains("exclude")), "{:?}", found.notes);
}

/// The filters of a call replace the filters in words, and the answer states this.
#[tokio::test]
async fn answer_names_the_words_that_call_filters_replace() {
    let rust = ChunkFilter { languages: vec!["rust".to_owned()], ..ChunkFilter::default() };
    let in_file = ChunkFilter { paths: vec!["src/api.rs".to_owned()], ..ChunkFilter::default() };
    for (question, filter, words) in
        [("python login", rust.clone(), "\"python\""), ("login in auth.rs", in_file, "\"in auth.rs\"")]
    {
        let (found, _) = answer(service(), SearchRequest { limit: None, ..request(question, &[], filter) }).await;
        let note = format!("The filters of the call replace these restrictions in the question: {words}.");
        assert!(found.notes.iter().any(|known| known.as_str() == note), "{question}: {:?}", found.notes);
    }
    let (found, _) = answer(service(), SearchRequest { limit: None, ..request("rust login", &[], rust) }).await;
    assert_eq!(found.notes, [""; 0], "the filter and the question have the same language");
}

#[tokio::test]
async fn filters_in_words_are_applied_or_dropped() {
    let (found, _) = answer(service(), ask("python session")).await;
    assert_eq!(shown(&found), ["store_session"]);
    assert_eq!(found.notes, ["The question restricts the results: \"python\"."]);
    let (found, _) = answer(service(), ask("kotlin login")).await;
    assert!(shown(&found).contains(&"login".to_owned()), "{:?}", shown(&found));
    assert_eq!(found.notes, ["Nothing matches the restrictions in the question, so they are ignored: \"kotlin\"."]);
    // A filter that the caller sets is never dropped.
    let rust = ChunkFilter { languages: vec!["rust".to_owned()], ..ChunkFilter::default() };
    let (found, _) = answer(service(), SearchRequest { limit: None, ..request("python session", &[], rust) }).await;
    assert!(found.found.iter().all(|found| found.hit.chunk.language == "rust"), "{:?}", shown(&found));
}

/// Later pages continue the results of the first page, even if the question states filters and a time.
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

/// A question may ask for a name that does not look like an identifier, if the name is in quotes or follows a
/// keyword.
#[tokio::test]
async fn symbol_questions_go_to_names_first() {
    let mut content = FakeContent::new("names", "c1");
    let names = ["Button", "Parser", "parse", "Session", "render", "timeout"];
    for name in names {
        let path = format!("src/{}_impl.rs", name.to_lowercase());
        let text = format!("fn {name}() {{\n    run()\n}}\n");
        content = content.file(&path, "rust", &text).symbol(&path, name, SymbolKind::Function, (1, 3));
    }
    // These texts contain the names much more often than the definitions do.
    for number in 0..30 {
        let words = "find button class parser fn parse what is session definition of render where timeout defined ";
        content = content.file(&format!("docs/guide_{number}.md"), "markdown", &words.repeat(4));
    }
    let (_, searcher) = searcher_over(vec![content]).await;
    let check = async |question: &str, expect: &str, is_exact: bool| {
        let answer = searcher.search(&ask(question)).await.expect("an answer");
        assert_eq!(answer.query.query_type, QueryType::Symbol, "{question}");
        assert_eq!(shown(&answer).first().map(String::as_str), Some(expect), "{question}: {:?}", shown(&answer));
        let used: Vec<&str> =
            answer.names.iter().filter_map(|note| Some(note.substitution.as_ref()?.used.as_str())).collect();
        assert_eq!(used, if is_exact { vec![] } else { vec![expect] }, "{question}");
    };
    for (question, typo, expect) in [
        ("find Button", "find Buton", "Button"),
        ("class Parser", "class Parsr", "Parser"),
        ("fn parse", "fn parze", "parse"),
        ("what is Session", "what is Sesion", "Session"),
        ("definition of render", "definition of rendr", "render"),
        ("where is timeout defined", "where is timeuot defined", "timeout"),
        ("find \"render\"", "find \"rendr\"", "render"),
        ("what is \"Session\"", "what is \"Sesssion\"", "Session"),
        ("where is `timeout` defined", "where is `timeot` defined", "timeout"),
    ] {
        check(question, expect, true).await;
        check(typo, expect, false).await;
    }
    let answer = searcher.search(&ask("where is flurbishment defined")).await.expect("an answer");
    let absent: Vec<&str> = answer.names.iter().map(|note| note.requested.as_str()).collect();
    assert_eq!(absent, ["flurbishment"], "an absent name is reported");
}

/// The start and the end of a flow are not filters, although words such as "from auth.py" restrict other
/// questions.
#[tokio::test]
async fn flow_question_is_answered_with_an_ordered_path() {
    for question in [
        "path from api.rs to session.py",
        "path from src/api.rs to src/session.py",
        "data flow from the login function to the session file",
    ] {
        let (answer, _) = answer(service(), ask(question)).await;
        assert_eq!(answer.query.query_type, QueryType::Flow, "{question}");
        let steps: Vec<_> = answer.found.iter().filter_map(|found| found.hit.step).collect();
        assert_eq!(steps, [1, 2, 3], "{question}: {:?} {:?}", shown(&answer), answer.notes);
        assert_eq!(answer.notes, [""; 0], "{question}");
    }
    let (answer, _) = answer(service(), ask("path from login to session in src/nothing")).await;
    assert!(answer.notes.iter().any(|note| note.contains("so they are ignored")), "{:?}", answer.notes);
}

/// A word such as "module" also asks for documents, but the answer to a flow question must contain its path.
#[tokio::test]
async fn flow_question_with_a_document_word_gets_its_path() {
    let content = service().file("AGENTS.md", "markdown", "The login module creates a session for the api module.\n");
    let (answer, _) = answer(content, ask("path from the login module to the session module")).await;
    assert_eq!(answer.query.query_type, QueryType::Flow);
    assert!(answer.found[0].hit.step.is_some() || answer.notes.iter().any(|note| note.starts_with("No path")));
}

/// A filter in words is dropped if the results that match it are not about the question.
#[tokio::test]
async fn filter_in_words_does_not_hide_an_answer() {
    let mut content = FakeContent::new("mixed", "c1").file(
        "src/ledger.rs",
        "rust",
        "// The zorblat of the ledger is computed.\nfn compute() {}\n",
    );
    for number in 0..20 {
        content = content.file(&format!("lib/file_{number}.py"), "python", "def read_header():\n    pass\n");
    }
    let (found, _) = answer(content, ask("zorblat ledger rebalance in python")).await;
    assert!(shown(&found).contains(&"src/ledger.rs".to_owned()), "{:?} {:?}", shown(&found), found.notes);
    assert!(found.notes.iter().any(|note| note.contains("so they are ignored")), "{:?}", found.notes);
}

/// If a filter in words excludes all callers, the filter is dropped.
#[tokio::test]
async fn filter_in_words_does_not_hide_all_edges() {
    let (found, _) = answer(service(), ask("what calls authenticate in session.py")).await;
    assert_eq!(shown(&found)[0], "login via CALLS authenticate (src/auth.rs) at line 2, 100 %");
    assert!(found.notes.iter().any(|note| note.contains("so they are ignored")), "{:?}", found.notes);
}

/// A name in lower case that ends with the name of a pattern finds the pattern.
#[tokio::test]
async fn compound_in_lower_case_names_a_pattern() {
    let (found, _) = answer(service().pattern(importer()), ask("how do awsimporters work")).await;
    assert_eq!(found.query.query_type, QueryType::Pattern, "{:?}", found.notes);
    assert_eq!(shown(&found)[0], "Importer");
}
