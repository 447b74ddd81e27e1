//! Checks searches for files and directories, and the names of files in other questions.

use cairn_domain::{EdgeKind, NodeKind, NodeRecord, SymbolKind};
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_search::{
    CodeRequest, GraphRequest, NameMatching, QueryError, QueryErrorCode, Relation, RepositorySelection, SearchAnswer,
    SearchRequest, Searcher, Target, TargetType,
};
use cairn_testkit::FakeContent;

use crate::{request, searcher_over};

const NUM_CONFIGS: usize = 25;

/// A repository with many files of one name, documents, and definitions whose names resemble files.
fn app() -> FakeContent {
    let mut content = FakeContent::new("app", "c1")
        .file("docs/adr/ADR-025-User-Experience.md", "markdown", "# Experience\n")
        .file("docs/adr/ADR-026-Queues.md", "markdown", "# Queues\n")
        .file("docs/index.md", "markdown", "# Index\n")
        .file("ui/Button.test.tsx", "tsx", "it('renders')\n")
        .file("ui/ButtonGroup.test.tsx", "tsx", "it('groups')\n")
        .file("ui/pages/[id].tsx", "tsx", "export {}\n")
        .file("ui/pages/i.tsx", "tsx", "export {}\n")
        .file("src/date.rs", "rust", "fn rs() {}\n")
        .file("src/main.c", "c", "int json;\n")
        .file("src/main.h", "c", "int json;\n")
        .file("src/tests/date_test.rs", "rust", "fn check() {}\n")
        .file("build/makefile", "text", "all:\n")
        .symbol("src/date.rs", "rs", SymbolKind::Function, (1, 1))
        .symbol("src/main.c", "json", SymbolKind::Variable, (1, 1))
        .edge("rs", EdgeKind::Calls, "json", 1, 100);
    for number in 0..NUM_CONFIGS {
        content = content.file(&format!("conf/n{number:02}/config.json"), "json", "{}\n");
    }
    content
}

async fn searcher() -> Searcher {
    let other = FakeContent::new("other", "c2").file("lib/util.rs", "rust", "fn help() {}\n");
    searcher_over(vec![app(), other]).await.1
}

fn files(query: &str, target_type: TargetType) -> SearchRequest {
    let target = Target { target_type, ..Target::default() };
    SearchRequest { target, max_tokens: 20_000, ..request(query, &[], ChunkFilter::default()) }
}

fn paths(answer: &SearchAnswer) -> Vec<&str> {
    answer.files.iter().map(|file| file.path.as_str()).collect()
}

async fn ask(searcher: &Searcher, request: &SearchRequest) -> SearchAnswer {
    searcher.search(request).await.unwrap_or_else(|error| panic!("{}: {error:?}", request.query))
}

#[tokio::test]
async fn pages_contain_all_files() {
    let searcher = searcher().await;
    let check = async |asked: SearchRequest, num_all: usize, expect: &[usize]| {
        let (mut sizes, mut seen, mut asked) = (Vec::new(), Vec::new(), asked);
        loop {
            let answer = ask(&searcher, &asked).await;
            assert_eq!((answer.num_results, answer.offset), (num_all, seen.len()), "{}", asked.query);
            assert!(answer.files_are_results);
            sizes.push(answer.files.len());
            seen.extend(paths(&answer).into_iter().map(str::to_owned));
            let left = num_all - seen.len();
            assert_eq!(answer.next_cursor.is_some(), left > 0, "{}", asked.query);
            assert_eq!(
                format!("{:?}", answer.cut).contains(&format!("num_left: {left}")),
                left > 0,
                "{:?}",
                answer.cut
            );
            let Some(cursor) = answer.next_cursor else { break };
            asked.cursor = Some(cursor);
        }
        assert_eq!(sizes, expect, "{}", asked.query);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), num_all, "{}", asked.query);
    };
    check(files("config.json", TargetType::Filename), NUM_CONFIGS, &[10, 10, 5]).await;
    check(files("config.json", TargetType::File), NUM_CONFIGS, &[10, 10, 5]).await;
    check(files("conf/*/*", TargetType::Filename), NUM_CONFIGS, &[10, 10, 5]).await;
    check(files("conf/*", TargetType::Directory), NUM_CONFIGS, &[10, 10, 5]).await;
    check(files("conf/**/*.json", TargetType::Auto), NUM_CONFIGS, &[10, 10, 5]).await;
    let of_names = files("config.json", TargetType::Filename);
    let target = Target { filename_only: true, ..of_names.target.clone() };
    check(SearchRequest { target, ..of_names.clone() }, NUM_CONFIGS, &[10, 10, 5]).await;
    // The token limit can also end a page.
    let small = SearchRequest { max_tokens: 80, ..of_names };
    let answer = ask(&searcher, &small).await;
    assert!(!answer.files.is_empty() && answer.files.len() < 10, "{:?}", answer.files);
    let mut sizes = vec![answer.files.len(); NUM_CONFIGS / answer.files.len()];
    sizes.extend(Some(NUM_CONFIGS % answer.files.len()).filter(|rest| *rest > 0));
    check(small, NUM_CONFIGS, &sizes).await;
}

