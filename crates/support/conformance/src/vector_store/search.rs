//! Checks of scores, order, filters and limits.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use cairn_domain::{ChunkKind, ChunkRecord, DenseVector, LineSpan, Point, RepoPath, Scope, SparseVector};
use cairn_ports::{ChunkFilter, ChunkPlace, Hit, IncludeTests, ListsRequest, StagedPoints, VectorStore};

use crate::case::view;
use crate::suite::expect_eq;
use crate::vector_store::fixture::{COMMON_TERM, DIMENSIONS, Points, place, probe};

fn stage_of(points: Vec<Point>) -> StagedPoints {
    StagedPoints { points, retired: Vec::new() }
}

/// Pseudorandom numbers that are the same on every machine.
fn noise(seed: u64) -> impl Iterator<Item = u32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some((state >> 24) as u32)
    })
}

fn by_order(mut hits: Vec<Hit>, chunk: impl Fn(&Hit) -> ChunkRecord) -> Vec<Hit> {
    hits.sort_by_key(|hit| {
        let chunk = chunk(hit);
        (std::cmp::Reverse(hit.score), hit.repository, chunk.path, chunk.span.start, hit.key)
    });
    hits
}

pub(super) async fn dense_scores_are_exact_sums(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "dense");
    let vector = |seed: u64| DenseVector(noise(seed).take(DIMENSIONS).map(|value| (value % 255) as u8 as i8).collect());
    let extremes = [i8::MAX, i8::MIN + 1].map(|value| DenseVector(vec![value; DIMENSIONS]));
    let vectors: Vec<DenseVector> = (1..300).map(vector).chain(extremes.clone()).collect();
    let staged: Vec<Point> = vectors
        .iter()
        .enumerate()
        .map(|(index, dense)| Point { dense: dense.clone(), ..points.point(&format!("n{index}"), 1) })
        .collect();
    points.stage(1, stage_of(staged.clone())).await?;
    let chunk = |hit: &Hit| {
        staged.iter().find(|point| point.chunk.key == hit.key).map(|point| point.chunk.clone()).expect("staged")
    };
    for question in [vector(1), vector(1000), extremes[0].clone(), extremes[1].clone()] {
        let sum = |point: &Point| {
            let products =
                point.dense.0.iter().zip(&question.0).map(|(left, right)| i64::from(*left) * i64::from(*right));
            Hit { repository: points.r(), key: point.chunk.key, score: products.sum() }
        };
        let expected = by_order(staged.iter().map(sum).collect(), chunk);
        for limit in [1, 17, 1000, 0] {
            let hits = store
                .search_dense(&view(2, &[]), &points.case.scope(), &ChunkFilter::default(), &question, limit)
                .await?;
            expect_eq!(hits, expected[..limit.min(expected.len())]);
        }
    }
    Ok(())
}

pub(super) async fn sparse_scores_are_exact_sums(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "sparse");
    let sparse = |seed: u64| {
        let mut terms: Vec<(u32, u8)> =
            noise(seed).take(12).map(|value| (value % 40, (value >> 8) as u8 | 1)).collect();
        terms.sort_unstable();
        terms.dedup_by_key(|(term, _)| *term);
        terms.push((u32::MAX - 5 + seed as u32 % 5, 255));
        SparseVector(terms)
    };
    let staged: Vec<Point> =
        (1..300).map(|seed| Point { sparse: sparse(seed), ..points.point(&format!("n{seed}"), 1) }).collect();
    points.stage(1, stage_of(staged.clone())).await?;
    let chunk = |hit: &Hit| {
        staged.iter().find(|point| point.chunk.key == hit.key).map(|point| point.chunk.clone()).expect("staged")
    };
    let questions: [&[(u32, u32)]; 5] =
        [&[(3, 2)], &[(0, 1), (7, 300), (39, 5)], &[(u32::MAX - 3, 9)], &[(41, 1), (100_000, 1)], &[]];
    for question in questions {
        let sum = |point: &Point| {
            let weight = |term: u32| point.sparse.0.iter().find(|(other, _)| *other == term).map(|(_, weight)| *weight);
            let products =
                question.iter().filter_map(|(term, wanted)| Some(i64::from(weight(*term)?) * i64::from(*wanted)));
            Hit { repository: points.r(), key: point.chunk.key, score: products.sum() }
        };
        let found = staged.iter().map(sum).filter(|hit| hit.score > 0).collect();
        let expected = by_order(found, chunk);
        for limit in [1, 20, 1000] {
            let hits = store
                .search_sparse(&view(2, &[]), &points.case.scope(), &ChunkFilter::default(), question, limit)
                .await?;
            expect_eq!(hits, expected[..limit.min(expected.len())]);
        }
    }
    Ok(())
}

