//! A fake index that counts the calls to its ports.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cairn_domain::{
    ChunkKey, ChunkRecord, DenseVector, EdgeKind, EdgeRecord, GenerationId, InputType, ModelId, NodeKey, NodeRecord,
    PartId, PatternRecord, PublishedSeq, RepositoryId, Resolution, RunId, Scope, SymbolEntry, Tenant, View,
};
use cairn_ports::{
    Catalogue, CatalogueError, ChunkFilter, ChunkPage, ChunkPlace, ChunkPlaces, Direction, Embedder, EmbedderError,
    FileHit, FileMatch, Generations, GraphStore, GraphStoreError, GraphTraversal, HitLists, LearnedAbbreviation,
    LedgerError, LedgerRead, ListsRequest, MaintenanceError, MaySee, NameMatch, Names, NamesError, Neighbour, Page,
    PartRecord, PartStatus, PublishedGeneration, RepositoryRecord, ResolvedSymbol, RunRecord, StagedGraph, StagedNames,
    StagedPoints, Staging, SymbolHit, SymbolNode, Traversal, TraversalRequest, VectorStore, VectorStoreError,
};
use cairn_testkit::FakeIndex;

/// Forwards every call to the index and counts it under `port::method`.
pub(crate) struct Counted {
    index: Arc<FakeIndex>,
    calls: Mutex<BTreeMap<&'static str, usize>>,
    /// Maximum number of nodes that a traversal returns.
    max_nodes: AtomicUsize,
}

impl Counted {
    pub(crate) fn new(index: Arc<FakeIndex>) -> Self {
        Self { index, calls: Mutex::default(), max_nodes: AtomicUsize::new(usize::MAX) }
    }

    /// Limits the number of nodes that each traversal returns.
    pub(crate) fn limit_nodes(&self, max_nodes: usize) {
        self.max_nodes.store(max_nodes, Ordering::Relaxed);
    }

    pub(crate) fn calls(&self) -> BTreeMap<&'static str, usize> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, call: &'static str) {
        *self.calls.lock().unwrap_or_else(PoisonError::into_inner).entry(call).or_default() += 1;
    }
}

/// Implements a port: each method counts its call and forwards it to the index.
macro_rules! counted {
    ($port:ident { $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+ } $($plain:tt)*) => {
        #[async_trait]
        impl $port for Counted {
            $($plain)*
            $(async fn $name(&self, $($argument: $type),*) -> $result {
                self.count(concat!(stringify!($port), "::", stringify!($name)));
                $port::$name(&*self.index, $($argument),*).await
            })+
        }
    };
}

