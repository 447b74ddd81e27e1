//! Applies the same history to the local segments and to Qdrant, and compares all results. The results must
//! be equal, including every hit and every field.
//!
//! The history contains forks with equal texts and scores, aborted runs, unusual paths, and empty and missing
//! values. The searches use small limits, globs, long lists of hidden generations, and scopes of thousands of
//! repositories.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use cairn_domain::{
    ChunkKey, ChunkKind, ChunkRecord, DenseVector, Digest, GenerationId, Point, RepoPath, RepositoryId,
    RepositoryScope, Scope, SparseVector, SymbolKind, View,
};
use cairn_local_segments::SegmentStore;
use cairn_ports::{ChunkFilter, Generations, HitLists, IncludeTests, ListsRequest, VectorStore};
use cairn_qdrant::QdrantStore;

use crate::space::{DIMENSIONS, Noise, Space, chunk, point, probe, repository, stage, staging, tenant};

/// The first generation of the tested history. Earlier generations are hidden or unused.
const FIRST_GENERATION: u64 = 1_000;
const NUM_REPOSITORIES: u64 = 7;

struct Both {
    local: SegmentStore,
    remote: QdrantStore,
    _directory: tempfile::TempDir,
}

impl Both {
    async fn new(space: &Space) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let local = SegmentStore::new(directory.path());
        Ok(Self { local, remote: space.prepared().await?, _directory: directory })
    }

    fn stores(&self) -> [&dyn VectorStore; 2] {
        [&self.local, &self.remote]
    }

    async fn compare_searches(&self, case: &SearchCase) -> Result<usize> {
        let SearchCase { view, scope, filter, dense, terms, limit } = case;
        let mut answers = Vec::new();
        for store in self.stores() {
            let request =
                ListsRequest { dense: Some((dense, *limit)), sparse: (terms, *limit), num_records: limit.div_ceil(2) };
            let HitLists { dense, sparse, records } = store.search(view, scope, filter, request).await?;
            let count = store.count(view, scope, filter).await?;
            let keys: Vec<_> = sparse.iter().chain(&dense).map(|hit| (hit.repository, hit.key)).collect();
            let with_text = store.fetch(view, scope, &keys, true).await?;
            let without = store.fetch(view, scope, &keys, false).await?;
            answers.push((dense, sparse, records, count, with_text, without));
        }
        ensure!(
            answers[0] == answers[1],
            "the answers differ for {filter:?}, limit {limit}:\nlocal  {:?}\nqdrant {:?}",
            answers[0],
            answers[1]
        );
        Ok(answers[0].0.len())
    }

    async fn compare_scrolls(&self, view: &View) -> Result<usize> {
        let mut num_chunks = 0;
        for number in 0..NUM_REPOSITORIES {
            let [local, remote] = [
                scrolled(&self.local, view, forked(number)).await?,
                scrolled(&self.remote, view, forked(number)).await?,
            ];
            num_chunks += local.len();
            ensure!(local == remote, "the chunks of repository {number} differ at {view:?}");
        }
        Ok(num_chunks)
    }
}

async fn scrolled(
    store: &dyn VectorStore,
    view: &View,
    repository: RepositoryId,
) -> Result<Vec<(ChunkRecord, Digest)>> {
    let (mut all, mut from) = (Vec::new(), 0);
    loop {
        let page = store.scroll(view, &Scope::all(tenant()), repository, from).await?;
        all.extend(page.chunks);
        let Some(next) = page.next else { return Ok(all) };
        from = next;
    }
}

fn forked(number: u64) -> RepositoryId {
    repository(&format!("fork-{number}"))
}

#[derive(Debug)]
struct SearchCase {
    view: View,
    scope: Scope,
    filter: ChunkFilter,
    dense: DenseVector,
    terms: Vec<(u32, u32)>,
    limit: usize,
}

const LANGUAGES: [&str; 4] = ["rust", "python", "", "c++"];
const MODULES: [&str; 7] = ["", "a", "a.b", "a.b.c", "a.bc", "b", "ä.b"];
const FOLDERS: [&[u8]; 7] = [b"", b"src/", b"src/deep/er/", b"tests/", "ö/".as_bytes(), b"a\xffb/", b"src.d/"];
const NAMES: [&[u8]; 9] =
    [b"lib.rs", b"x.py", b"mod.rs", b"Makefile", b".hidden", b"a.test.ts", b"odd\\name\n.rs", b"[id].tsx", b"x"];
