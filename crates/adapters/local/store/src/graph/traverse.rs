//! Implements the bounded traversal of the graph.

use cairn_domain::{EdgeRecord, NodeKey};
use cairn_ports::{Direction, Follow, Traversal, TraversalRequest, walk};

use crate::fault::Fault;
use crate::graph::read::GraphReader;

impl GraphReader<'_> {
    pub(crate) fn traverse(&mut self, request: &TraversalRequest) -> Result<Traversal, Fault> {
        let mut starts = Vec::with_capacity(request.starts.len());
        for start in &request.starts {
            if self.sees(*start)? {
                starts.push(*start);
            }
        }
        let walk = walk(request, starts, |node| self.edges_to_follow(node, request.follow))?;
        let keys: Vec<NodeKey> = walk.steps.iter().map(|step| step.node).collect();
        let nodes = self.nodes(&keys)?;
        if nodes.len() != keys.len() {
            return Err(Fault::damaged("a reached node has no record"));
        }
        let reached = walk.steps.into_iter().zip(nodes).map(|(step, node)| step.reached(node)).collect();
        Ok(Traversal { reached, is_cut: walk.is_cut })
    }

    /// The number of visible edges that end at each node.
    pub(crate) fn num_uses(&mut self, nodes: &[NodeKey]) -> Result<Vec<u64>, Fault> {
        let mut uses = Vec::with_capacity(nodes.len());
        for node in nodes {
            let is_visible = self.sees(*node)?;
            uses.push(if is_visible { self.visible_edges(*node, Direction::In)?.len() as u64 } else { 0 });
        }
        Ok(uses)
    }

    fn edges_to_follow(&mut self, node: NodeKey, follow: Follow) -> Result<Vec<EdgeRecord>, Fault> {
        let directions: &[Direction] = match follow {
            Follow::Out => &[Direction::Out],
            Follow::In => &[Direction::In],
            Follow::Both => &[Direction::Out, Direction::In],
        };
        let mut edges = Vec::new();
        for direction in directions {
            edges.extend(self.visible_edges(node, *direction)?);
        }
        Ok(edges)
    }
}
