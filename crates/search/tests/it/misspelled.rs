//! Checks questions that are misspelled names.

use cairn_domain::{Reason, SymbolKind};
use cairn_ports::ChunkFilter;
use cairn_search::{Allowed, Caller, NameMatching, Searcher};
use cairn_testkit::FakeContent;

use crate::{request, searcher_over};

async fn searcher() -> Searcher {
    let content = FakeContent::new("shop", "c1")
        .file("src/invoices.py", "python", "def load_invoice():\n    pass\n\ndef load_invoices_late():\n    pass\n")
        .file("src/shop.py", "python", "def open_shop():\n    # The invoice of the shop is loaded.\n    pass\n")
        .symbol("src/invoices.py", "load_invoice", SymbolKind::Function, (1, 2))
        .symbol("src/invoices.py", "load_invoices_late", SymbolKind::Function, (4, 5))
        .symbol("src/shop.py", "open_shop", SymbolKind::Function, (1, 3));
    searcher_over(vec![content]).await.1
}

#[tokio::test]
async fn definition_of_the_nearest_name_comes_first() {
    let searcher = searcher().await;
    let check = async |question: &str, expect: Option<(&str, NameMatching)>| {
        let answer = searcher.search(&request(question, &[], ChunkFilter::default())).await.expect("an answer");
        let label = answer.names.first().and_then(|note| note.substitution.as_ref());
        assert_eq!(label.map(|label| (label.used.as_str(), label.matching)), expect, "{question}");
        if let Some((name, _)) = expect {
            let first = answer.found.first().expect("a result");
            let defined = first.hit.definition.as_ref().map(|definition| &definition.symbol);
            assert_eq!(defined.or(first.hit.chunk.symbol.as_ref()).map(String::as_str), Some(name), "{question}");
        }
    };
    check("loadInvoce", Some(("load_invoice", NameMatching::Fuzzy))).await;
    check("load-invioce", Some(("load_invoice", NameMatching::Fuzzy))).await;
    check("openshpo", Some(("open_shop", NameMatching::Fuzzy))).await;
    check("load the invioce", Some(("load_invoice", NameMatching::Fuzzy))).await;
    check("opens the shop", Some(("open_shop", NameMatching::Fuzzy))).await;
    check("where is load invioce", None).await;
    // The indexed texts contain the word, so the word is not a misspelled name.
    check("invoice", None).await;
    // The words of the phrase differ from the words of every name.
    check("close the shop", None).await;
}

#[tokio::test]
async fn absent_file_is_reported() {
    let searcher = searcher().await;
    let check = async |question: &str, expect: &[&str]| {
        let answer = searcher.search(&request(question, &[], ChunkFilter::default())).await.expect("an answer");
        let files: Vec<&str> =
            answer.names.iter().filter(|note| note.is_file).map(|note| note.requested.as_str()).collect();
        assert_eq!(files, expect, "{question}");
    };
    check("ADR-025", &["ADR-025"]).await;
    check("zebra.json", &["zebra.json"]).await;
    check("no/such/folder", &["no/such/folder"]).await;
    check("invoices.py", &[]).await;
    check("src", &[]).await;
}

/// The first parts of a name may be the package of the definition.
#[tokio::test]
async fn name_may_begin_with_its_package() {
    let content = FakeContent::new("queue", "c1")
        .file("internal/base/base.go", "go", "type Broker interface {\n}\n")
        .file("internal/rdb/rdb.go", "go", "type RDB struct {\n}\n")
        .file("lib/make_query.js", "javascript", "module.exports = function () {}\n")
        .symbol("internal/base/base.go", "Broker", SymbolKind::Interface, (1, 2))
        .symbol("internal/rdb/rdb.go", "RDB", SymbolKind::Struct, (1, 2))
        .symbol("lib/make_query.js", "default", SymbolKind::Function, (1, 1));
    let searcher = searcher_over(vec![content]).await.1;
    let check = async |question: &str, path: &str, is_labelled: bool| {
        let answer = searcher.search(&request(question, &[], ChunkFilter::default())).await.expect("an answer");
        assert_eq!(answer.found.first().map(|found| found.hit.chunk.path.as_str()), Some(path), "{question}");
        let label = answer.names.first().and_then(|note| note.substitution.as_ref());
        assert_eq!(label.is_some(), is_labelled, "{question}: {label:?}");
    };
    check("base.Broker", "internal/base/base.go", false).await;
    check("internal/base.Broker", "internal/base/base.go", false).await;
    check("queue.RDB", "internal/rdb/rdb.go", true).await;
    check("makeQuery", "lib/make_query.js", true).await;
}