pub(super) async fn the_order_of_hits_is_total(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "order");
    let mut all = Vec::new();
    for repository in ["p", "q"] {
        let mut staged = Vec::new();
        for (index, (path, line)) in
            [("b.py", 1), ("a.py", 9), ("a.py", 2), ("a/z.py", 1), ("a.py", 2)].iter().enumerate()
        {
            let chunk = points.chunk(&format!("{repository}:n{index}"));
            let path = RepoPath::parse(path).expect("a path");
            staged.push(place(ChunkRecord { path, span: LineSpan::new(*line, line + 3), ..chunk }, 5));
        }
        staged.push(points.point(&format!("{repository}:best"), 9));
        staged.push(points.point(&format!("{repository}:worst"), -9));
        points.stage_in(repository, 1, stage_of(staged.clone())).await?;
        all.extend(staged);
    }
    let chunk = |hit: &Hit| {
        all.iter().find(|point| point.chunk.key == hit.key).map(|point| point.chunk.clone()).expect("staged")
    };
    let (view, scope, filter) = (view(2, &[]), points.case.scope(), ChunkFilter::default());
    let hit = |score: i64, point: &Point| Hit { repository: point.chunk.repository, key: point.chunk.key, score };
    let dense = by_order(all.iter().map(|point| hit(i64::from(point.dense.0[0]), point)).collect(), chunk);
    let sparse = by_order(all.iter().map(|point| hit(3, point)).collect(), chunk);
    for limit in 1..=all.len() {
        expect_eq!(store.search_dense(&view, &scope, &filter, &probe(), limit).await?, dense[..limit]);
        let found = store.search_sparse(&view, &scope, &filter, &[(COMMON_TERM, 3)], limit).await?;
        expect_eq!(found, sparse[..limit]);
    }
    Ok(())
}

/// The two lists of this check have different orders, so their first hits are different chunks.
pub(super) async fn first_hits_have_records(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "records");
    let weighted = |index: u8| Point {
        sparse: SparseVector(vec![(COMMON_TERM, 40 - index)]),
        ..points.point(&format!("n{index}"), index as i8)
    };
    points.stage(1, stage_of((1..=30).map(weighted).collect())).await?;
    // The second version of a chunk replaces the first one in later views.
    let second = ChunkRecord { header: "second version".to_owned(), ..points.chunk("n30") };
    let retired = vec![second.key];
    points.stage(2, StagedPoints { points: vec![place(second, 30)], retired }).await?;
    let (scope, filter, terms) = (points.case.scope(), ChunkFilter::default(), [(COMMON_TERM, 3)]);
    for (next_gen, num_records, limits) in
        [(2, 3, (10, 20)), (3, 3, (10, 20)), (3, 50, (10, 50)), (3, 4, (2, 0)), (3, 0, (9, 9)), (2, 3, (10, 20))]
    {
        let view = view(next_gen, &[]);
        let request = ListsRequest { dense: Some((&probe(), limits.0)), sparse: (&terms, limits.1), num_records };
        let found = store.search(&view, &scope, &filter, request).await?;
        expect_eq!(found.dense, store.search_dense(&view, &scope, &filter, &probe(), limits.0).await?);
        expect_eq!(found.sparse, store.search_sparse(&view, &scope, &filter, &terms, limits.1).await?);
        expect_eq!(found.records, store.fetch(&view, &scope, &found.first_hits(num_records), false).await?);
        expect_eq!(found.records.len(), found.first_hits(num_records).len());
        let only_terms = ListsRequest { dense: None, ..request };
        let found = store.search(&view, &scope, &filter, only_terms).await?;
        expect_eq!((found.dense.len(), found.sparse.len()), (0, limits.1.min(30)));
        expect_eq!(found.records, store.fetch(&view, &scope, &found.first_hits(num_records), false).await?);
    }
    let globs = ChunkFilter { paths: vec!["src/n?.py".to_owned()], ..filter };
    let request = ListsRequest { dense: Some((&probe(), 4)), sparse: (&terms, 4), num_records: 2 };
    let found = store.search(&view(3, &[]), &scope, &globs, request).await?;
    let paths: BTreeSet<String> = found.records.iter().map(|chunk| chunk.path.to_string()).collect();
    expect_eq!(paths, ["src/n1.py", "src/n2.py", "src/n8.py", "src/n9.py"].map(str::to_owned).into());
    Ok(())
}

