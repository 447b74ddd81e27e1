//! Checks the answers to questions about relations: the nodes that a name means, the edges, and the notes
//! about edges that are absent or left out.

use cairn_domain::{EdgeKind, SymbolKind};
use cairn_question::QueryType;
use cairn_search::SearchRequest;
use cairn_testkit::FakeContent;

use crate::strategies::{answer, ask, service, shown};

#[tokio::test]
async fn relationship_without_edges_says_so() {
    let (found, _) = answer(service(), ask("what calls logout")).await;
    let note = "The graph contains no callers of `logout`; the results are found by words.";
    assert_eq!(found.notes, [note]);
    let (found, _) = answer(service(), ask("what calls authenticate")).await;
    assert_eq!(found.notes, [""; 0]);
}

#[tokio::test]
async fn relationship_with_many_edges_says_how_many() {
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
                `analyze_relationship` with `target: \"open\"`, `mode: \"callers\"`, `limit: 300`.";
    assert_eq!(found.notes, [note]);
    assert_eq!(found.found.iter().filter(|found| found.hit.via.is_some()).count(), 60);
}

/// An answer about another name than the requested name is labelled, even if the requested name is a phrase.
#[tokio::test]
async fn relation_of_another_name_is_labelled() {
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

/// A file is not an absent symbol.
#[tokio::test]
async fn relation_of_a_file_needs_no_symbol() {
    let content = FakeContent::new("files", "c1")
        .file("config.json", "json", "{}\n")
        .file("src/load.ts", "typescript", "import config from './config.json'\n")
        .edge("src/load.ts", EdgeKind::Imports, "config.json", 1, 100);
    let (found, _) = answer(content, ask("what imports config.json")).await;
    assert_eq!(shown(&found)[0], "src/load.ts via IMPORTS config.json (config.json) at line 1, 100 %");
    assert_eq!((found.names.len(), found.notes.len()), (0, 0), "{:?} {:?}", found.names, found.notes);
}

/// Questions may name modules, directories and packages in the same way as definitions.
#[tokio::test]
async fn importers_of_places_are_found() {
    let content = || {
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
    };
    let check = async |question: &str, expect: &str, notes: &[&str]| {
        let (found, _) = answer(content(), ask(question)).await;
        assert_eq!(found.query.query_type, QueryType::Relationship, "{question}");
        let related: Vec<String> = shown(&found).into_iter().filter(|line| line.contains(" via ")).collect();
        assert_eq!(related, [expect], "{question}: {:?}", found.notes);
        assert_eq!(found.notes, notes, "{question}");
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
    assert_eq!((found.notes, found.names.len()), (vec!["No module is called \"auht\".".to_owned()], 0));
    let read_as = "\"acme\" is read as the package `npm:@acme/ui`.";
    check("what imports the acme package", "web/page.ts via IMPORTS npm:@acme/ui at line 2, 100 %", &[read_as]).await;
}

/// The functions that name a package come before the import.
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
    assert_eq!(notes.last().map(String::as_str), Some(expect));
}

/// The graph has edges between types. Methods of these types with the same name override each other.
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