#[tokio::test]
async fn first_lines_belong_to_the_files_of_the_page() {
    let searcher = searcher().await;
    let mut asked = files("config.json", TargetType::File);
    asked.cursor = ask(&searcher, &asked).await.next_cursor;
    let second = ask(&searcher, &asked).await;
    let shown: Vec<&str> = second.found.iter().map(|found| found.hit.chunk.path.as_str()).collect();
    assert_eq!(shown, paths(&second));
    assert_eq!(shown.len(), 10);
}

#[tokio::test]
async fn files_shown_in_addition_to_results_are_counted() {
    let searcher = searcher().await;
    let answer = ask(&searcher, &files("config.json", TargetType::Auto)).await;
    assert_eq!(answer.files.len(), 5);
    let left = format!("{} more files match", NUM_CONFIGS - 5);
    assert!(answer.notes.iter().any(|note| note.starts_with(&left)), "{:?}", answer.notes);
}

#[tokio::test]
async fn wildcards_are_globs_unless_a_file_has_them() {
    let searcher = searcher().await;
    let check = async |query: &str, target_type, expect: &[&str]| {
        let answer = ask(&searcher, &files(query, target_type)).await;
        let mut found = paths(&answer);
        found.sort_unstable();
        assert_eq!(found, expect, "{query}");
    };
    use TargetType::{Auto, Directory, Filename};
    let tests = ["ui/Button.test.tsx", "ui/ButtonGroup.test.tsx"];
    check("*.test.tsx", Filename, &tests).await;
    check("*.test.{ts,tsx}", Filename, &tests).await;
    check("*.test.{ts,tsx}", Auto, &tests).await;
    check("main.[ch]", Filename, &["src/main.c", "src/main.h"]).await;
    check("find main.[ch]", Auto, &["src/main.c", "src/main.h"]).await;
    check("ui/pages/[id].tsx", Filename, &["ui/pages/[id].tsx"]).await;
    check("[id].tsx", Auto, &["ui/pages/[id].tsx"]).await;
    check("[ij].tsx", Filename, &["ui/pages/i.tsx"]).await;
    check("MAKE*", Filename, &["build/makefile"]).await;
    check("button.*.tsx", Filename, &["ui/Button.test.tsx"]).await;
    check("adr/*.md", Filename, &["docs/adr/ADR-025-User-Experience.md", "docs/adr/ADR-026-Queues.md"]).await;
    check("PAGES/i*", Auto, &["ui/pages/i.tsx"]).await;
    check("docs/*", Directory, &["docs/adr"]).await;
    check("{docs,ui}", Directory, &["docs", "ui"]).await;
    let absent = searcher.search(&files("*.zebra", Filename)).await.expect_err("no file");
    assert_eq!(absent.code, QueryErrorCode::NotFound);
}

