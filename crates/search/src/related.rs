//! Finds the chunks that answer a relationship question: the code that edges of the graph connect with the
//! named code.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{EdgeKind, EdgeRecord, NodeKey, NodeKind, NodeRecord, Scope};
use cairn_ports::{ChunkFilter, ChunkPlace, Follow, Reached, Traversal, TraversalRequest};
use cairn_question::{Direction, Relation, RelationshipAsked};
use cairn_ranking::{Via, query_terms};
use cairn_redaction::Message;

use crate::chunk_id::ChunkId;
use crate::go_implementers::{Implementer, Implementers};
use crate::group_edges::is_in_files;
use crate::named_code::{NamedCode, NamedNode};
use crate::neighbours::{edges_to, has_full_node, via, via_edge};
use crate::prepared_query::PreparedQuery;
use crate::related_notes::{Counted, MAX_RELATED, implemented_by_names, implements_by_names, no_edge_to, no_edges};
use crate::sites::{RepositoryFile, Site};
use crate::{QueryError, Searcher};

/// Maximum number of edges that are followed from one node, and maximum number of nodes that are reached.
/// Further edges and nodes are not counted.
const MAX_EDGES: usize = 500;
/// Maximum number of nodes whose chunks are looked up.
const MAX_SITES: usize = 200;

/// The direction and the kinds of the edges that belong to a relation.
fn edges_of(relation: Relation) -> (Follow, &'static [EdgeKind]) {
    use EdgeKind::{Calls, DependsOn, Extends, Implements, Imports, References};
    use Follow::{Both, In, Out};
    const USES: &[EdgeKind] = &[Calls, References, Imports, Extends, Implements, DependsOn];
    match relation {
        Relation::Callers => (In, &[Calls]),
        Relation::Callees => (Out, &[Calls]),
        Relation::CallHierarchy => (Both, &[Calls]),
        Relation::Users | Relation::Dependents => (In, USES),
        Relation::Uses | Relation::Dependencies => (Out, USES),
        Relation::Importers => (In, &[Imports, DependsOn]),
        Relation::Imports => (Out, &[Imports, DependsOn]),
        Relation::Subtypes => (In, &[Extends, Implements]),
        Relation::Supertypes => (Out, &[Extends, Implements]),
        Relation::Hierarchy => (Both, &[Extends, Implements]),
        Relation::Overrides => (In, &[Extends, Implements]),
        Relation::Overridden => (Out, &[Extends, Implements]),
        Relation::Creators => (In, &[Calls, References]),
        Relation::Related => (Both, USES),
    }
}

/// The instances of an interface or trait are its implementations, because no code creates an interface.
fn relation_to(named: &NamedCode, relation: Relation) -> Relation {
    match relation {
        Relation::Creators if named.nodes.iter().all(NamedNode::is_interface) => Relation::Subtypes,
        other => other,
    }
}

/// A chunk that has the requested relation to a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RelatedChunk {
    pub(crate) id: ChunkId,
    /// The definition that the edges connect with this chunk, as its position among the definitions with the
    /// requested name.
    pub(crate) definition: u32,
    /// The edges whose sites are in the chunk, sorted by definition, then with the best edge first.
    pub(crate) via: Vec<Via>,
}

/// The code that has the requested relation to a name.
#[derive(Default)]
pub(crate) struct Related {
    /// The chunks of the best definition come first.
    pub(crate) chunks: Vec<RelatedChunk>,
    /// Facts about the edges that the caller must know.
    pub(crate) notes: Vec<Message>,
    /// The number of edges, for a sentence that also states how many of the chunks are shown.
    pub(crate) counted: Option<Counted>,
}

