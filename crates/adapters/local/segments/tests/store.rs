//! Tests individual cases of the store: search, filters, reads and refused input.

mod support;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cairn_domain::{ChunkKind, DenseVector, GenerationId, RepositoryId, Scope, Tenant, View};
use cairn_local_segments::SegmentStore;
use cairn_ports::{ChunkFilter, ErrorKind, Generations, IncludeTests, StagedPoints, Staging, VectorStore};
use support::{chunk, everything, part, point, repository, run, view};

struct Fixture {
    folder: tempfile::TempDir,
    store: SegmentStore,
    repository: RepositoryId,
}

impl Fixture {
    /// Creates five chunks of generation 1. The chunk of line `n` has the vector (n, 1) and the term 7 with
    /// weight `n`.
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = SegmentStore::new(folder.path());
        let repository = repository("main");
        let places = [("src/a.rs", 1), ("src/a.rs", 2), ("src/net/b.go", 3), ("tests/c_test.py", 4), ("src/a.rs", 5)];
        let points = places.iter().map(|(path, line)| {
            let chunk = chunk(repository, path, *line, &format!("text {line}"));
            point(chunk, &[*line as i8, 1], &[(7, *line as u8), (100 + line, 1)])
        });
        let staged = StagedPoints { points: points.collect(), retired: Vec::new() };
        store.stage(&Staging::new(Tenant::local(), run(repository, 1), part(0)), staged).await.expect("staged");
        Self { folder, store, repository }
    }

    async fn lines(&self, view: &View, filter: &ChunkFilter, limit: usize) -> Vec<u32> {
        let vector = DenseVector(vec![1, 0]);
        let hits = self.store.search_dense(view, &everything(), filter, &vector, limit).await.expect("searched");
        let keys: Vec<_> = hits.iter().map(|hit| (hit.repository, hit.key)).collect();
        let found = self.store.fetch(view, &everything(), &keys, false).await.expect("fetched");
        found.iter().map(|chunk| chunk.span.start).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        let folder = self.folder.path().join(self.repository.to_string());
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder).expect("listed").map(|entry| entry.expect("an entry").path()).collect();
        files.sort();
        files
    }
}

#[tokio::test]
async fn hits_are_ordered_by_score_then_place() {
    let fixture = Fixture::new().await;
    let all = ChunkFilter::default();
    assert_eq!(fixture.lines(&view(2, &[]), &all, 3).await, [5, 4, 3]);
    assert_eq!(fixture.lines(&view(2, &[]), &all, 0).await, [0; 0]);
    assert_eq!(fixture.lines(&view(1, &[]), &all, 3).await, [0; 0]);
    assert_eq!(fixture.lines(&view(2, &[1]), &all, 3).await, [0; 0]);
    let ties = DenseVector(vec![0, -1]);
    let hits = fixture.store.search_dense(&view(2, &[]), &everything(), &all, &ties, 9).await.expect("searched");
    let keys: Vec<_> = hits.iter().map(|hit| (hit.repository, hit.key)).collect();
    let found = fixture.store.fetch(&view(2, &[]), &everything(), &keys, true).await.expect("fetched");
    let places: Vec<(&str, u32)> = found.iter().map(|chunk| (chunk.path.as_str(), chunk.span.start)).collect();
    assert_eq!(
        places,
        [("src/a.rs", 1), ("src/a.rs", 2), ("src/a.rs", 5), ("src/net/b.go", 3), ("tests/c_test.py", 4)]
    );
    assert!(hits.iter().all(|hit| hit.score == -1));
    assert_eq!(found[3], chunk(fixture.repository, "src/net/b.go", 3, "text 3"));
}

/// Other processes have their own `SegmentStore` of the same folder.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn removal_beside_other_maintenance_succeeds() {
    let fixture = Fixture::new().await;
    let (folder, repository) = (fixture.folder.path().to_owned(), fixture.repository);
    let is_over = Arc::new(AtomicBool::new(false));
    let others: Vec<_> = (0..2)
        .map(|_| {
            let (store, is_over) = (SegmentStore::new(&folder), Arc::clone(&is_over));
            tokio::spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    store.compact(repository).await.expect("compacted");
                }
            })
        })
        .collect();
    for generation in 2..200 {
        let only = point(chunk(repository, "src/a.rs", 1, "text"), &[1, 1], &[(7, 1)]);
        let staged = StagedPoints { points: vec![only], retired: Vec::new() };
        let staging = Staging::new(Tenant::local(), run(repository, generation), part(0));
        fixture.store.stage(&staging, staged).await.expect("staged");
        let before = GenerationId(generation);
        fixture.store.remove_repository(&Tenant::local(), repository, before).await.expect("removed");
        assert_eq!(fixture.lines(&view(generation + 1, &[]), &ChunkFilter::default(), 9).await, [1]);
        fixture.store.remove_repository(&Tenant::local(), repository, GenerationId::OPEN).await.expect("removed");
    }
    is_over.store(true, Ordering::Relaxed);
    for other in others {
        other.await.expect("no panic");
    }
    fixture.store.remove_repository(&Tenant::local(), repository, GenerationId::OPEN).await.expect("removed");
    assert!(!folder.join(repository.to_string()).exists());
}