/// Checks path patterns that no index supports. Each filter matches only a few chunks, and these chunks have
/// low scores.
pub(super) async fn hits_are_found_however_few_paths_match(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "few");
    let path =
        |index: usize| if index % 97 == 96 { format!("src/my_util_{index}.py") } else { format!("src/{index}.py") };
    let point = |index: usize| {
        let path = RepoPath::parse(&path(index)).expect("a path");
        place(ChunkRecord { path, ..points.chunk(&format!("n{index}")) }, 120 - (index / 3) as i8)
    };
    let staged: Vec<Point> = (0..300).map(point).collect();
    points.stage(1, stage_of(staged.clone())).await?;
    let matching: [(&[&str], &[usize]); 4] = [
        (&["*util*"], &[96, 193, 290]),
        (&["**/*_{193,290}*"], &[193, 290]),
        (&["*nothing*"], &[]),
        (&["*util*", "src/7.py"], &[7, 96, 193, 290]),
    ];
    for (patterns, expected) in matching {
        let paths = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let filter = ChunkFilter { paths, ..ChunkFilter::default() };
        let expected: Vec<_> = expected.iter().map(|index| staged[*index].chunk.key).collect();
        for limit in [1, 2, 5] {
            let hits = store.search_dense(&view(2, &[]), &points.case.scope(), &filter, &probe(), limit).await?;
            let keys: Vec<_> = hits.iter().map(|hit| hit.key).collect();
            expect_eq!(keys, expected[..limit.min(expected.len())]);
        }
    }
    Ok(())
}

/// Chunks that differ in every property that a filter checks.
fn varied(points: &Points<'_>) -> Vec<ChunkRecord> {
    let at =
        |name: &str, path: &str| ChunkRecord { path: RepoPath::parse(path).expect("a path"), ..points.chunk(name) };
    let tagged = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Arc<[String]>>();
    vec![
        ChunkRecord { language: "rust".to_owned(), module_path: "a.b".to_owned(), ..at("n0", "src/lib.rs") },
        ChunkRecord { kind: ChunkKind::Navigation, module_path: "a.b.c".to_owned(), ..at("n1", "docs/README.md") },
        ChunkRecord { is_test: true, module_path: "a.bc".to_owned(), ..at("n2", "src/deep/er/test_x.py") },
        ChunkRecord { tags: tagged(&["core", "slow"]), changed_at: Some(1000), ..at("n3", "src/x.py") },
        ChunkRecord { tags: tagged(&["core"]), changed_at: Some(2000), module_path: String::new(), ..at("n4", "x.py") },
    ]
}

fn filters() -> Vec<(ChunkFilter, &'static [usize])> {
    let none = ChunkFilter::default;
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    vec![
        (none(), &[0, 1, 2, 3, 4]),
        (ChunkFilter { languages: texts(&["rust"]), ..none() }, &[0]),
        (ChunkFilter { languages: texts(&["rust", "python"]), ..none() }, &[0, 1, 2, 3, 4]),
        (ChunkFilter { languages: texts(&["cobol"]), ..none() }, &[]),
        (ChunkFilter { kinds: vec![ChunkKind::Navigation, ChunkKind::Pattern], ..none() }, &[1]),
        (ChunkFilter { paths: texts(&["src/*.py"]), ..none() }, &[3]),
        (ChunkFilter { paths: texts(&["src/**"]), ..none() }, &[0, 2, 3]),
        (ChunkFilter { paths: texts(&["**/*.md", "x.py"]), ..none() }, &[1, 3, 4]),
        (ChunkFilter { paths: texts(&["*.py"]), ..none() }, &[2, 3, 4]),
        (ChunkFilter { module_prefixes: texts(&["a.b"]), ..none() }, &[0, 1]),
        (ChunkFilter { module_prefixes: texts(&["a.bc", "a.b.c"]), ..none() }, &[1, 2]),
        (ChunkFilter { module_prefixes: texts(&["a"]), ..none() }, &[0, 1, 2]),
        (ChunkFilter { include_tests: IncludeTests::Exclude, ..none() }, &[0, 1, 3, 4]),
        (ChunkFilter { include_tests: IncludeTests::Only, ..none() }, &[2]),
        (ChunkFilter { tags: texts(&["core"]), ..none() }, &[3, 4]),
        (ChunkFilter { tags: texts(&["core", "slow"]), ..none() }, &[3]),
        (ChunkFilter { since: Some(1000), ..none() }, &[0, 1, 2, 3, 4]),
        (ChunkFilter { since: Some(1001), ..none() }, &[0, 1, 2, 4]),
        (ChunkFilter { since: Some(2001), tags: texts(&["core"]), ..none() }, &[]),
        (ChunkFilter { tags: texts(&["core"]), paths: texts(&["src/**"]), ..none() }, &[3]),
    ]
}