impl Searcher {
    /// The chunks that the requested edges connect with the named code, best first, each with its edges. The
    /// list is empty if no definition has the name.
    pub(crate) async fn related(&self, query: &PreparedQuery, scope: &Scope) -> Result<Related, QueryError> {
        let (Some(asked), names) = (&query.parsed.relationship, &query.names) else { return Ok(Related::default()) };
        let named = &names.related;
        if named.nodes.is_empty() {
            return Ok(Related::default());
        }
        if matches!(asked.relation, Relation::Overrides | Relation::Overridden)
            && let Some(chunks) = self.overriding(query, scope, asked, named).await?
        {
            let notes = if chunks.is_empty() { vec![no_edges(asked, named)] } else { Vec::new() };
            let chunks = chunks.into_iter().map(|(id, via)| RelatedChunk { id, definition: 0, via }).collect();
            return Ok(Related { chunks, notes, counted: None });
        }
        let relation = relation_to(named, asked.relation);
        let asked = &RelationshipAsked { relation, ..asked.clone() };
        let (follow, kinds) = edges_of(relation);
        let Traversal { mut reached, is_cut } = self.edges_at(query, scope, named, (follow, kinds)).await?;
        // The source of the edge is a whole repository, so the edge has no line that could be shown.
        reached.retain(|reached| reached.node.kind != NodeKind::Repository);
        if named.group.is_some() {
            let files: BTreeSet<NodeKey> = named.nodes.iter().map(|named| named.node).collect();
            reached.retain(|reached| !is_in_files(&files, &reached.node));
        }
        let mut notes = Vec::new();
        let first = self.ends_at_other(query, scope, asked, (follow, kinds), &reached).await?;
        let implemented = self.implemented(query, scope, asked, (named, &first)).await?;
        if let (Some(other), true) = (&asked.other, first.is_empty()) {
            notes.push(match implemented.types.is_empty() {
                true => no_edge_to(asked, other),
                false => {
                    let (name, other) = (named.shown_name(&asked.name), names.other.shown_name(other));
                    implements_by_names(name, other, implemented.is_partial)
                }
            });
        }
        let positions = positions(asked, named);
        sort(&mut reached, &positions, &first);
        let num_edges = reached.iter().map(|reached| edges_to(reached).count()).sum();
        let (num, is_cut) = (reached.len(), is_cut || named.is_cut() || has_full_node(&reached, MAX_EDGES));
        let implementers = self.implementers(query, scope, (named, relation), &reached).await?;
        let mut chunks = self.package_uses(query, scope, asked, named, &reached).await?;
        let mut connections = self.connections(query, scope, (named, &positions), reached).await?;
        add(&mut connections, &implementers, &positions);
        let has_others = !implementers.types.is_empty() || !implemented.types.is_empty();
        connections.splice(0..0, implemented.types.into_iter().map(Connection::of_type));
        chunks.extend(related_chunks(connections));
        let mut seen = BTreeSet::new();
        chunks.retain(|chunk| seen.insert(chunk.id));
        let is_all_shown = chunks.len() <= MAX_RELATED && num <= MAX_SITES;
        let counted = Counted { relation, num, num_edges, is_cut, is_all_shown, has_others };
        chunks.truncate(MAX_RELATED);
        notes.extend(implemented_by_names(named.shown_name(&asked.name), &implementers));
        if num == 0 && implementers.types.is_empty() && asked.other.is_none() {
            notes.push(no_edges(asked, named));
        }
        Ok(Related { chunks, notes, counted: Some(counted) })
    }

    async fn edges_at(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        named: &NamedCode,
        (follow, kinds): (Follow, &[EdgeKind]),
    ) -> Result<Traversal, QueryError> {
        let request = TraversalRequest {
            starts: named.nodes.iter().map(|named| named.node).collect(),
            follow,
            returns_starts: named.group.is_none(),
            kinds: kinds.to_vec(),
            min_confidence_percent: 1,
            max_depth: 1,
            max_edges_per_node: MAX_EDGES,
            max_nodes: MAX_EDGES,
        };
        Ok(self.graph.traverse(&query.view, scope, &request).await?)
    }

    /// The reached nodes that also match the second name of the question. For "does A call B", these are the
    /// nodes of B. For "functions that call both A and B", these are the nodes that also call B.
    async fn ends_at_other(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        asked: &RelationshipAsked,
        edges: (Follow, &[EdgeKind]),
        reached: &[Reached],
    ) -> Result<BTreeSet<NodeKey>, QueryError> {
        let other = &query.names.other;
        if asked.other.is_none() || other.nodes.is_empty() {
            return Ok(BTreeSet::new());
        }
        let ends: BTreeSet<NodeKey> = match asked.relation.direction() {
            Direction::In => {
                let of_other = self.edges_at(query, scope, other, edges).await?.reached;
                of_other.iter().map(|reached| reached.node.key).collect()
            }
            Direction::Out | Direction::Both => other.nodes.iter().map(|named| named.node).collect(),
        };
        Ok(reached.iter().map(|reached| reached.node.key).filter(|key| ends.contains(key)).collect())
    }