#[tokio::test]
async fn term_scores_are_summed() {
    let fixture = Fixture::new().await;
    let search = async |terms: &[(u32, u32)], limit| {
        let filter = ChunkFilter::default();
        let hits = fixture.store.search_sparse(&view(2, &[]), &everything(), &filter, terms, limit).await;
        hits.expect("searched").iter().map(|hit| hit.score).collect::<Vec<_>>()
    };
    assert_eq!(search(&[(7, 10), (102, 100)], 9).await, [120, 50, 40, 30, 10]);
    assert_eq!(search(&[(7, 10), (102, 100)], 2).await, [120, 50]);
    assert_eq!(search(&[(103, 2)], 9).await, [2]);
    assert_eq!(search(&[(99, 2)], 9).await, [0; 0]);
    assert_eq!(search(&[(7, 0)], 9).await, [0; 0]);
    assert_eq!(search(&[], 9).await, [0; 0]);
}

#[tokio::test]
async fn filters_restrict_hits() {
    let fixture = Fixture::new().await;
    let check = async |filter: ChunkFilter, expect: &[u32]| {
        assert_eq!(fixture.lines(&view(2, &[]), &filter, 9).await, expect, "{filter:?}");
        let count = fixture.store.count(&view(2, &[]), &everything(), &filter).await.expect("counted");
        assert_eq!(count, expect.len() as u64, "{filter:?}");
    };
    let none = ChunkFilter::default();
    check(ChunkFilter { languages: vec!["go".into(), "py".into()], ..none.clone() }, &[4, 3]).await;
    check(ChunkFilter { languages: vec!["zig".into()], ..none.clone() }, &[]).await;
    check(ChunkFilter { kinds: vec![ChunkKind::ALL[1], ChunkKind::ALL[5]], ..none.clone() }, &[5, 1]).await;
    check(ChunkFilter { paths: vec!["src/*".into()], ..none.clone() }, &[5, 2, 1]).await;
    check(ChunkFilter { paths: vec!["src/**".into()], ..none.clone() }, &[5, 3, 2, 1]).await;
    check(ChunkFilter { paths: vec!["*.go".into()], ..none.clone() }, &[3]).await;
    check(ChunkFilter { module_prefixes: vec!["src".into()], ..none.clone() }, &[5, 3, 2, 1]).await;
    check(ChunkFilter { module_prefixes: vec!["src.net".into()], ..none.clone() }, &[3]).await;
    check(ChunkFilter { include_tests: IncludeTests::Exclude, ..none.clone() }, &[5, 3, 2, 1]).await;
    check(ChunkFilter { include_tests: IncludeTests::Only, ..none.clone() }, &[4]).await;
    check(ChunkFilter { tags: vec!["even".into()], ..none.clone() }, &[4, 2]).await;
    check(ChunkFilter { since: Some(4), ..none.clone() }, &[5, 4]).await;
    check(ChunkFilter { since: Some(2), tags: vec!["even".into()], paths: vec!["src/**".into()], ..none }, &[2]).await;
}

#[tokio::test]
async fn hits_are_limited_to_view_and_scope() {
    let fixture = Fixture::new().await;
    let vector = DenseVector(vec![1, 0]);
    let found = async |view: View, scope: Scope| {
        let hits = fixture.store.search_dense(&view, &scope, &ChunkFilter::default(), &vector, 9).await;
        let page = fixture.store.scroll(&view, &scope, fixture.repository, 0).await.expect("scrolled");
        let count = hits.expect("searched").len();
        assert_eq!(page.chunks.len(), count);
        count
    };
    let now = view(2, &[]);
    assert_eq!(found(now.clone(), Scope::only(Tenant::local(), [fixture.repository])).await, 5);
    assert_eq!(found(now.clone(), Scope::only(Tenant::local(), [repository("other")])).await, 0);
    assert_eq!(found(now.clone(), Scope::all(Tenant::new("other"))).await, 0);
    let hidden = View { hidden_repositories: [fixture.repository].into(), ..now };
    assert_eq!(found(hidden, everything()).await, 0);
}

