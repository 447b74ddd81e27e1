//! Checks that searches, reading and relationship questions resolve names of symbols in the same way.

use cairn_domain::{EdgeKind, SymbolKind};
use cairn_ports::ChunkFilter;
use cairn_search::{
    Code, CodeRequest, GraphRequest, NameMatching, QueryError, QueryErrorCode, Relation, RepositorySelection,
    SearchAnswer, SearchRequest, Searcher, Target, TargetType,
};
use cairn_testkit::FakeContent;

use crate::{request, searcher_over};

const RUN: &str = "def run(self):\n    return self.work()\n";

/// Two servers with a method `run`, a function that parses dates, and a definition that exists only as text,
/// because no parser finds it.
fn servers() -> FakeContent {
    FakeContent::new("shop", "c1")
        .file("src/server.py", "python", RUN)
        .file("src/net/client.py", "python", "def run(self):\n    return self.send()\n")
        .file("src/date_parser.py", "python", "def parse_date(text):\n    pass\n")
        .file("src/plugins.py", "python", "def start_all(plugins):\n    pass\n")
        .file("include/table.h", "c", "TABLE_ROW(first)\n#define OPEN_TABLE(name) open_table(name)\n")
        .file("config/shop.json", "json", "{\"open\": true}\n")
        .symbol("src/server.py", "Server.run", SymbolKind::Method, (1, 2))
        .symbol("src/net/client.py", "Client.run", SymbolKind::Method, (1, 2))
        .symbol("src/date_parser.py", "date_parser.parse_date", SymbolKind::Function, (1, 2))
        .symbol("src/plugins.py", "start_all", SymbolKind::Function, (1, 2))
}

async fn searcher() -> Searcher {
    searcher_over(vec![servers()]).await.1
}

fn code() -> CodeRequest {
    CodeRequest { repository: None, path: None, symbol: None, context_path: None, lines: None, max_tokens: 1_000 }
}

fn ask(question: &str, target: Target) -> SearchRequest {
    SearchRequest { target, ..request(question, &[], ChunkFilter::default()) }
}

fn relation(name: &str) -> GraphRequest {
    GraphRequest {
        name: name.to_owned(),
        context_path: None,
        relation: Relation::Callers,
        repositories: RepositorySelection::default(),
        limit: 50,
    }
}

/// The symbols of the results.
fn symbols(answer: &SearchAnswer) -> Vec<&str> {
    answer.found.iter().filter_map(|found| found.hit.chunk.symbol.as_deref()).collect()
}

fn label(read: &Result<Code, QueryError>) -> Option<(&str, NameMatching)> {
    let code = read.as_ref().ok()?;
    code.substitution.as_ref().map(|used| (used.used.as_str(), used.matching))
}

#[tokio::test]
async fn target_with_a_dot_may_be_a_mistyped_symbol() {
    let searcher = searcher().await;
    for (target, used, matching) in [
        ("Server.rnu", "Server.run", NameMatching::Fuzzy),
        ("server.run", "Server.run", NameMatching::Case),
        ("date_parser.parseDate", "date_parser.parse_date", NameMatching::Style),
        ("date_parser.parse", "date_parser.parse_date", NameMatching::Fuzzy),
        ("src/server.py#Server.rnu", "Server.run", NameMatching::Fuzzy),
    ] {
        let read = searcher.read_target(target, &code()).await;
        assert_eq!(label(&read), Some((used, matching)), "{target}: {read:?}");
    }
    let exact = searcher.read_target("Server.run", &code()).await.expect("found");
    assert_eq!((exact.path.as_str(), exact.substitution), ("src/server.py", None));
}