    /// Returns the chunks that contain the name of a package, from the files that import the package. Import
    /// statements are omitted. The graph has no edges from definitions to packages outside the repository.
    async fn package_uses(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        asked: &RelationshipAsked,
        named: &NamedCode,
        reached: &[Reached],
    ) -> Result<Vec<RelatedChunk>, QueryError> {
        let is_package = |named: &NamedNode| named.path.is_none();
        if asked.relation != Relation::Users || !named.nodes.iter().all(is_package) {
            return Ok(Vec::new());
        }
        let imports = reached.iter().filter(|reached| reached.node.kind == NodeKind::File);
        let imports =
            imports.filter_map(|reached| Some(((reached.node.repository, reached.node.path.clone()?), reached)));
        let imports: BTreeMap<RepositoryFile, &Reached> = imports.take(MAX_RELATED).collect();
        let places = self.places(query, imports.keys(), &ChunkFilter::default()).await?;
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let place_of: BTreeMap<ChunkId, &ChunkPlace> =
            places.iter().map(|place| ((place.repository, place.key), place)).collect();
        let paths = imports.keys().map(|(_, path)| globset::escape(path.as_str())).collect();
        let in_files = ChunkFilter { paths, ..ChunkFilter::default() };
        let terms = query_terms(&asked.name, &query.frequencies);
        let hits = self.vectors.search_sparse(&query.view, scope, &in_files, &terms, MAX_SITES).await?;
        let mut found = Vec::new();
        for id in hits.iter().map(|hit| (hit.repository, hit.key)) {
            let Some(place) = place_of.get(&id) else { continue };
            let Some(import) = imports.get(&(place.repository, place.path.clone())) else { continue };
            let package = named.nodes.iter().find(|named| named.node == import.previous);
            if let Some(package) = package.filter(|_| !place.span.contains(import.edge.line)) {
                found.push(RelatedChunk { id, definition: 0, via: vec![via(import, &package.name, None)] });
            }
        }
        Ok(found)
    }

    /// The chunks with the sites of the edges, each with its edge, in the order of the edges.
    async fn connections(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        (named, positions): (&NamedCode, &BTreeMap<NodeKey, u32>),
        mut reached: Vec<Reached>,
    ) -> Result<Vec<Connection>, QueryError> {
        reached.truncate(MAX_SITES);
        let named: BTreeMap<NodeKey, &NamedNode> = named.nodes.iter().map(|named| (named.node, named)).collect();
        let ends = |reached| EdgeEnds::of(reached, &named);
        let ends: Vec<EdgeEnds<'_>> = reached.iter().flat_map(ends).collect();
        let sites: Vec<Site> = ends.iter().map(EdgeEnds::site).collect();
        let chunks = self.chunks_of_sites(query, scope, &sites).await?;
        let connection = |(ends, chunk): (&EdgeEnds<'_>, Option<ChunkId>)| {
            let definition = positions.get(&ends.named.node).copied().unwrap_or_default();
            Some(Connection { chunk: chunk?, definition, via: ends.via() })
        };
        Ok(ends.iter().zip(chunks).filter_map(connection).collect())
    }

    /// The named Go types that implement the interfaces with the second name of the question, for example in
    /// "does A implement B". Empty if the graph already contains such edges, which are in `first`.
    async fn implemented(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        asked: &RelationshipAsked,
        (named, first): (&NamedCode, &BTreeSet<NodeKey>),
    ) -> Result<Implementers, QueryError> {
        if asked.relation != Relation::Supertypes || !first.is_empty() {
            return Ok(Implementers::default());
        }
        let mut implementers = self.go_implementers(query, scope, &query.names.other).await?;
        implementers.types.retain(|found| named.nodes.iter().any(|named| named.node == found.node));
        Ok(implementers)
    }

    /// The Go types that implement the named interfaces, except the types that edges of the graph reach.
    async fn implementers(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        (named, relation): (&NamedCode, Relation),
        reached: &[Reached],
    ) -> Result<Implementers, QueryError> {
        if relation != Relation::Subtypes {
            return Ok(Implementers::default());
        }
        let mut implementers = self.go_implementers(query, scope, named).await?;
        let connected: BTreeSet<NodeKey> = reached.iter().map(|reached| reached.node.key).collect();
        implementers.types.retain(|found| !connected.contains(&found.node));
        let max_types = MAX_RELATED.saturating_sub(reached.len());
        implementers.is_cut |= implementers.types.len() > max_types;
        implementers.types.truncate(max_types);
        Ok(implementers)
    }
}

impl Connection {
    fn of_type(found: Implementer) -> Self {
        Self { chunk: found.chunk, definition: 0, via: found.via }
    }
}

/// A chunk, and an edge whose site is in the chunk.
struct Connection {
    chunk: ChunkId,
    /// The position of the definition at the other end of the edge.
    definition: u32,
    via: Via,
}

/// Adds the implementers to the connections of the same definition.
fn add(connections: &mut Vec<Connection>, implementers: &Implementers, positions: &BTreeMap<NodeKey, u32>) {
    for found in &implementers.types {
        let definition = positions.get(&found.interface).copied().unwrap_or_default();
        connections.push(Connection { chunk: found.chunk, definition, via: found.via.clone() });
    }
    if !implementers.types.is_empty() {
        connections.sort_by_key(|connection| connection.definition);
    }
}