const GLOBS: [&str; 16] = [
    "*.rs",
    "src/**",
    "src/*",
    "**/mod.rs",
    "Makefile",
    "src/lib.rs",
    "{src,tests}/**/*.py",
    "*.{rs,ts}",
    "**",
    "[[]id].tsx",
    "src/deep/**/x",
    "?.py",
    "!x",
    "*.test.*",
    "a*/**",
    ".*",
];
const TAGS: [&str; 3] = ["core", "slow", ""];

fn maybe<'a, T>(noise: &mut Noise, items: &'a [T]) -> Option<&'a T> {
    (noise.below(2) == 0).then(|| noise.pick(items))
}

fn random_chunk(noise: &mut Noise, repository: RepositoryId) -> ChunkRecord {
    let mut path = noise.pick(&FOLDERS).to_vec();
    path.extend(*noise.pick(&NAMES));
    let path = RepoPath::from_bytes(&path).expect("a path");
    let line = 1 + noise.below(40) as u32;
    let text = ["", "same text everywhere", "fn a() {}\n\u{1F980}\0"][noise.below(3) as usize].to_owned();
    let plain = chunk(repository, "placeholder", line);
    let key = ChunkKey::derive(repository, &path, plain.content_hash, line);
    let tags = TAGS.iter().filter(|_| noise.below(3) == 0).map(|tag| (*tag).to_owned()).collect();
    ChunkRecord {
        key,
        path,
        text,
        language: (*noise.pick(&LANGUAGES)).to_owned(),
        kind: *noise.pick(ChunkKind::ALL),
        symbol: maybe(noise, &["", "a::b"]).map(|text| (*text).to_owned()),
        symbol_kind: maybe(noise, SymbolKind::ALL).copied(),
        heading: maybe(noise, &["", "A > B"]).map(|text| (*text).to_owned()),
        header: (*noise.pick(&["", "class A"])).to_owned(),
        module_path: (*noise.pick(&MODULES)).to_owned(),
        is_test: noise.below(3) == 0,
        exported: noise.below(2) == 0,
        documented: noise.below(2) == 0,
        has_secrets: noise.below(5) == 0,
        weight_percent: 10 * noise.below(20) as u16,
        tags,
        changed_at: maybe(noise, &[-5, 0, 1_700_000_000, 1_800_000_000]).copied(),
        ..plain
    }
}

/// Creates a point with one of a few scores, so that every limit falls into a group of equal scores.
fn random_point(noise: &mut Noise, repository: RepositoryId) -> Point {
    let point = point(random_chunk(noise, repository), *noise.pick(&[5, 5, 5, 7, -3]));
    let mut terms: Vec<(u32, u8)> =
        (0..noise.below(4)).map(|_| (noise.below(6) as u32, *noise.pick(&[1, 1, 9]))).collect();
    terms.sort_unstable();
    terms.dedup_by_key(|(term, _)| *term);
    Point { sparse: SparseVector(terms), ..point }
}

/// A history: the current chunks of each repository, and the views that were recorded after earlier runs.
struct History {
    noise: Noise,
    shown: BTreeMap<RepositoryId, BTreeSet<ChunkKey>>,
    aborted: BTreeMap<RepositoryId, Vec<u64>>,
    hidden: BTreeSet<GenerationId>,
    views: Vec<View>,
}

impl History {
    fn new() -> Self {
        let mut noise = Noise::new(42);
        // Generations of other repositories' runs that are in progress or were aborted.
        let hidden = (0..256).map(|_| GenerationId(1 + noise.below(FIRST_GENERATION - 1))).collect();
        Self { noise, shown: BTreeMap::new(), aborted: BTreeMap::new(), hidden, views: Vec::new() }
    }

