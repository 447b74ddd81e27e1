//! Faults that a test plants in graph stores. Each wrapper adds exactly one fault.

use async_trait::async_trait;
use cairn_domain::{EdgeKind, EdgeRecord, NodeKey, NodeRecord, PatternRecord, RepositoryId, Resolution, Scope, View};
use cairn_ports::{
    Direction, Follow, GraphStore, GraphStoreError, GraphTraversal, Neighbour, Page, StagedGraph, Staging, Traversal,
    TraversalRequest,
};

use crate::faulty::{Faulty, StoreFault, WithStoreFaults, planted};
use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Store(StoreFault),
    LosesEdges,
    LosesNodes,
    LosesRetirements,
    ReversesNeighbours,
    LimitsBeforeCounting,
    IgnoresKinds,
    ConfusesDirections,
    RepeatsRecords,
    LosesPages,
    ReversesPatterns,
    TraversesBackwards,
    ForgetsLaterStarts,
    ReversesTraversals,
    IgnoresConfidence,
    IgnoresDepth,
    IgnoresNumberOfNodes,
    IgnoresEdgesPerNode,
    ForgetsToReportCuts,
    CountsOneUse,
}

const ALL: [(&str, Fault, &str); 27] = [
    ("loses an edge", Fault::LosesEdges, "staged_records_are_visible_once_published"),
    ("loses a node", Fault::LosesNodes, "staged_records_are_visible_once_published"),
    ("loses retirements", Fault::LosesRetirements, "retired_records_stay_visible_to_earlier_views"),
    ("answers neighbours backwards", Fault::ReversesNeighbours, "scope_is_tested_before_limits"),
    ("counts after the limit", Fault::LimitsBeforeCounting, "neighbours_are_ordered_and_limited"),
    ("ignores kinds", Fault::IgnoresKinds, "neighbours_are_ordered_and_limited"),
    ("confuses directions", Fault::ConfusesDirections, "staged_records_are_visible_once_published"),
    ("repeats records", Fault::RepeatsRecords, "staged_records_are_visible_once_published"),
    ("loses later pages", Fault::LosesPages, "pages_are_complete"),
    ("answers patterns backwards", Fault::ReversesPatterns, "patterns_are_ordered"),
    ("follows edges backwards", Fault::TraversesBackwards, "traversals_follow_the_requested_direction_and_kinds"),
    (
        "returns reached start nodes only on the first level",
        Fault::ForgetsLaterStarts,
        "reached_start_nodes_are_returned_once",
    ),
    ("answers traversals backwards", Fault::ReversesTraversals, "traversals_are_ordered_by_depth_and_confidence"),
    ("ignores the least confidence", Fault::IgnoresConfidence, "uncertain_edges_are_not_followed"),
    ("ignores the depth", Fault::IgnoresDepth, "traversals_are_ordered_by_depth_and_confidence"),
    ("ignores the number of nodes", Fault::IgnoresNumberOfNodes, "traversals_are_cut_in_their_order"),
    ("ignores the number of edges", Fault::IgnoresEdgesPerNode, "traversals_are_cut_in_their_order"),
    ("reports no cut", Fault::ForgetsToReportCuts, "traversals_are_cut_in_their_order"),
    ("counts one use of a node", Fault::CountsOneUse, "uses_are_counted_in_view_and_scope"),
    ("sees staged generations", Fault::Store(StoreFault::SeesStaged), "staged_records_are_visible_once_published"),
    ("sees hidden repositories", Fault::Store(StoreFault::SeesHidden), "hidden_repositories_are_invisible"),
    ("ignores the scope", Fault::Store(StoreFault::IgnoresScope), "scope_is_tested_before_limits"),
    ("sweeps nothing", Fault::Store(StoreFault::SweepsNothing), "sweeping_retired_records_changes_no_view"),
    ("sweeps visible records", Fault::Store(StoreFault::SweepsTheOpen), "sweeping_retired_records_changes_no_view"),
    ("sweeps records in use", Fault::Store(StoreFault::SweepsTheSeen), "sweeping_unseen_records_changes_no_used_view"),
    ("keeps aborted records", Fault::Store(StoreFault::KeepsAborted), "sweeping_an_aborted_generation_undoes_it"),
    (
        "removes records that began later",
        Fault::Store(StoreFault::RemovesTooMuch),
        "removing_a_repository_keeps_later_runs",
    ),
];

impl WithStoreFaults for Fault {
    fn of_store(self) -> Option<StoreFault> {
        if let Fault::Store(fault) = self { Some(fault) } else { None }
    }
}

pub fn faults() -> Vec<PlantedFault<dyn GraphStore>> {
    planted(ALL, |faulty| Box::new(faulty))
}