#[tokio::test]
async fn staging_again_changes_nothing() {
    let fixture = Fixture::new().await;
    let files = fixture.files();
    let bytes = fs::read(&files[0]).expect("read");
    let other = point(chunk(fixture.repository, "x.rs", 1, "other"), &[9, 9], &[]);
    let staged = StagedPoints { points: vec![other], retired: Vec::new() };
    fixture
        .store
        .stage(&Staging::new(Tenant::local(), run(fixture.repository, 1), part(0)), staged)
        .await
        .expect("staged");
    assert_eq!(fixture.files(), files);
    assert_eq!(fs::read(&files[0]).expect("read"), bytes);
}

#[tokio::test]
async fn invalid_queries_are_refused() {
    let fixture = Fixture::new().await;
    let now = view(2, &[]);
    let three = DenseVector(vec![1, 2, 3]);
    let all = ChunkFilter::default();
    let error = fixture.store.search_dense(&now, &everything(), &all, &three, 9).await.expect_err("refused");
    assert_eq!(error.kind, ErrorKind::Invalid);
    let bad = ChunkFilter { paths: vec!["a[".into()], ..ChunkFilter::default() };
    let error = fixture.store.count(&now, &everything(), &bad).await.expect_err("refused");
    assert_eq!(error.kind, ErrorKind::Invalid);
    let mixed = [vec![1], vec![1, 2]].map(|dense| point(chunk(fixture.repository, "x", 1, "t"), &dense, &[]));
    let staged = StagedPoints { points: mixed.to_vec(), retired: Vec::new() };
    let staged = fixture.store.stage(&Staging::new(Tenant::local(), run(fixture.repository, 2), part(0)), staged).await;
    assert_eq!(staged.expect_err("refused").kind, ErrorKind::Invalid);
}

#[tokio::test]
async fn damage_is_reported_and_a_repeated_part_repairs_it() {
    let fixture = Fixture::new().await;
    let path = fixture.files().remove(0);
    let sound = fs::read(&path).expect("read");
    for torn in [&sound[..sound.len() / 2], &sound[..10], &[], b"something else entirely, of some length"] {
        fs::write(&path, torn).expect("written");
        // A new store is used, because the first store may still have the undamaged file open.
        let store = SegmentStore::new(fixture.folder.path());
        let error = store.count(&view(2, &[]), &everything(), &ChunkFilter::default()).await.expect_err("damaged");
        assert_eq!(error.kind, ErrorKind::Corrupt);
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        let names = [path.display().to_string(), format!("cairn index --rebuild {}", fixture.repository)];
        assert!(names.iter().all(|name| source.contains(name)), "{source}");
        assert_eq!(store.verify(fixture.repository).await.expect_err("damaged").kind, ErrorKind::Corrupt);
    }
    let chunk = chunk(fixture.repository, "x.rs", 1, "again");
    let staged = StagedPoints { points: vec![point(chunk, &[1, 2], &[])], retired: Vec::new() };
    let store = SegmentStore::new(fixture.folder.path());
    store.stage(&Staging::new(Tenant::local(), run(fixture.repository, 1), part(0)), staged).await.expect("staged");
    assert_eq!(store.count(&view(2, &[]), &everything(), &ChunkFilter::default()).await.expect("counted"), 1);
    store.verify(fixture.repository).await.expect("sound");
}

#[tokio::test]
async fn every_flipped_bit_is_found_by_verify() {
    let fixture = Fixture::new().await;
    let path = fixture.files().remove(0);
    let sound = fs::read(&path).expect("read");
    for position in 0..sound.len() {
        let mut damaged = sound.clone();
        damaged[position] ^= 0x10;
        fs::write(&path, &damaged).expect("written");
        let store = SegmentStore::new(fixture.folder.path());
        let verified = store.verify(fixture.repository).await;
        // Reading damaged data must not cause a panic.
        let _ = store.scroll(&view(2, &[]), &everything(), fixture.repository, 0).await;
        let terms = store.search_sparse(&view(2, &[]), &everything(), &ChunkFilter::default(), &[(7, 1)], 9).await;
        drop(terms);
        assert!(verified.is_err() || is_padding(&sound, position), "byte {position} of {}", sound.len());
    }
}

/// Whether the byte is padding: this byte and all following bytes are zero, up to the next multiple of 64.
fn is_padding(sound: &[u8], position: usize) -> bool {
    let end = (position + 1).next_multiple_of(64);
    sound[position..end].iter().all(|byte| *byte == 0)
}