/// A name in the notation of its language is found, and is not reported as a different name.
#[tokio::test]
async fn names_are_written_as_in_their_languages() {
    let content = servers()
        .file("lib/accounts.ex", "elixir", "def register(name, mail) do\n  :ok\nend\n")
        .file("lib/account.lua", "lua", "function Account:deposit(amount)\nend\n")
        .symbol("lib/accounts.ex", "Shop.Accounts.register", SymbolKind::Function, (1, 3))
        .symbol("lib/account.lua", "Account.deposit", SymbolKind::Method, (1, 2));
    let (_, searcher) = searcher_over(vec![content]).await;
    for (name, expect) in [
        ("Shop.Accounts.register/2", "Shop.Accounts.register"),
        ("Accounts.register/2", "Shop.Accounts.register"),
        ("register/2", "Shop.Accounts.register"),
        ("Account:deposit", "Account.deposit"),
        ("(*Server).run", "Server.run"),
        ("Server.run(String, int)", "Server.run"),
        ("Server::run()", "Server.run"),
    ] {
        let symbol = CodeRequest { symbol: Some(name.to_owned()), ..code() };
        for read in [searcher.read_target(name, &code()).await, searcher.read_code(&symbol).await] {
            let read = read.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(read.symbol.map(|symbol| symbol.qualified_name).as_deref(), Some(expect), "{name}");
            assert_eq!(read.substitution, None, "{name}");
        }
        let graph = searcher.relationship(&relation(name)).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!((graph.about[0].1.qualified_name.as_str(), graph.substitution), (expect, None), "{name}");
    }
    let answer = searcher.search(&ask("Shop.Accounts.register/2", Target::default())).await.expect("an answer");
    assert_eq!((symbols(&answer)[0], answer.names.len()), ("Shop.Accounts.register", 0), "{:?}", answer.names);
    let mistyped = searcher.read_target("Shop.Accounts.regsiter/2", &code()).await;
    assert_eq!(label(&mistyped), Some(("Shop.Accounts.register", NameMatching::Fuzzy)), "{mistyped:?}");
}

/// A request that looks like a path is not answered with a symbol that has a different name. The error only
/// suggests this symbol.
#[tokio::test]
async fn absent_file_is_reported_with_near_files_and_symbols() {
    let searcher = searcher().await;
    let error = searcher.read_target("src/sevrer.py", &code()).await.expect_err("absent");
    assert_eq!(error.similar_files, ["src/server.py"]);
    let error = searcher.read_target("run.json", &code()).await.expect_err("absent");
    assert!(error.message.starts_with("no file has the path"), "{}", error.message);
    let error = searcher.read_target("Zebra.quagga", &code()).await.expect_err("absent");
    assert!(error.message.starts_with("no symbol is called"), "{}", error.message);
    assert!(error.message.contains("no file has the path"), "{}", error.message);
}

/// No parser finds names that macros define. For such a name, all tools find the line that looks like its
/// definition.
#[tokio::test]
async fn lines_that_look_like_definitions_are_found_by_all_tools() {
    let searcher = searcher().await;
    for name in ["OPEN_TABLE", "include/table.h#OPEN_TABLE"] {
        let read = searcher.read_code(&CodeRequest { symbol: Some(name.to_owned()), ..code() }).await;
        assert_eq!(label(&read), Some(("OPEN_TABLE", NameMatching::Heuristic)), "{name}: {read:?}");
        for target_type in [TargetType::Auto, TargetType::Symbol] {
            let target = Target { target_type, ..Target::default() };
            let answer = searcher.search(&ask(name, target)).await.expect("an answer");
            let note = &answer.names[0];
            let place = note.place.as_ref().map(|place| (place.path.as_str(), place.line));
            assert_eq!(place, Some(("include/table.h", 2)), "{name} {target_type:?}");
            assert_eq!(note.substitution.as_ref().map(|used| used.matching), Some(NameMatching::Heuristic));
            let first = &answer.found[0];
            assert_eq!(first.hit.chunk.path.as_str(), "include/table.h", "{name} {target_type:?}");
            assert_eq!(first.matched.as_ref().map(|matched| matched.matching), Some(NameMatching::Heuristic));
        }
        let error = searcher.relationship(&relation(name)).await.expect_err("no edges");
        assert!(error.message.contains("«include/table.h», line 2"), "{}", error.message);
        assert_eq!(error.next_calls[0].tool, "read_code");
    }
    let elsewhere = searcher.read_target("src/server.py#OPEN_TABLE", &code()).await.expect_err("in another file");
    assert_eq!(elsewhere.code, QueryErrorCode::NotFound);
}

