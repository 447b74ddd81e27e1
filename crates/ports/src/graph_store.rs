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

/// What a part of a run changes in the graph, all of it or nothing.
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

/// One page of a repository's records. The order is the store's own: it stays as it is between the pages of one view, but
/// may depend on how the records came about. Whoever needs another sorts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Where the next page starts; none after the last.
    pub next: Option<u64>,
}

#[async_trait]
pub trait GraphStore: Generations {
    /// Stages what a part of a run found. Durable when it returns; running it again changes nothing.
    async fn stage(&self, staging: &Staging, staged: StagedGraph) -> Result<(), GraphStoreError>;

    /// The visible versions of the nodes, in the order of the keys, without those that are not visible.
    async fn nodes(&self, view: &View, scope: &Scope, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, GraphStoreError>;

    /// Visible edges of the node in one direction, of the given kinds (none: all), whose other end is visible and in
    /// scope; sorted by kind, then path, line and name of the other end. At most `limit`, and how many there are.
    async fn neighbours(
        &self,
        view: &View,
        scope: &Scope,
        node: NodeKey,
        direction: Direction,
        kinds: &[EdgeKind],
        limit: usize,
    ) -> Result<(Vec<Neighbour>, u64), GraphStoreError>;

    /// All visible nodes of a repository, by pages; `from` is 0 or the last page's `next`.
    async fn scroll_nodes(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<NodeRecord>, GraphStoreError>;

    /// All visible edges that the repository owns, by pages, of one resolution class or all.
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
