//! Nodes and edges: staged, published with their generation, read by neighbourhood.

use async_trait::async_trait;
use cairn_domain::{
    EdgeKey, EdgeKind, EdgeRecord, NodeKey, NodeRecord, PatternKey, PatternRecord, RepositoryId, Resolution, Scope,
    View,
};

use crate::error::port_error;
use crate::{Generations, Staging};

port_error!(
    /// An error of the graph store.
    GraphStoreError,
    "graph store"
);

/// The change that a part of a run makes in the graph. It is applied as a whole or not at all.
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

/// One page of a repository's records. The order is the store's own. It is the same for all pages of one
/// view, but may depend on the order of the writes. Callers that need another order sort.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The start of the next page; none after the last.
    pub next: Option<u64>,
}

#[async_trait]
pub trait GraphStore: Generations {
    /// Stages the records of a part of a run. Durable when it returns. Running it again changes nothing.
    async fn stage(&self, staging: &Staging, staged: StagedGraph) -> Result<(), GraphStoreError>;

    /// The visible versions of the nodes, in the order of the keys, without nodes that are not visible.
    async fn nodes(&self, view: &View, scope: &Scope, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, GraphStoreError>;

    /// Visible edges of the node in one direction and of the given kinds (none: all kinds). The other end
    /// must be visible and in scope. Sorted by kind, then path, line and name of the other end. Returns at
    /// most `limit` edges, and the total number.
    async fn neighbours(
        &self,
        view: &View,
        scope: &Scope,
        node: NodeKey,
        direction: Direction,
        kinds: &[EdgeKind],
        limit: usize,
    ) -> Result<(Vec<Neighbour>, u64), GraphStoreError>;

    /// All visible nodes of a repository, by pages. `from` is 0, or `next` of the last page.
    async fn scroll_nodes(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<NodeRecord>, GraphStoreError>;

    /// All visible edges that the repository owns, by pages, of one resolution class or of all.
    async fn scroll_edges(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        resolution: Option<Resolution>,
        from: u64,
    ) -> Result<Page<EdgeRecord>, GraphStoreError>;

    /// The visible patterns in scope, sorted by repository, number of members (most first), name and key.
    async fn patterns(&self, view: &View, scope: &Scope) -> Result<Vec<PatternRecord>, GraphStoreError>;
}
