//! The server that is tested: the server at `CAIRN_QDRANT_URL`, or a new process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ::qdrant_client::Qdrant;
use ::qdrant_client::qdrant::*;

/// A deadline that is longer than any wait needs on a slow machine.
const DEADLINE: Duration = Duration::from_secs(300);

/// A server process of a test. The process is killed when this value is dropped.
pub struct Process {
    child: Child,
    pub url: String,
}

impl Process {
    pub fn start(storage: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qdrant-server"));
        command.args(["--listen", "127.0.0.1:0", "--storage"]).arg(storage).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped"))
            .read_line(&mut line)
            .expect("the server prints its address");
        let address = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
        Self { child, url: format!("http://{address}") }
    }

    pub fn client(&self) -> Qdrant {
        client(&self.url)
    }

    /// Kills the process with SIGKILL.
    pub fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }

    /// Sends SIGTERM and waits until the process ends.
    pub fn terminate(mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").arg(pid).status().expect("kill").success());
        assert!(self.child.wait().expect("ended").success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both calls fail if the process has already ended.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn client(url: &str) -> Qdrant {
    Qdrant::from_url(url).skip_compatibility_check().timeout(Duration::from_secs(60)).build().expect("a client")
}

/// Returns whether the suite runs against the Qdrant at `CAIRN_QDRANT_URL`.
pub fn is_foreign() -> bool {
    std::env::var_os("CAIRN_QDRANT_URL").is_some()
}

/// The collection of one test.
pub struct Case {
    pub client: Qdrant,
    pub name: String,
    _process: Option<(Process, tempfile::TempDir)>,
}

impl Case {
    /// Creates a collection with the dense vectors `dense` (distance `Dot`) and the sparse vectors `terms`.
    pub async fn new(dimensions: u64) -> Self {
        let case = Self::empty();
        case.client.create_collection(case.create(dimensions)).await.expect("created");
        case
    }

    pub fn empty() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let name = format!("suite-{time:x}-{}-{number}", std::process::id());
        match std::env::var("CAIRN_QDRANT_URL") {
            Ok(url) => Self { client: client(&url), name, _process: None },
            Err(_) => {
                let storage = tempfile::tempdir().expect("a folder");
                let process = Process::start(storage.path());
                Self { client: process.client(), name, _process: Some((process, storage)) }
            }
        }
    }

    pub fn create(&self, dimensions: u64) -> CreateCollectionBuilder {
        create(&self.name, dimensions)
    }

    pub async fn upsert(&self, points: Vec<PointStruct>) {
        self.client.upsert_points(UpsertPointsBuilder::new(&self.name, points).wait(true)).await.expect("upserted");
    }

    pub async fn index(&self, field: &str, kind: FieldType) {
        let index = CreateFieldIndexCollectionBuilder::new(&self.name, field, kind).wait(true);
        self.client.create_field_index(index).await.expect("indexed");
    }

    pub async fn get(&self, id: impl Into<PointId>) -> Option<RetrievedPoint> {
        let request = GetPointsBuilder::new(&self.name, [id.into()]).with_payload(true).with_vectors(true);
        self.client.get_points(request).await.expect("read").result.into_iter().next()
    }

    /// Returns the numeric ids of all points that match a filter.
    pub async fn matching(&self, filter: Filter) -> Vec<u64> {
        let request = ScrollPointsBuilder::new(&self.name).filter(filter.clone()).limit(1_000);
        let found = self.client.scroll(request).await.expect("scrolled").result;
        let numbers: Vec<u64> = found.into_iter().map(|point| number(point.id)).collect();
        let request = CountPointsBuilder::new(&self.name).filter(filter).exact(true);
        let count = self.client.count(request).await.expect("counted").result.expect("a result").count;
        assert_eq!(count as usize, numbers.len());
        numbers
    }

    /// Waits until the server has no background work.
    pub async fn settled(&self, is_settled: impl Fn(&CollectionInfo) -> bool) -> CollectionInfo {
        let start = Instant::now();
        loop {
            let info = self.client.collection_info(&self.name).await.expect("info").result.expect("a result");
            if info.status() == CollectionStatus::Green && is_settled(&info) {
                return info;
            }
            assert!(start.elapsed() < DEADLINE, "not settled: {info:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub async fn done(self) {
        self.client.delete_collection(&self.name).await.expect("deleted");
    }
}

pub fn create(name: &str, dimensions: u64) -> CreateCollectionBuilder {
    let mut dense = VectorsConfigBuilder::default();
    dense.add_named_vector_params("dense", VectorParamsBuilder::new(dimensions, Distance::Dot));
    let mut sparse = SparseVectorsConfigBuilder::default();
    sparse.add_named_vector_params("terms", SparseVectorParamsBuilder::default());
    CreateCollectionBuilder::new(name).vectors_config(dense).sparse_vectors_config(sparse)
}

pub fn point<const N: usize>(
    id: impl Into<PointId>,
    dense: Vec<f32>,
    payload: [(&'static str, Value); N],
) -> PointStruct {
    PointStruct::new(id, NamedVectors::default().add_vector("dense", dense), payload)
}

pub fn number(id: Option<PointId>) -> u64 {
    match id.and_then(|id| id.point_id_options) {
        Some(point_id::PointIdOptions::Num(number)) => number,
        other => panic!("no number: {other:?}"),
    }
}

/// Returns pseudo-random numbers that are the same on every machine.
pub fn noise(seed: u64) -> impl Iterator<Item = u32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some((state >> 24) as u32)
    })
}

/// Returns pseudo-random integers from -127 to 127.
pub fn integers(seed: u64, length: usize) -> Vec<f32> {
    noise(seed).take(length).map(|value| (value % 255) as f32 - 127.0).collect()
}