    /// Executes a run that changes one repository. The run is published or aborted.
    async fn run(&mut self, both: &Both, generation: u64) -> Result<()> {
        let repository = forked(generation % NUM_REPOSITORIES);
        let shown = self.shown.entry(repository).or_default();
        let retired: BTreeSet<ChunkKey> = shown.iter().copied().filter(|_| self.noise.below(4) == 0).collect();
        let mut points: BTreeMap<ChunkKey, Point> = BTreeMap::new();
        for _ in 0..60 {
            let point = random_point(&mut self.noise, repository);
            // A new version of a shown chunk is allowed only if this run also retires the chunk.
            if !shown.contains(&point.chunk.key) || retired.contains(&point.chunk.key) {
                points.insert(point.chunk.key, point);
            }
        }
        let aborted = self.aborted.entry(repository).or_default();
        for (number, store) in both.stores().into_iter().enumerate() {
            let staging = staging(repository, generation, 0, aborted);
            for _ in 0..=number {
                // One store stages the records once and the other store twice, because repeated staging must
                // change nothing.
                stage(store, &staging, points.values().cloned().collect(), retired.iter().copied().collect()).await?;
            }
        }
        if self.noise.below(3) == 0 {
            aborted.push(generation);
            self.hidden.insert(GenerationId(generation));
        } else {
            shown.retain(|key| !retired.contains(key));
            shown.extend(points.keys());
        }
        self.views.push(View { next_gen: generation + 1, hidden: self.hidden.clone(), ..View::default() });
        Ok(())
    }

    fn search_case(&mut self) -> SearchCase {
        let noise = &mut self.noise;
        let mut view = noise.pick(&self.views).clone();
        if noise.below(4) == 0 {
            view.hidden_repositories.insert(forked(noise.below(NUM_REPOSITORIES)));
        }
        let own = |noise: &mut Noise| {
            (0..NUM_REPOSITORIES).filter(|_| noise.below(2) == 0).map(forked).collect::<BTreeSet<_>>()
        };
        let repositories = match noise.below(4) {
            0 => RepositoryScope::Only(own(noise)),
            1 => {
                let many = (0..3_000).map(|number| repository(&format!("other-{number}")));
                RepositoryScope::Only(own(noise).into_iter().chain(many).collect())
            }
            _ => RepositoryScope::All,
        };
        let filter = random_filter(noise);
        let terms =
            (0..6).filter(|_| noise.below(2) == 0).map(|term| (term, *[0, 1, 3].get(term as usize % 3).unwrap_or(&1)));
        let terms = terms.collect();
        let limit = *noise.pick(&[0, 1, 2, 10, 50, 200, 5_000]);
        SearchCase { view, scope: Scope { tenant: tenant(), repositories }, filter, dense: probe(), terms, limit }
    }
}

fn random_filter(noise: &mut Noise) -> ChunkFilter {
    let mut filter = ChunkFilter::default();
    let some = |noise: &mut Noise, items: &[&str]| -> Vec<String> {
        (0..1 + noise.below(2)).map(|_| (*noise.pick(items)).to_owned()).collect()
    };
    match noise.below(9) {
        0 => filter.languages = some(noise, &LANGUAGES),
        1 => filter.kinds = vec![*noise.pick(ChunkKind::ALL), *noise.pick(ChunkKind::ALL)],
        2 => filter.module_prefixes = some(noise, &MODULES),
        3 => filter.include_tests = *noise.pick(&[IncludeTests::Exclude, IncludeTests::Only]),
        4 => filter.tags = some(noise, &TAGS),
        5 => filter.since = Some(*noise.pick(&[-5, 0, 1, 1_700_000_001])),
        _ => {}
    }
    if noise.below(3) == 0 {
        filter.paths = some(noise, &GLOBS);
    }
    filter
}

#[tokio::test(flavor = "multi_thread")]
async fn results_equal_those_of_the_local_segments() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let both = Both::new(&space).await?;
    let mut history = History::new();
    for generation in FIRST_GENERATION..FIRST_GENERATION + 35 {
        history.run(&both, generation).await?;
    }
    let mut num_chunks = 0;
    for view in history.views.iter().step_by(6) {
        num_chunks += both.compare_scrolls(view).await?;
    }
    let mut num_hits = 0;
    for _ in 0..300 {
        num_hits += both.compare_searches(&history.search_case()).await?;
    }
    println!("300 searches with {num_hits} dense hits and {num_chunks} chunks in pages agree");
    ensure!(num_hits > 5_000 && num_chunks > 2_000, "{num_hits} hits and {num_chunks} chunks are too few to compare");
    sweep(&both, &mut history).await?;
    space.done().await
}

