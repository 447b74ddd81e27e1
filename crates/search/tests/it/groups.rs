//! Checks that the graph is followed from chunks that show several definitions: small files, groups of short
//! functions, and classes with their short methods.

use cairn_domain::{EdgeKind, SymbolKind};
use cairn_question::QueryType;
use cairn_search::{SearchAnswer, SearchRequest};
use cairn_testkit::FakeContent;

use crate::searcher_over;
use crate::strategies::{answer, ask, service, shown};

/// Adds a file with one function.
fn function(content: FakeContent, path: &str, name: &str, body: &str) -> FakeContent {
    let text = format!("fn {name}() {{\n    {body}\n}}\n");
    content.file(path, "rust", &text).symbol(path, name, SymbolKind::Function, (1, 3))
}

/// Adds more chunks than a list of candidates can contain. So most of these functions are not hits.
fn many_functions(mut content: FakeContent) -> FakeContent {
    for number in 0..300 {
        let (path, name) = (format!("src/file_{number}.rs"), format!("step_{number}"));
        content = function(content, &path, &name, &format!("work({number})"));
    }
    content
}

/// Adds calls to some of these functions. Several calls are needed, because some of the called functions may
/// be among the best hits.
fn with_calls(mut content: FakeContent, caller: &str, line: u32) -> FakeContent {
    for number in 0..20 {
        content = content.edge(caller, EdgeKind::Calls, &format!("step_{number}"), line, 100);
    }
    content
}

async fn check_neighbours(content: FakeContent, first: &str, via: &str) {
    let wide = SearchRequest { limit: Some(100), max_tokens: 100_000, ..ask("where is the user signed in") };
    let (answer, calls) = answer(content, wide).await;
    assert_eq!(answer.query.query_type, QueryType::Concept);
    assert_eq!(shown(&answer)[0], first);
    let added: Vec<String> = shown(&answer).into_iter().filter(|shown| shown.contains(" via ")).collect();
    assert!((1..=3).contains(&added.len()), "added: {added:?}");
    assert!(added.iter().all(|added| added.ends_with(via)), "{added:?}");
    for once in ["GraphTraversal::traverse", "Names::symbols_in", "Names::symbols_of", "VectorStore::search"] {
        assert!(calls.contains(&(once, 1)), "{once}: {calls:?}");
    }
}

#[tokio::test]
async fn neighbours_of_a_group_are_added() {
    let text = "fn logout() {\n}\nfn login() {\n    sign the user in\n}\n";
    let content = FakeContent::new("many", "c1").file("src/api.rs", "rust", text).divided("src/api.rs", &[(1, 5)]);
    let content = content.symbol("src/api.rs", "logout", SymbolKind::Function, (1, 2)).symbol(
        "src/api.rs",
        "login",
        SymbolKind::Function,
        (3, 5),
    );
    let content = with_calls(many_functions(content), "login", 4);
    check_neighbours(content, "src/api.rs", " via login (src/api.rs) CALLS this at line 4, 100 %").await;
}

#[tokio::test]
async fn neighbours_of_methods_in_the_chunk_of_a_class_are_added() {
    let text = "class Gate:\n    def open(self):\n        sign the user in\n";
    let content = FakeContent::new("many", "c1").file("src/gate.py", "python", text).divided("src/gate.py", &[(1, 3)]);
    let content = content.symbol("src/gate.py", "Gate", SymbolKind::Class, (1, 3)).symbol(
        "src/gate.py",
        "Gate.open",
        SymbolKind::Method,
        (2, 3),
    );
    let content = with_calls(many_functions(content), "Gate.open", 3);
    check_neighbours(content, "Gate", " via Gate.open (src/gate.py) CALLS this at line 3, 100 %").await;
}

/// A small file with two functions, one of which calls a function in a different file.
fn small_file() -> FakeContent {
    let text = "fn login() {\n    create_session()\n}\nfn create_session() {\n    store()\n}\n";
    let content = FakeContent::new("small", "c1").file("src/auth.rs", "rust", text).divided("src/auth.rs", &[(1, 6)]);
    let content = content.symbol("src/auth.rs", "login", SymbolKind::Function, (1, 3)).symbol(
        "src/auth.rs",
        "create_session",
        SymbolKind::Function,
        (4, 6),
    );
    function(content, "src/cache.rs", "store", "write()").edge("login", EdgeKind::Calls, "create_session", 2, 100).edge(
        "create_session",
        EdgeKind::Calls,
        "store",
        5,
        100,
    )
}

async fn flow(content: FakeContent, question: &str) -> SearchAnswer {
    let (answer, calls) = answer(content, ask(question)).await;
    assert_eq!(answer.query.query_type, QueryType::Flow, "{question}");
    for once in ["GraphTraversal::traverse", "Names::symbols_in", "VectorStore::search"] {
        assert!(calls.contains(&(once, 1)), "{question} {once}: {calls:?}");
    }
    answer
}

/// The names of the steps are listed, because the chunk shows two steps.
#[tokio::test]
async fn path_leads_through_a_chunk_with_several_definitions() {
    let answer = flow(small_file(), "path from login to store").await;
    let expect = ["1: src/auth.rs", "2: store via create_session (src/auth.rs) CALLS this at line 5, 100 %"];
    assert_eq!(shown(&answer)[..2], expect);
    assert_eq!(answer.notes, ["The path is «login» → «create_session» → «store»."]);
}

#[tokio::test]
async fn path_within_one_chunk_is_found() {
    let answer = flow(small_file(), "path from login to session").await;
    assert_eq!(shown(&answer)[0], "1: src/auth.rs");
    assert_eq!(answer.found.iter().filter(|found| found.hit.step.is_some()).count(), 1);
    assert_eq!(answer.notes, ["The path is «login» → «create_session»."]);
}

