//! Checks that names in files that changed after they were indexed are found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use cairn_domain::{LineSpan, NodeKey, RepoPath, SymbolEntry, SymbolKind};
use cairn_ports::{ChunkFilter, RepositoryRecord};
use cairn_search::{
    ChangedFile, ChangedFiles, CodeRequest, GraphRequest, NameMatching, QueryErrorCode, Relation, RepositorySelection,
    SearchRequest, Searcher, Target, TargetType,
};
use cairn_testkit::FakeContent;

use crate::{request, searcher_over};

const TEXT: &str = "import db\n\ndef load_invoice(key):\n    return db.get(key)\n";

/// A working tree with one new file, and the number of times that the tree was read.
#[derive(Default)]
struct NewFile {
    num_reads: AtomicUsize,
}

#[async_trait]
impl ChangedFiles for NewFile {
    async fn changed_files(&self, repository: &RepositoryRecord) -> Arc<[ChangedFile]> {
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
        Arc::new([ChangedFile { path, language, text, num_lines: 4, symbols: vec![symbol] }])
    }
}

/// An index that contains `load_invoices`, and a working tree with the new function `load_invoice`.
async fn searcher_with_tree() -> (Searcher, Arc<NewFile>) {
    let content = FakeContent::new("shop", "c1")
        .file("src/shop.py", "python", "def load_invoices():\n    pass\n")
        .symbol("src/shop.py", "load_invoices", SymbolKind::Function, (1, 2));
    let (_, searcher) = searcher_over(vec![content]).await;
    let tree = Arc::new(NewFile::default());
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
    async fn changed_files(&self, repository: &RepositoryRecord) -> Arc<[ChangedFile]> {
        match self.is_changed.load(Ordering::Relaxed) {
            true => self.changed.changed_files(repository).await,
            false => Arc::default(),
        }
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