/// The chunks of the connections, without duplicates, each with all its edges.
fn related_chunks(connections: Vec<Connection>) -> Vec<RelatedChunk> {
    let mut found: Vec<(ChunkId, Vec<(u32, Via)>)> = Vec::new();
    let mut index_of: BTreeMap<ChunkId, usize> = BTreeMap::new();
    for Connection { chunk, definition, via } in connections {
        let index = *index_of.entry(chunk).or_insert(found.len());
        if index == found.len() {
            found.push((chunk, Vec::new()));
        }
        found[index].1.push((definition, via));
    }
    // A chunk with edges to several definitions belongs to the first of these definitions.
    let related = |(id, mut via): (ChunkId, Vec<(u32, Via)>)| {
        via.sort_by_key(|(definition, _)| *definition);
        let definition = via.first().map_or(0, |(definition, _)| *definition);
        RelatedChunk { id, definition, via: via.into_iter().map(|(_, via)| via).collect() }
    };
    found.into_iter().map(related).collect()
}

/// An edge with the two nodes at its ends: a named node and a reached node.
struct EdgeEnds<'a> {
    edge: &'a EdgeRecord,
    named: &'a NamedNode,
    reached: &'a NodeRecord,
}

impl<'a> EdgeEnds<'a> {
    /// All edges that lead to a reached node, the best first.
    fn of(reached: &'a Reached, named: &BTreeMap<NodeKey, &'a NamedNode>) -> Vec<Self> {
        let ends = |(edge, previous)| Some(Self { edge, named: named.get(&previous)?, reached: &reached.node });
        edges_to(reached).filter_map(ends).collect()
    }

    fn is_outgoing(&self) -> bool {
        self.edge.source == self.named.node
    }

    fn via(&self) -> Via {
        via_edge(self.edge, self.is_outgoing(), (&self.named.name, self.named.path.as_ref()))
    }

    /// The place in the code that shows the edge. The line of the edge is a line in the file of its source
    /// node. A package has no text, so the line that refers to the package is shown.
    fn site(&self) -> Site {
        let line = (self.edge.line > 0).then_some(self.edge.line);
        match &self.named.path {
            Some(path) if self.is_outgoing() && self.reached.path.is_none() => {
                let (key, repository) = (NodeKey::file(self.edge.owner, path), self.edge.owner);
                let (kind, path) = (NodeKind::File, Some(path.clone()));
                Site { node: NodeRecord { key, repository, kind, path, ..self.reached.clone() }, line }
            }
            _ => Site { node: self.reached.clone(), line: line.filter(|_| !self.is_outgoing()) },
        }
    }
}

/// The position of each definition of the name. The result is empty if some nodes are not definitions. The
/// result is also empty if the question has a second name, because then the second name determines the order.
fn positions(asked: &RelationshipAsked, named: &NamedCode) -> BTreeMap<NodeKey, u32> {
    let are_definitions = named.nodes.iter().all(|named| named.definition.is_some());
    let nodes = named.nodes.iter().filter(|_| are_definitions && asked.other.is_none());
    (0..).zip(nodes).map(|(position, named)| (named.node, position)).collect()
}

/// The edges of the best definition come first. Among the edges of a definition, the edges to nodes in
/// `first` come first. Then come the edges of code that runs or extends the definition, then other
/// references, and then imports. The edges of one kind are sorted by confidence, highest first. Among edges
/// with equal confidence, edges that reach a symbol come before edges that reach a file, because a symbol is
/// a more exact answer than a file.
fn sort(reached: &mut [Reached], positions: &BTreeMap<NodeKey, u32>, first: &BTreeSet<NodeKey>) {
    reached.sort_by_key(|reached| {
        let node = &reached.node;
        // A node may have edges to several definitions. Then the node belongs to the first of these
        // definitions.
        let edges = edges_to(reached).map(|(edge, previous)| (positions.get(&previous).copied(), edge));
        let (position, edge) = edges.min_by_key(|(position, _)| *position).unwrap_or((None, &reached.edge));
        let confidence = Reverse(edge.confidence_percent);
        let rank = (!first.contains(&node.key), distance(edge.kind), confidence, node.kind != NodeKind::Symbol);
        (position, rank, node.repository, node.path.clone(), edge.line, node.key)
    });
}

/// How far an edge of this kind is from an answer to a question about any use: 0 for the nearest kinds.
fn distance(kind: EdgeKind) -> u8 {
    match kind {
        EdgeKind::References => 1,
        EdgeKind::Imports => 2,
        _ => 0,
    }
}