#[tokio::test]
async fn aborted_generation_leaves_no_chunk() {
    let fixture = Fixture::new().await;
    let added = point(chunk(fixture.repository, "x.rs", 9, "new"), &[9, 1], &[]);
    let retired = vec![chunk(fixture.repository, "src/a.rs", 5, "text 5").key];
    let staged = StagedPoints { points: vec![added], retired };
    fixture
        .store
        .stage(&Staging::new(Tenant::local(), run(fixture.repository, 2), part(0)), staged)
        .await
        .expect("staged");
    let all = ChunkFilter::default();
    assert_eq!(fixture.lines(&view(3, &[]), &all, 2).await, [9, 4]);
    assert_eq!(fixture.lines(&view(3, &[2]), &all, 2).await, [5, 4]);
    let left = fixture.store.sweep_aborted(fixture.repository, GenerationId(2)).await.expect("swept");
    assert_eq!(left, 0);
    assert_eq!(fixture.lines(&view(3, &[]), &all, 2).await, [5, 4]);
    let segments = fixture.files().iter().filter(|path| path.extension().is_some()).count();
    assert_eq!(segments, 1);
}

#[tokio::test]
async fn removed_repository_leaves_no_trace() {
    let fixture = Fixture::new().await;
    fixture.store.remove_repository(&Tenant::local(), fixture.repository, GenerationId(1)).await.expect("removed");
    assert_eq!(fixture.lines(&view(2, &[]), &ChunkFilter::default(), 9).await.len(), 5);
    for _ in 0..2 {
        fixture.store.remove_repository(&Tenant::local(), fixture.repository, GenerationId(2)).await.expect("removed");
        assert_eq!(fixture.lines(&view(2, &[]), &ChunkFilter::default(), 9).await, [0; 0]);
    }
    assert_eq!(fs::read_dir(fixture.folder.path()).expect("listed").count(), 0);
}

#[tokio::test]
async fn every_key_of_a_large_segment_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = SegmentStore::new(folder.path());
    let repository = repository("large");
    let chunks: Vec<_> = (1..6_000).map(|line| chunk(repository, "a.rs", line, &format!("text {line}"))).collect();
    let points = chunks.iter().map(|chunk| point(chunk.clone(), &[1], &[])).collect();
    let staged = StagedPoints { points, retired: Vec::new() };
    store.stage(&Staging::new(Tenant::local(), run(repository, 1), part(0)), staged).await.expect("staged");
    let keys: Vec<_> = chunks.iter().map(|chunk| (repository, chunk.key)).collect();
    let found = store.fetch(&view(2, &[]), &everything(), &keys, true).await.expect("fetched");
    assert_eq!(found, chunks);
    let unknown: Vec<_> = (7_000..9_000).map(|line| (repository, chunk(repository, "a.rs", line, "x").key)).collect();
    assert_eq!(store.fetch(&view(2, &[]), &everything(), &unknown, true).await.expect("fetched"), []);

    let mut scrolled = Vec::new();
    let mut next = Some(0);
    while let Some(from) = next {
        let page = store.scroll(&view(2, &[]), &everything(), repository, from).await.expect("scrolled");
        scrolled.extend(page.chunks.into_iter().map(|(chunk, _)| chunk));
        next = page.next;
    }
    scrolled.sort_by_key(|chunk| chunk.span.start);
    assert_eq!(scrolled, chunks);
}

#[tokio::test]
async fn replaced_segments_are_removed() {
    let fixture = Fixture::new().await;
    let retired = vec![chunk(fixture.repository, "src/a.rs", 5, "text 5").key];
    let staged = StagedPoints { points: Vec::new(), retired };
    let staging = Staging::new(Tenant::local(), run(fixture.repository, 2), part(0));
    fixture.store.stage(&staging, staged).await.expect("staged");
    let published = [GenerationId(1), GenerationId(2)];
    assert_eq!(fixture.store.sweep_retired(fixture.repository, &published).await.expect("swept"), 1);
    assert_eq!(fixture.lines(&view(3, &[]), &ChunkFilter::default(), 9).await, [4, 3, 2, 1]);
    fixture.store.compact(fixture.repository).await.expect("compacted");
    let segments = || fixture.files().iter().filter(|path| path.extension().is_some()).count();
    // Two files remain: the merged file, and the file with the tombstone. The tombstone no longer ends a row.
    assert_eq!(segments(), 2);
    let fresh = SegmentStore::new(fixture.folder.path());
    assert_eq!(fresh.count(&view(3, &[]), &everything(), &ChunkFilter::default()).await.expect("counted"), 4);
}