#[tokio::test]
async fn filters_restrict_files() {
    let searcher = searcher().await;
    let check = async |query: &str, target_type, filter: ChunkFilter, expect: &[&str]| {
        let answer = ask(&searcher, &SearchRequest { filter, ..files(query, target_type) }).await;
        let mut found = paths(&answer);
        found.sort_unstable();
        assert_eq!(found, expect, "{query}");
    };
    use TargetType::{Auto, Directory, Filename};
    let everything = ChunkFilter::default;
    let language = |name: &str| ChunkFilter { languages: vec![name.to_owned()], ..everything() };
    check("**/*", Filename, language("rust"), &["lib/util.rs", "src/date.rs", "src/tests/date_test.rs"]).await;
    let tests = ChunkFilter { include_tests: IncludeTests::Exclude, ..everything() };
    check("date*", Filename, tests, &["src/date.rs"]).await;
    let only = ChunkFilter { include_tests: IncludeTests::Only, ..everything() };
    check("date*", Filename, only.clone(), &["src/tests/date_test.rs"]).await;
    check("*", Directory, only, &["src", "src/tests", "ui"]).await;
    check("*", Directory, language("c"), &["src"]).await;
    let module = ChunkFilter { module_prefixes: vec!["date".to_owned()], ..everything() };
    check("*.rs", Filename, module, &["src/date.rs"]).await;
    let path = ChunkFilter { paths: vec!["src/**".to_owned()], ..everything() };
    check("*.rs", Filename, path, &["src/date.rs", "src/tests/date_test.rs"]).await;
    check("date.rs", Auto, language("rust"), &["src/date.rs", "src/tests/date_test.rs"]).await;
    let tagged = ChunkFilter { tags: vec!["absent".to_owned()], ..everything() };
    let excluded = SearchRequest { filter: tagged, ..files("date.rs", Filename) };
    let error = searcher.search(&excluded).await.expect_err("excluded");
    assert!(error.message.contains("the filters exclude it"), "{}", error.message);
    let kinds = ChunkFilter { kinds: vec![cairn_domain::ChunkKind::Function], ..everything() };
    let answer = ask(&searcher, &SearchRequest { filter: kinds, ..files("date.rs", Filename) }).await;
    assert!(answer.notes.iter().any(|note| note.contains("Files have no kind")), "{:?}", answer.notes);
}

#[tokio::test]
async fn excluded_file_is_not_reported_as_absent() {
    let searcher = searcher().await;
    let filter = ChunkFilter { languages: vec!["rust".to_owned()], ..ChunkFilter::default() };
    let answer = ask(&searcher, &SearchRequest { filter, ..files("main.h", TargetType::Auto) }).await;
    assert!(answer.notes.iter().any(|note| note.contains("the filters exclude them")), "{:?}", answer.notes);
    assert!(answer.names.iter().all(|note| !note.is_file), "{:?}", answer.names);
}

#[tokio::test]
async fn file_with_an_unusual_name_is_found() {
    let content = app().file("meson.build", "text", "project()\n").file("tools/flake.xyz", "text", "{}\n");
    let searcher = searcher_over(vec![content]).await.1;
    let check = async |query: &str, expect: &[&str]| {
        let answer = ask(&searcher, &files(query, TargetType::Auto)).await;
        assert_eq!(paths(&answer), expect, "{query}");
        assert!(answer.names.is_empty(), "{query}: {:?}", answer.names);
    };
    check("makefile", &["build/makefile"]).await;
    check("find the makefile", &["build/makefile"]).await;
    check("meson.build", &["meson.build"]).await;
    check("flake.xyz", &["tools/flake.xyz"]).await;
    check("where is `flake.xyz`?", &["tools/flake.xyz"]).await;
    // These questions are about words or symbols, so the answers contain no files.
    check("json", &[]).await;
    check("how is the makefile used", &[]).await;
}

fn read(target: &str) -> CodeRequest {
    CodeRequest {
        repository: Some("app".to_owned()),
        path: Some(target.to_owned()),
        symbol: None,
        context_path: None,
        lines: None,
        max_tokens: 1_000,
    }
}

#[tokio::test]
async fn path_may_contain_lines() {
    let content = FakeContent::new("app", "c1").file("src/list.py", "python", "one = 1\ntwo = 2\nthree = 3\n");
    let searcher = searcher_over(vec![content]).await.1;
    for (text, expect) in [("src/list.py:2", "two = 2\n"), ("list.py:2-3", "two = 2\nthree = 3\n")] {
        let code = searcher.read_code(&read(text)).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(code.text, expect, "{text}");
        let request = CodeRequest { path: None, ..read("") };
        let code = searcher.read_target(text, &request).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(code.text, expect, "{text}");
    }
    assert!(searcher.read_code(&read("src/none.py:2")).await.is_err());
}

