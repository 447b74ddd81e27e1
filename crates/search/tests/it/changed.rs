//! Checks that names in files that changed after they were indexed are found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use cairn_domain::{LineSpan, ManifestEntry, NodeKey, RepoPath, SymbolEntry, SymbolKind};
use cairn_ports::{ChunkFilter, RepositoryRecord};
use cairn_search::{
    ChangedFile, ChangedFiles, ChangedTree, CodeRequest, FileState, GraphRequest, NameMatching, QueryErrorCode,
    Relation, RepositorySelection, SearchRequest, Searcher, Target, TargetType,
};
use cairn_testkit::FakeContent;

use crate::{request, searcher_over};

const TEXT: &str = "import db\n\ndef load_invoice(key):\n    return db.get(key)\n";

/// A working tree with one new file, and the number of times that the tree was read.
#[derive(Default)]
struct NewFile {
    num_reads: AtomicUsize,
    /// Number of further changed files that are not read.
    num_left_out: usize,
    /// Whether the tree cannot be read.
    is_unread: bool,
    /// The state of each file of the index. `None` if the files did not change.
    state: Option<FileState>,
}

#[async_trait]
impl ChangedFiles for NewFile {
    async fn changed_files(&self, repository: &RepositoryRecord) -> Arc<ChangedTree> {
        self.num_reads.fetch_add(1, Ordering::Relaxed);
        let path = RepoPath::parse("src/invoices.py").expect("a path");
        let symbol = SymbolEntry {
            name: "load_invoice".to_owned(),
            qualified_name: "load_invoice".to_owned(),
            kind: SymbolKind::Function,
            node: NodeKey::symbol(repository.id, &path, "load_invoice", SymbolKind::Function, 3),
            path: path.clone(),
            line: 3,
            span: LineSpan::new(3, 4),
            chunk: None,
            language: "python".to_owned(),
            module_path: "invoices".to_owned(),
            exported: true,
            documented: false,
            is_test: false,
        };
        let (language, text) = ("python".to_owned(), TEXT.to_owned());
        let file = ChangedFile { path, language, text, num_lines: 4, symbols: vec![symbol] };
        let left_out = (0..self.num_left_out).map(|number| format!("src/left/l{number}.py"));
        let left_out = left_out.map(|path| RepoPath::parse(&path).expect("a path")).collect();
        let files = if self.is_unread { Vec::new() } else { vec![file] };
        Arc::new(ChangedTree { files, left_out, is_unread: self.is_unread })
    }

    async fn file_state(&self, _: &RepositoryRecord, _: &ManifestEntry, _: i64) -> FileState {
        self.state.unwrap_or(FileState::Same)
    }
}

/// An index that contains `load_invoices`, and a working tree with the new function `load_invoice`.
async fn searcher_with_tree() -> (Searcher, Arc<NewFile>) {
    searcher_over_tree(NewFile::default()).await
}

async fn searcher_over_tree(tree: NewFile) -> (Searcher, Arc<NewFile>) {
    let content = FakeContent::new("shop", "c1")
        .file("src/shop.py", "python", "def load_invoices():\n    pass\n")
        .symbol("src/shop.py", "load_invoices", SymbolKind::Function, (1, 2));
    let (_, searcher) = searcher_over(vec![content]).await;
    let tree = Arc::new(tree);
    (Searcher { changed: Some(Arc::<NewFile>::clone(&tree)), ..searcher }, tree)
}

fn code(symbol: &str) -> CodeRequest {
    CodeRequest {
        repository: None,
        path: None,
        symbol: Some(symbol.to_owned()),
        context_path: None,
        lines: None,
        max_tokens: 1_000,
    }
}

#[tokio::test]
async fn new_definition_is_read_from_the_working_tree() {
    let (searcher, _) = searcher_with_tree().await;
    for (requested, reason) in [
        ("load_invoice", "in a file that changed after it was indexed"),
        ("loadInvoice", "other style, in a file that changed after it was indexed"),
        ("src/invoices.py#load_invoice", "in a file that changed after it was indexed"),
    ] {
        let read = searcher.read_code(&code(requested)).await.expect("found");
        assert_eq!((read.path.as_str(), read.text.as_str()), ("src/invoices.py", &TEXT[11..]), "{requested}");
        let label = read.substitution.expect("a label");
        assert_eq!((label.matching, label.reason.as_str()), (NameMatching::Changed, reason), "{requested}");
    }
}

