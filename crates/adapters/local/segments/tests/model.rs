//! Compares the store with a naive model. After any sequence of operations on a repository, every live view
//! must show the same records in both.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ChunkKey, DenseVector, GenerationId, Point, RepositoryId, Tenant, View};
use cairn_local_segments::SegmentStore;
use cairn_ports::{ChunkFilter, Generations, Hit, StagedPoints, Staging, VectorStore};
use proptest::prelude::*;
use support::{chunk, everything, part, point, repository, run, view};

/// A change that a generation makes to a chunk. The model has only a few chunks.
#[derive(Clone, Copy, Debug)]
enum Change {
    Put { number: u8, version: u8 },
    Retire { number: u8 },
}

#[derive(Clone, Debug)]
enum Step {
    /// A generation of one or two parts, published or aborted.
    Run {
        parts: Vec<Vec<Change>>,
        publish: bool,
    },
    Sweep,
    /// Ends the use of some views: each bit of `used` that is not set ends the use of one view.
    SweepUnseen {
        used: u16,
    },
    Compact,
    Reopen,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (0u8..12, 0u8..4).prop_map(|(number, version)| Change::Put { number, version }),
        1 => (0u8..12).prop_map(|number| Change::Retire { number }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let parts = prop::collection::vec(prop::collection::vec(change(), 0..6), 1..3);
    prop_oneof![
        5 => (parts, prop::bool::weighted(0.8)).prop_map(|(parts, publish)| Step::Run { parts, publish }),
        2 => Just(Step::Sweep),
        3 => any::<u16>().prop_map(|used| Step::SweepUnseen { used }),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
    ]
}

/// The records of one repository, each with its generations.
struct Model {
    records: Vec<(Point, GenerationId, BTreeSet<GenerationId>)>,
    published: BTreeSet<GenerationId>,
    next: u64,
}

impl Model {
    fn view(&self) -> View {
        let hidden = (1..self.next).filter(|generation| !self.published.contains(&GenerationId(*generation)));
        view(self.next, &hidden.collect::<Vec<_>>())
    }

    fn visible(&self, view: &View) -> Vec<&Point> {
        let sees = |ends: &BTreeSet<GenerationId>| !ends.iter().any(|end| view.published(*end));
        let visible = self.records.iter().filter(|(_, from, ends)| view.published(*from) && sees(ends));
        visible.map(|(point, ..)| point).collect()
    }