/// Stages small generations one after the other, and executes one step after each generation. Some views are
/// still in use.
#[tokio::test]
async fn many_small_generations_write_few_bytes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (store, repository) = (SegmentStore::new(folder.path()), repository("small"));
    let at = |line: u32, version: u64| chunk(repository, "a.rs", line, &format!("text {line} {version}"));
    let of = |chunk: &cairn_domain::ChunkRecord| point(chunk.clone(), &[1], &[(1, 1)]);
    let stage = async |generation: u64, staged| {
        let staging = Staging::new(Tenant::local(), run(repository, generation), part(0));
        store.stage(&staging, staged).await.expect("staged");
    };
    let points = (0..5_000).map(|line| of(&at(line, 1))).collect();
    stage(1, StagedPoints { points, retired: Vec::new() }).await;
    let mut versions = vec![1; 5_000];
    let (mut used, mut num_written) = (Vec::new(), 0);
    for generation in 2..=200_u64 {
        let lines = (0..20).map(|number| (generation as u32 * 7 + number) % 5_000).collect::<Vec<_>>();
        let retired = lines.iter().map(|line| at(*line, versions[*line as usize]).key).collect();
        lines.iter().for_each(|line| versions[*line as usize] = generation);
        stage(
            generation,
            StagedPoints { points: lines.iter().map(|line| of(&at(*line, generation))).collect(), retired },
        )
        .await;
        if generation % 60 == 0 {
            used.push(view(generation + 1, &[]));
        }
        let before = segments_of(folder.path(), repository);
        let views: Vec<_> = used.iter().cloned().chain([view(generation + 1, &[])]).collect();
        let published: Vec<_> = (1..=generation).map(GenerationId).collect();
        store.sweep_unseen(repository, &published, &views).await.expect("swept");
        let after = segments_of(folder.path(), repository);
        num_written += after.iter().filter(|(name, _)| !before.contains_key(*name)).map(|(_, size)| size).sum::<u64>();
        assert!(after.len() <= 16, "{after:?}");
    }
    let all = ChunkFilter::default();
    for view in used.iter().chain([&view(201, &[])]) {
        assert_eq!(store.count(view, &everything(), &all).await.expect("counted"), 5_000);
    }
    let num_bytes: u64 = segments_of(folder.path(), repository).values().sum();
    let fresh = tempfile::tempdir().expect("a temporary folder");
    let points = (0..5_000).map(|line| of(&at(line, versions[line as usize]))).collect();
    let staging = Staging::new(Tenant::local(), run(repository, 1), part(0));
    let other = SegmentStore::new(fresh.path());
    other.stage(&staging, StagedPoints { points, retired: Vec::new() }).await.expect("staged");
    let fresh_bytes: u64 = segments_of(fresh.path(), repository).values().sum();
    assert!(num_bytes * 2 <= fresh_bytes * 3, "the store has {num_bytes} bytes, but a fresh store has {fresh_bytes}");
    assert!(num_written <= 12 * fresh_bytes, "{num_written} bytes were written");
}

fn segments_of(
    root: &std::path::Path,
    repository: cairn_domain::RepositoryId,
) -> std::collections::BTreeMap<String, u64> {
    let entries =
        fs::read_dir(root.join(repository.to_string())).expect("listed").map(|entry| entry.expect("an entry"));
    let entries = entries.filter(|entry| entry.path().extension().is_some());
    let size = |entry: &fs::DirEntry| entry.metadata().expect("metadata").len();
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), size(&entry))).collect()
}

/// The rows of one large part become several files, so that maintenance can rewrite each of them in one step.
#[tokio::test]
async fn large_part_becomes_several_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (store, repository) = (SegmentStore::new(folder.path()), repository("parts"));
    let points: Vec<_> =
        (0..40_000).map(|line| point(chunk(repository, "a.rs", line, &format!("{line}")), &[1], &[])).collect();
    for _ in 0..2 {
        let staged = StagedPoints { points: points.clone(), retired: Vec::new() };
        store.stage(&Staging::new(Tenant::local(), run(repository, 1), part(0)), staged).await.expect("staged");
        assert_eq!(segments_of(folder.path(), repository).len(), 3);
    }
    let count = store.count(&view(2, &[]), &everything(), &ChunkFilter::default()).await;
    assert_eq!(count.expect("counted"), 40_000);
    assert_eq!(store.sweep_aborted(repository, GenerationId(1)).await.expect("swept"), 0);
    assert_eq!(segments_of(folder.path(), repository).len(), 0);
}