fn path_of(path: &str) -> CodeRequest {
    CodeRequest { path: Some(path.to_owned()), symbol: None, ..code("") }
}

/// A file that is not indexed yet is found by its path, its base name and the beginning of its name.
#[tokio::test]
async fn new_file_is_read_by_its_name() {
    let (searcher, _) = searcher_with_tree().await;
    for (requested, score) in [("src/invoices.py", 1_000), ("invoices.py", 900), ("./src/invoices.py", 1_000)] {
        for by_target in [false, true] {
            let target = CodeRequest { path: None, ..path_of("") };
            let read = match by_target {
                true => searcher.read_target(requested, &target).await,
                false => searcher.read_code(&path_of(requested)).await,
            };
            let read = read.unwrap_or_else(|error| panic!("{requested}: {error:?}"));
            assert_eq!((read.path.as_str(), read.text.as_str(), read.num_lines), ("src/invoices.py", TEXT, 4));
            let label = read.substitution.expect("a label");
            assert_eq!((label.matching, label.score), (NameMatching::Changed, score), "{requested}");
        }
    }
    let lines = CodeRequest { lines: Some((3, 3)), ..path_of("src/invoices.py") };
    assert_eq!(searcher.read_code(&lines).await.expect("a line").text, "def load_invoice(key):\n");
    // An indexed file is preferred to a changed file.
    let read = searcher.read_code(&path_of("src/shop.py")).await.expect("an indexed file");
    assert_eq!(read.substitution, None);
}

#[tokio::test]
async fn new_file_is_found_by_a_search() {
    let (searcher, _) = searcher_with_tree().await;
    for target_type in [TargetType::Auto, TargetType::File, TargetType::Filename] {
        let target = Target { target_type, ..Target::default() };
        let asked = SearchRequest { target, ..request("invoices.py", &[], ChunkFilter::default()) };
        let answer = searcher.search(&asked).await.unwrap_or_else(|error| panic!("{target_type:?}: {error:?}"));
        let paths: Vec<&str> = answer.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["src/invoices.py"], "{target_type:?}");
        let is_note = |note: &cairn_redaction::Message| note.starts_with("1 of the files changed after");
        assert!(answer.notes.iter().any(is_note), "{target_type:?}: {:?}", answer.notes);
        let other = ChunkFilter { languages: vec!["rust".to_owned()], ..ChunkFilter::default() };
        let hidden = searcher.search(&SearchRequest { filter: other, ..asked }).await;
        assert!(hidden.is_err() || hidden.is_ok_and(|answer| answer.files.is_empty()), "{target_type:?}");
    }
}

/// The text of a file that changed or was removed comes from the index, and the answer says so.
#[tokio::test]
async fn text_of_a_changed_file_has_a_note() {
    for (state, expect) in [
        (FileState::Same, None),
        (FileState::Changed, Some("The file changed after it was indexed; the text is that of the index.")),
        (FileState::Removed, Some("The file was removed after it was indexed; the text is that of the index.")),
    ] {
        let (searcher, _) = searcher_over_tree(NewFile { state: Some(state), ..NewFile::default() }).await;
        for request in [path_of("src/shop.py"), code("load_invoices")] {
            let read = searcher.read_code(&request).await.expect("an indexed file");
            assert_eq!(read.notes.first().map(|note| note.as_str()), expect, "{request:?}");
        }
    }
}

/// If changed files were not read, every answer about an absent or different name states their number, and
/// the error suggests a call that indexes them.
#[tokio::test]
async fn changed_files_that_were_not_read_are_counted() {
    let (searcher, _) = searcher_over_tree(NewFile { num_left_out: 99, ..NewFile::default() }).await;
    let unread = "not searched: 99 of 100 changed files of `shop`";
    let error = searcher.read_code(&code("quite_absent")).await.expect_err("absent");
    assert!(error.hint.as_ref().is_some_and(|hint| hint.contains(unread)), "{error:?}");
    let call = &error.next_calls[0];
    let path = "/somewhere/shop".to_owned();
    assert_eq!((call.tool, call.arguments.as_slice()), ("index_repository", &[("path", path)][..]));
    let near = searcher.read_code(&code("load_invoicess")).await.expect("a near name");
    assert!(near.substitution.expect("a label").reason.ends_with(unread));
    let answer = searcher.search(&request("quiteAbsent()", &[], ChunkFilter::default())).await.expect("an answer");
    let sentence = "Not searched: 99 of 100 changed files of `shop`.";
    assert!(answer.notes.iter().any(|note| *note == sentence), "{:?}", answer.notes);
    // The path of a file that was not read is known.
    let error = searcher.read_code(&path_of("src/left/l7.py")).await.expect_err("not read");
    assert!(error.message.contains("too many files changed"), "{error:?}");
    assert_eq!(error.next_calls[0].tool, "index_repository");
    // If a changed file defines exactly the requested name, the answer does not mention the files that were
    // not read.
    let exact = searcher.read_code(&code("load_invoice")).await.expect("found");
    assert_eq!(exact.substitution.expect("a label").reason, "in a file that changed after it was indexed");
}

