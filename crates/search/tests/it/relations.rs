//! Checks the answers to questions about relations: the nodes to which a name refers, the edges, and the
//! notes about edges that are absent or left out.

use cairn_domain::{EdgeKind, SymbolKind};
use cairn_question::QueryType;
use cairn_ranking::via_text;
use cairn_redaction::Message;
use cairn_search::{NameMatching, Relation as AnalyzedRelation, SearchAnswer, SearchRequest};
use cairn_testkit::FakeContent;

use crate::strategies::{answer, ask, service, shown};
use crate::{relations_of, searcher_over};

#[tokio::test]
async fn answer_states_that_a_relation_has_no_edges() {
    let (found, _) = answer(service(), ask("what calls logout")).await;
    let note = "The graph contains no callers of `logout`; the results are found by words.";
    assert_eq!(found.notes, [note]);
    let (found, _) = answer(service(), ask("what calls authenticate")).await;
    let note =
        "The first result shows the callers of `authenticate` in the graph; all other results are found by words.";
    assert_eq!(found.notes, [note]);
}

#[tokio::test]
async fn answer_states_how_many_edges_a_relation_has() {
    let mut content = FakeContent::new("many", "c1").file("src/open.rs", "rust", "fn open() {}\n").symbol(
        "src/open.rs",
        "open",
        SymbolKind::Function,
        (1, 1),
    );
    for number in 0..150 {
        let (path, name) = (format!("src/file_{number}.rs"), format!("step_{number}"));
        let text = format!("fn {name}() {{\n    open()\n}}\n");
        content = content.file(&path, "rust", &text).symbol(&path, &name, SymbolKind::Function, (1, 3));
        content = content.edge(&name, EdgeKind::Calls, "open", 2, 100);
    }
    let wide = SearchRequest { limit: Some(100), max_tokens: 100_000, ..ask("what calls open") };
    let (found, _) = answer(content, wide).await;
    let note = "The graph contains 150 callers of `open`; the first 60 places are shown first. All: \
                `analyze_relationship` with `target: \"open\"`, `mode: \"callers\"`, `limit: 150`.";
    assert_eq!(found.notes, [note]);
    assert_eq!(found.found.iter().filter(|found| !found.hit.via.is_empty()).count(), 60);
}

