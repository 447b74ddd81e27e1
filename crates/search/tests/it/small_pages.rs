//! Checks pages whose token limit is smaller than one result. Each page then contains one result, because a
//! page without results would have no next page.

use std::collections::BTreeSet;

use cairn_domain::SymbolKind;
use cairn_ports::ChunkFilter;
use cairn_ranking::Cut;
use cairn_search::{Found, SearchAnswer, SearchRequest, Target, TargetType};
use cairn_testkit::FakeContent;

use super::{request, searcher_over};

const NUM_FILES: usize = 4;

/// Files with long paths, all of which contain the word "needle".
fn content() -> FakeContent {
    let folder = "folder.with.words/".repeat(14);
    let mut content = FakeContent::new("long", "c1");
    for number in 0..NUM_FILES {
        let (path, name) = (format!("src/{folder}needle_{number}.rs"), format!("value_{number}"));
        let text = format!("fn {name}() {{\n    needle({number});\n}}\n");
        content = content.file(&path, "rust", &text).symbol(&path, &name, SymbolKind::Function, (1, 3));
    }
    content
}

/// All pages of an answer.
async fn pages(mut request: SearchRequest) -> Vec<SearchAnswer> {
    let (_, searcher) = searcher_over(vec![content()]).await;
    let mut pages = Vec::new();
    loop {
        let page = searcher.search(&request).await.expect("a page");
        request.cursor.clone_from(&page.next_cursor);
        pages.push(page);
        if request.cursor.is_none() {
            return pages;
        }
    }
}

#[tokio::test]
async fn result_that_is_too_large_is_shown_without_its_text() {
    for max_tokens in [1, 50, 150] {
        let asked = SearchRequest { max_tokens, ..request("where is the needle", &[], ChunkFilter::default()) };
        let pages = pages(asked).await;
        let found: Vec<&Found> = pages.iter().flat_map(|page| &page.found).collect();
        let paths: BTreeSet<&str> = found.iter().map(|found| found.hit.chunk.path.as_str()).collect();
        assert_eq!((pages.len(), paths.len()), (NUM_FILES, NUM_FILES), "{max_tokens}");
        assert!(found.iter().all(|found| found.hit.chunk.text.is_empty() && found.num_lines_cut == 3), "{found:?}");
        let cuts: Vec<Cut> = pages.iter().map(|page| page.cut).collect();
        let left = |num_left| Cut::Tokens { num_left };
        assert_eq!(cuts, [left(3), left(2), left(1), Cut::Nothing]);
    }
}

#[tokio::test]
async fn file_that_is_too_large_is_shown() {
    for target_type in [TargetType::Filename, TargetType::File] {
        let target = Target { target_type, ..Target::default() };
        let asked = SearchRequest { max_tokens: 20, target, ..request("needle", &[], ChunkFilter::default()) };
        let pages = pages(asked).await;
        let paths: BTreeSet<&str> = pages.iter().flat_map(|page| &page.files).map(|file| file.path.as_str()).collect();
        assert_eq!((pages.len(), paths.len()), (NUM_FILES, NUM_FILES), "{target_type:?}");
    }
}
