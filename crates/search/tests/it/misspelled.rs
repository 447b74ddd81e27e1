//! Checks questions that are misspelled names.

use cairn_domain::SymbolKind;
use cairn_ports::ChunkFilter;
use cairn_search::{NameMatching, Searcher};
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