#[tokio::test]
async fn path_and_name_select_one_definition() {
    let searcher = searcher().await;
    for question in ["src/net/client.py#Client.run", "find src/net/client.py#run", "src/net/client.py#Client.rnu"] {
        let answer = searcher.search(&ask(question, Target::default())).await.expect("an answer");
        assert_eq!(symbols(&answer)[0], "Client.run", "{question}");
    }
    let answer = searcher.search(&ask("src/server.py#run", Target::default())).await.expect("an answer");
    assert_eq!((symbols(&answer)[0], answer.names.len()), ("Server.run", 0));
}

/// The path before the name may be separated by `#`, `::` or `:`, and may be a directory, a path without its
/// extension, or an absolute path.
#[tokio::test]
async fn path_before_the_name_has_several_forms() {
    let searcher = searcher().await;
    for (target, expect) in [
        ("src/net/client.py::run", "Client.run"),
        ("src/net/client.py::Client::run", "Client.run"),
        ("src/net/client.py:run", "Client.run"),
        ("client.py:run", "Client.run"),
        ("src/net:run", "Client.run"),
        ("src/net#run", "Client.run"),
        ("src/net/client#run", "Client.run"),
        ("/root/of/shop/src/net/client.py#run", "Client.run"),
        ("/root/of/shop/src/net#run", "Client.run"),
        ("src/server.py::run", "Server.run"),
        ("src/server:run", "Server.run"),
    ] {
        let read = searcher.read_target(target, &code()).await.unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(read.symbol.map(|symbol| symbol.qualified_name).as_deref(), Some(expect), "{target}");
        let of_symbol = Target { target_type: TargetType::Symbol, ..Target::default() };
        let answer = searcher.search(&ask(target, of_symbol)).await.expect("an answer");
        assert_eq!(symbols(&answer), [expect], "{target}");
        let answer = searcher.search(&ask(target, Target::default())).await.expect("an answer");
        assert_eq!((symbols(&answer)[0], answer.names.len()), (expect, 0), "{target}");
        let graph = searcher.relationship(&relation(target)).await.expect("found");
        assert_eq!(graph.about.len(), 1, "{target}");
        assert_eq!(graph.about[0].1.qualified_name, expect, "{target}");
    }
    for (target, expect) in [
        ("src/net/tcp.py#run", "src/net/client.py"),
        ("src/net/tcp.py::run", "src/net/client.py"),
        ("/root/of/shop/src/net/tcp.py:run", "src/net/client.py"),
        ("src/plugins.py#run", "src/server.py"),
    ] {
        let error = searcher.read_target(target, &code()).await.expect_err("in another file");
        assert_eq!(error.similar_files, [expect], "{target}");
    }
    // The lines that look like a definition are found in the same files.
    for target in ["include/table.h::OPEN_TABLE", "./include#OPEN_TABLE", "/root/of/shop/include/table#OPEN_TABLE"] {
        let read = searcher.read_target(target, &code()).await.unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(read.path.as_str(), "include/table.h", "{target}");
    }
    let lines = searcher.read_target("src/server.py:2", &code()).await.expect("a line");
    assert_eq!((lines.path.as_str(), lines.symbol), ("src/server.py", None));
}

#[tokio::test]
async fn relation_question_may_name_the_file() {
    let content = servers()
        .file("src/main.py", "python", "def main():\n    Server().run()\n\ndef send():\n    Client().run()\n")
        .symbol("src/main.py", "main", SymbolKind::Function, (1, 2))
        .symbol("src/main.py", "send", SymbolKind::Function, (4, 5))
        .edge("main", EdgeKind::Calls, "Server.run", 2, 100)
        .edge("send", EdgeKind::Calls, "Client.run", 5, 100);
    let (_, searcher) = searcher_over(vec![content]).await;
    for (question, caller) in
        [("what calls src/server.py#Server.run", "main"), ("callers of src/net/client.py#run", "send")]
    {
        let answer = searcher.search(&ask(question, Target::default())).await.expect("an answer");
        let related = answer.found.iter().filter(|found| !found.hit.via.is_empty());
        let related: Vec<_> = related.filter_map(|found| found.hit.chunk.symbol.as_deref()).collect();
        assert_eq!(related, [caller], "{question}");
    }
}

