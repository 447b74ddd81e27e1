//! Checks that reading, relationships and searches find the same file, directory or module for a name.

use cairn_domain::SymbolKind;
use cairn_ports::ChunkFilter;
use cairn_search::{CodeRequest, NameMatching, Relation, SearchAnswer, SearchRequest, Searcher, Target, TargetType};
use cairn_testkit::FakeContent;

use crate::{relations_of, request, searcher_over};

/// A repository with modules, documents, and symbols whose names are near to their names.
fn app() -> FakeContent {
    FakeContent::new("app", "c1")
        .file("aiocoap/cli/client.py", "python", "def run():\n    pass\n")
        .file("aiocoap/protocol.py", "python", "def send():\n    pass\n")
        .file("aiocoap/blockwise.py", "python", "class BlockwiseRequest:\n    protocol = 1\n")
        .file("internal/testutil/testutil.go", "go", "package testutil\n")
        .file("store/pages/list.ts", "typescript", "export const listed = 1\n")
        .file("README.md", "markdown", "# Readme\n")
        .file("CHANGELOG", "text", "2.0\n")
        .file("docs/CODE_OF_CONDUCT.md", "markdown", "# Conduct\n")
        .file("docs/adr/0001.md", "markdown", "# One\n")
        .file("ui/Handlers/open.ts", "typescript", "export const opened = 1\n")
        .symbol("aiocoap/blockwise.py", "BlockwiseRequest.protocol", SymbolKind::Field, (2, 2))
        .symbol("aiocoap/cli/client.py", "run", SymbolKind::Function, (1, 2))
        .file("ui/open-page.js", "javascript", "export default function () {}\n")
        .symbol("ui/open-page.js", "default", SymbolKind::Function, (1, 1))
        .symbol("ui/Handlers/open.ts", "opened", SymbolKind::Variable, (1, 1))
        .module("store.front", &["store/pages/list.ts"])
}

async fn searcher(content: FakeContent) -> Searcher {
    searcher_over(vec![content]).await.1
}

fn with_files(paths: &[&str]) -> FakeContent {
    paths.iter().fold(FakeContent::new("app", "c1"), |content, path| content.file(path, "text", "a = 1\n"))
}

fn read_request() -> CodeRequest {
    CodeRequest { repository: None, path: None, symbol: None, context_path: None, lines: None, max_tokens: 1_000 }
}

async fn read(searcher: &Searcher, target: &str) -> (String, Option<NameMatching>) {
    let code =
        searcher.read_target(target, &read_request()).await.unwrap_or_else(|error| panic!("{target}: {error:?}"));
    let path = if code.language == "directory" { format!("{}/", code.path) } else { code.path.to_string() };
    (path, code.substitution.map(|used| used.matching))
}

/// The name that is used instead of the target, the reason, and the other names.
async fn used_for_relations(searcher: &Searcher, name: &str) -> (String, String, Vec<String>) {
    let request = relations_of(name, Relation::Dependents);
    let answer = searcher.relationship(&request).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let used = answer.substitution.unwrap_or_else(|| panic!("{name} has no label"));
    (used.used, used.reason, used.similar)
}

async fn search(searcher: &Searcher, query: &str) -> SearchAnswer {
    let target = Target::default();
    let request = SearchRequest { target, ..request(query, &[], ChunkFilter::default()) };
    searcher.search(&request).await.unwrap_or_else(|error| panic!("{query}: {error:?}"))
}

#[tokio::test]
async fn reading_and_relationships_find_the_same_place() {
    let searcher = searcher(app()).await;
    for (name, expect) in [
        ("aiocoap.cli", "aiocoap/cli/"),
        ("aiocoap::cli", "aiocoap/cli/"),
        ("aiocoap.protocol", "aiocoap/protocol.py"),
        ("cli", "aiocoap/cli/"),
        ("handlers", "ui/Handlers/"),
        // A file is preferred to the directory with the same name.
        ("testutil", "internal/testutil/testutil.go"),
        ("readme", "README.md"),
        ("Changelog", "CHANGELOG"),
        ("code of conduct", "docs/CODE_OF_CONDUCT.md"),
        ("code-of-conduct", "docs/CODE_OF_CONDUCT.md"),
    ] {
        assert_eq!(read(&searcher, name).await, (expect.to_owned(), Some(NameMatching::File)), "{name}");
        assert_eq!(used_for_relations(&searcher, name).await.0, expect, "{name}");
    }
    let of_module = read(&searcher, "store.front").await.0;
    assert_eq!(
        (of_module.as_str(), used_for_relations(&searcher, "store.front").await.0.as_str()),
        ("store/pages/", "store.front")
    );
    // A symbol with exactly the name, or the default export of a file with the name, comes first.
    assert_eq!(
        read(&searcher, "open_page").await,
        ("ui/open-page.js".to_owned(), Some(NameMatching::Fuzzy)),
        "the default export"
    );
    assert_eq!(read(&searcher, "run").await, ("aiocoap/cli/client.py".to_owned(), None));
}

/// A module that exists is not answered with a symbol with a similar name.
#[tokio::test]
async fn search_for_a_module_finds_no_similar_symbol() {
    let searcher = searcher(app()).await;
    for (question, expect) in [("aiocoap.protocol", "aiocoap/protocol.py"), ("aiocoap.cli", "aiocoap/cli")] {
        let answer = search(&searcher, question).await;
        let paths: Vec<&str> = answer.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!((paths, answer.names.len()), (vec![expect], 0), "{question}: {:?}", answer.names);
    }
    let answer = search(&searcher, "how does aiocoap.protocol send").await;
    assert_eq!(answer.names, [], "the module is no unknown name");
}

