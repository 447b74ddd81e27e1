//! The bounded traversal of the graph: finds the nodes that can be reached from given start nodes over a few
//! edges.
//!
//! All stores return the same nodes in the same order, even if a limit cuts the traversal. [`walk`] defines
//! the rules.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{EdgeKey, EdgeKind, EdgeRecord, NodeKey, NodeRecord};

/// Maximum number of edges between a start node and a reached node.
pub const MAX_TRAVERSAL_DEPTH: u32 = 3;
/// Maximum number of reached nodes.
pub const MAX_TRAVERSAL_NODES: usize = 10_000;
/// The confidence of a start node, in millionths.
pub const CERTAIN: u64 = 1_000_000;

/// The edges that a traversal follows from a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Follow {
    /// Edges that start at the node.
    Out,
    /// Edges that end at the node.
    In,
    Both,
}

/// The start nodes and the limits of a traversal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraversalRequest {
    /// Start nodes that are not visible or not in scope are ignored.
    pub starts: Vec<NodeKey>,
    pub follow: Follow,
    /// Whether a start node is also returned if an edge reaches it. A path may lead from one start node to
    /// another over nodes that are not start nodes.
    pub returns_starts: bool,
    /// An empty list means all kinds.
    pub kinds: Vec<EdgeKind>,
    /// Edges with less confidence are not followed.
    pub min_confidence_percent: u8,
    /// At most `MAX_TRAVERSAL_DEPTH`; larger values are treated as the maximum.
    pub max_depth: u32,
    /// Maximum number of edges that are followed from one node. The edges with the highest confidence are
    /// followed.
    pub max_edges_per_node: usize,
    /// At most `MAX_TRAVERSAL_NODES`; larger values are treated as the maximum.
    pub max_nodes: usize,
}

impl TraversalRequest {
    pub fn depth(&self) -> u32 {
        self.max_depth.min(MAX_TRAVERSAL_DEPTH)
    }

    pub fn num_nodes(&self) -> usize {
        self.max_nodes.min(MAX_TRAVERSAL_NODES)
    }

    fn follows(&self, edge: &EdgeRecord) -> bool {
        edge.source != edge.target
            && edge.confidence_percent >= self.min_confidence_percent
            && (self.kinds.is_empty() || self.kinds.contains(&edge.kind))
    }
}

/// A node that a traversal reached.
#[derive(Clone, PartialEq, Debug)]
pub struct Reached {
    pub node: NodeRecord,
    /// Number of edges between the nearest start node and the node, at least 1.
    pub depth: u32,
    /// The node from which the edge was followed: a start node, or a node of the previous level.
    pub previous: NodeKey,
    /// The edge between `previous` and the node.
    pub edge: EdgeRecord,
    /// All other edges that reach the node from the same level, sorted by confidence (highest first), name of
    /// the kind, line and key.
    pub other_edges: Vec<EdgeRecord>,
    /// The product of the confidences of all edges on the path from the start node to this node, in
    /// millionths.
    pub confidence: u64,
}

/// The result of a traversal.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Traversal {
    /// Sorted by depth, confidence (highest first) and key.
    pub reached: Vec<Reached>,
    /// Whether nodes were omitted because of `max_nodes`.
    pub is_cut: bool,
}

/// A node that [`walk`] reached, without its record.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    pub node: NodeKey,
    pub depth: u32,
    pub previous: NodeKey,
    pub edge: EdgeRecord,
    pub other_edges: Vec<EdgeRecord>,
    pub confidence: u64,
}

impl Step {
    pub fn reached(self, node: NodeRecord) -> Reached {
        let Self { node: _, depth, previous, edge, other_edges, confidence } = self;
        Reached { node, depth, previous, edge, other_edges, confidence }
    }
}

/// The result of [`walk`].
#[derive(Clone, PartialEq, Debug)]
pub struct Walk {
    pub steps: Vec<Step>,
    pub is_cut: bool,
}

/// Traverses the graph from `starts`. `edges_at` returns the edges of a node that are visible and in scope.
/// `request.follow` specifies the direction. For a start node that is not visible, `edges_at` returns no
/// edges.
///
/// 1. Edges between a node and itself are ignored. The edges of each node are sorted by confidence (highest
///    first), key of the node at the other end, name of the kind, line, and key of the edge. The first
///    `max_edges_per_node` edges are followed.
/// 2. The edges that reach one node from one level are sorted by product of confidences (highest first), then
///    by key of the previous node, name of the kind, line and key. In the node's `Step`, the first of these
///    edges is `edge`, and the remaining edges are `other_edges`.
/// 3. A node that is a start node or belongs to an earlier level is omitted. As an exception, if
///    `returns_starts` is set, a start node belongs to the first level on which an edge reaches it. The edges
///    of a start node are followed only once, at the beginning of the traversal.
/// 4. Each level is sorted by confidence and key. If there are too many nodes, the last nodes are omitted.
pub fn walk<E>(
    request: &TraversalRequest,
    starts: impl IntoIterator<Item = NodeKey>,
    mut edges_at: impl FnMut(NodeKey) -> Result<Vec<EdgeRecord>, E>,
) -> Result<Walk, E> {
    let mut levels = Levels::new(request, starts);
    while let Some(nodes) = levels.next_nodes() {
        let mut edges = BTreeMap::new();
        for node in nodes {
            edges.insert(node, edges_at(node)?);
        }
        levels.follow(edges);
    }
    Ok(levels.walk)
}