#[tokio::test]
async fn parts_of_paths_are_read_with_a_label() {
    let searcher = searcher().await;
    let check = async |name: &str, expect: &str, label: Option<u32>| {
        let by_path = searcher.read_code(&read(name)).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        for repository in [Some("app".to_owned()), None] {
            let request = CodeRequest { repository, path: None, ..read(name) };
            let code = searcher.read_target(name, &request).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(code.path.as_str(), expect, "{name}");
            let used = code.substitution.as_ref();
            assert_eq!(used.map(|used| used.score), label, "{name}");
            assert!(used.is_none_or(|used| used.matching == NameMatching::File && used.used == expect), "{used:?}");
            assert_eq!((&by_path.path, &by_path.substitution), (&code.path, &code.substitution), "{name}");
        }
    };
    check("src/date.rs", "src/date.rs", None).await;
    check("./src/date.rs", "src/date.rs", None).await;
    check("date.rs", "src/date.rs", Some(900)).await;
    check("Src/Date.rs", "src/date.rs", Some(1_000)).await;
    check("adr/ADR-026-Queues.md", "docs/adr/ADR-026-Queues.md", Some(900)).await;
    check("ADR-025", "docs/adr/ADR-025-User-Experience.md", Some(800)).await;
    check("Button.test", "ui/Button.test.tsx", Some(800)).await;
    check("config.json", "conf/n00/config.json", Some(900)).await;
    check("docs/adr", "docs/adr", None).await;
    check("docs/adr/", "docs/adr", None).await;
    // A name of a file may be passed as a symbol.
    let by_symbol = CodeRequest { symbol: Some("ADR-025".to_owned()), path: None, ..read("") };
    let code = searcher.read_code(&by_symbol).await.expect("a file");
    assert_eq!(code.path.as_str(), "docs/adr/ADR-025-User-Experience.md");
    let listed = searcher.read_code(&read("docs")).await.expect("a list");
    assert_eq!(listed.text, "docs/adr/\ndocs/index.md\n");
    assert_eq!((listed.language.as_str(), listed.num_lines), ("directory", 2));
    let second = CodeRequest { lines: Some((2, 9)), ..read("docs") };
    assert_eq!(searcher.read_code(&second).await.expect("a list").text, "docs/index.md\n");
}

#[tokio::test]
async fn nearest_of_several_files_is_read() {
    let searcher = searcher().await;
    let context_path = Some("conf/n07/main.rs".to_owned());
    let near = searcher.read_code(&CodeRequest { context_path, ..read("config.json") }).await.expect("code");
    assert_eq!(near.path.as_str(), "conf/n07/config.json");
    assert_eq!(near.substitution.expect("a label").similar.len(), 4);
}

async fn absent(searcher: &Searcher, name: &str) -> [QueryError; 2] {
    let request = CodeRequest { path: None, ..read(name) };
    let read = searcher.read_target(name, &request).await.expect_err(name);
    [read, searcher.relationship(&related(name)).await.expect_err(name)]
}

/// The name of a file is not resolved to a symbol, although the last part of the file name is near the name
/// of a symbol.
#[tokio::test]
async fn mistyped_file_name_is_not_resolved_to_a_symbol() {
    let searcher = searcher().await;
    for error in absent(&searcher, "src/dat.rs").await {
        assert_eq!(error.code, QueryErrorCode::NotFound);
        assert_eq!(error.message, "no file has the path `src/dat.rs`");
        assert_eq!(error.similar_files.first().map(String::as_str), Some("src/date.rs"), "{error:?}");
        let call = &error.next_calls[0];
        assert!(call.arguments.iter().any(|(_, value)| value == "src/date.rs"), "{call:?}");
        assert!(error.next_calls.len() <= 2, "{error:?}");
    }
    for error in absent(&searcher, "zebra.json").await {
        assert!(error.message.starts_with("no file has the path"), "{error:?}");
    }
}

fn related(name: &str) -> GraphRequest {
    GraphRequest {
        name: name.to_owned(),
        context_path: None,
        relation: Relation::Dependents,
        repositories: RepositorySelection::default(),
        limit: 10,
    }
}

#[tokio::test]
async fn relationships_of_named_files_are_shown() {
    let searcher = searcher().await;
    let check = async |name: &str, num_files: usize, first: &str, matching: Option<NameMatching>| {
        let answer = searcher.relationship(&related(name)).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let name_of = |node: &NodeRecord| match (node.kind, &node.path) {
            (NodeKind::File, Some(path)) => path.to_string(),
            _ => node.name.clone(),
        };
        let about: Vec<String> = answer.about.iter().map(|(_, node)| name_of(node)).collect();
        assert_eq!((about.len(), about[0].as_str()), (num_files, first), "{name}: {about:?}");
        assert_eq!(answer.substitution.map(|used| used.matching), matching, "{name}");
    };
    use NameMatching::{Directory, File};
    check("src/date.rs", 1, "src/date.rs", None).await;
    check("date.rs", 1, "src/date.rs", Some(File)).await;
    check("ADR-025", 1, "docs/adr/ADR-025-User-Experience.md", Some(File)).await;
    check("Button.test", 1, "ui/Button.test.tsx", Some(File)).await;
    check("config.json", 20, "conf/n00/config.json", Some(File)).await;
    check("docs/adr", 2, "docs/adr/ADR-025-User-Experience.md", Some(Directory)).await;
    check("rs", 1, "rs", None).await;
}

