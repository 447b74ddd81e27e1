//! Answers questions about the graph: callers, callees, dependencies and inheritance.

use cairn_domain::{EdgeKind, EdgeRecord, NodeKey, NodeKind, NodeRecord, RepositoryId, Resolution, Scope, View};
use cairn_ports::Direction;
use cairn_redaction::Message;
use futures::{StreamExt, TryStreamExt, stream};

use crate::bounds;
use crate::graph_request::GraphRequest;
use crate::group_edges::{GroupEdge, GroupEdges};
use crate::relation_target::MAX_FILES;
use crate::repositories::{KnownRepository, name_of};
use crate::{FieldFault, QueryError, RepositorySelection, Searcher, Stamp, Substitution};

/// An edge as answers show it, with the place of the reference.
#[derive(Clone, PartialEq, Debug)]
pub struct GraphEdge {
    /// The index of the node with the requested name in `GraphAnswer::about`.
    pub about: usize,
    pub kind: EdgeKind,
    /// True if the edge starts at the requested node.
    pub outgoing: bool,
    pub other: NodeRecord,
    pub other_repository: String,
    /// Path and line of the reference.
    pub site: Option<(String, u32)>,
    pub resolution: Resolution,
    pub confidence_percent: u8,
}

#[derive(Clone, PartialEq, Debug)]
pub struct GraphAnswer {
    /// The nodes with the requested name, best first. The list has several entries if the name is not unique.
    pub about: Vec<(String, NodeRecord)>,
    /// Set if the name of the nodes differs from the requested name.
    pub substitution: Option<Substitution>,
    pub edges: Vec<GraphEdge>,
    /// Number of all edges, including the edges that `limit` omits. If `is_exact` is false, there are at
    /// least this many edges.
    pub num_edges: u64,
    pub is_exact: bool,
    /// Sentences with facts that the caller must know: how many nodes with the name are not considered.
    pub notes: Vec<Message>,
    pub stamps: Vec<Stamp>,
}

/// The view, the scope and the repositories of a question.
type Places<'a> = (&'a View, &'a Scope, &'a [KnownRepository]);

/// The requested nodes with their edges.
struct AboutEdges {
    nodes: Vec<NodeRecord>,
    edges: Vec<GraphEdge>,
    num_edges: u64,
    is_exact: bool,
}

/// The parameters of a random sample of edges for review.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgeDraw {
    pub resolution: Resolution,
    /// The kinds of edges in the sample; empty selects all kinds.
    pub kinds: Vec<EdgeKind>,
    pub seed: u64,
    pub count: usize,
}

/// An edge of a sample, with its source node and its target node.
#[derive(Clone, PartialEq, Debug)]
pub struct SampledEdge {
    pub edge: EdgeRecord,
    pub source: NodeRecord,
    pub target: NodeRecord,
}

/// Number of lists of edges that are read at the same time. Concurrent reads save time, because each read
/// waits for the graph store.
const READS_AT_ONCE: usize = 16;

impl Searcher {
    pub async fn relationship(&self, request: &GraphRequest) -> Result<GraphAnswer, QueryError> {
        if request.limit == 0 {
            let fault = FieldFault { provided: Some(0), ..FieldFault::of("limit") };
            return Err(bounds::invalid(fault, "`limit` must be at least 1"));
        }
        bounds::word("name", &request.name)?;
        bounds::word("context_path", request.context_path.as_deref().unwrap_or_default())?;
        let view = self.catalogue.view().await?;
        let selected = self.select(&view, &request.repositories).await?;
        let scope = self.scope_of(&selected);
        let target = match self.relation_target(&view, (&scope, &selected), request).await {
            Err(error) => return Err(self.explain_absent_name(error, &request.name, &view, &selected).await?),
            Ok(target) => target,
        };
        let places = (&view, &scope, selected.as_slice());
        let AboutEdges { nodes, edges, num_edges, is_exact } = match target.is_group {
            true => self.edges_of_files(places, &target.nodes, request).await?,
            false => self.edges_of_nodes(places, &target.nodes, request).await?,
        };
        let mut used: Vec<RepositoryId> = nodes.iter().map(|node| node.repository).collect();
        used.extend(edges.iter().map(|edge| edge.other.repository));
        Ok(GraphAnswer {
            stamps: self.stamps(&selected, &used).await?,
            about: nodes.into_iter().map(|node| (name_of(&selected, node.repository), node)).collect(),
            substitution: target.substitution,
            edges,
            num_edges,
            is_exact: is_exact && target.cut.is_empty(),
            notes: target.cut,
        })
    }