/// Sweeps all generations. After that, searches again with the latest view, but without the hidden
/// generations that were swept.
async fn sweep(both: &Both, history: &mut History) -> Result<()> {
    let latest = history.views.last().expect("views").clone();
    for number in 0..NUM_REPOSITORIES {
        let repository = forked(number);
        for aborted in history.aborted.remove(&repository).unwrap_or_default() {
            let aborted = GenerationId(aborted);
            ensure!(both.local.sweep_aborted(repository, aborted).await? == 0, "local: {aborted}");
            ensure!(both.remote.sweep_aborted(repository, aborted).await? == 0, "qdrant: {aborted}");
            history.hidden.remove(&aborted);
        }
        let published: Vec<_> = (FIRST_GENERATION..latest.next_gen).map(GenerationId).collect();
        both.local.sweep_retired(repository, &published).await?;
        both.remote.sweep_retired(repository, &published).await?;
        both.remote.verify(repository).await?;
    }
    history.views = vec![View { hidden: history.hidden.clone(), ..latest }];
    both.compare_scrolls(&history.views[0].clone()).await?;
    for _ in 0..50 {
        both.compare_searches(&history.search_case()).await?;
    }
    let removed = forked(1);
    for store in both.stores() {
        store.remove_repository(&tenant(), removed, GenerationId::OPEN).await?;
    }
    both.compare_scrolls(&history.views[0].clone()).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_ties_at_the_limit_are_ordered() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let both = Both::new(&space).await?;
    for (generation, number) in (1..).zip(0..NUM_REPOSITORIES) {
        let points: Vec<Point> = (0..60)
            .map(|index| point(chunk(forked(number), &format!("{}/{}.rs", index % 7, index % 13), index), 5))
            .chain([point(chunk(forked(number), "best.rs", 1), 9), point(chunk(forked(number), "worst.rs", 1), 1)])
            .collect();
        for store in both.stores() {
            stage(store, &staging(forked(number), generation, 0, &[]), points.clone(), vec![]).await?;
        }
    }
    let view = View { next_gen: 100, ..View::default() };
    for limit in [1, 6, 7, 8, 20, 100, 300, 426, 427, 428, 434, 1_000] {
        for paths in [vec![], vec!["[0-3]/*.rs".to_owned()], vec!["**/1*.rs".to_owned()]] {
            let filter = ChunkFilter { paths, ..ChunkFilter::default() };
            let (scope, dense, terms) = (Scope::all(tenant()), probe(), vec![(7, 2)]);
            both.compare_searches(&SearchCase { view: view.clone(), scope, filter, dense, terms, limit }).await?;
        }
    }
    space.done().await
}

#[tokio::test(flavor = "multi_thread")]
async fn local_segments_and_qdrant_refuse_invalid_input() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let both = Both::new(&space).await?;
    let (view, scope) = (View { next_gen: 9, ..View::default() }, Scope::all(tenant()));
    let invalid = ChunkFilter { paths: vec!["a[".to_owned()], ..ChunkFilter::default() };
    let short = DenseVector(vec![1; usize::from(DIMENSIONS) - 1]);
    let r = forked(0);
    for store in both.stores() {
        stage(store, &staging(r, 1, 0, &[]), vec![point(chunk(r, "a.rs", 1), 1)], vec![]).await?;
        let kind = cairn_ports::ErrorKind::Invalid;
        let none = ChunkFilter::default();
        assert_eq!(store.search_dense(&view, &scope, &invalid, &probe(), 1).await.expect_err("a glob").kind, kind);
        assert_eq!(store.search_dense(&view, &scope, &none, &short, 1).await.expect_err("too short").kind, kind);
        let foreign = stage(store, &staging(r, 2, 0, &[]), vec![point(chunk(forked(1), "a.rs", 1), 1)], vec![]).await;
        assert!(foreign.is_err());
    }
    space.done().await
}