#[tokio::test]
async fn tree_that_cannot_be_read_is_reported() {
    let (searcher, _) = searcher_over_tree(NewFile { is_unread: true, ..NewFile::default() }).await;
    let unread = "not searched: the changed files of `shop`";
    for request in [code("quite_absent"), path_of("src/absent.py")] {
        let error = searcher.read_code(&request).await.expect_err("absent");
        assert!(error.hint.as_ref().is_some_and(|hint| hint.contains(unread)), "{error:?}");
        assert_eq!(error.next_calls[0].tool, "index_repository", "{error:?}");
    }
}

#[tokio::test]
async fn indexed_name_comes_before_a_changed_file() {
    let (searcher, tree) = searcher_with_tree().await;
    let read = searcher.read_code(&code("load_invoices")).await.expect("found");
    assert_eq!((read.path.as_str(), read.substitution), ("src/shop.py", None));
    assert_eq!(
        tree.num_reads.load(Ordering::Relaxed),
        0,
        "the working tree was read, although the index contains the name"
    );
}

#[tokio::test]
async fn search_and_relations_label_the_changed_file() {
    let (searcher, tree) = searcher_with_tree().await;
    let target = Target { target_type: TargetType::Symbol, ..Target::default() };
    let request = SearchRequest { target, ..request("load_invoice", &[], ChunkFilter::default()) };
    // The second answer must not come from a cache, because the file may have changed again.
    searcher.search(&request).await.expect("an answer");
    let num_reads = tree.num_reads.load(Ordering::Relaxed);
    let answer = searcher.search(&request).await.expect("an answer");
    assert!(tree.num_reads.load(Ordering::Relaxed) > num_reads);
    assert_eq!(answer.found[0].hit.chunk.text, TEXT[11..]);
    let label = answer.names[0].substitution.as_ref().expect("a label");
    assert_eq!(label.matching, NameMatching::Changed);
    let request = GraphRequest {
        name: "load_invoice".to_owned(),
        context_path: None,
        relation: Relation::Callers,
        repositories: RepositorySelection::default(),
        limit: 5,
    };
    let error = searcher.relationship(&request).await.expect_err("has no edges yet");
    assert_eq!(error.code, QueryErrorCode::NotFound);
    assert!(error.message.contains("src/invoices.py"), "{}", error.message);
    assert_eq!(error.next_calls.iter().map(|call| call.tool).collect::<Vec<_>>(), ["index_repository", "read_code"]);
}

/// A question about the callers of the new definition must not be answered with the callers of a near name.
#[tokio::test]
async fn relations_of_a_new_definition_are_unknown() {
    let (searcher, _) = searcher_with_tree().await;
    let answer = searcher.search(&request("what calls load_invoice", &[], ChunkFilter::default())).await.expect("ok");
    let label = answer.names[0].substitution.as_ref().expect("a label");
    assert_eq!((label.matching, answer.names.len()), (NameMatching::Changed, 1));
    assert_eq!(answer.notes, ["The relations of «load_invoice» are unknown until its repository is indexed again."]);
    assert!(answer.found.iter().all(|found| found.hit.via.is_empty()));
}