    /// The edges of each node, in the order of the nodes.
    async fn edges_of_nodes(
        &self,
        (view, scope, selected): Places<'_>,
        keys: &[NodeKey],
        request: &GraphRequest,
    ) -> Result<AboutEdges, QueryError> {
        let nodes = self.nodes_in_order(view, scope, keys).await?;
        let mut edges = Vec::new();
        let mut num_edges = 0;
        let of_node =
            |about: usize| request.relation.edges().iter().map(move |(direction, kinds)| (about, *direction, *kinds));
        let lists: Vec<_> = (0..nodes.len()).flat_map(of_node).collect();
        let read = |index: usize| {
            let (about, direction, kinds) = lists[index];
            self.graph.neighbours(view, scope, nodes[about].key, direction, kinds, request.limit)
        };
        let mut read = stream::iter(0..lists.len()).map(read).buffered(READS_AT_ONCE);
        for (about, direction, _) in &lists {
            let Some((near, total)) = read.try_next().await? else { break };
            num_edges += total;
            let about = (*about, &nodes[*about]);
            let near = near.into_iter().take(request.limit.saturating_sub(edges.len()));
            edges.extend(near.map(|near| shown(selected, about, &near.edge, near.node, *direction)));
        }
        drop(read);
        Ok(AboutEdges { nodes, edges, num_edges, is_exact: true })
    }

    /// The edges of the files of a directory or module, with the files that have these edges. If the files
    /// have no edges, the first files are returned.
    async fn edges_of_files(
        &self,
        (view, scope, selected): Places<'_>,
        keys: &[NodeKey],
        request: &GraphRequest,
    ) -> Result<AboutEdges, QueryError> {
        let GroupEdges { mut edges, is_exact } = self.edges_of_group(view, scope, keys, request.relation).await?;
        let num_edges = edges.len() as u64;
        edges.truncate(request.limit);
        let mut files: Vec<NodeKey> = edges.iter().map(|edge| edge.file).collect();
        files.dedup();
        if files.is_empty() {
            files = keys.iter().copied().take(MAX_FILES).collect();
        }
        let nodes = self.nodes_in_order(view, scope, &files).await?;
        let edge = |edge: GroupEdge| {
            let about = nodes.iter().position(|node| node.key == edge.file)?;
            Some(shown(selected, (about, &nodes[about]), &edge.edge, edge.other, edge.direction))
        };
        let edges = edges.into_iter().filter_map(edge).collect();
        Ok(AboutEdges { edges, nodes, num_edges, is_exact })
    }

    async fn nodes_in_order(
        &self,
        view: &View,
        scope: &Scope,
        keys: &[NodeKey],
    ) -> Result<Vec<NodeRecord>, QueryError> {
        let mut nodes = self.graph.nodes(view, scope, keys).await?;
        nodes.sort_by_key(|node| keys.iter().position(|key| *key == node.key));
        Ok(nodes)
    }

    /// Returns a random sample of edges. The sample depends only on the parameters and on the contents of the
    /// index.
    pub async fn sample_edges(
        &self,
        repositories: &RepositorySelection,
        draw: &EdgeDraw,
    ) -> Result<Vec<SampledEdge>, QueryError> {
        let EdgeDraw { resolution, ref kinds, seed, count } = *draw;
        let view = self.catalogue.view().await?;
        let selected = self.select(&view, repositories).await?;
        let scope = self.scope_of(&selected);
        // Each edge gets a hash of the seed and its key, and the sample consists of the edges with the
        // smallest hashes. Therefore the sample is uniform and does not depend on the order in which the
        // store returns edges.
        let mut drawn: std::collections::BTreeMap<cairn_domain::Key128, EdgeRecord> = std::collections::BTreeMap::new();
        for known in &selected {
            let mut from = Some(0);
            while let Some(at) = from {
                let page = self.graph.scroll_edges(&view, &scope, known.record.id, Some(resolution), at).await?;
                let is_requested =
                    |edge: &EdgeRecord| edge.line > 0 && (kinds.is_empty() || kinds.contains(&edge.kind));
                for edge in page.items.into_iter().filter(is_requested) {
                    let draw = cairn_domain::Digester::new("sample").number(seed).key_of(edge.key.0).key();
                    drawn.insert(draw, edge);
                    if drawn.len() > count {
                        drawn.pop_last();
                    }
                }
                from = page.next;
            }
        }
        let mut sampled = Vec::with_capacity(drawn.len());
        for edge in drawn.into_values() {
            let ends = self.graph.nodes(&view, &scope, &[edge.source, edge.target]).await?;
            if let [source, target] = ends.as_slice() {
                sampled.push(SampledEdge { source: source.clone(), target: target.clone(), edge });
            }
        }
        Ok(sampled)
    }
}

fn shown(
    selected: &[KnownRepository],
    (number, about): (usize, &NodeRecord),
    edge: &EdgeRecord,
    other: NodeRecord,
    direction: Direction,
) -> GraphEdge {
    // The reference is in the file of the source node of the edge.
    let source = if direction == Direction::Out { about } else { &other };
    let path = match source.kind {
        NodeKind::File | NodeKind::Symbol | NodeKind::Section => source.path.as_ref().map(ToString::to_string),
        NodeKind::Repository | NodeKind::Module | NodeKind::Package | NodeKind::Pattern => None,
    };
    GraphEdge {
        about: number,
        kind: edge.kind,
        outgoing: direction == Direction::Out,
        site: path.filter(|_| edge.line > 0).map(|path| (path, edge.line)),
        other_repository: name_of(selected, other.repository),
        resolution: edge.resolution,
        confidence_percent: edge.confidence_percent,
        other,
    }
}
