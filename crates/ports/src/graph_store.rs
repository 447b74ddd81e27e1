//! The graph store. Nodes and edges are staged and are published with their generation. Readers read the
//! edges around a node.

use async_trait::async_trait;
use cairn_domain::{
    EdgeKey, EdgeKind, EdgeRecord, NodeKey, NodeRecord, PatternKey, PatternRecord, RepositoryId, Resolution, Scope,
    View,
};

use crate::error::port_error;
use crate::{Generations, Staging, Traversal, TraversalRequest};

port_error!(
    /// An error of the graph store.
    GraphStoreError,
    "graph store"
);

/// The change that a part of a run makes in the graph. The store applies either the whole change or nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StagedGraph {
    pub nodes: Vec<NodeRecord>,
    pub edges: Vec<EdgeRecord>,
    pub patterns: Vec<PatternRecord>,
    pub retired_nodes: Vec<NodeKey>,
    pub retired_edges: Vec<EdgeKey>,
    pub retired_patterns: Vec<PatternKey>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Edges that start at the node.
    Out,
    /// Edges that end at the node.
    In,
}

/// An edge with the node at its other end.
#[derive(Clone, PartialEq, Debug)]
pub struct Neighbour {
    pub edge: EdgeRecord,
    pub node: NodeRecord,
}

/// One page of a repository's records. Each store chooses the order of the records. The order is the same for
/// all pages of one view, but may depend on the order of the writes. A caller that needs a particular order
/// must sort the records.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The position at which the next page starts; `None` on the last page.
    pub next: Option<u64>,
}

#[async_trait]
pub trait GraphTraversal: Send + Sync {
    /// Returns the nodes that can be reached from the start nodes. Every edge, and the nodes at both its
    /// ends, must be visible and in scope. Each node is returned once, with the smallest depth. If several
    /// edges reach a node at its smallest depth, the edge with the highest product of confidences is
    /// returned.
    async fn traverse(
        &self,
        view: &View,
        scope: &Scope,
        request: &TraversalRequest,
    ) -> Result<Traversal, GraphStoreError>;

    /// Returns the number of edges that end at each node, in the order of the nodes. An edge is counted only
    /// if the edge and the nodes at both its ends are visible and in scope. All nodes are counted in one
    /// operation, because a question may count the uses of several definitions.
    async fn num_uses(&self, view: &View, scope: &Scope, nodes: &[NodeKey]) -> Result<Vec<u64>, GraphStoreError>;
}

#[async_trait]
pub trait GraphStore: Generations + GraphTraversal {
    /// Stages the records of a part of a run. The records are durable when the call returns. A repeated call
    /// changes nothing.
    async fn stage(&self, staging: &Staging, staged: StagedGraph) -> Result<(), GraphStoreError>;

    /// Returns the visible versions of the nodes in the order of the keys. Nodes that are not visible are
    /// left out.
    async fn nodes(&self, view: &View, scope: &Scope, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, GraphStoreError>;

    /// Returns the visible edges of the node in one direction and of the given kinds. An empty `kinds` means
    /// all kinds. The node at the other end must be visible and in scope. The edges are sorted by kind, then
    /// by path, line and name of the node at the other end. Returns at most the first `limit` edges, and the
    /// total number of matching edges.
    async fn neighbours(
        &self,
        view: &View,
        scope: &Scope,
        node: NodeKey,
        direction: Direction,
        kinds: &[EdgeKind],
        limit: usize,
    ) -> Result<(Vec<Neighbour>, u64), GraphStoreError>;

    /// Returns one page of all visible nodes of a repository. `from` is 0 for the first page. For each later
    /// page, `from` is `next` of the previous page.
    async fn scroll_nodes(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<NodeRecord>, GraphStoreError>;

    /// Returns one page of the visible edges that the repository owns. If `resolution` is set, only edges
    /// with this resolution are returned.
    async fn scroll_edges(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        resolution: Option<Resolution>,
        from: u64,
    ) -> Result<Page<EdgeRecord>, GraphStoreError>;

    /// Returns the visible patterns in scope, sorted by repository, number of members (largest first), name
    /// and key.
    async fn patterns(&self, view: &View, scope: &Scope) -> Result<Vec<PatternRecord>, GraphStoreError>;
}
