//! A blob store in memory, and names for the tests to index in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{
    ChunkKey, ContentHash, GenerationId, LineSpan, NodeKey, PublishedSeq, RepoPath, RepositoryId, RepositoryName,
    RunId, Scope, SymbolEntry, SymbolKind, Tenant, View,
};
use cairn_names::NameIndex;
use cairn_ports::{BlobMeta, BlobStore, BlobStoreError, ErrorKind, Names, Put, StagedNames};

#[derive(Default)]
pub(crate) struct MemoryBlobs(Mutex<BTreeMap<String, Bytes>>);

impl MemoryBlobs {
    pub(crate) fn keys(&self) -> Vec<String> {
        self.0.lock().expect("not poisoned").keys().cloned().collect()
    }

    /// Writes the bytes, even if the key exists.
    pub(crate) fn replace(&self, key: &str, bytes: Bytes) {
        self.0.lock().expect("not poisoned").insert(key.to_owned(), bytes);
    }
}

#[async_trait]
impl BlobStore for MemoryBlobs {
    async fn put(&self, key: &str, bytes: Bytes) -> Result<Put, BlobStoreError> {
        let mut blobs = self.0.lock().expect("not poisoned");
        if blobs.contains_key(key) {
            return Ok(Put::AlreadyThere);
        }
        blobs.insert(key.to_owned(), bytes);
        Ok(Put::Created)
    }

    async fn get(&self, key: &str) -> Result<Bytes, BlobStoreError> {
        let blobs = self.0.lock().expect("not poisoned");
        blobs.get(key).cloned().ok_or_else(|| BlobStoreError::new(ErrorKind::NotFound, "get", key))
    }

    async fn get_range(&self, key: &str, range: Range<u64>) -> Result<Bytes, BlobStoreError> {
        Ok(self.get(key).await?.slice(range.start as usize..range.end as usize))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<BlobMeta>, BlobStoreError> {
        let blobs = self.0.lock().expect("not poisoned");
        let found = blobs.iter().filter(|(key, _)| key.starts_with(prefix));
        // All blobs have an old modification time, so that replaced layers may be removed at once.
        Ok(found
            .map(|(key, bytes)| BlobMeta { key: key.clone(), size_bytes: bytes.len() as u64, modified_at: 0 })
            .collect())
    }

    async fn delete(&self, key: &str) -> Result<(), BlobStoreError> {
        self.0.lock().expect("not poisoned").remove(key);
        Ok(())
    }
}

pub(crate) fn repository() -> RepositoryId {
    RepositoryId::derive(&Tenant::local(), &RepositoryName::new("names"))
}

pub(crate) fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).expect("a valid path")
}

fn chunk(at: &str, line: u32) -> ChunkKey {
    ChunkKey::derive(repository(), &path(at), ContentHash::of(at), line / 4)
}

pub(crate) fn symbol(at: &str, line: u32, qualified_name: &str) -> SymbolEntry {
    SymbolEntry {
        name: qualified_name.rsplit('.').next().expect("a part").to_owned(),
        qualified_name: qualified_name.to_owned(),
        kind: SymbolKind::Function,
        path: path(at),
        line,
        span: LineSpan::new(line, line + 4),
        chunk: line.is_multiple_of(2).then(|| chunk(at, line)),
        node: NodeKey::symbol(repository(), &path(at), qualified_name, SymbolKind::Function, line),
        language: "rust".into(),
        module_path: "a.b".into(),
        exported: line.is_multiple_of(2),
        documented: line.is_multiple_of(3),
        is_test: line.is_multiple_of(5),
    }
}

pub(crate) fn view(next: u64, hidden: &[u64]) -> View {
    View {
        seq: PublishedSeq(next),
        next_gen: next,
        hidden: hidden.iter().map(|generation| GenerationId(*generation)).collect(),
        hidden_repositories: BTreeSet::new(),
    }
}

pub(crate) fn run(generation: u64) -> RunId {
    RunId { repository: repository(), generation: GenerationId(generation) }
}

pub(crate) fn everything() -> Scope {
    Scope::all(Tenant::local())
}

pub(crate) async fn index() -> (NameIndex, Arc<MemoryBlobs>) {
    let blobs = Arc::new(MemoryBlobs::default());
    let index = NameIndex::new(Arc::<MemoryBlobs>::clone(&blobs));
    let staged = StagedNames {
        replaced: Vec::new(),
        symbols: vec![
            symbol("src/store.rs", 1, "Store"),
            symbol("src/store.rs", 2, "Store.getUser"),
            symbol("src/store.rs", 9, "Store.getUserById"),
            symbol("src/cache.rs", 3, "Cache.get_user"),
            symbol("src/cache.rs", 4, "Cache.GETUSER"),
            symbol("src/util.rs", 1, "_"),
        ],
        files: ["src/store.rs", "src/cache.rs", "src/util.rs", "docs/ADR-025-queues.md", "config.json"]
            .map(path)
            .into(),
    };
    index.stage(&Tenant::local(), run(1), staged).await.expect("staged");
    (index, blobs)
}