/// The results for each definition are listed separately, regardless of the confidence of their edges.
#[tokio::test]
async fn relations_of_several_definitions_are_not_mixed() {
    let mut content = servers();
    for (at, (owner, confidence)) in
        [("Server", 40), ("Client", 100), ("Server", 50), ("Client", 90), ("Server", 60), ("Client", 80)]
            .into_iter()
            .enumerate()
    {
        let (path, name) = (format!("src/user_{at}.py"), format!("user_{at}"));
        let text = format!("def user_{at}():\n    {owner}().run({at})\n");
        content = content.file(&path, "python", &text).symbol(&path, &name, SymbolKind::Function, (1, 2));
        content = content.edge(&name, EdgeKind::Calls, &format!("{owner}.run"), 2, confidence);
    }
    let (_, searcher) = searcher_over(vec![content]).await;
    let answer = searcher.search(&ask("what calls run()", Target::default())).await.expect("an answer");
    let via = answer.found.iter().flat_map(|found| &found.hit.via);
    let owners: Vec<&str> = via.map(|via| via.symbol.as_str()).collect();
    assert_eq!(owners, [["Server.run"; 3], ["Client.run"; 3]].concat());
}

/// With a context, all tools show the nearest definition first. Without a context, an ordinary search ranks
/// the definitions by all other signals.
#[tokio::test]
async fn context_decides_between_definitions_in_all_tools() {
    let searcher = searcher().await;
    let graph = async |context_path: Option<String>| {
        let answer = searcher.relationship(&GraphRequest { context_path, ..relation("run") }).await.expect("found");
        answer.about[0].1.qualified_name.clone()
    };
    for (context, expect) in
        [(None, "Server.run"), (Some("src/main.py"), "Server.run"), (Some("src/net/tcp.py"), "Client.run")]
    {
        let context_path = context.map(str::to_owned);
        let target_types = [TargetType::Symbol, TargetType::Auto].into_iter().take(1 + usize::from(context.is_some()));
        for target_type in target_types {
            let target = Target { target_type, context_path: context_path.clone(), ..Target::default() };
            let answer = searcher.search(&ask("run", target)).await.expect("an answer");
            assert_eq!(symbols(&answer)[0], expect, "{context:?} {target_type:?}");
        }
        let request = CodeRequest { symbol: Some("run".to_owned()), context_path: context_path.clone(), ..code() };
        let read = searcher.read_code(&request).await.expect("found");
        assert_eq!(read.symbol.map(|symbol| symbol.qualified_name).as_deref(), Some(expect), "{context:?}");
        assert_eq!(graph(context_path).await, expect, "{context:?}");
    }
}

#[tokio::test]
async fn each_result_of_a_name_has_tier_score_and_reason() {
    let content = servers().file("src/plugin_list.py", "python", "def start_plugin():\n    pass\n").symbol(
        "src/plugin_list.py",
        "start_plugin",
        SymbolKind::Function,
        (1, 2),
    );
    let (_, searcher) = searcher_over(vec![content]).await;
    let target = Target { target_type: TargetType::Symbol, ..Target::default() };
    let answer = searcher.search(&ask("start_alll", target.clone())).await.expect("an answer");
    let matches: Vec<_> = answer.found.iter().filter_map(|found| found.matched.clone()).collect();
    assert_eq!(matches.len(), answer.found.len());
    assert!(matches.len() > 1, "{matches:?}");
    assert_eq!((matches[0].name.as_str(), matches[0].matching), ("start_all", NameMatching::Fuzzy));
    assert!(matches.iter().all(|matched| matched.score > 0 && !matched.reason.is_empty()), "{matches:?}");
    let answer = searcher.search(&ask("start_all", target)).await.expect("an answer");
    let matched = answer.found[0].matched.as_ref().expect("a match");
    assert_eq!((matched.matching, matched.score, matched.reason.as_str()), (NameMatching::Exact, 1_000, "same name"));
}