/// An ordinary search shows a definition that only the working tree contains, before all other results.
#[tokio::test]
async fn ordinary_search_shows_the_changed_file_first() {
    let (searcher, _) = searcher_with_tree().await;
    for question in ["load_invoice", "loadInvoice", "find load_invoice", "src/invoices.py#load_invoice"] {
        let answer = searcher.search(&request(question, &[], ChunkFilter::default())).await.expect("an answer");
        let place = answer.names[0].place.as_ref().map(|place| (place.path.as_str(), place.line));
        assert_eq!(place, Some(("src/invoices.py", 3)), "{question}");
        let first = &answer.found[0];
        assert_eq!((first.hit.chunk.path.as_str(), first.hit.chunk.text.as_str()), ("src/invoices.py", &TEXT[11..]));
        let matched = first.matched.as_ref().map(|matched| matched.matching);
        assert_eq!(matched, Some(NameMatching::Changed), "{question}");
    }
    let elsewhere = ChunkFilter { paths: vec!["lib/**".to_owned()], ..ChunkFilter::default() };
    let answer = searcher.search(&request("load_invoice", &[], elsewhere)).await.expect("an answer");
    assert_eq!(answer.found.len(), 0, "the filter excludes the file");
}

/// A working tree that has no changed file at first.
#[derive(Default)]
struct GrowingTree {
    is_changed: AtomicBool,
    changed: NewFile,
}

#[async_trait]
impl ChangedFiles for GrowingTree {
    async fn changed_files(&self, repository: &RepositoryRecord) -> Arc<ChangedTree> {
        match self.is_changed.load(Ordering::Relaxed) {
            true => self.changed.changed_files(repository).await,
            false => Arc::default(),
        }
    }

    async fn file_state(&self, _: &RepositoryRecord, _: &ManifestEntry, _: i64) -> FileState {
        FileState::Same
    }
}

/// The answer to a question must not come from a cache after the requested name was added to a file.
#[tokio::test]
async fn name_that_is_defined_later_is_found() {
    let text = "# The load-invoice job.\ndef run():\n    pass\n";
    for question in ["load_invoice", "loadInvoice", "load-invoice", "load invoice"] {
        let content = FakeContent::new("shop", "c1").file("src/shop.py", "python", text);
        let (counted, searcher) = searcher_over(vec![content]).await;
        let tree = Arc::new(GrowingTree::default());
        let searcher = Searcher { changed: Some(Arc::<GrowingTree>::clone(&tree)), ..searcher };
        let asked = request(question, &[], ChunkFilter::default());
        let before = searcher.search(&asked).await.expect("an answer");
        assert!(before.found.iter().all(|found| found.hit.chunk.path.as_str() == "src/shop.py"), "{question}");
        tree.is_changed.store(true, Ordering::Relaxed);
        let after = searcher.search(&asked).await.expect("an answer");
        let first = after.found.first().map(|found| found.hit.chunk.path.as_str());
        assert_eq!(first, Some("src/invoices.py"), "{question}");
        // A question that cannot be a name is answered from the cache.
        let asked = request("how are all jobs of the shop run", &[], ChunkFilter::default());
        searcher.search(&asked).await.expect("an answer");
        let num_searches = counted.calls()["VectorStore::search"];
        searcher.search(&asked).await.expect("an answer");
        assert_eq!(counted.calls()["VectorStore::search"], num_searches);
    }
}

/// All pages of a question come from the same hits, even if the requested name is added to a file meanwhile.
#[tokio::test]
async fn later_pages_continue_the_first_page() {
    let file = |content: FakeContent, number: usize| {
        let text = format!("# The load_invoice job number {number}.\ndef run_{number}():\n    pass\n");
        content.file(&format!("src/job{number}.py"), "python", &text)
    };
    let content = (0..3).fold(FakeContent::new("shop", "c1"), file);
    let (_, searcher) = searcher_over(vec![content]).await;
    let tree = Arc::new(GrowingTree::default());
    let searcher = Searcher { changed: Some(Arc::<GrowingTree>::clone(&tree)), ..searcher };
    let mut asked = SearchRequest { limit: Some(1), ..request("load_invoice", &[], ChunkFilter::default()) };
    let mut paths = Vec::new();
    loop {
        let page = searcher.search(&asked).await.expect("a page");
        paths.extend(page.found.iter().map(|found| found.hit.chunk.path.as_str().to_owned()));
        tree.is_changed.store(true, Ordering::Relaxed);
        asked.cursor = page.next_cursor;
        if asked.cursor.is_none() {
            break;
        }
    }
    paths.sort();
    assert_eq!(paths, ["src/job0.py", "src/job1.py", "src/job2.py"]);
}
