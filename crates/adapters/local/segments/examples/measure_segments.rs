//! Measures the time to write, open and search segments of real code.
//!
//! ```text
//! cargo run --release -p cairn-local-segments --example measure_segments -- NUM_CHUNKS FOLDER FILE...
//! ```
//!
//! The files are cut into chunks of 25 lines. If the files have too few chunks, the chunks are used several
//! times. Dense vectors are pseudo-random and have 256 dimensions. Each segment has 4,000 chunks, like a part
//! of a run.
//!
//! Measured with 100,000 chunks of Go's sources (75.9 MB of text), on two cores that ten other processes
//! used. The segments used 74.1 MB on disk. Writing with compression took 1.3 to 2.7 s. Opening 25 segments
//! took 4 to 15 ms. The median time was 1.2 ms for a dense search and 0.4 ms for a sparse search. Both
//! searches and the fetch of 200 records and 20 texts together took 3.5 ms (p99 15 to 22 ms).

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use cairn_domain::{
    ChunkKey, ChunkKind, ChunkRecord, ContentHash, DenseVector, GenerationId, LineSpan, PartId, Point, RepoPath,
    RepositoryId, RepositoryName, RunId, Scope, StageName, Tenant, View,
};
use cairn_local_segments::SegmentStore;
use cairn_ports::{ChunkFilter, IncludeTests, StagedPoints, Staging, VectorStore};
use cairn_ranking::{PassageFields, ScopeFrequencies, passage_terms, query_terms};

const DIMENSIONS: usize = 256;
const PART_CHUNKS: usize = 4_000;
const QUESTIONS: [&str; 8] = [
    "parse http request headers with timeout",
    "getUserById",
    "open a file and read all lines",
    "retry with exponential backoff",
    "authentication token validation",
    "how does the scheduler pick the next goroutine",
    "convert string to integer with error handling",
    "tls handshake certificate verification",
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn vector(&mut self) -> DenseVector {
        DenseVector((0..DIMENSIONS).map(|_| (self.next() % 255) as i8).collect())
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(num_chunks), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: measure_segments NUM_CHUNKS FOLDER FILE...".into());
    };
    let folder = Path::new(&folder).join("segments");
    let points = points(num_chunks.parse()?, &arguments.collect::<Vec<_>>())?;
    let text_bytes: usize = points.iter().map(|point| point.chunk.text.len()).sum();
    let repository = points.first().ok_or("no chunks")?.chunk.repository;
    let run = RunId { repository, generation: GenerationId(1) };
    let store = SegmentStore::new(&folder);
    let mut written = Duration::ZERO;
    for (number, points) in (0..).zip(points.chunks(PART_CHUNKS)) {
        let staged = StagedPoints { points: points.to_vec(), retired: Vec::new() };
        let part = PartId { stage: StageName::Embed, number };
        let start = Instant::now();
        store.stage(&Staging::new(Tenant::local(), run, part), staged).await?;
        written += start.elapsed();
    }
    let stored_bytes = folder_bytes(&folder)?;
    println!("{} chunks, {text_bytes} bytes of text, {stored_bytes} stored, written in {written:?}", points.len());
    drop(points);
    search(&SegmentStore::new(&folder)).await
}

async fn search(store: &SegmentStore) -> Result<(), Box<dyn Error>> {
    let view = View { next_gen: 2, ..View::default() };
    let scope = Scope::all(Tenant::local());
    let filters = [
        ("no filter", ChunkFilter::default()),
        ("no tests", ChunkFilter { include_tests: IncludeTests::Exclude, ..ChunkFilter::default() }),
        ("path", ChunkFilter { paths: vec!["**/net/**".into()], ..ChunkFilter::default() }),
    ];
    let mut random = Random(9);
    let start = Instant::now();
    store.count(&view, &scope, &filters[0].1).await?;
    println!("opened in {:?}", start.elapsed());
    for (name, filter) in &filters {
        let (mut dense, mut sparse, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        for question in QUESTIONS.iter().cycle().take(200) {
            let vector = random.vector();
            let start = Instant::now();
            let near = store.search_dense(&view, &scope, filter, &vector, 100).await?;
            dense.push(start.elapsed());
            let between = Instant::now();
            let worded = store
                .search_sparse(&view, &scope, filter, &query_terms(question, &ScopeFrequencies::default()), 100)
                .await?;
            sparse.push(between.elapsed());
            let keys: Vec<_> = near.iter().chain(&worded).map(|hit| (hit.repository, hit.key)).collect();
            store.fetch(&view, &scope, &keys, false).await?;
            store.fetch(&view, &scope, &keys[..keys.len().min(20)], true).await?;
            whole.push(start.elapsed());
        }
        println!("{name:>10}: dense {}, sparse {}, both and fetch {}", spread(dense), spread(sparse), spread(whole));
    }
    Ok(())
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    format!("p50 {:.2} ms p99 {:.2} ms", at(50), at(99))
}

fn points(num_chunks: usize, files: &[String]) -> Result<Vec<Point>, Box<dyn Error>> {
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("measured"));
    let mut random = Random(1);
    let mut points = Vec::with_capacity(num_chunks);
    for (round, file) in (0..).flat_map(|round| files.iter().map(move |file| (round, file))) {
        let text = fs::read_to_string(file)?;
        let path = RepoPath::parse(&format!("round{round}{file}"))?;
        let lines: Vec<&str> = text.lines().collect();
        for (number, lines) in (0u32..).zip(lines.chunks(25)) {
            if points.len() == num_chunks {
                return Ok(points);
            }
            points.push(point(repository, &path, number, lines.join("\n"), &mut random));
        }
    }
    Ok(points)
}

fn point(repository: RepositoryId, path: &RepoPath, number: u32, text: String, random: &mut Random) -> Point {
    let content_hash = ContentHash::of(&text);
    let fields = PassageFields { file_path: path.as_str(), text: &text, ..PassageFields::default() };
    let sparse = passage_terms(&fields);
    let chunk = ChunkRecord {
        key: ChunkKey::derive(repository, path, content_hash, number),
        repository,
        path: path.clone(),
        language: path.extension(),
        kind: ChunkKind::Function,
        span: LineSpan::new(25 * number + 1, 25 * number + 25),
        symbol: Some(format!("symbol{number}")),
        symbol_kind: None,
        heading: None,
        header: format!("{path} symbol{number}"),
        text,
        content_hash,
        module_path: String::new(),
        is_test: path.as_str().contains("_test"),
        exported: false,
        documented: false,
        has_secrets: false,
        weight_percent: 100,
        tags: std::sync::Arc::default(),
        changed_at: None,
    };
    Point { chunk, dense: random.vector(), sparse }
}

fn folder_bytes(folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.path().is_dir() { folder_bytes(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