#[tokio::test]
async fn search_for_one_word_shows_files_and_directories() {
    let searcher = searcher(app()).await;
    let check = async |question: &str, expect: &[&str]| {
        let answer = search(&searcher, question).await;
        let found: Vec<&str> = answer.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(found, expect, "{question}");
    };
    check("adr", &["docs/adr"]).await;
    check("find handlers", &["ui/Handlers"]).await;
    check("Handlers", &["ui/Handlers"]).await;
    check("testutil", &["internal/testutil/testutil.go", "internal/testutil"]).await;
    // These questions are about a symbol or a topic.
    check("run", &[]).await;
    check("how do handlers open", &[]).await;
    let kinds = ChunkFilter { kinds: vec![cairn_domain::ChunkKind::Function], ..ChunkFilter::default() };
    let answer = searcher.search(&request("adr", &[], kinds)).await.expect("an answer");
    assert!(answer.files.is_empty(), "{:?}", answer.files);
}

/// A directory whose path is equal to the name is the only directory that is used. Each file is used once.
#[tokio::test]
async fn files_of_a_directory_are_counted_once() {
    let check = async |paths: &[&str], name: &str, expect: (&str, &str, &[&str])| {
        let searcher = searcher(with_files(paths)).await;
        let (used, reason, others) = used_for_relations(&searcher, name).await;
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        assert_eq!((used.as_str(), reason.as_str(), others.as_slice()), expect, "{name} {paths:?}");
    };
    let nested = ["fisio/setup.py", "fisio/fisio/a.py", "fisio/fisio/b.py"];
    check(&nested, "fisio", ("fisio/", "all 3 files in it", &[])).await;
    check(&nested, "fisio/fisio", ("fisio/fisio/", "all 2 files in it", &[])).await;
    let below = nested.map(|path| format!("lib/{path}"));
    check(&below.each_ref().map(String::as_str), "fisio", ("lib/fisio/", "all 3 files in it", &[])).await;
    check(&["docs/a.py", "other/docs/guide.py"], "docs", ("docs/", "all 1 files in it", &[])).await;
    let two = ["app/docs/a.py", "other/docs/guide.py"];
    check(&two, "docs", ("app/docs/", "all 2 files in the 2 directories with this name", &["other/docs/"])).await;
}

/// If several files have the requested base name, the file whose directories are nearest to the requested
/// path is suggested first.
#[tokio::test]
async fn file_in_the_most_similar_directory_is_suggested_first() {
    let paths = ["a/fmt.ts", "src/a/fmt.ts", "src/b/fmt.ts", "src/c/fmt.ts", "src/d/fmt.ts", "src/e/fmt.ts"];
    let searcher = searcher(with_files(&paths)).await;
    let check = async |path: &str, expect: &str| {
        let read = CodeRequest { path: Some(path.to_owned()), ..read_request() };
        let absent = [
            searcher.read_code(&read).await.expect_err(path),
            searcher.read_target(path, &read_request()).await.expect_err(path),
            searcher.why("app", path).await.expect_err(path),
        ];
        for error in absent {
            assert_eq!(error.similar_files.first().map(String::as_str), Some(expect), "{path}: {error:?}");
            assert_eq!(error.similar_files.len(), 5, "{path}: {error:?}");
        }
    };
    check("/somewhere/else/src/b/fmt.ts", "src/b/fmt.ts").await;
    check("/somewhere/SRC/E/fmt.ts", "src/e/fmt.ts").await;
    check("else/b/fmtt.ts", "src/b/fmt.ts").await;
}

/// The name of a file without an extension may be misspelled.
#[tokio::test]
async fn misspelled_name_without_an_extension_has_similar_files() {
    let searcher = searcher(with_files(&["Makefile", "LICENSE", "docs/CONTRIBUTING.md", "src/clients.py"])).await;
    let check = async |name: &str, expect: &[&str]| {
        let error = searcher.read_target(name, &read_request()).await.expect_err(name);
        assert_eq!(error.similar_files, expect, "{name}: {error:?}");
        let calls: Vec<&str> =
            error.next_calls.iter().flat_map(|call| &call.arguments).map(|(_, value)| value.as_str()).collect();
        assert!(error.next_calls.len() <= 2 && expect.iter().all(|path| calls.contains(path)), "{name}: {error:?}");
    };
    check("Makefil", &["Makefile"]).await;
    check("mkefile", &["Makefile"]).await;
    check("licence", &["LICENSE"]).await;
    check("contributin", &["docs/CONTRIBUTING.md"]).await;
    check("contrib", &[]).await;
    check("zebra", &[]).await;
}

#[tokio::test]
async fn document_is_found_by_its_number() {
    let searcher = searcher(with_files(&["docs/ADR-025-Queues.md", "docs/ADR-026-Locks.md"])).await;
    for name in ["ADR-25", "adr025", "adr_25"] {
        let target = Target { target_type: TargetType::Filename, ..Target::default() };
        let asked = SearchRequest { target, ..request(name, &[], ChunkFilter::default()) };
        let answer = searcher.search(&asked).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let paths: Vec<&str> = answer.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["docs/ADR-025-Queues.md"], "{name}");
        let error = searcher.read_target(name, &read_request()).await.expect_err(name);
        assert_eq!(error.similar_files, ["docs/ADR-025-Queues.md"], "{name}");
    }
}