/// The number of uses determines the order, even if many definitions have the name.
#[tokio::test]
async fn uses_of_many_definitions_are_counted_with_one_call() {
    let mut content = FakeContent::new("many", "c1");
    for number in 0..20 {
        let path = format!("src/a{number:02}.py");
        content = content.file(&path, "python", &format!("def run():\n    return {number}\n"));
        content = content.symbol(&path, &format!("Owner{number}.run"), SymbolKind::Method, (1, 2));
    }
    content = content
        .file("src/main.py", "python", "def main():\n    run()\n")
        .symbol("src/main.py", "main", SymbolKind::Function, (1, 2))
        .edge("main", EdgeKind::Calls, "Owner13.run", 2, 100);
    let (counted, searcher) = searcher_over(vec![content]).await;
    let read = searcher.read_code(&CodeRequest { symbol: Some("run".to_owned()), ..code() }).await.expect("found");
    assert_eq!(read.path.as_str(), "src/a13.py");
    assert_eq!(counted.calls().get("GraphTraversal::num_uses"), Some(&1));
}

/// A near name in the requested file is found, even if other files contain nearer names.
#[tokio::test]
async fn near_name_in_the_requested_file_is_found() {
    let mut content = FakeContent::new("many", "c1")
        .file("src/wanted.py", "python", "def load_invoices_now():\n    pass\n")
        .symbol("src/wanted.py", "load_invoices_now", SymbolKind::Function, (1, 2));
    for number in 0..9 {
        let (path, name) = (format!("lib/a{number}.py"), format!("load_invoice_{number}"));
        content = content.file(&path, "python", &format!("def {name}():\n    pass\n"));
        content = content.symbol(&path, &name, SymbolKind::Function, (1, 2));
    }
    let (_, searcher) = searcher_over(vec![content]).await;
    let read = searcher.read_target("src/wanted.py#load_invoice_now", &code()).await;
    assert_eq!(label(&read), Some(("load_invoices_now", NameMatching::Fuzzy)), "{read:?}");
    // The file contains no near name, so near names in other files are suggested.
    let error = searcher.read_target("lib/a1.py#load_invoice_2x", &code()).await;
    assert!(error.is_ok() || !error.expect_err("absent").similar_symbols.is_empty());
}

/// Names that occur in the examples of `docs/source-questions.md`, and misspelled forms of these names.
#[tokio::test]
async fn documented_names_are_resolved_by_all_tools() {
    let names = ["getUserData", "handleClick", "ButtonGroup", "Button"];
    let text: String = names.iter().map(|name| format!("function {name}() {{}}\n")).collect();
    let mut content = FakeContent::new("web", "c1").file("src/api/users.ts", "typescript", &text);
    for (line, name) in (1..).zip(names) {
        content = content.symbol("src/api/users.ts", name, SymbolKind::Function, (line, line));
    }
    let (_, searcher) = searcher_over(vec![content]).await;
    for (asked, expect, matching) in [
        ("getUserDta", "getUserData", Some(NameMatching::Fuzzy)),
        ("HANDLE_CLICK", "handleClick", Some(NameMatching::Style)),
        ("Button", "Button", None),
    ] {
        for target_type in [TargetType::Auto, TargetType::Symbol] {
            let target = Target { target_type, ..Target::default() };
            let answer = searcher.search(&ask(asked, target)).await.expect("an answer");
            assert_eq!(symbols(&answer)[0], expect, "{asked} {target_type:?}");
            let noted = answer.names.first().and_then(|note| note.substitution.as_ref());
            assert_eq!(noted.map(|used| used.matching), matching, "{asked} {target_type:?}");
        }
        let read = searcher.read_target(asked, &code()).await;
        assert_eq!(label(&read).map(|(_, matching)| matching), matching, "{asked}");
        assert_eq!(read.expect("found").symbol.map(|symbol| symbol.name).as_deref(), Some(expect), "{asked}");
        let graph = searcher.relationship(&relation(asked)).await.expect("found");
        assert_eq!(graph.about[0].1.name, expect, "{asked}");
        assert_eq!(graph.substitution.map(|used| used.matching), matching, "{asked}");
    }
}
