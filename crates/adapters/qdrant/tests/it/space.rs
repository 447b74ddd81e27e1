//! Creates collections for one test, with a prefix that no other test uses. The collections are deleted at
//! the end of the test, even after a failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use cairn_domain::{
    ChunkKey, ChunkKind, ChunkRecord, ContentHash, DenseVector, GenerationId, LineSpan, ModelId, PartId, Point,
    RepoPath, RepositoryId, RepositoryName, RunId, SparseVector, StageName, Tenant, View,
};
use cairn_ports::{StagedPoints, Staging, VectorStore};
use cairn_qdrant::{QdrantConfig, QdrantStore};
use cairn_servers::{Collections, QDRANT_PATIENCE, given};
use qdrant_client::Qdrant;

pub const DIMENSIONS: u16 = cairn_conformance::vector_store::DIMENSIONS as u16;

pub struct Space {
    pub config: QdrantConfig,
    client: Qdrant,
    collections: Collections,
}

impl Space {
    /// Returns `None` if no server is configured.
    #[track_caller]
    pub fn new() -> Option<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let url = given::qdrant_url()?;
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let collection_prefix = format!("test-{time:x}-{}-{number}-", std::process::id());
        let client = Collections::client(&url).expect("a client");
        let collections = Collections::under(&url, &collection_prefix);
        let timeout_ms = QDRANT_PATIENCE.as_millis() as u64;
        let config = QdrantConfig { collection_prefix, timeout_ms, ..QdrantConfig::new(url) };
        Some(Self { config, client, collections })
    }

    pub fn store(&self) -> QdrantStore {
        QdrantStore::new(self.config.clone(), model(DIMENSIONS)).expect("valid settings")
    }

    pub async fn prepared(&self) -> Result<QdrantStore> {
        let store = self.store();
        store.prepare().await?;
        Ok(store)
    }

    pub fn client(&self) -> &Qdrant {
        &self.client
    }

    /// Deletes the collections, and fails if one cannot be deleted. Collections of failed tests are deleted
    /// too.
    pub async fn done(self) -> Result<()> {
        self.collections.delete().await.map(drop)
    }
}

pub fn model(dimensions: u16) -> ModelId {
    ModelId { name: "test/model-1".to_owned(), dimensions }
}

pub fn tenant() -> Tenant {
    Tenant::new("acme")
}

pub fn repository(name: &str) -> RepositoryId {
    RepositoryId::derive(&tenant(), &RepositoryName::new(name))
}

pub fn chunk(repository: RepositoryId, path: &str, line: u32) -> ChunkRecord {
    let path = RepoPath::parse(path).expect("a path");
    let text = format!("text of {path} at {line}");
    let content_hash = ContentHash::of(&text);
    ChunkRecord {
        key: ChunkKey::derive(repository, &path, content_hash, 0),
        repository,
        path,
        language: "rust".to_owned(),
        kind: ChunkKind::Function,
        span: LineSpan::new(line, line + 3),
        symbol: None,
        symbol_kind: None,
        heading: None,
        header: String::new(),
        text,
        content_hash,
        module_path: String::new(),
        is_test: false,
        exported: false,
        documented: false,
        has_secrets: false,
        weight_percent: 100,
        tags: Arc::default(),
        changed_at: None,
    }
}

/// Returns a point whose dense score against `probe` is `score`.
pub fn point(chunk: ChunkRecord, score: i8) -> Point {
    let mut dense = vec![0; usize::from(DIMENSIONS)];
    dense[0] = score;
    dense[1] = 100;
    Point { chunk, dense: DenseVector(dense), sparse: SparseVector(vec![(7, score.unsigned_abs().max(1))]) }
}

pub fn probe() -> DenseVector {
    let mut dense = vec![0; usize::from(DIMENSIONS)];
    dense[0] = 1;
    DenseVector(dense)
}

pub fn staging(repository: RepositoryId, generation: u64, number: u32, aborted: &[u64]) -> Staging {
    let run = RunId { repository, generation: GenerationId(generation) };
    let part = PartId { stage: StageName::Embed, number };
    Staging { aborted: aborted.iter().copied().map(GenerationId).collect(), ..Staging::new(tenant(), run, part) }
}

pub async fn stage(
    store: &dyn VectorStore,
    staging: &Staging,
    points: Vec<Point>,
    retired: Vec<ChunkKey>,
) -> Result<()> {
    Ok(store.stage(staging, StagedPoints { points, retired }).await?)
}

pub fn view(next_gen: u64, hidden: &[u64]) -> View {
    View { next_gen, hidden: hidden.iter().copied().map(GenerationId).collect(), ..View::default() }
}

/// Pseudo-random numbers that are the same in every run.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % end
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}