/// The answer states that a repository outside the scope defines the name.
#[tokio::test]
async fn definition_outside_the_scope_is_stated() {
    let contents = ["shop", "bank"].map(|name| {
        let function = format!("open_{name}");
        let text = format!("def {function}():\n    pass\n");
        FakeContent::new(name, "c1").file("src/a.py", "python", &text).symbol(
            "src/a.py",
            &function,
            SymbolKind::Function,
            (1, 2),
        )
    });
    let searcher = searcher_over(contents.into()).await.1;
    for question in ["open_bank", "what calls open_bank"] {
        let answer = searcher.search(&request(question, &["shop"], ChunkFilter::default())).await.expect("an answer");
        let note = "Repository `bank` defines `open_bank`, but was not searched.";
        assert!(answer.notes.iter().any(|found| *found == note), "{question}: {:?}", answer.notes);
        let answer = searcher.search(&request(question, &["bank"], ChunkFilter::default())).await.expect("an answer");
        assert!(!answer.notes.iter().any(|found| *found == note), "{question}: {:?}", answer.notes);
        // A caller who may not see the repository asks the same question, and shares the cache.
        let caller = Caller { allowed: Allowed::Only(vec!["shop".to_owned()]), ..Caller::local() };
        let answer = searcher.asked_by(caller).search(&request(question, &["shop"], ChunkFilter::default())).await;
        let answer = format!("{:?}", answer.expect("an answer").notes);
        assert!(!answer.contains("bank` defines"), "{question}: {answer}");
    }
}

#[tokio::test]
async fn misspelled_and_skipped_files_are_named() {
    let content = FakeContent::new("app", "c1")
        .file("package.json", "json", "{}\n")
        .file("README.md", "markdown", "# App\n")
        .file("src/json.py", "python", "def jsons():\n    pass\n")
        .skipped("app.lock", Reason::Excluded)
        .symbol("src/json.py", "jsons", SymbolKind::Function, (1, 2));
    let searcher = searcher_over(vec![content]).await.1;
    let ask = async |question: &str| {
        searcher.search(&request(question, &[], ChunkFilter::default())).await.expect("an answer")
    };
    let misspelled = ask("package.jsno").await;
    let similar: Vec<&[String]> = misspelled.names.iter().map(|note| note.similar.as_slice()).collect();
    assert_eq!(similar, [["package.json"]]);
    let skipped = ask("app.lock").await;
    assert!(skipped.names.is_empty(), "{:?}", skipped.names);
    let note = "«app.lock» in `app` is not indexed: skipped(excluded); `coverage --why PATH` (tool `index_status`) \
                explains why.";
    assert!(skipped.notes.iter().any(|found| *found == note), "{:?}", skipped.notes);
    let document = ask("readme").await;
    assert_eq!(document.files.first().map(|file| file.path.as_str()), Some("README.md"));
}

/// A name with the opposite meaning is never used in place of the requested name.
#[tokio::test]
async fn opposite_name_is_not_used() {
    let content = FakeContent::new("shop", "c1")
        .file("src/shop.py", "python", "def set_invoice():\n    pass\n")
        .symbol("src/shop.py", "set_invoice", SymbolKind::Function, (1, 2));
    let searcher = searcher_over(vec![content]).await.1;
    let used = async |question: &str| {
        let answer = searcher.search(&request(question, &[], ChunkFilter::default())).await.expect("an answer");
        answer.names.into_iter().find_map(|note| note.substitution).map(|substitution| substitution.used)
    };
    assert_eq!(used("get_invoice").await, None);
    assert_eq!(used("shop.get_invoice").await, None);
    assert_eq!(used("set_invoce").await.as_deref(), Some("set_invoice"));
}
