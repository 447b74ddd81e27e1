//! The chunks that answer a question about a relationship: the code at the other end of the edges of a name.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{EdgeKind, NodeKey, NodeKind, RepoPath, Scope, View};
use cairn_ports::{FileMatch, Follow, NameTier, Reached, TraversalRequest};
use cairn_question::Relation;
use cairn_ranking::Via;

use crate::chunk_id::ChunkId;
use crate::neighbours::via;
use crate::prepared_query::PreparedQuery;
use crate::resolve::NameRequest;
use crate::sites::Site;
use crate::{QueryError, QueryErrorCode, Searcher};

/// Maximum number of definitions and files that have a name.
const MAX_NAMED: usize = 8;
/// Maximum number of edges of one definition.
const MAX_EDGES: usize = 100;
/// Maximum number of nodes whose chunks are looked up.
const MAX_SITES: usize = 200;
/// Maximum number of chunks that are returned.
const MAX_RELATED: usize = 60;

/// The edges that answer a relation.
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

/// A node with a requested name.
pub(crate) struct NamedNode {
    node: NodeKey,
    name: String,
    path: RepoPath,
}

impl Searcher {
    /// The chunks at the other ends of the edges that the question asks for, best first, each with its edge.
    /// Empty if no definition has the name.
    pub(crate) async fn related(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
    ) -> Result<Vec<(ChunkId, Via)>, QueryError> {
        let Some(asked) = &query.parsed.relationship else { return Ok(Vec::new()) };
        let view = &query.view;
        let named = self.named_nodes(view, scope, &asked.name).await?;
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let (follow, kinds) = edges_of(asked.relation);
        let request = TraversalRequest {
            starts: named.iter().map(|named| named.node).collect(),
            follow,
            returns_starts: true,
            kinds: kinds.to_vec(),
            min_confidence_percent: 1,
            max_depth: 1,
            max_edges_per_node: MAX_EDGES,
            max_nodes: MAX_SITES,
        };
        let mut reached = self.graph.traverse(view, scope, &request).await?.reached;
        // The edges with the highest confidence come first. Files come after definitions, because an edge of
        // a file has no owner.
        reached.sort_by_key(|reached| {
            let Reached { node, edge, .. } = reached;
            let rank = (Reverse(edge.confidence_percent), node.kind != NodeKind::Symbol);
            (rank, node.repository, node.path.clone(), edge.line, node.key)
        });
        let sites: Vec<Site> = reached.iter().map(site).collect();
        let chunks = self.chunks_of_sites(query, scope, &sites).await?;
        let named: BTreeMap<NodeKey, NamedNode> = named.into_iter().map(|named| (named.node, named)).collect();
        let mut seen = BTreeSet::new();
        let found = chunks.into_iter().zip(&reached).filter_map(|(chunk, reached)| {
            let chunk = chunk.filter(|chunk| seen.insert(*chunk))?;
            let NamedNode { name, path, .. } = named.get(&reached.previous)?;
            Some((chunk, via(reached, name, path)))
        });
        Ok(found.take(MAX_RELATED).collect())
    }

    /// The definitions and files that have a name. Exact names are preferred.
    async fn named_nodes(&self, view: &View, scope: &Scope, name: &str) -> Result<Vec<NamedNode>, QueryError> {
        let name = name.trim_end_matches("()");
        let resolved = match self.resolve_name(view, scope, NameRequest::uncounted(name)).await {
            Ok(resolved) => resolved.definitions,
            Err(error) if error.code == QueryErrorCode::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let is_near = resolved.first().is_some_and(|hit| hit.tier == NameTier::Near);
        let symbols = resolved.into_iter().take(MAX_NAMED).map(|hit| hit.symbol);
        let nodes: Vec<NamedNode> = symbols
            .map(|symbol| NamedNode { node: symbol.node, name: symbol.qualified_name, path: symbol.path })
            .collect();
        if !nodes.is_empty() && !is_near {
            return Ok(nodes);
        }
        let files = self.names.files(view, scope, name, FileMatch::Name, MAX_NAMED).await?;
        let is_named = |path: &RepoPath| path.stem() == name || path.file_name() == name || path.as_str() == name;
        let named = files.into_iter().filter(|file| is_named(&file.path)).map(|file| NamedNode {
            node: NodeKey::file(file.repository, &file.path),
            name: file.path.file_name().to_owned(),
            path: file.path,
        });
        let files: Vec<NamedNode> = named.collect();
        // A near name is used only if no file has the name.
        Ok(if files.is_empty() { nodes } else { files })
    }
}

fn site(reached: &Reached) -> Site {
    // The reference is in the file of the edge's source.
    let has_line = reached.edge.source == reached.node.key && reached.edge.line > 0;
    Site { node: reached.node.clone(), line: has_line.then_some(reached.edge.line) }
}