/// A function of 300 lines in several chunks. The function calls `open` on its last lines.
fn long_caller(calls: &[u32]) -> FakeContent {
    let line = |line: u32| match line {
        1 => "fn start() {\n".to_owned(),
        300 => "}\n".to_owned(),
        line if calls.contains(&line) => format!("    open({line});\n"),
        line => format!("    let value_{line} = {line};\n"),
    };
    let text: String = (1..=300).map(line).collect();
    let content = FakeContent::new("long", "c1")
        .file("src/open.rs", "rust", "fn open() {}\n")
        .symbol("src/open.rs", "open", SymbolKind::Function, (1, 1))
        .file("src/start.rs", "rust", &text)
        .symbol("src/start.rs", "start", SymbolKind::Function, (1, 300))
        .divided("src/start.rs", &[(1, 100), (101, 200), (201, 300)]);
    calls.iter().fold(content, |content, line| content.edge("start", EdgeKind::Calls, "open", *line, 100))
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The sites that an answer shows: the first and last line of each text, and its edges.
fn sites(found: &SearchAnswer) -> Vec<String> {
    let related = found.found.iter().filter(|found| !found.hit.via.is_empty());
    let text = |found: &cairn_search::Found| {
        let chunk = &found.hit.chunk;
        let last = chunk.span.end - found.num_lines_cut as u32;
        format!("{}-{last} {}", chunk.span.start, via_text(&found.hit.via).unwrap_or_default())
    };
    related.map(text).collect()
}

#[tokio::test]
async fn text_of_a_long_caller_contains_the_call() {
    let (found, _) = answer(long_caller(&[298]), SearchRequest { max_tokens: 100_000, ..ask("what calls open") }).await;
    assert_eq!(sites(&found), ["201-300 CALLS open (src/open.rs) at line 298, 100 %"]);
    assert!(found.found[0].hit.chunk.text.contains("open(298);"), "{:?}", found.found[0]);
    // If the text must be cut, its beginning is cut.
    let (found, _) = answer(long_caller(&[290]), SearchRequest { max_tokens: 3_000, ..ask("what calls open") }).await;
    let first = &found.found[0];
    assert!(first.hit.chunk.text.contains("open(290);"), "{first:?}");
    assert!(first.hit.chunk.span.start > 201 && first.num_lines_cut == 0, "{:?}", sites(&found));
    let starts_with = format!("    let value_{0} = {0};\n", first.hit.chunk.span.start);
    assert!(first.hit.chunk.text.starts_with(&starts_with), "{first:?}");
}

#[tokio::test]
async fn all_calls_of_a_caller_are_shown() {
    let request = || SearchRequest { max_tokens: 100_000, ..ask("what calls open") };
    let (found, _) = answer(long_caller(&[210, 250, 298]), request()).await;
    assert_eq!(sites(&found), ["201-300 CALLS open (src/open.rs) at lines 210, 250 and 298, 100 %"]);
    let (found, _) = answer(long_caller(&[50, 250, 260]), request()).await;
    let expect = [
        "1-100 CALLS open (src/open.rs) at line 50, 100 %",
        "201-300 CALLS open (src/open.rs) at lines 250 and 260, 100 %",
    ];
    assert_eq!(sites(&found), expect);
    let note = "The first 2 results show the callers of `open` in the graph; all other results are found by words.";
    assert_eq!(found.notes, [note]);
}

#[tokio::test]
async fn all_callers_in_one_chunk_are_shown() {
    let text = "fn open() {}\nfn first() { open() }\nfn second() { open() }\nfn third() { first() }\n";
    let mut content = FakeContent::new("small", "c1").file("src/small.rs", "rust", text);
    for (line, name) in (1..).zip(["open", "first", "second", "third"]) {
        content = content.symbol("src/small.rs", name, SymbolKind::Function, (line, line));
    }
    let content = content
        .divided("src/small.rs", &[(1, 4)])
        .edge("first", EdgeKind::Calls, "open", 2, 100)
        .edge("second", EdgeKind::Calls, "open", 3, 70)
        .edge("third", EdgeKind::Calls, "first", 4, 100);
    let (found, _) = answer(content, ask("what calls open")).await;
    let expect = "1-4 CALLS open (src/small.rs) at line 2, 100 %; CALLS open (src/small.rs) at line 3, 70 %";
    assert_eq!(sites(&found), [expect]);
}

/// A caller of several definitions belongs to the first of these definitions, even if the call to another
/// definition has a higher confidence.
#[tokio::test]
async fn caller_of_several_definitions_belongs_to_the_first() {
    let mut content = FakeContent::new("runs", "c1");
    for class in ["A", "B"] {
        let path = format!("src/{}.py", class.to_lowercase());
        content = content.file(&path, "python", &format!("class {class}:\n    def run(self):\n        return 1\n"));
        content = content.symbol(&path, &format!("{class}.run"), SymbolKind::Method, (2, 3));
    }
    for name in ["both", "first", "second"] {
        let (path, text) = (format!("src/{name}.py"), format!("def {name}(a, b):\n    a.run()\n    b.run()\n"));
        content = content.file(&path, "python", &text).symbol(&path, name, SymbolKind::Function, (1, 3));
    }
    let content = content
        .edge("first", EdgeKind::Calls, "A.run", 2, 90)
        .edge("second", EdgeKind::Calls, "B.run", 3, 100)
        .edge("both", EdgeKind::Calls, "A.run", 2, 80)
        .edge("both", EdgeKind::Calls, "B.run", 3, 95);
    let (found, _) = answer(content, ask("what calls run")).await;
    let related: Vec<String> = shown(&found).into_iter().filter(|line| line.contains(" via ")).collect();
    assert_eq!(
        related,
        [
            "first via CALLS A.run (src/a.py) at line 2, 90 %",
            "both via CALLS A.run (src/a.py) at line 2, 80 %; CALLS B.run (src/b.py) at line 3, 95 %",
            "second via CALLS B.run (src/b.py) at line 3, 100 %",
        ]
    );
}

/// If an answer is about a different name than the requested name, the answer says so, even if the requested
/// name is a phrase.
#[tokio::test]
async fn answer_about_a_different_name_states_this() {
    let content = || {
        FakeContent::new("tokens", "c1")
            .file("src/a.rs", "rust", "fn validate_token() {\n}\nfn handle() {\n}\n")
            .symbol("src/a.rs", "validate_token", SymbolKind::Function, (1, 2))
            .symbol("src/a.rs", "handle", SymbolKind::Function, (3, 4))
            .edge("handle", EdgeKind::Calls, "validate_token", 3, 100)
    };
    for question in ["what calls the validate token function", "what calls validateTokn", "who calls validateToken"] {
        let (found, _) = answer(content(), ask(question)).await;
        assert!(shown(&found)[0].starts_with("handle via CALLS validate_token"), "{question}: {:?}", shown(&found));
        let used: Vec<&str> =
            found.names.iter().filter_map(|note| Some(note.substitution.as_ref()?.used.as_str())).collect();
        assert_eq!(used, ["validate_token"], "{question}");
    }
    let (found, _) = answer(content(), ask("who calls the purple zebra cookies")).await;
    assert_eq!(found.names.len(), 1, "an absent phrase is reported");
}

/// The name of an existing file is not reported as an absent symbol.
#[tokio::test]
async fn relation_of_a_file_needs_no_symbol() {
    let content = FakeContent::new("files", "c1")
        .file("config.json", "json", "{}\n")
        .file("src/load.ts", "typescript", "import config from './config.json'\n")
        .edge("src/load.ts", EdgeKind::Imports, "config.json", 1, 100);
    let (found, _) = answer(content, ask("what imports config.json")).await;
    assert_eq!(shown(&found)[0], "src/load.ts via IMPORTS config.json (config.json) at line 1, 100 %");
    assert_eq!((found.names.len(), other_notes(&found)), (0, vec![]), "{:?}", found.names);
}

/// The notes of an answer without the note that states which results show the edges.
fn other_notes(found: &SearchAnswer) -> Vec<&str> {
    let notes = found.notes.iter().map(Message::as_str);
    notes.filter(|note| !note.starts_with("The first result")).collect()
}

/// A repository with a Python package, a TypeScript index, dependencies on packages, and a module whose name
/// is configured.
fn places() -> FakeContent {
    FakeContent::new("places", "c1")
        .file("app/auth/__init__.py", "python", "def login():\n    pass\n")
        .file("app/auth/session.py", "python", "from app.auth import login\n")
        .file("app/web.py", "python", "import json\nfrom app.auth import login\nimport redis\n")
        .file("app/names.py", "python", "auth = 1\n")
        .file("web/ui/index.ts", "typescript", "export const a = 1\n")
        .file("web/page.ts", "typescript", "import { a } from './ui'\nimport { b } from '@acme/ui'\n")
        .symbol("app/names.py", "auth", SymbolKind::Variable, (1, 1))
        .package("pypi", "redis")
        .package("npm", "@acme/ui")
        .edge("app/web.py", EdgeKind::Imports, "app/auth/__init__.py", 2, 100)
        .edge("app/auth/session.py", EdgeKind::Imports, "app/auth/__init__.py", 1, 100)
        .edge("app/web.py", EdgeKind::Imports, "pypi:redis", 3, 100)
        .edge("web/page.ts", EdgeKind::Imports, "web/ui/index.ts", 1, 100)
        .edge("web/page.ts", EdgeKind::Imports, "npm:@acme/ui", 2, 100)
        .module("accounts", &["app/auth/__init__.py", "app/auth/session.py"])
}

/// A question may name a module, a directory or a package instead of a definition.
#[tokio::test]
async fn importers_of_modules_directories_and_packages_are_found() {
    let content = places;
    let check = async |question: &str, expect: &str, notes: &[&str]| {
        let (found, _) = answer(content(), ask(question)).await;
        assert_eq!(found.query.query_type, QueryType::Relationship, "{question}");
        let related: Vec<String> = shown(&found).into_iter().filter(|line| line.contains(" via ")).collect();
        assert_eq!(related, [expect], "{question}: {:?}", found.notes);
        assert_eq!(other_notes(&found), notes, "{question}");
        assert!(found.names.is_empty(), "{question}: {:?}", found.names);
    };
    let of_auth = "app/web.py via IMPORTS __init__.py (app/auth/__init__.py) at line 2, 100 %";
    check("who imports auth module", of_auth, &[]).await;
    check("what imports app.auth", of_auth, &[]).await;
    check("who imports the app/auth directory", of_auth, &[]).await;
    check("code that uses the auth package", of_auth, &[]).await;
    let of_redis = "app/web.py via IMPORTS pypi:redis at line 3, 100 %";
    check("code that uses redis", of_redis, &[]).await;
    check("what imports redis", of_redis, &[]).await;
    check("who imports @acme/ui", "web/page.ts via IMPORTS npm:@acme/ui at line 2, 100 %", &[]).await;
    let of_ui = "web/page.ts via IMPORTS index.ts (web/ui/index.ts) at line 1, 100 %";
    check("what imports web/ui", of_ui, &[]).await;
    let (found, _) = answer(content(), ask("who imports the auht module")).await;
    assert_eq!(found.notes, ["No module is called \"auht\"."]);
    assert_eq!(found.names.len(), 0);
    let read_as = "\"acme\" is read as the package «npm:@acme/ui».";
    check("what imports the acme package", "web/page.ts via IMPORTS npm:@acme/ui at line 2, 100 %", &[read_as]).await;
}

/// Returns the edges of `name` in the relation `mode`, each as `SITE of ABOUT`. If a different name was used
/// instead of `name`, also returns that name.
async fn dependents(name: &str, mode: AnalyzedRelation) -> (Vec<String>, Option<(String, NameMatching)>) {
    let (_, searcher) = searcher_over(vec![places()]).await;
    let answer =
        searcher.relationship(&relations_of(name, mode)).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    assert!(answer.is_exact, "{name}");
    assert_eq!(answer.num_edges, answer.edges.len() as u64, "{name}");
    let edge = |edge: &cairn_search::GraphEdge| {
        let (path, line) = edge.site.clone()?;
        Some(format!("{path}:{line} of {}", answer.about[edge.about].1.qualified_name))
    };
    let used = answer.substitution.map(|used| (used.used, used.matching));
    (answer.edges.iter().filter_map(edge).collect(), used)
}

/// `analyze_relationship` resolves names in the same way as questions do.
#[tokio::test]
async fn analysis_accepts_modules_directories_and_packages() {
    let check = async |name: &str, expect: &[&str], used: Option<(&str, NameMatching)>| {
        let used = used.map(|(used, matching)| (used.to_owned(), matching));
        assert_eq!(dependents(name, AnalyzedRelation::Dependents).await, (strings(expect), used), "{name}");
    };
    let of_auth = "app/web.py:2 of app/auth/__init__.py";
    check("app/auth", &[of_auth], Some(("app/auth/", NameMatching::Directory))).await;
    check("app/auth/", &[of_auth], Some(("app/auth/", NameMatching::Directory))).await;
    check("app.auth", &[of_auth], Some(("app/auth/", NameMatching::Directory))).await;
    check("accounts", &[of_auth], Some(("accounts", NameMatching::Module))).await;
    check("redis", &["app/web.py:3 of pypi:redis"], None).await;
    check("@acme/ui", &["web/page.ts:2 of npm:@acme/ui"], None).await;
    check("npm:@acme/ui", &["web/page.ts:2 of npm:@acme/ui"], None).await;
    check("acme", &["web/page.ts:2 of npm:@acme/ui"], Some(("npm:@acme/ui", NameMatching::Package))).await;
    // A definition with exactly this name comes first.
    check("auth", &[], None).await;
    let (edges, _) = dependents("app", AnalyzedRelation::Dependencies).await;
    assert_eq!(edges, ["app/web.py:3 of app/web.py"], "edges within the directory are not shown");
}

/// An edge to a definition in a file of the directory is an edge within the directory.
#[tokio::test]
async fn edges_to_definitions_within_the_directory_are_not_shown() {
    let content = || {
        FakeContent::new("app", "c1")
            .file("auth/auth.py", "python", "from auth.session import start\n")
            .file("auth/session.py", "python", "from db.cache import put\ndef start():\n    put()\n")
            .file("db/cache.py", "python", "def put():\n    pass\n")
            .symbol("auth/session.py", "start", SymbolKind::Function, (2, 3))
            .symbol("db/cache.py", "put", SymbolKind::Function, (1, 2))
            .edge("auth/auth.py", EdgeKind::Imports, "start", 1, 95)
            .edge("auth/session.py", EdgeKind::Imports, "put", 1, 95)
    };
    let (found, _) = answer(content(), ask("imports of auth/")).await;
    let related: Vec<String> = shown(&found).into_iter().filter(|line| line.contains(" via ")).collect();
    assert_eq!(related, ["put via session.py (auth/session.py) IMPORTS this at line 1, 95 %"]);
    let (_, searcher) = searcher_over(vec![content()]).await;
    let request = relations_of("auth/", AnalyzedRelation::Dependencies);
    let answer = searcher.relationship(&request).await.expect("an answer");
    let others: Vec<&str> = answer.edges.iter().map(|edge| edge.other.qualified_name.as_str()).collect();
    assert_eq!((others, answer.num_edges), (vec!["put"], 1));
}

/// If the repositories have more packages than one traversal returns, a package is found by its exact name,
/// and the answer does not claim that other packages are absent.
#[tokio::test]
async fn packages_beyond_the_limit_are_found_by_their_names() {
    let packages = (0..5).fold(places(), |content, number| content.package("pypi", &format!("other-{number}")));
    let (counted, searcher) = searcher_over(vec![packages]).await;
    counted.limit_nodes(2);
    let relation = |name: &str| relations_of(name, AnalyzedRelation::Dependents);
    for name in ["redis", "pypi:redis", "@acme/ui"] {
        let answer = searcher.relationship(&relation(name)).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(!answer.edges.is_empty() && answer.substitution.is_none(), "{name}: {:?}", answer.substitution);
    }
    let note = "The repositories depend on more packages than can be compared with the name";
    let error = searcher.relationship(&relation("zorblatt")).await.expect_err("is absent");
    assert!(error.hint.as_ref().is_some_and(|hint| hint.contains(note)), "{error:?}");
    let found = searcher.search(&ask("who imports the zorblatt package")).await.expect("an answer");
    assert!(found.notes.iter().any(|sentence| sentence.starts_with(note)), "{:?}", found.notes);
    counted.limit_nodes(usize::MAX);
    let error = searcher.relationship(&relation("zorblatt")).await.expect_err("is absent");
    assert!(error.hint.is_none_or(|hint| !hint.contains(note)));
}

/// A file whose path differs from the requested name has a label, as in `read_code`.
#[tokio::test]
async fn file_with_another_path_is_labelled() {
    let content = || {
        FakeContent::new("files", "c1")
            .file("src/auth.py", "python", "def login():\n    pass\n")
            .file("src/auth/session.py", "python", "from src.auth import login\n")
            .file("lib/auth.ts", "typescript", "export const a = 1\n")
    };
    let used = async |name: &str| {
        let (_, searcher) = searcher_over(vec![content()]).await;
        let request = relations_of(name, AnalyzedRelation::Dependents);
        let answer = searcher.relationship(&request).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        answer.substitution.map(|label| (label.used, label.matching, label.similar))
    };
    let label = |used: &str, similar: &[&str]| Some((used.to_owned(), NameMatching::File, strings(similar)));
    assert_eq!(used("auth.session").await, label("src/auth/session.py", &[]));
    assert_eq!(used("session").await, label("src/auth/session.py", &[]));
    assert_eq!(used("src/auth.py").await, None);
    let (first, matching, others) = used("auth").await.expect("a label");
    assert_eq!(matching, NameMatching::File);
    let mut paths = [vec![first], others].concat();
    paths.sort();
    assert_eq!(paths, ["lib/auth.ts", "src/auth.py"]);
}

/// The functions that use the name of a package come before the import statement.
#[tokio::test]
async fn users_of_a_package_are_functions_that_name_it() {
    let text = "import redis\n\ndef connect():\n    return redis.Redis()\n\ndef other():\n    return 1\n";
    let content = FakeContent::new("packages", "c1")
        .file("app/store.py", "python", text)
        .symbol("app/store.py", "imports", SymbolKind::Module, (1, 2))
        .symbol("app/store.py", "connect", SymbolKind::Function, (3, 4))
        .symbol("app/store.py", "other", SymbolKind::Function, (6, 7))
        .package("pypi", "redis")
        .edge("app/store.py", EdgeKind::Imports, "pypi:redis", 1, 100);
    let (found, _) = answer(content, ask("functions that use redis")).await;
    assert_eq!(shown(&found)[0], "connect via IMPORTS pypi:redis at line 1, 100 %", "{:?}", found.notes);
    assert!(!shown(&found).iter().any(|line| line.starts_with("other via")), "{:?}", shown(&found));
}

/// The answer to "does A call B" is about the edge to B.
#[tokio::test]
async fn second_name_of_a_relation_comes_first() {
    let content = || {
        let mut content = FakeContent::new("pair", "c1");
        for name in ["login", "zip_hash", "audit", "close_all", "open_all", "both_ways"] {
            let path = format!("src/{name}.rs");
            let text = format!("fn {name}() {{\n    work()\n}}\n");
            content = content.file(&path, "rust", &text).symbol(&path, name, SymbolKind::Function, (1, 3));
        }
        content
            .edge("login", EdgeKind::Calls, "audit", 2, 100)
            .edge("login", EdgeKind::Calls, "zip_hash", 2, 50)
            .edge("audit", EdgeKind::Calls, "open_all", 2, 100)
            .edge("both_ways", EdgeKind::Calls, "open_all", 2, 40)
            .edge("both_ways", EdgeKind::Calls, "close_all", 2, 40)
    };
    let first = async |question: &str| {
        let (found, _) = answer(content(), ask(question)).await;
        assert_eq!(found.query.query_type, QueryType::Relationship, "{question}");
        (shown(&found)[0].clone(), found.notes)
    };
    let (found, notes) = first("does login call zip_hash").await;
    assert!(found.starts_with("zip_hash via login"), "{found}");
    assert_eq!(notes, [""; 0]);
    let (_, notes) = first("does login call close_all").await;
    assert_eq!(notes, ["`close_all` is not among the callees of `login` in the graph."]);
    let (found, notes) = first("functions that call both open_all and close_all").await;
    assert!(found.starts_with("both_ways via CALLS open_all"), "{found} {notes:?}");
    let (_, notes) = first("functions that call both audit and close_all").await;
    let expect = "The graph contains nothing that is among both the callers of `audit` and the callers of `close_all`.";
    assert_eq!(notes.last().map(|note| note.as_str()), Some(expect));
}

/// The graph has edges between types. If two connected types have methods with the same name, one method
/// overrides the other.
#[tokio::test]
async fn overrides_are_methods_of_related_types() {
    let content = || {
        let mut content = FakeContent::new("types", "c1");
        for class in ["Base", "Near", "Far", "Other"] {
            let path = format!("src/{}.py", class.to_lowercase());
            let text = format!("class {class}:\n    x = 1\n\n    def run(self):\n        return {class}\n");
            content = content.file(&path, "python", &text).symbol(&path, class, SymbolKind::Class, (1, 2)).symbol(
                &path,
                &format!("{class}.run"),
                SymbolKind::Method,
                (4, 5),
            );
        }
        content.edge("Near", EdgeKind::Extends, "Base", 1, 100).edge("Far", EdgeKind::Extends, "Near", 1, 100)
    };
    let check = async |question: &str, expect: &[&str]| {
        let (found, _) = answer(content(), ask(question)).await;
        let related: Vec<String> = shown(&found).into_iter().filter(|line| line.contains(" via ")).collect();
        assert_eq!(related, expect, "{question}: {:?}", found.query.relationship);
    };
    let (near, far) = ("Near.run via EXTENDS Base (src/base.py)", "Far.run via EXTENDS Near (src/near.py)");
    let (near, far) = (format!("{near} at line 1, 100 %"), format!("{far} at line 1, 100 %"));
    check("what overrides Base.run", &[&near, &far]).await;
    check("what does Near.run override", &["Base.run via Near (src/near.py) EXTENDS this at line 1, 100 %"]).await;
    check("overrides of Other.run", &[]).await;
}

/// A Go interface with two methods, one of which it embeds, and types that have some of these methods.
fn go_stores() -> FakeContent {
    let mut content = FakeContent::new("stores", "c1")
        .file(
            "store/store.go",
            "go",
            "type Closer interface {\n\tClose()\n}\ntype Store interface {\n\tCloser\n\tGet()\n}\n",
        )
        .symbol("store/store.go", "Closer", SymbolKind::Interface, (1, 3))
        .symbol("store/store.go", "Closer.Close", SymbolKind::Method, (2, 2))
        .symbol("store/store.go", "Store", SymbolKind::Interface, (4, 7))
        .symbol("store/store.go", "Store.Get", SymbolKind::Method, (6, 6))
        .divided("store/store.go", &[(1, 3), (4, 7)])
        .edge("Closer", EdgeKind::Defines, "Closer.Close", 2, 99)
        .edge("Store", EdgeKind::Defines, "Store.Get", 6, 99)
        .edge("Store", EdgeKind::Extends, "Closer", 5, 99);
    for (path, name, methods) in [
        ("disk/disk.go", "Disk", ["Get", "Close"].as_slice()),
        ("cache/cache_test.go", "memory", &["Close", "Get", "Put"]),
        ("cache/reader.go", "Reader", &["Get"]),
        ("cache/file.go", "File", &["Close"]),
        ("scripts/store.py", "PythonStore", &["Get", "Close"]),
        ("api/full.go", "FullStore", &["Get", "Close"]),
    ] {
        let language = if path.ends_with(".go") { "go" } else { "python" };
        let method = |method: &&str| format!("func (s *{name}) {method}() {{}}\n");
        let text = format!("type {name} struct {{\n}}\n") + &methods.iter().map(method).collect::<String>();
        let kind = if name == "FullStore" { SymbolKind::Interface } else { SymbolKind::Struct };
        content = content.file(path, language, &text).symbol(path, name, kind, (1, 2));
        for (line, method) in (3..).zip(methods) {
            content = content.symbol(path, &format!("{name}.{method}"), SymbolKind::Method, (line, line));
        }
    }
    // The methods of a type may be in another file than the type.
    content
        .file("cloud/types.go", "go", "type Cloud struct {\n}\n")
        .file("cloud/get.go", "go", "func (c Cloud) Get() {}\n")
        .file("cloud/close.go", "go", "func (c Cloud) Close() {}\n")
        .symbol("cloud/types.go", "Cloud", SymbolKind::Struct, (1, 2))
        .symbol("cloud/get.go", "Cloud.Get", SymbolKind::Method, (1, 1))
        .symbol("cloud/close.go", "Cloud.Close", SymbolKind::Method, (1, 1))
}

/// Go types do not name the interfaces that they implement, so the names of their methods are compared.
#[tokio::test]
async fn go_types_with_all_methods_of_an_interface_implement_it() {
    let check = async |question: &str, expect: &[&str], note: &str| {
        let (found, _) = answer(go_stores(), ask(question)).await;
        let mut related: Vec<String> = shown(&found).into_iter().filter(|line| line.contains(" via ")).collect();
        related.sort();
        assert_eq!(related, expect, "{question}: {:?}", found.query.relationship);
        assert_eq!(found.notes.last().map(|note| note.as_str()), Some(note), "{question}");
    };
    let of_store =
        ["Cloud", "Disk", "memory"].map(|name| format!("{name} via IMPLEMENTS Store (store/store.go) at line 1, 80 %"));
    let of_store = of_store.each_ref().map(String::as_str);
    let note = "Go code does not state which types implement an interface: 3 types have methods with the names of \
                all methods of `Store`. The signatures are not compared, nor the methods of embedded types.";
    for question in ["what implements Store", "types that implement Store", "implementations of Store"] {
        check(question, &of_store, note).await;
    }
    // The edges of the graph remain in the answer.
    let (found, _) = answer(go_stores(), ask("what implements Closer")).await;
    let related = shown(&found);
    assert!(related[0].starts_with("Store via EXTENDS Closer (store/store.go) at line 5, 99 %"), "{related:?}");
    let inferred = related.iter().filter(|line| line.contains("IMPLEMENTS Closer"));
    assert_eq!(inferred.count(), 4, "{related:?}");
    let (found, _) = answer(go_stores(), ask("what implements Reader")).await;
    assert_eq!(found.notes, ["The graph contains no subtypes of `Reader`; the results are found by words."]);
}

/// Methods have no subtypes, so the name of a method is not used instead of an absent type.
#[tokio::test]
async fn subtypes_of_an_absent_type_are_not_those_of_a_method() {
    let content = || {
        FakeContent::new("errors", "c1")
            .file("src/job.rs", "rust", "fn isException() {}\nfn check() { isException() }\n")
            .symbol("src/job.rs", "isException", SymbolKind::Function, (1, 1))
            .symbol("src/job.rs", "check", SymbolKind::Function, (2, 2))
            .edge("check", EdgeKind::Calls, "isException", 2, 100)
    };
    let (found, _) = answer(content(), ask("callers of isExceptions")).await;
    assert!(
        found.names.iter().any(|name| name.substitution.as_ref().is_some_and(|used| used.used == "isException")),
        "{:?}",
        found.names
    );
    let (found, _) = answer(content(), ask("subclasses of isExceptions")).await;
    assert!(found.names.iter().all(|name| name.substitution.is_none()), "{:?}", found.names);
}

/// The search for Go types reads the members of the interface once and looks up each method once. One call
/// looks up the types in the files of their methods, and one more call looks up `Cloud`, which is defined in
/// another file. Other languages need no further calls.
#[tokio::test]
async fn search_for_go_implementers_is_bounded() {
    let calls = async |question: &str| {
        let (_, calls) = answer(go_stores(), ask(question)).await;
        ["GraphTraversal::traverse", "Names::symbols", "Names::symbols_of"]
            .map(|call| calls.iter().find(|(known, _)| *known == call).map_or(0, |(_, num)| *num))
    };
    assert_eq!(calls("implementations of Store").await, [2, 3, 1]);
    assert_eq!(calls("implementations of PythonStore").await, [1, 1, 0]);
}

/// Go code does not state which interfaces a type implements, so the names of the methods are compared.
#[tokio::test]
async fn go_type_implements_the_second_name() {
    let content = || {
        FakeContent::new("queue", "c1")
            .file("broker.go", "go", "type Broker interface {\n\tEnqueue()\n}\n")
            .file("redis.go", "go", "type RedisStore struct {\n}\nfunc (r *RedisStore) Enqueue() {\n}\n")
            .file("memory.go", "go", "type MemoryStore struct {\n}\n")
            .symbol("broker.go", "Broker", SymbolKind::Interface, (1, 3))
            .symbol("broker.go", "Broker.Enqueue", SymbolKind::Method, (2, 2))
            .symbol("redis.go", "RedisStore", SymbolKind::Struct, (1, 2))
            .symbol("redis.go", "RedisStore.Enqueue", SymbolKind::Method, (3, 4))
            .symbol("memory.go", "MemoryStore", SymbolKind::Struct, (1, 2))
            .edge("Broker", EdgeKind::Defines, "Broker.Enqueue", 2, 100)
    };
    let (found, _) = answer(content(), ask("does RedisStore implement Broker")).await;
    assert!(found.notes[0].starts_with("`RedisStore` has methods with the names of all methods of `Broker`."));
    assert!(shown(&found)[0].contains("via IMPLEMENTS Broker"), "{:?}", shown(&found));
    let (found, _) = answer(content(), ask("does MemoryStore implement Broker")).await;
    assert_eq!(found.notes[0], "`Broker` is not among the supertypes of `MemoryStore` in the graph.");
}
