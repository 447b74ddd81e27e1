//! Checks that stamps report the newer commits that are known.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::RunState;
use cairn_ports::{ChunkFilter, RepositoryRecord};
use cairn_search::{Heads, NewerCommit, NewerState, Searcher};
use cairn_testkit::FakeContent;

use crate::{request, searcher_over};

/// All sources are at one commit.
struct At(&'static str);

#[async_trait]
impl Heads for At {
    async fn head(&self, _repository: &RepositoryRecord) -> Option<String> {
        Some(self.0.to_owned())
    }
}

fn content(commit: &str) -> FakeContent {
    FakeContent::new("app", commit).file("src/open.rs", "rust", "fn open() { read the file }\n")
}

async fn check(content: FakeContent, head: Option<&'static str>, expect: Option<(&str, NewerState)>) {
    let (counted, searcher) = searcher_over(vec![content]).await;
    let heads = head.map(|commit| Arc::new(At(commit)) as Arc<dyn Heads>);
    let searcher = Searcher { heads, ..searcher };
    let answer = searcher.search(&request("read the file", &[], ChunkFilter::default())).await.expect("an answer");
    let stamp = &answer.stamps[0];
    let expect =
        expect.map(|(commit, state)| NewerCommit { commit: (!commit.is_empty()).then(|| commit.to_owned()), state });
    assert_eq!(stamp.newer, expect, "{head:?}");
    let is_running = expect.is_some_and(|newer| newer.state == NewerState::InProgress);
    assert_eq!(stamp.run_in_progress, is_running, "{head:?}");
    let num_reads: usize =
        counted.calls().iter().filter(|(call, _)| call.starts_with("LedgerRead")).map(|(_, num)| num).sum();
    assert_eq!(num_reads, 1, "the stamps need one read of runs");
}

#[tokio::test]
async fn runs_after_the_published_one_are_reported() {
    check(content("c1"), None, None).await;
    check(content("c1").newer_run("c2", RunState::Running), None, Some(("c2", NewerState::InProgress))).await;
    check(content("c1").newer_run("c2", RunState::Failed), None, Some(("c2", NewerState::Failed))).await;
    check(content("c1").newer_run("c2", RunState::Cancelled), None, Some(("c2", NewerState::Cancelled))).await;
    // The run indexed the published commit again.
    check(content("c1").newer_run("c1", RunState::Failed), None, None).await;
    // The sync was refused before its commit was known.
    let refused = || content("c1").newer_run("", RunState::Failed);
    check(refused(), None, Some(("", NewerState::Failed))).await;
    check(refused(), Some("c1"), Some(("", NewerState::Failed))).await;
    check(refused().synced_after(9_000), Some("c1"), None).await;
    // The first sync, which came before the end of the run, began the run. The later sync found nothing new.
    let failed = || content("c1").newer_run("c2", RunState::Failed);
    check(failed().synced_after(1_000), None, Some(("c2", NewerState::Failed))).await;
    check(failed().synced_after(9_000), None, None).await;
}

#[tokio::test]
async fn moved_heads_are_reported() {
    check(content("c1"), Some("c1"), None).await;
    check(content("c1-dirty"), Some("c1"), None).await;
    check(content("c1"), Some("c2"), Some(("c2", NewerState::NotIndexed))).await;
    check(content("c1-dirty"), Some("c2"), Some(("c2", NewerState::NotIndexed))).await;
    let failed = || content("c1").newer_run("c2", RunState::Failed);
    check(failed(), Some("c2"), Some(("c2", NewerState::Failed))).await;
    check(failed(), Some("c3"), Some(("c3", NewerState::NotIndexed))).await;
    // The source is at the published commit again.
    check(failed(), Some("c1"), None).await;
    let dirty = content("c1").newer_run("c1-dirty", RunState::Failed);
    check(dirty, Some("c1"), Some(("c1-dirty", NewerState::Failed))).await;
}
