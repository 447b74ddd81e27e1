//! Checks exact search: order, pages, filters, limits and counts.

use cairn_exact::PatternRequest;
use cairn_ports::IncludeTests;
use cairn_ranking::estimate_tokens;
use cairn_search::{
    Allowed, Caller, ExactAnswer, ExactCut, ExactRequest, QueryErrorCode, RepositorySelection, Searcher,
};
use cairn_testkit::FakeContent;

use crate::searcher_over;

/// Returns a searcher over three repositories, which are not added in the order of their names.
async fn searcher() -> Searcher {
    let line = |number: usize| if number.is_multiple_of(3) { "call needle here\n" } else { "nothing\n" };
    let many = (0..40).fold(FakeContent::new("many", "c1"), |content, file| {
        let text: String = (0..10).map(line).collect();
        content.file(&format!("src/f{file:02}.rs"), "rust", &text)
    });
    let small = FakeContent::new("a-small", "c2")
        .file("needle.md", "markdown", "# Needle\n\na needle\nNEEDLE needle\n")
        .file("tests/test_it.py", "python", "needle\n");
    let hidden = FakeContent::new("hidden", "c3").file("x.rs", "rust", "needle\n");
    searcher_over(vec![many, small, hidden]).await.1
}

fn request(text: &str) -> ExactRequest {
    ExactRequest {
        pattern: PatternRequest { text: text.to_owned(), ..PatternRequest::default() },
        repositories: RepositorySelection(Vec::new()),
        languages: Vec::new(),
        paths: Vec::new(),
        include_tests: IncludeTests::Include,
        before: 0,
        after: 0,
        limit: 1_000,
        max_tokens: 100_000,
        cursor: None,
    }
}

/// The lines of an answer: `REPOSITORY PATH:LINE` for a hit, and `REPOSITORY PATH-LINE` for a line near a
/// hit.
fn lines(answer: &ExactAnswer) -> Vec<String> {
    let of_file = |file: &cairn_search::ExactFile| {
        let place = format!("{} {}", file.repository, file.path);
        file.lines
            .iter()
            .map(|line| format!("{place}{}{}", if line.is_hit { ":" } else { "-" }, line.number))
            .collect::<Vec<_>>()
    };
    answer.files.iter().flat_map(of_file).collect()
}

async fn found(request: &ExactRequest) -> Vec<String> {
    lines(&searcher().await.exact(request).await.expect("an answer"))
}

#[tokio::test]
async fn hits_are_ordered_by_repository_path_and_line() {
    let answer = searcher().await.exact(&request("needle")).await.expect("an answer");
    let found = lines(&answer);
    assert_eq!(found[..3], ["a-small needle.md:3", "a-small needle.md:4", "a-small tests/test_it.py:1"]);
    assert_eq!(found[3..6], ["hidden x.rs:1", "many src/f00.rs:1", "many src/f00.rs:4"]);
    assert_eq!((answer.num_hits, answer.num_files, answer.is_exact), (164, 43, true));
    assert_eq!((answer.cut, &answer.next_cursor, answer.stamps.len()), (None, &None, 3));
    assert_eq!(answer.files[0].lines[1].matches, [(7, 13)]);
}

/// An empty answer states which part of the filter excludes all files.
#[tokio::test]
async fn filters_without_files_are_reported() {
    let check = async |languages: &[&str], paths: &[&str], expect: &[&str]| {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let request =
            ExactRequest { languages: texts(languages), paths: texts(paths), ..request("absent from all files") };
        let answer = searcher().await.exact(&request).await.expect("an answer");
        let notes: Vec<String> = answer.notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes, expect, "{languages:?} {paths:?}");
    };
    check(&[], &[], &[]).await;
    check(&["python"], &["tests/*"], &[]).await;
    check(&["pyton"], &[], &["No searched file has the language `pyton`; did you mean «python»?"]).await;
    check(&["fortran"], &[], &["No searched file has the language `fortran`."]).await;
    check(&[], &["lib/*.c"], &["No searched file matches the path `lib/*.c`."]).await;
    check(&["python"], &["needle.md"], &["No searched file matches all filters together."]).await;
}