pub(super) async fn every_filter_restricts(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "filter");
    let chunks = varied(&points);
    points.stage(1, stage_of(chunks.iter().map(|chunk| place(chunk.clone(), 1)).collect())).await?;
    let (view, scope) = (view(2, &[]), points.case.scope());
    for (filter, expected) in filters() {
        let numbers = |hits: Vec<Hit>| {
            let number = |hit: Hit| chunks.iter().position(|chunk| chunk.key == hit.key).expect("staged");
            let mut numbers: Vec<usize> = hits.into_iter().map(number).collect();
            numbers.sort_unstable();
            numbers
        };
        let dense = store.search_dense(&view, &scope, &filter, &probe(), 100).await?;
        anyhow::ensure!(numbers(dense.clone()) == expected, "dense, {filter:?}: {:?}", numbers(dense));
        let sparse = store.search_sparse(&view, &scope, &filter, &[(COMMON_TERM, 1)], 100).await?;
        anyhow::ensure!(numbers(sparse.clone()) == expected, "sparse, {filter:?}: {:?}", numbers(sparse));
        let places = store.places(&view, &scope, &filter).await?;
        let found: Vec<_> = places.into_iter().map(|place| place.key).collect();
        anyhow::ensure!(found.len() == expected.len(), "the filter {filter:?} returned {} places", found.len());
        anyhow::ensure!(
            expected.iter().all(|number| found.contains(&chunks[*number].key)),
            "the filter {filter:?} returned other places than expected"
        );
        let count = store.count(&view, &scope, &filter).await?;
        anyhow::ensure!(count == expected.len() as u64, "the filter {filter:?} counted {count} chunks");
    }
    Ok(())
}

pub(super) async fn places_are_sorted(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "places");
    let at = |name: &str, path: &str, first: u32, last: u32| ChunkRecord {
        path: RepoPath::parse(path).expect("a path"),
        span: LineSpan::new(first, last),
        ..points.chunk(name)
    };
    let chunks = [
        at("n0", "b.py", 9, 12),
        at("n1", "b.py", 1, 8),
        at("n2", "a.py", 5, 6),
        at("n3", "b.py", 1, 30),
        at("n4", "c.py", 1, 2),
    ];
    points.stage(1, stage_of(chunks.iter().map(|chunk| place(chunk.clone(), 1)).collect())).await?;
    points.stage(2, StagedPoints { points: Vec::new(), retired: vec![chunks[2].key] }).await?;
    let filter = ChunkFilter { paths: vec!["a.py".to_owned(), "b.py".to_owned()], ..ChunkFilter::default() };
    let check = async |next_gen: u64, scope: &Scope, expect: &[usize]| {
        let expect = expect.iter().map(|number| {
            let ChunkRecord { repository, path, span, key, .. } = chunks[*number].clone();
            ChunkPlace { repository, path, span, key }
        });
        expect_eq!(store.places(&view(next_gen, &[]), scope, &filter).await?, expect.collect::<Vec<_>>());
        anyhow::Ok(())
    };
    check(1, &points.case.scope(), &[]).await?;
    check(2, &points.case.scope(), &[2, 1, 3, 0]).await?;
    check(3, &points.case.scope(), &[1, 3, 0]).await?;
    check(3, &points.case.scope_of(&["q"]), &[]).await
}

pub(super) async fn filters_are_tested_before_limits(store: &dyn VectorStore) -> Result<()> {
    let points = Points::new(store, "limit");
    let mut staged = Vec::new();
    for index in 0..600 {
        let is_wanted = index % 200 == 0;
        let chunk = ChunkRecord { is_test: is_wanted, ..points.chunk(&format!("n{index}")) };
        // The chunks that match the filter have lower scores than all other chunks.
        staged.push(place(chunk, if is_wanted { -1 } else { 100 }));
    }
    points.stage(1, stage_of(staged)).await?;
    let filter = ChunkFilter { include_tests: IncludeTests::Only, ..ChunkFilter::default() };
    let (view, scope) = (view(2, &[]), points.case.scope());
    expect_eq!(store.search_dense(&view, &scope, &filter, &probe(), 3).await?.len(), 3);
    expect_eq!(store.search_sparse(&view, &scope, &filter, &[(COMMON_TERM, 1)], 3).await?.len(), 3);
    Ok(())
}