/// A traversal, level by level, for stores that read the edges of all nodes of a level in one operation. The
/// traversal follows the rules of [`walk`].
pub struct Levels<'r> {
    request: &'r TraversalRequest,
    /// The nodes whose edges are not followed again.
    seen: BTreeSet<NodeKey>,
    /// The start nodes that are returned as soon as an edge reaches them.
    unreached_starts: BTreeSet<NodeKey>,
    /// The nodes of the last level, with their confidence.
    level: Vec<(NodeKey, u64)>,
    depth: u32,
    /// The result so far: the nodes of all levels that were reached.
    pub walk: Walk,
}

impl<'r> Levels<'r> {
    pub fn new(request: &'r TraversalRequest, starts: impl IntoIterator<Item = NodeKey>) -> Self {
        let seen: BTreeSet<NodeKey> = starts.into_iter().collect();
        let unreached_starts = if request.returns_starts { seen.clone() } else { BTreeSet::new() };
        let level = seen.iter().map(|start| (*start, CERTAIN)).collect();
        let walk = Walk { steps: Vec::new(), is_cut: false };
        Self { request, seen, unreached_starts, level, depth: 0, walk }
    }

    /// The nodes whose edges are followed next. `None` at the end of the traversal.
    pub fn next_nodes(&self) -> Option<Vec<NodeKey>> {
        let is_done = self.depth == self.request.depth() || self.level.is_empty();
        (!is_done).then(|| self.level.iter().map(|(node, _)| *node).collect())
    }

    /// Follows the edges of these nodes.
    pub fn follow(&mut self, mut edges: BTreeMap<NodeKey, Vec<EdgeRecord>>) {
        let request = self.request;
        self.depth += 1;
        let depth = self.depth;
        let mut best: BTreeMap<NodeKey, Step> = BTreeMap::new();
        for (previous, confidence) in std::mem::take(&mut self.level) {
            for edge in followed(request, previous, edges.remove(&previous).unwrap_or_default()) {
                let node = other_end(&edge, previous);
                let confidence = confidence * u64::from(edge.confidence_percent) / 100;
                let step = Step { node, depth, previous, edge, other_edges: Vec::new(), confidence };
                if !self.seen.contains(&node) || self.unreached_starts.contains(&node) {
                    add(&mut best, step);
                }
            }
        }
        let mut reached: Vec<Step> = best.into_values().collect();
        for step in &mut reached {
            let key = |edge: &EdgeRecord| (Reverse(edge.confidence_percent), edge.kind.as_str(), edge.line, edge.key);
            step.other_edges.sort_by_key(key);
        }
        reached.sort_by_key(|step| (Reverse(step.confidence), step.node));
        let num_left = request.num_nodes() - self.walk.steps.len();
        self.walk.is_cut |= reached.len() > num_left;
        reached.truncate(num_left);
        for step in &reached {
            self.unreached_starts.remove(&step.node);
            // The edges of a start node have already been followed.
            if self.seen.insert(step.node) {
                self.level.push((step.node, step.confidence));
            }
        }
        self.walk.steps.extend(reached);
    }
}

/// Adds a step. If two steps lead to the same node, the better step is kept, with the edges of both steps.
fn add(best: &mut BTreeMap<NodeKey, Step>, step: Step) {
    match best.entry(step.node) {
        Entry::Vacant(place) => {
            place.insert(step);
        }
        Entry::Occupied(mut known) => {
            let known = known.get_mut();
            let mut worse = step;
            if order_key(&worse) < order_key(known) {
                std::mem::swap(known, &mut worse);
            }
            known.other_edges.append(&mut worse.other_edges);
            known.other_edges.push(worse.edge);
        }
    }
}

/// The edges that are followed from a node.
fn followed(request: &TraversalRequest, node: NodeKey, mut edges: Vec<EdgeRecord>) -> Vec<EdgeRecord> {
    edges.retain(|edge| request.follows(edge));
    edges.sort_by_key(|edge| {
        (Reverse(edge.confidence_percent), other_end(edge, node), edge.kind.as_str(), edge.line, edge.key)
    });
    edges.truncate(request.max_edges_per_node);
    edges
}

fn other_end(edge: &EdgeRecord, node: NodeKey) -> NodeKey {
    if edge.source == node { edge.target } else { edge.source }
}

fn order_key(step: &Step) -> (Reverse<u64>, NodeKey, &'static str, u32, EdgeKey) {
    let edge = &step.edge;
    (Reverse(step.confidence), step.previous, edge.kind.as_str(), edge.line, edge.key)
}
