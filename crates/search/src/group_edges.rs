//! Reads the edges of a group: the files of a directory or module.

use std::collections::{BTreeMap, BTreeSet};

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
        let inside: BTreeSet<NodeKey> = files.iter().copied().collect();
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
            for reached in traversal.reached.into_iter().filter(|reached| !is_in_files(&inside, &reached.node)) {
                for edge in [reached.edge].into_iter().chain(reached.other_edges) {
                    let file = if *direction == Direction::Out { edge.source } else { edge.target };
                    let (direction, other) = (*direction, reached.node.clone());
                    found.edges.push(GroupEdge { file, direction, edge, other });
                }
            }
        }
        found.is_exact &= !has_full_file(&found.edges);
        sort(&mut found.edges, files);
        Ok(found)
    }
}

/// Whether a node is one of these files, or a definition in one of them.
pub(crate) fn is_in_files(files: &BTreeSet<NodeKey>, node: &NodeRecord) -> bool {
    node.path.as_ref().is_some_and(|path| files.contains(&NodeKey::file(node.repository, path)))
}

/// Whether some file may have edges that were not followed.
fn has_full_file(edges: &[GroupEdge]) -> bool {
    let mut num_edges: BTreeMap<(NodeKey, bool), usize> = BTreeMap::new();
    for edge in edges {
        *num_edges.entry((edge.file, edge.direction == Direction::Out)).or_default() += 1;
    }
    num_edges.values().any(|num| *num >= MAX_EDGES)
}

/// Sorts the edges in the order of their files. Among the edges of a file, the outgoing edges come first.
fn sort(edges: &mut [GroupEdge], files: &[NodeKey]) {
    let position: BTreeMap<NodeKey, usize> = files.iter().copied().zip(0..).collect();
    edges.sort_by_cached_key(|GroupEdge { file, direction, edge, other }| {
        let file = (position.get(file).copied(), *direction == Direction::In);
        let place = (edge.kind.as_str(), other.path.clone(), other.span.map(|span| span.start));
        (file, place, other.name.clone(), edge.line, edge.key)
    });
}
