//! Checks of scope, records and pages.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, ensure};
use cairn_domain::{ChunkKind, ChunkRecord, Point, RepoPath, Scope, SymbolKind, Tenant, View};
use cairn_ports::{ChunkFilter, StagedPoints, VectorStore};

use crate::case::view;
use crate::suite::expect_eq;
use crate::vector_store::fixture::{COMMON_TERM, Points, place, probe, scroll};

pub(super) async fn scope_is_tested_before_limits(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "scope");
    for (repository, score) in [("p", 9), ("q", 1)] {
        let point = points.point(&format!("{repository}:x"), score);
        points.stage_in(repository, 1, StagedPoints { points: vec![point], retired: Vec::new() }).await?;
    }
    let (view, filter) = (view(2, &[]), ChunkFilter::default());
    let [p, q] = ["p:x", "q:x"].map(|name| points.chunk(name));
    let only_q = points.case.scope_of(&["q", "r"]);
    let dense = store.search_dense(&view, &only_q, &filter, &probe(), 1).await?;
    expect_eq!(dense.iter().map(|hit| hit.key).collect::<Vec<_>>(), [q.key]);
    let sparse = store.search_sparse(&view, &only_q, &filter, &[(COMMON_TERM, 1)], 1).await?;
    expect_eq!(sparse.iter().map(|hit| hit.key).collect::<Vec<_>>(), [q.key]);
    let keys = [(p.repository, p.key), (q.repository, q.key)];
    expect_eq!(store.fetch(&view, &only_q, &keys, true).await?, std::slice::from_ref(&q));
    expect_eq!(store.count(&view, &only_q, &filter).await?, 1);
    let foreign = Scope::all(Tenant::new(format!("{}-not", points.case.tenant)));
    let across = Scope::only(foreign.tenant.clone(), [p.repository, q.repository]);
    for scope in [foreign, across, points.case.scope_of(&[])] {
        expect_eq!(points.visible_in(&view, &scope, p.repository).await?, Vec::<String>::new());
        expect_eq!(store.fetch(&view, &scope, &keys, false).await?, []);
        expect_eq!(store.search_dense(&view, &scope, &filter, &probe(), 5).await?, []);
        expect_eq!(store.search_sparse(&view, &scope, &filter, &[(COMMON_TERM, 1)], 5).await?, []);
        expect_eq!(store.count(&view, &scope, &filter).await?, 0);
    }
    Ok(())
}

pub(super) async fn hidden_repositories_are_invisible(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "hide");
    points.stage_basics().await?;
    let hidden = View { hidden_repositories: BTreeSet::from([points.r()]), ..view(2, &[]) };
    expect_eq!(points.visible(&hidden).await?, Vec::<String>::new());
    let a = points.chunk("a");
    expect_eq!(store.fetch(&hidden, &points.case.scope(), &[(a.repository, a.key)], true).await?, []);
    expect_eq!(store.count(&hidden, &points.case.scope(), &ChunkFilter::default()).await?, 0);
    Ok(())
}

pub(super) async fn chunks_are_read_as_written(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "whole");
    let mut chunks = Vec::new();
    for (index, kind) in ChunkKind::ALL.iter().enumerate() {
        chunks.push(ChunkRecord {
            kind: *kind,
            symbol_kind: Some(SymbolKind::ALL[index]),
            heading: Some("Größe > \u{1F980}".to_owned()),
            path: RepoPath::from_bytes(format!("odd\\{index}\n.py").as_bytes()).expect("a path"),
            is_test: index % 2 == 0,
            exported: index % 3 == 0,
            documented: index % 4 == 0,
            has_secrets: index % 5 == 0,
            weight_percent: 10 + 15 * index as u16,
            tags: Arc::new(["one".to_owned(), "two".to_owned()]),
            changed_at: Some(1_700_000_000 + index as i64),
            ..points.chunk(&format!("n{index}"))
        });
    }
    let empty = |chunk: ChunkRecord| ChunkRecord {
        symbol: None,
        header: String::new(),
        text: String::new(),
        module_path: String::new(),
        ..chunk
    };
    chunks.push(empty(points.chunk("bare")));
    let staged: Vec<Point> =
        chunks.iter().enumerate().map(|(index, chunk)| place(chunk.clone(), index as i8)).collect();
    points.stage(1, StagedPoints { points: staged, retired: Vec::new() }).await?;
    let (view, scope) = (view(2, &[]), points.case.scope());
    let mut keys: Vec<_> = chunks.iter().map(|chunk| (points.r(), chunk.key)).collect();
    expect_eq!(store.fetch(&view, &scope, &keys, true).await?, chunks);
    let without_text = |chunk: &ChunkRecord| ChunkRecord { text: String::new(), ..chunk.clone() };
    keys.insert(1, (points.r(), points.chunk("missing").key));
    keys.reverse();
    let expected: Vec<_> = chunks.iter().rev().map(without_text).collect();
    expect_eq!(store.fetch(&view, &scope, &keys, false).await?, expected);
    let scrolled = scroll(store, &view, &scope, points.r()).await?;
    let mut found: Vec<_> = scrolled.iter().map(|(chunk, _)| without_text(chunk)).collect();
    let mut expected: Vec<_> = chunks.iter().map(without_text).collect();
    found.sort_by_key(|chunk| chunk.key);
    expected.sort_by_key(|chunk| chunk.key);
    expect_eq!(found, expected);
    let digests: BTreeSet<_> = scrolled.iter().map(|(_, digest)| *digest).collect();
    ensure!(digests.len() == chunks.len(), "chunks with different vectors have the same digest");
    Ok(())
}

/// More chunks than any adapter returns on one page.
const NUM_MANY: usize = 5000;

pub(super) async fn pages_are_complete(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "pages");
    let names: Vec<String> = (0..NUM_MANY).map(|number| format!("n{number}")).collect();
    let (first, second) = names.split_at(NUM_MANY / 3);
    for (generation, names) in [(1, first), (2, second)] {
        let staged = names.iter().map(|name| points.point(name, 1)).collect();
        points.stage(generation, StagedPoints { points: staged, retired: Vec::new() }).await?;
    }
    let found = scroll(store, &view(3, &[]), &points.case.scope(), points.r()).await?;
    expect_eq!(found.len(), NUM_MANY);
    expect_eq!(found.iter().map(|(chunk, _)| chunk.key).collect::<BTreeSet<_>>().len(), NUM_MANY);
    let digests: BTreeSet<_> = found.iter().map(|(_, digest)| *digest).collect();
    ensure!(digests.len() == 1, "chunks with equal vectors have {} different digests", digests.len());
    Ok(())
}