#[tokio::test]
async fn file_in_a_relation_question_is_no_symbol() {
    let searcher = searcher().await;
    let check = async |question: &str, expect: &[(&str, Option<&str>)]| {
        let answer = ask(&searcher, &files(question, TargetType::Auto)).await;
        let notes = answer.names.iter().map(|note| {
            assert!(note.is_file, "{question}: {note:?}");
            (note.requested.as_str(), note.substitution.as_ref().map(|used| used.used.as_str()))
        });
        assert_eq!(notes.collect::<Vec<_>>(), expect, "{question}");
    };
    check("what imports config.json", &[]).await;
    check("what imports src/date.rs", &[]).await;
    check("what imports nothere.json", &[("nothere.json", None)]).await;
}

/// A mistyped path, a path in another folder and a base name are all compared with the paths of the snapshot.
#[tokio::test]
async fn absent_path_of_a_snapshot_is_reported_with_similar_paths() {
    let searcher = searcher().await;
    for (path, expect) in [
        ("src/dat.rs", "src/date.rs"),
        ("date.rs", "src/date.rs"),
        ("lib/net/date.rs", "src/date.rs"),
        ("ui/Buton.test.tsx", "ui/Button.test.tsx"),
        ("Makefile", "build/makefile"),
    ] {
        let error = searcher.why("app", path).await.expect_err("absent");
        assert_eq!(error.similar_files.first().map(String::as_str), Some(expect), "{path}: {error:?}");
        assert!(error.similar_files.len() <= 5, "{path}: {error:?}");
        let call = &error.next_calls[0];
        assert_eq!(call.arguments, [("repository", "app".to_owned()), ("path", expect.to_owned())], "{path}");
    }
    let error = searcher.why("app", "zzz.qqq").await.expect_err("absent");
    assert_eq!((error.similar_files.len(), error.next_calls.len()), (0, 0), "{error:?}");
    for directory in ["src", "src/"] {
        let error = searcher.why("app", directory).await.expect_err("a directory");
        let message = error.message.to_string();
        assert!(message.ends_with(" is a directory of the snapshot of `app`"), "{message}");
    }
}

#[tokio::test]
async fn failed_symbol_search_suggests_a_file_name_search() {
    let searcher = searcher().await;
    let error = searcher.search(&files("ADR-077", TargetType::Symbol)).await.expect_err("no symbol");
    let call = &error.next_calls[0];
    assert_eq!(call.arguments, [("query", "ADR-077".to_owned()), ("target_type", "filename".to_owned())]);
}

/// A question for a document finds it, even if its name is not in the question.
#[tokio::test]
async fn document_is_found_by_its_kind() {
    let content = FakeContent::new("shop", "c1")
        .file("CHANGELOG.md", "markdown", "# 2.0\n\nInvoices are sorted.\n")
        .file("LICENSE", "text", "Permission is hereby granted.\n")
        .file("README.md", "markdown", "A shop.\n")
        .file("src/shop.py", "python", "def open_shop():\n    pass\n");
    let searcher = searcher_over(vec![content]).await.1;
    for (question, path) in [
        ("show me the changelog", "CHANGELOG.md"),
        ("release notes", "CHANGELOG.md"),
        ("what changed in the last release", "CHANGELOG.md"),
        ("what license does this project use", "LICENSE"),
        ("license", "LICENSE"),
        ("show me the readme", "README.md"),
    ] {
        let answer = ask(&searcher, &request(question, &[], ChunkFilter::default())).await;
        let first = answer.found.first().map(|found| found.hit.chunk.path.as_str());
        assert_eq!(first, Some(path), "{question}: {:?}", answer.notes);
    }
}

/// The line after the name of a file is no part of the name.
#[tokio::test]
async fn file_is_found_by_its_name_and_a_line() {
    let content = FakeContent::new("shop", "c1").file("src/shop.py", "python", "def open_shop():\n    pass\n").file(
        "src/invoice.py",
        "python",
        "def load():\n    pass\n",
    );
    let searcher = searcher_over(vec![content]).await.1;
    for question in ["src/shop.py:2", "shop.py:1-2", "what is at src/shop.py:2"] {
        let answer = ask(&searcher, &request(question, &[], ChunkFilter::default())).await;
        let first = answer.found.first().map(|found| found.hit.chunk.path.as_str());
        assert_eq!(first, Some("src/shop.py"), "{question}: {:?}", answer.notes);
    }
}
