//! The nodes and edges of a fake index.

use async_trait::async_trait;
use cairn_domain::{EdgeKind, EdgeRecord, NodeKey, NodeRecord, PatternRecord, RepositoryId, Resolution, Scope, View};
use cairn_ports::{
    Direction, ErrorKind, Follow, GraphStore, GraphStoreError, GraphTraversal, Neighbour, Page, StagedGraph, Staging,
    Step, Traversal, TraversalRequest, walk,
};

use super::FakeIndex;

impl FakeIndex {
    fn node(&self, scope: &Scope, key: NodeKey) -> Option<NodeRecord> {
        self.within(scope).flat_map(|repository| &repository.nodes).find(|node| node.key == key).cloned()
    }
}

#[async_trait]
impl GraphTraversal for FakeIndex {
    async fn traverse(
        &self,
        _view: &View,
        scope: &Scope,
        request: &TraversalRequest,
    ) -> Result<Traversal, GraphStoreError> {
        let starts = request.starts.iter().copied().filter(|start| self.node(scope, *start).is_some());
        let is_at = |edge: &EdgeRecord, node: NodeKey| match request.follow {
            Follow::Out => edge.source == node,
            Follow::In => edge.target == node,
            Follow::Both => edge.source == node || edge.target == node,
        };
        let walk = walk(request, starts, |node| {
            let edges = self.within(scope).flat_map(|repository| &repository.edges);
            let has_ends = |edge: &EdgeRecord| [edge.source, edge.target].map(|end| self.node(scope, end).is_some());
            let at_node = edges.filter(|edge| is_at(edge, node) && has_ends(edge) == [true, true]);
            Ok::<_, GraphStoreError>(at_node.cloned().collect())
        })?;
        let reached = |step: Step| {
            let node = self.node(scope, step.node)?;
            Some(step.reached(node))
        };
        Ok(Traversal { reached: walk.steps.into_iter().filter_map(reached).collect(), is_cut: walk.is_cut })
    }

    async fn num_uses(&self, _view: &View, scope: &Scope, nodes: &[NodeKey]) -> Result<Vec<u64>, GraphStoreError> {
        let uses = |node: &NodeKey| {
            let edges = self.within(scope).flat_map(|repository| &repository.edges);
            let ends_here = |edge: &&EdgeRecord| edge.target == *node && self.node(scope, edge.source).is_some();
            edges.filter(ends_here).count() as u64
        };
        Ok(nodes.iter().map(uses).collect())
    }
}

#[async_trait]
impl GraphStore for FakeIndex {
    async fn stage(&self, staging: &Staging, _: StagedGraph) -> Result<(), GraphStoreError> {
        Err(GraphStoreError::new(ErrorKind::Forbidden, "stage", staging.run.to_string()))
    }

    async fn nodes(&self, _view: &View, scope: &Scope, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, GraphStoreError> {
        Ok(keys.iter().filter_map(|key| self.node(scope, *key)).collect())
    }

    async fn neighbours(
        &self,
        _view: &View,
        scope: &Scope,
        node: NodeKey,
        direction: Direction,
        kinds: &[EdgeKind],
        limit: usize,
    ) -> Result<(Vec<Neighbour>, u64), GraphStoreError> {
        let (own, other): (fn(&EdgeRecord) -> NodeKey, fn(&EdgeRecord) -> NodeKey) = match direction {
            Direction::Out => (|edge| edge.source, |edge| edge.target),
            Direction::In => (|edge| edge.target, |edge| edge.source),
        };
        let edges = self.within(scope).flat_map(|repository| &repository.edges);
        let edges = edges.filter(|edge| own(edge) == node && (kinds.is_empty() || kinds.contains(&edge.kind)));
        let neighbour =
            |edge: &EdgeRecord| Some(Neighbour { node: self.node(scope, other(edge))?, edge: edge.clone() });
        let mut found: Vec<Neighbour> = edges.filter_map(neighbour).collect();
        found.sort_by(|left, right| {
            let place =
                |near: &Neighbour| (near.edge.kind, near.node.path.clone(), near.edge.line, near.node.name.clone());
            place(left).cmp(&place(right))
        });
        let total = found.len() as u64;
        found.truncate(limit);
        Ok((found, total))
    }

    async fn scroll_nodes(
        &self,
        _view: &View,
        scope: &Scope,
        repository: RepositoryId,
        _from: u64,
    ) -> Result<Page<NodeRecord>, GraphStoreError> {
        let nodes = self.within(scope).flat_map(|repository| &repository.nodes);
        Ok(Page { items: nodes.filter(|node| node.repository == repository).cloned().collect(), next: None })
    }

    async fn scroll_edges(
        &self,
        _view: &View,
        scope: &Scope,
        repository: RepositoryId,
        resolution: Option<Resolution>,
        _from: u64,
    ) -> Result<Page<EdgeRecord>, GraphStoreError> {
        let edges = self.within(scope).flat_map(|repository| &repository.edges).filter(|edge| edge.owner == repository);
        let edges = edges.filter(|edge| resolution.is_none_or(|resolution| edge.resolution == resolution));
        Ok(Page { items: edges.cloned().collect(), next: None })
    }

    async fn patterns(&self, _view: &View, scope: &Scope) -> Result<Vec<PatternRecord>, GraphStoreError> {
        Ok(self.within(scope).flat_map(|repository| &repository.patterns).cloned().collect())
    }
}
