//! Makes each disk write fail once. Checks that visible records stay visible, and that a second run succeeds.

#![cfg(feature = "failpoints")]

mod support;

use cairn_domain::{GenerationId, Tenant};
use cairn_local_segments::SegmentStore;
use cairn_ports::{ChunkFilter, ErrorKind, Generations, StagedPoints, Staging, VectorStore};
use support::{chunk, everything, part, point, repository, run, view};

const WRITES: [&str; 5] =
    ["segments::create", "segments::write", "segments::sync", "segments::rename", "segments::sync_directory"];

fn staged(generation: u64) -> StagedPoints {
    let repository = repository("faults");
    let of = |generation: u64| chunk(repository, "a.rs", 1, &format!("text {generation}"));
    let retired = if generation > 1 { vec![of(generation - 1).key] } else { Vec::new() };
    StagedPoints { points: vec![point(of(generation), &[1], &[(1, 1)])], retired }
}

async fn count(store: &SegmentStore, next: u64) -> u64 {
    store.count(&view(next, &[]), &everything(), &ChunkFilter::default()).await.expect("counted")
}

#[tokio::test]
async fn failed_writes_can_be_repeated() {
    let scenario = fail::FailScenario::setup();
    let repository = repository("faults");
    for point in WRITES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = SegmentStore::new(folder.path());
        let stage = async |generation| {
            store.stage(&Staging::new(Tenant::local(), run(repository, generation), part(0)), staged(generation)).await
        };
        stage(1).await.expect("staged");
        fail::cfg(point, "return").expect("configured");
        assert_eq!(stage(2).await.expect_err(point).kind, ErrorKind::Io, "{point}");
        assert_eq!(count(&store, 2).await, 1, "{point}");
        fail::remove(point);
        stage(2).await.expect("staged again");
        assert_eq!((count(&store, 2).await, count(&store, 3).await), (1, 1), "{point}");

        fail::cfg(point, "return").expect("configured");
        let generations = [GenerationId(1), GenerationId(2)];
        store.sweep_retired(repository, &generations).await.expect_err(point);
        assert_eq!(count(&store, 3).await, 1, "{point}");
        fail::remove(point);
        store.sweep_retired(repository, &generations).await.expect("swept again");
        assert_eq!(count(&store, 3).await, 1, "{point}");
        store.verify(repository).await.expect("sound");
    }
    fail::cfg("segments::remove", "return").expect("configured");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = SegmentStore::new(folder.path());
    store.stage(&Staging::new(Tenant::local(), run(repository, 1), part(0)), staged(1)).await.expect("staged");
    store.sweep_aborted(repository, GenerationId(1)).await.expect_err("not removed");
    fail::remove("segments::remove");
    assert_eq!(store.sweep_aborted(repository, GenerationId(1)).await.expect("swept"), 0);
    assert_eq!(count(&store, 2).await, 0);
    scenario.teardown();
}
