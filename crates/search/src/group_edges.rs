//! Reads the edges of a group: the files of a directory or module.

use std::collections::BTreeMap;

use cairn_domain::{EdgeRecord, NodeKey, NodeRecord, Scope, View};
use cairn_ports::{Direction, Follow, MAX_TRAVERSAL_NODES, TraversalRequest};

use crate::graph_request::Relation;
use crate::{QueryError, Searcher};

/// Maximum number of edges of one file. Further edges are not counted.
const MAX_EDGES: usize = 500;

/// An edge between a file of a group and a node outside the group.
pub(crate) struct GroupEdge {
    pub(crate) file: NodeKey,
    pub(crate) direction: Direction,
    pub(crate) edge: EdgeRecord,
    pub(crate) other: NodeRecord,
}

/// The edges of a group, by file.
#[derive(Default)]
pub(crate) struct GroupEdges {
    pub(crate) edges: Vec<GroupEdge>,
    /// False if more edges may exist.
    pub(crate) is_exact: bool,
}

impl Searcher {
    /// The edges of these files, in the order of the files. Edges between two of these files are omitted.
    pub(crate) async fn edges_of_group(
        &self,
        view: &View,
        scope: &Scope,
        files: &[NodeKey],
        relation: Relation,
    ) -> Result<GroupEdges, QueryError> {
        let mut found = GroupEdges { edges: Vec::new(), is_exact: true };
        for (direction, kinds) in relation.edges() {
            let request = TraversalRequest {
                starts: files.to_vec(),
                follow: if *direction == Direction::Out { Follow::Out } else { Follow::In },
                returns_starts: false,
                kinds: kinds.to_vec(),
                min_confidence_percent: 1,
                max_depth: 1,
                max_edges_per_node: MAX_EDGES,
                max_nodes: MAX_TRAVERSAL_NODES,
            };
            let traversal = self.graph.traverse(view, scope, &request).await?;
            found.is_exact &= !traversal.is_cut;
            for reached in traversal.reached {
                for edge in [reached.edge].into_iter().chain(reached.other_edges) {
                    let file = if *direction == Direction::Out { edge.source } else { edge.target };
                    let (direction, other) = (*direction, reached.node.clone());
                    found.edges.push(GroupEdge { file, direction, edge, other });
                }
            }
        }
        let position: BTreeMap<NodeKey, usize> = files.iter().copied().zip(0..).collect();
        let mut num_edges: BTreeMap<(NodeKey, bool), usize> = BTreeMap::new();
        for edge in &found.edges {
            *num_edges.entry((edge.file, edge.direction == Direction::Out)).or_default() += 1;
        }
        found.is_exact &= num_edges.values().all(|num| *num < MAX_EDGES);
        found.edges.sort_by(|left, right| {
            let key = |edge: &GroupEdge| (position.get(&edge.file).copied(), edge.direction == Direction::In);
            let place = |edge: &GroupEdge| {
                (edge.edge.kind.as_str(), edge.other.path.clone(), edge.other.span.map(|span| span.start))
            };
            let last = |edge: &GroupEdge| (edge.other.name.clone(), edge.edge.line, edge.edge.key);
            key(left)
                .cmp(&key(right))
                .then_with(|| place(left).cmp(&place(right)))
                .then_with(|| last(left).cmp(&last(right)))
        });
        Ok(found)
    }
}