counted!(Generations {
    sweep_retired(repository: RepositoryId, published: &[GenerationId]) -> Result<u64, MaintenanceError>;
    sweep_aborted(repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError>;
    remove_repository(tenant: &Tenant, repository: RepositoryId, before: GenerationId) -> Result<(), MaintenanceError>;
    compact(repository: RepositoryId) -> Result<bool, MaintenanceError>;
    verify(repository: RepositoryId) -> Result<(), MaintenanceError>;
});

counted!(Embedder {
    embed(input_type: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError>;
} fn model(&self) -> &ModelId {
    self.index.model()
});

counted!(Catalogue {
    register(repository: RepositoryRecord) -> Result<(), CatalogueError>;
    register_listed(repository: RepositoryRecord) -> Result<(), CatalogueError>;
    change_settings(repository: RepositoryId, expected: &str, settings: &str) -> Result<(), CatalogueError>;
    repositories(scope: &Scope) -> Result<Vec<RepositoryRecord>, CatalogueError>;
    visible(tenant: &Tenant, may_see: &MaySee<'_>) -> Result<Vec<RepositoryRecord>, CatalogueError>;
    view() -> Result<View, CatalogueError>;
    view_at(seq: PublishedSeq) -> Result<Option<View>, CatalogueError>;
    published_of(view: &View, repositories: &[RepositoryId]) -> Result<Vec<PublishedGeneration>, CatalogueError>;
    publish(published: PublishedGeneration) -> Result<PublishedSeq, CatalogueError>;
    delete(repository: RepositoryId, now_ms: i64) -> Result<GenerationId, CatalogueError>;
});

counted!(LedgerRead {
    run(run: RunId) -> Result<RunRecord, LedgerError>;
    part_status(run: RunId, part: PartId) -> Result<PartStatus, LedgerError>;
    runs(repository: Option<RepositoryId>, limit: usize) -> Result<Vec<RunRecord>, LedgerError>;
    runs_of(repositories: &[RepositoryId], of_each: usize, in_all: usize) -> Result<Vec<RunRecord>, LedgerError>;
    unfinished() -> Result<Vec<RunRecord>, LedgerError>;
    parts(run: RunId) -> Result<Vec<PartRecord>, LedgerError>;
});

counted!(ChunkPlaces {
    places(view: &View, scope: &Scope, filter: &ChunkFilter) -> Result<Vec<ChunkPlace>, VectorStoreError>;
});

counted!(VectorStore {
    stage(staging: &Staging, staged: StagedPoints) -> Result<(), VectorStoreError>;
    search(view: &View, scope: &Scope, filter: &ChunkFilter, lists: ListsRequest<'_>)
        -> Result<HitLists, VectorStoreError>;
    fetch(view: &View, scope: &Scope, keys: &[(RepositoryId, ChunkKey)], with_text: bool)
        -> Result<Vec<ChunkRecord>, VectorStoreError>;
    scroll(view: &View, scope: &Scope, repository: RepositoryId, from: u64) -> Result<ChunkPage, VectorStoreError>;
    count(view: &View, scope: &Scope, filter: &ChunkFilter) -> Result<u64, VectorStoreError>;
});

counted!(Names {
    stage(tenant: &Tenant, run: RunId, staged: StagedNames) -> Result<(), NamesError>;
    symbols(view: &View, scope: &Scope, name: &str, ways: &[NameMatch], limit: usize)
        -> Result<Vec<SymbolHit>, NamesError>;
    resolve(view: &View, scope: &Scope, name: &str, learned: &[LearnedAbbreviation], limit: usize) -> Result<Vec<ResolvedSymbol>, NamesError>;
    symbols_of(view: &View, scope: &Scope, nodes: &[SymbolNode]) -> Result<Vec<SymbolEntry>, NamesError>;
    symbols_in(view: &View, scope: &Scope, chunks: &[(RepositoryId, ChunkKey)]) -> Result<Vec<SymbolEntry>, NamesError>;
    files(view: &View, scope: &Scope, name: &str, matching: FileMatch, limit: usize)
        -> Result<Vec<FileHit>, NamesError>;
    scroll(view: &View, scope: &Scope, repository: RepositoryId, from: u64) -> Result<Page<SymbolEntry>, NamesError>;
});

#[async_trait]
impl GraphTraversal for Counted {
    async fn traverse(
        &self,
        view: &View,
        scope: &Scope,
        request: &TraversalRequest,
    ) -> Result<Traversal, GraphStoreError> {
        self.count("GraphTraversal::traverse");
        let max_nodes = request.max_nodes.min(self.max_nodes.load(Ordering::Relaxed));
        // Both limits are lowered by the same number.
        let num_fewer = request.max_nodes - max_nodes;
        let max_edges_per_node = match request.max_edges_per_node.checked_sub(num_fewer) {
            Some(lower) if request.max_edges_per_node >= request.max_nodes => lower,
            _ => request.max_edges_per_node,
        };
        let request = TraversalRequest { max_nodes, max_edges_per_node, ..request.clone() };
        self.index.traverse(view, scope, &request).await
    }

    async fn num_uses(&self, view: &View, scope: &Scope, nodes: &[NodeKey]) -> Result<Vec<u64>, GraphStoreError> {
        self.count("GraphTraversal::num_uses");
        self.index.num_uses(view, scope, nodes).await
    }
}

counted!(GraphStore {
    stage(staging: &Staging, staged: StagedGraph) -> Result<(), GraphStoreError>;
    nodes(view: &View, scope: &Scope, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, GraphStoreError>;
    neighbours(view: &View, scope: &Scope, node: NodeKey, direction: Direction, kinds: &[EdgeKind], limit: usize)
        -> Result<(Vec<Neighbour>, u64), GraphStoreError>;
    scroll_nodes(view: &View, scope: &Scope, repository: RepositoryId, from: u64)
        -> Result<Page<NodeRecord>, GraphStoreError>;
    scroll_edges(view: &View, scope: &Scope, repository: RepositoryId, resolution: Option<Resolution>, from: u64)
        -> Result<Page<EdgeRecord>, GraphStoreError>;
    patterns(view: &View, scope: &Scope) -> Result<Vec<PatternRecord>, GraphStoreError>;
});