#[tokio::test]
async fn pages_together_form_the_whole_answer() {
    let searcher = searcher().await;
    let whole = lines(&searcher.exact(&request("needle")).await.expect("an answer"));
    for (limit, max_tokens) in [(1, 100_000), (7, 100_000), (100, 300), (1_000, 150)] {
        let (mut joined, mut cursor, mut num_pages) = (Vec::new(), None, 0);
        loop {
            let request = ExactRequest { limit, max_tokens, cursor: cursor.take(), ..request("needle") };
            let answer = searcher.exact(&request).await.expect("an answer");
            assert_eq!(answer.offset, joined.len());
            assert_eq!((answer.num_hits, answer.is_exact), (whole.len(), true));
            assert!(answer.num_shown <= limit && answer.num_shown > 0);
            joined.extend(lines(&answer));
            num_pages += 1;
            cursor = answer.next_cursor;
            if cursor.is_none() {
                break;
            }
            assert_eq!(answer.cut, Some(if limit < 100 { ExactCut::Limit } else { ExactCut::Tokens }));
        }
        assert_eq!(joined, whole, "{limit} {max_tokens}");
        assert!(num_pages > 1);
    }
}

/// A hit that exceeds the limit is shortened, so that the next page can follow.
#[tokio::test]
async fn large_hits_do_not_end_the_pages() {
    let long = format!("{}needle, {}\n", "some, words; ".repeat(200), "more, words; ".repeat(200));
    let text = format!("{long}before\n{long}after\nneedle\n").repeat(3);
    let content = FakeContent::new("r", "c").file("src/long.txt", "text", &text).file("src/one.txt", "text", &long);
    let searcher = searcher_over(vec![content]).await.1;
    let across = PatternRequest {
        text: "(?s)needle.*?after".to_owned(),
        is_regex: true,
        across_lines: true,
        ..PatternRequest::default()
    };
    for pattern in [request("needle").pattern, across] {
        let request = || ExactRequest { before: 2, after: 2, pattern: pattern.clone(), ..request("needle") };
        let firsts = |answer: &ExactAnswer| -> Vec<(String, u32)> {
            let hits = answer.files.iter().flat_map(|file| file.lines.iter().map(|line| (file.path.to_string(), line)));
            hits.filter(|(_, line)| line.is_hit).map(|(path, line)| (path, line.number)).collect()
        };
        let whole = searcher.exact(&request()).await.expect("an answer");
        assert!(!whole.is_shortened && whole.cut.is_none());
        for max_tokens in [40, 60, 100, 200, 400] {
            let (mut num_shown, mut cursor, mut shown) = (0, None, Vec::new());
            loop {
                let request = ExactRequest { max_tokens, cursor: cursor.take(), ..request() };
                let answer = searcher.exact(&request).await.expect("an answer");
                assert!(answer.num_shown > 0, "{max_tokens}: no hit after {num_shown}");
                let texts = answer.files.iter().flat_map(|file| &file.lines).map(|line| estimate_tokens(&line.text));
                assert!(texts.sum::<usize>() <= max_tokens);
                let first = &answer.files[0].lines;
                assert!(first.iter().any(|line| line.is_hit && line.text.contains("need")), "{max_tokens}: {answer:?}");
                num_shown += answer.num_shown;
                shown.extend(firsts(&answer));
                cursor = answer.next_cursor;
                assert_eq!(answer.cut.is_some(), cursor.is_some());
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(num_shown, whole.num_hits, "{max_tokens}");
            assert!(firsts(&whole).first() == shown.first() && !shown.is_empty());
        }
        let too_small = searcher.exact(&ExactRequest { max_tokens: 5, ..request() }).await.expect("an answer");
        assert_eq!((too_small.num_shown, too_small.cut), (0, Some(ExactCut::Tokens)));
        assert!(too_small.next_cursor.is_none() && !too_small.is_shortened);
    }
}

#[tokio::test]
async fn filters_select_files() {
    let check = async |request: ExactRequest, expect: &[&str]| assert_eq!(found(&request).await, expect);
    let base = || ExactRequest { repositories: RepositorySelection(vec!["a-small".to_owned()]), ..request("needle") };
    check(ExactRequest { languages: vec!["python".to_owned()], ..base() }, &["a-small tests/test_it.py:1"]).await;
    let exclude = ExactRequest { include_tests: IncludeTests::Exclude, ..base() };
    check(exclude, &["a-small needle.md:3", "a-small needle.md:4"]).await;
    check(ExactRequest { include_tests: IncludeTests::Only, ..base() }, &["a-small tests/test_it.py:1"]).await;
    check(ExactRequest { paths: vec!["*.py".to_owned()], ..base() }, &["a-small tests/test_it.py:1"]).await;
    check(ExactRequest { paths: vec!["docs/**".to_owned()], ..base() }, &[]).await;
    let context = ExactRequest { before: 1, languages: vec!["markdown".to_owned()], ..base() };
    check(context, &["a-small needle.md-2", "a-small needle.md:3", "a-small needle.md:4"]).await;
}

#[tokio::test]
async fn common_text_is_counted_up_to_a_limit() {
    let text = "needle\n".repeat(3_000);
    let content = (0..100)
        .fold(FakeContent::new("r", "c"), |content, file| content.file(&format!("{file:03}.txt"), "text", &text));
    let searcher = searcher_over(vec![content]).await.1;
    let answer = searcher.exact(&ExactRequest { limit: 50, ..request("needle") }).await.expect("an answer");
    assert!(!answer.is_exact && answer.num_hits < 300_000, "{}", answer.num_hits);
    assert_eq!((answer.num_shown, answer.cut), (50, Some(ExactCut::Limit)));
}

#[tokio::test]
async fn wrong_requests_and_cursors_are_refused() {
    let searcher = searcher().await;
    let check = async |searcher: &Searcher, request: ExactRequest, code: QueryErrorCode, expect: &str| {
        let error = searcher.exact(&request).await.expect_err("refused");
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(expect), "{error}");
    };
    let (invalid, cursor) = (QueryErrorCode::ValidationError, QueryErrorCode::InvalidCursor);
    check(&searcher, request(""), invalid, "empty").await;
    check(&searcher, ExactRequest { limit: 0, ..request("x") }, invalid, "limit").await;
    check(&searcher, ExactRequest { before: 21, ..request("x") }, invalid, "`before` must be at most 20").await;
    check(&searcher, request(&"x".repeat(5_000)), invalid, "bytes").await;
    check(&searcher, ExactRequest { cursor: Some("00".to_owned()), ..request("x") }, cursor, "not issued").await;
    let first = searcher.exact(&ExactRequest { limit: 1, ..request("needle") }).await.expect("an answer");
    let next = |text: &str| ExactRequest { cursor: first.next_cursor.clone(), ..request(text) };
    check(&searcher, next("other"), cursor, "different query").await;
    let other = Searcher { caller: Caller { name: "other".to_owned(), ..Caller::local() }, ..searcher.clone() };
    check(&other, next("needle"), cursor, "not issued").await;
}

#[tokio::test]
async fn hidden_repository_changes_no_answer() {
    let searcher = searcher().await;
    let allowed = Allowed::Only(vec!["a-small".to_owned(), "many".to_owned()]);
    let searcher = Searcher { caller: Caller { allowed, ..Caller::local() }, ..searcher };
    let answer = searcher.exact(&request("needle")).await.expect("an answer");
    assert_eq!((answer.num_hits, answer.num_files), (163, 42));
    assert!(answer.files.iter().all(|file| file.repository != "hidden"));
    assert!(answer.stamps.iter().all(|stamp| stamp.repository != "hidden"));
}