    fn best(&self, view: &View, score: impl Fn(&Point) -> Option<i64>, limit: usize) -> Vec<Hit> {
        let mut hits: Vec<_> = self
            .visible(view)
            .into_iter()
            .filter_map(|point| score(point).map(|score| (std::cmp::Reverse(score), &point.chunk)))
            .collect();
        hits.sort_by_key(|(score, chunk)| (*score, chunk.path.clone(), chunk.span.start, chunk.key));
        let hit = |(score, chunk): &(std::cmp::Reverse<i64>, &cairn_domain::ChunkRecord)| Hit {
            repository: chunk.repository,
            key: chunk.key,
            score: score.0,
        };
        hits.iter().take(limit).map(hit).collect()
    }
}

fn versioned(repository: RepositoryId, number: u8, version: u8) -> Point {
    let mut chunk = chunk(repository, &format!("dir/{}.rs", number % 3), u32::from(number), &format!("text {number}"));
    // Versions of one chunk have the same key and different digests.
    chunk.header = format!("version {version}");
    chunk.span.start = u32::from(number) + 100 * u32::from(version % 2);
    point(
        chunk,
        &[number as i8, version as i8, 1],
        &[(u32::from(number % 4), 1 + version), (50 + u32::from(version), 9)],
    )
}

/// Stages a generation in the store and in the model. Each key is put at most once, and a put retires the
/// visible version of the key.
async fn stage(
    store: &SegmentStore,
    model: &mut Model,
    repository: RepositoryId,
    parts: &[Vec<Change>],
    publish: bool,
) {
    let generation = GenerationId(model.next);
    let before = model.view();
    let visible: BTreeSet<ChunkKey> = model.visible(&before).iter().map(|point| point.chunk.key).collect();
    let mut seen = BTreeSet::new();
    let mut staged_parts = Vec::new();
    for changes in parts {
        let mut staged = StagedPoints::default();
        for change in changes {
            let (Change::Put { number, .. } | Change::Retire { number }) = *change;
            if !seen.insert(number) {
                continue;
            }
            let key = versioned(repository, number, 0).chunk.key;
            if visible.contains(&key) {
                staged.retired.push(key);
            }
            if let Change::Put { version, .. } = *change {
                staged.points.push(versioned(repository, number, version));
            }
        }
        staged_parts.push(staged);
    }
    for (number, staged) in (0..).zip(&staged_parts) {
        for _ in 0..2 {
            let staging = Staging::new(Tenant::local(), run(repository, generation.0), part(number));
            store.stage(&staging, staged.clone()).await.expect("staged");
        }
        for key in &staged.retired {
            let started = |from: &GenerationId| *from < generation;
            let of_key = model.records.iter_mut().filter(|(point, from, _)| point.chunk.key == *key && started(from));
            for (.., ends) in of_key {
                ends.insert(generation);
            }
        }
        model.records.extend(staged.points.iter().map(|point| (point.clone(), generation, BTreeSet::new())));
    }
    model.next += 1;
    if publish {
        model.published.insert(generation);
    } else {
        check(store, model, &model.view(), repository).await;
        assert_eq!(store.sweep_aborted(repository, generation).await.expect("swept"), 0);
        model.records.retain(|(_, from, _)| *from != generation);
        for (.., ends) in &mut model.records {
            ends.remove(&generation);
        }
    }
}

async fn check(store: &SegmentStore, model: &Model, view: &View, repository: RepositoryId) {
    let (scope, filter) = (everything(), ChunkFilter::default());
    let vector = DenseVector(vec![3, -2, 1]);
    for limit in [1, 4, 100] {
        let dot =
            |point: &Point| Some(point.dense.0.iter().zip(&vector.0).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum());
        let found = store.search_dense(view, &scope, &filter, &vector, limit).await.expect("searched");
        assert_eq!(found, model.best(view, dot, limit));
        let terms = [(1, 5), (2, 3), (51, 1)];
        let weight =
            |point: &Point, term: u32| point.sparse.0.iter().find(|entry| entry.0 == term).map(|entry| entry.1);
        let sum = |point: &Point| {
            let sum: i64 =
                terms.iter().map(|(term, by)| i64::from(*by) * weight(point, *term).map_or(0, i64::from)).sum();
            (sum > 0).then_some(sum)
        };
        let found = store.search_sparse(view, &scope, &filter, &terms, limit).await.expect("searched");
        assert_eq!(found, model.best(view, sum, limit));
    }
    let mut expect: BTreeMap<ChunkKey, &Point> = BTreeMap::new();
    for point in model.visible(view) {
        assert!(expect.insert(point.chunk.key, point).is_none(), "the model shows only one version of a key");
    }
    let page = store.scroll(view, &scope, repository, 0).await.expect("scrolled");
    let scrolled: Vec<_> = expect.values().map(|point| (point.chunk.clone(), point.vector_digest())).collect();
    assert_eq!(page.chunks, scrolled);
    let keys: Vec<_> = (0..12).map(|number| (repository, versioned(repository, number, 0).chunk.key)).collect();
    let fetched = store.fetch(view, &scope, &keys, true).await.expect("fetched");
    let of_keys: Vec<_> = keys.iter().filter_map(|(_, key)| expect.get(key)).map(|point| point.chunk.clone()).collect();
    assert_eq!(fetched, of_keys);
    let count = store.count(view, &scope, &filter).await.expect("counted");
    assert_eq!(count, expect.len() as u64);
}

async fn play(steps: &[Step]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let repository = repository("model");
    let mut store = SegmentStore::new(folder.path());
    let mut model = Model { records: Vec::new(), published: BTreeSet::new(), next: 1 };
    let mut alive: Vec<View> = Vec::new();
    for step in steps {
        match step {
            Step::Run { parts, publish } => stage(&store, &mut model, repository, parts, *publish).await,
            Step::Sweep => {
                // The grace period has ended, so only the newest view is still in use.
                alive.clear();
                let published: Vec<GenerationId> = model.published.iter().copied().collect();
                store.sweep_retired(repository, &published).await.expect("swept");
            }
            Step::SweepUnseen { used } => {
                let mut number = 0;
                alive.retain(|_| {
                    number += 1;
                    used >> (number % 16) & 1 == 1
                });
                let published: Vec<GenerationId> = model.published.iter().copied().collect();
                let views: Vec<View> = alive.iter().cloned().chain([model.view()]).collect();
                store.sweep_unseen(repository, &published, &views).await.expect("swept");
            }
            Step::Compact => {
                store.compact(repository).await.expect("compacted");
            }
            Step::Reopen => store = SegmentStore::new(folder.path()),
        }
        alive.push(model.view());
        for view in &alive {
            check(&store, &model, view, repository).await;
        }
    }
    store.verify(repository).await.expect("sound");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn store_equals_its_model(steps in prop::collection::vec(step(), 1..14)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
        runtime.block_on(play(&steps));
    }
}

#[tokio::test]
async fn many_small_segments_become_one() {
    let put = |number| Step::Run { parts: vec![vec![Change::Put { number, version: 1 }]], publish: true };
    let mut steps: Vec<Step> = (0..8).map(put).collect();
    steps.extend([Step::Sweep, put(3), put(4), Step::Sweep, Step::Compact, Step::Reopen, put(5), Step::Sweep]);
    play(&steps).await;
}