/// The subject of a flow is the start of its path, although other hits call this code.
#[tokio::test]
async fn flow_of_a_subject_starts_at_the_subject() {
    let content = function(small_file(), "src/orders.rs", "handle_order", "check the login login login").edge(
        "handle_order",
        EdgeKind::Calls,
        "login",
        2,
        100,
    );
    let answer = flow(content, "how does login work").await;
    assert_eq!(shown(&answer)[0], "1: src/auth.rs", "{:?}", shown(&answer));
    assert!(answer.notes.iter().any(|note| note.starts_with("The path is «login» → «create_session»")));
}

/// The graph has no edge from `receive_request` to `dispatch`, but the chunk shows both.
#[tokio::test]
async fn path_starts_in_the_chunk_of_the_start() {
    let text = "fn receive_request() {\n    router().dispatch()\n}\nfn dispatch() {\n    handle_order()\n}\n";
    let content = FakeContent::new("small", "c1").file("src/router.rs", "rust", text);
    let content = content
        .divided("src/router.rs", &[(1, 6)])
        .symbol("src/router.rs", "receive_request", SymbolKind::Function, (1, 3))
        .symbol("src/router.rs", "dispatch", SymbolKind::Function, (4, 6));
    let content = function(content, "src/handlers.rs", "handle_order", "write()");
    let content = content.edge("dispatch", EdgeKind::Calls, "handle_order", 5, 100);
    let answer = flow(content, "how does request get to handler").await;
    let expect = ["1: src/router.rs", "2: handle_order via dispatch (src/router.rs) CALLS this at line 5, 100 %"];
    assert_eq!(shown(&answer)[..2], expect);
    assert_eq!(answer.notes, ["The path is «dispatch» → «handle_order»."]);
}

/// A path that starts at other code in the chunk of the start is not the requested path, if the start has
/// exactly the requested name.
#[tokio::test]
async fn path_from_other_code_in_the_chunk_is_rejected() {
    let answer = flow(small_file(), "path from create_session to login").await;
    let expect = "No path from \"create_session\" to \"login\" was found over three edges";
    assert!(answer.notes[0].starts_with(expect), "{:?}", answer.notes);
}

/// A login that creates a session through a function whose name contains no word of the start or the end.
/// Many other functions mention both ends.
fn noisy() -> FakeContent {
    let mut content = FakeContent::new("noisy", "c1");
    content = function(content, "src/api.rs", "login", "check()");
    content = function(content, "src/check.rs", "check_credentials", "create()");
    content = function(content, "src/create.rs", "create_session", "write()");
    content = function(content, "src/resume.rs", "resume_session", "create the session after the login login session");
    for number in 0..250 {
        let (path, name) = (format!("src/file_{number}.rs"), format!("audit_{number}"));
        content = function(content, &path, &name, &format!("count each login of a session {number}"));
    }
    content
        .edge("login", EdgeKind::Calls, "check_credentials", 2, 100)
        .edge("check_credentials", EdgeKind::Calls, "create_session", 2, 100)
        .edge("resume_session", EdgeKind::Calls, "create_session", 2, 100)
}

/// Both ends of the path are hits, and another hit also calls the end of the path.
#[tokio::test]
async fn path_leads_from_hit_to_hit_over_other_code() {
    let answer = flow(noisy(), "path from login to session").await;
    let expect = [
        "1: login",
        "2: check_credentials via login (src/api.rs) CALLS this at line 2, 100 %",
        "3: create_session via check_credentials (src/check.rs) CALLS this at line 2, 100 %",
    ];
    assert_eq!(shown(&answer)[..3], expect);
    assert_eq!(answer.notes, [""; 0]);
}

#[tokio::test]
async fn directories_are_ends_of_a_flow() {
    let content = function(FakeContent::new("shop", "c1"), "api/handlers.rs", "handle_order", "save_order()");
    let content = function(content, "database/orders.rs", "save_order", "write()");
    let content = function(content, "errors/report.rs", "report_problem", "write the data of the API and the database");
    let content = content.edge("handle_order", EdgeKind::Calls, "save_order", 2, 95);
    let answer = flow(content, "data flow from API to database").await;
    let expect = ["1: handle_order", "2: save_order via handle_order (api/handlers.rs) CALLS this at line 2, 95 %"];
    assert_eq!(shown(&answer)[..2], expect);
    assert_eq!(answer.notes, [""; 0]);
}

/// The calls of a function are followed in the order of their keys, so each call may be the last one.
#[tokio::test]
async fn path_leads_through_a_function_with_many_calls() {
    for number in (0..40).step_by(4) {
        let mut content = function(FakeContent::new("many", "c1"), "src/start.rs", "start", "work()");
        content = function(content, "src/finish.rs", "finish", "end()");
        for callee in 0..40 {
            let (path, name) = (format!("src/file_{callee}.rs"), format!("step_{callee}"));
            content = function(content, &path, &name, "work()").edge("start", EdgeKind::Calls, &name, 2, 100);
        }
        let content = content.edge(&format!("step_{number}"), EdgeKind::Calls, "finish", 2, 100);
        let answer = flow(content, "path from start to finish").await;
        let steps: Vec<u32> = answer.found.iter().filter_map(|found| found.hit.step).collect();
        assert_eq!(steps, [1, 2, 3], "{:?}", answer.notes);
    }
}

#[tokio::test]
async fn answer_states_that_not_all_edges_were_followed() {
    let (counted, searcher) = searcher_over(vec![service()]).await;
    counted.limit_nodes(1);
    let answer = searcher.search(&ask("how does login work")).await.expect("an answer");
    let note = "The graph has more edges near the results than were followed, so a better path may exist.";
    assert_eq!(answer.notes, [note]);
}