impl Faulty<dyn GraphStore, Fault> {
    fn page<T: Clone>(&self, mut page: Page<T>) -> Page<T> {
        match self.fault {
            Fault::RepeatsRecords => page.items.extend(page.items.first().cloned()),
            Fault::LosesPages => page.next = None,
            _ => {}
        }
        page
    }
}

#[async_trait]
impl GraphTraversal for Faulty<dyn GraphStore, Fault> {
    async fn traverse(
        &self,
        view: &View,
        scope: &Scope,
        request: &TraversalRequest,
    ) -> Result<Traversal, GraphStoreError> {
        let mut request = request.clone();
        match (self.fault, request.follow) {
            (Fault::TraversesBackwards, Follow::Out) => request.follow = Follow::In,
            (Fault::TraversesBackwards, Follow::In) => request.follow = Follow::Out,
            (Fault::IgnoresConfidence, _) => request.min_confidence_percent = 0,
            (Fault::IgnoresDepth, _) => request.max_depth = 3,
            (Fault::IgnoresNumberOfNodes, _) => request.max_nodes = 1_000,
            (Fault::IgnoresEdgesPerNode, _) => request.max_edges_per_node = 1_000,
            _ => {}
        }
        let mut found = self.inner.traverse(&self.view(view), &self.scope(scope), &request).await?;
        match self.fault {
            Fault::ReversesTraversals => found.reached.reverse(),
            Fault::ForgetsLaterStarts => {
                found.reached.retain(|reached| reached.depth == 1 || !request.starts.contains(&reached.node.key));
            }
            Fault::ForgetsToReportCuts => found.is_cut = false,
            _ => {}
        }
        Ok(found)
    }

    async fn num_uses(&self, view: &View, scope: &Scope, nodes: &[NodeKey]) -> Result<Vec<u64>, GraphStoreError> {
        let mut uses = self.inner.num_uses(&self.view(view), &self.scope(scope), nodes).await?;
        if self.fault == Fault::CountsOneUse {
            uses.iter_mut().for_each(|uses| *uses = 1.min(*uses));
        }
        Ok(uses)
    }
}

#[async_trait]
impl GraphStore for Faulty<dyn GraphStore, Fault> {
    async fn stage(&self, staging: &Staging, mut staged: StagedGraph) -> Result<(), GraphStoreError> {
        match self.fault {
            Fault::LosesEdges => drop(staged.edges.pop()),
            Fault::LosesNodes => drop(staged.nodes.pop()),
            Fault::LosesRetirements => {
                staged.retired_nodes.clear();
                staged.retired_edges.clear();
                staged.retired_patterns.clear();
            }
            _ => {}
        }
        self.inner.stage(staging, staged).await
    }

    async fn nodes(&self, view: &View, scope: &Scope, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, GraphStoreError> {
        self.inner.nodes(&self.view(view), &self.scope(scope), keys).await
    }

    async fn neighbours(
        &self,
        view: &View,
        scope: &Scope,
        node: NodeKey,
        direction: Direction,
        kinds: &[EdgeKind],
        limit: usize,
    ) -> Result<(Vec<Neighbour>, u64), GraphStoreError> {
        let kinds = if self.fault == Fault::IgnoresKinds { &[] } else { kinds };
        let direction = if self.fault == Fault::ConfusesDirections { Direction::Out } else { direction };
        let (view, scope) = (self.view(view), self.scope(scope));
        let (mut found, total) = self.inner.neighbours(&view, &scope, node, direction, kinds, limit).await?;
        if self.fault == Fault::ReversesNeighbours {
            found.reverse();
        }
        let total = if self.fault == Fault::LimitsBeforeCounting { found.len() as u64 } else { total };
        Ok((found, total))
    }

    async fn scroll_nodes(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<NodeRecord>, GraphStoreError> {
        let page = self.inner.scroll_nodes(&self.view(view), &self.scope(scope), repository, from).await?;
        Ok(self.page(page))
    }

    async fn scroll_edges(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        resolution: Option<Resolution>,
        from: u64,
    ) -> Result<Page<EdgeRecord>, GraphStoreError> {
        let (view, scope) = (self.view(view), self.scope(scope));
        let page = self.inner.scroll_edges(&view, &scope, repository, resolution, from).await?;
        Ok(self.page(page))
    }

    async fn patterns(&self, view: &View, scope: &Scope) -> Result<Vec<PatternRecord>, GraphStoreError> {
        let mut patterns = self.inner.patterns(&self.view(view), &self.scope(scope)).await?;
        if self.fault == Fault::ReversesPatterns {
            patterns.reverse();
        }
        Ok(patterns)
    }
}
