//! The chunks that answer a question about a relationship: the code at the other end of the edges of a name.

use std::collections::BTreeSet;

use cairn_domain::{EdgeKind, NodeKey, NodeKind, NodeRecord, RepoPath, RepositoryId, Scope, View};
use cairn_ports::{ChunkFilter, Direction, FileMatch, NameMatch, Neighbour};
use cairn_question::Relation;

use crate::prepared_query::PreparedQuery;
use crate::retrieve::{ChunkId, id_of};
use crate::{QueryError, Searcher};

/// Maximum number of definitions and files that have a name.
const MAX_NAMED: usize = 8;
/// Maximum number of edges of one definition in one direction.
const MAX_EDGES: usize = 50;
/// Maximum number of chunks that are returned.
const MAX_RELATED: usize = 60;
/// The symbols of one name among which the symbol of a node is searched.
const SYMBOLS_OF_A_NAME: usize = 200;
/// The chunks of a file among which the chunk of a line is searched.
const CHUNKS_OF_A_FILE: usize = 500;

/// Edges in one direction, of the given kinds.
type Edges = (Direction, &'static [EdgeKind]);

/// The edges that answer a relation.
fn edges_of(relation: Relation) -> &'static [Edges] {
    use Direction::{In, Out};
    use EdgeKind::{Calls, DependsOn, Extends, Implements, Imports, References};
    const USES: &[EdgeKind] = &[Calls, References, Imports, Extends, Implements, DependsOn];
    match relation {
        Relation::Callers => &[(In, &[Calls])],
        Relation::Callees => &[(Out, &[Calls])],
        Relation::CallHierarchy => &[(In, &[Calls]), (Out, &[Calls])],
        Relation::Users | Relation::Dependents => &[(In, USES)],
        Relation::Uses | Relation::Dependencies => &[(Out, USES)],
        Relation::Importers => &[(In, &[Imports, DependsOn])],
        Relation::Imports => &[(Out, &[Imports, DependsOn])],
        Relation::Subtypes => &[(In, &[Extends, Implements])],
        Relation::Supertypes => &[(Out, &[Extends, Implements])],
        Relation::Hierarchy => &[(In, &[Extends, Implements]), (Out, &[Extends, Implements])],
        Relation::Overrides => &[(In, &[Extends, Implements])],
        Relation::Overridden => &[(Out, &[Extends, Implements])],
        Relation::Creators => &[(In, &[Calls, References])],
        Relation::Related => &[(In, USES), (Out, USES)],
    }
}

/// A node that a question requests: the other end of an edge of the named definition or file.
struct Site {
    node: NodeRecord,
    /// The line of the reference, if it is in the file of the node.
    line: Option<u32>,
    rank: (u8, bool),
}

impl Searcher {
    /// The chunks at the other ends of the requested edges, best first. Empty if no definition has the name.
    pub(crate) async fn related(&self, query: &PreparedQuery, scope: &Scope) -> Result<Vec<ChunkId>, QueryError> {
        let Some(asked) = &query.parsed.relationship else { return Ok(Vec::new()) };
        let view = &query.view;
        let mut sites = Vec::new();
        for key in self.named_nodes(view, scope, &asked.name).await? {
            for (direction, kinds) in edges_of(asked.relation) {
                let (near, _) = self.graph.neighbours(view, scope, key, *direction, kinds, MAX_EDGES).await?;
                sites.extend(near.into_iter().map(|near| site(near, *direction)));
            }
        }
        // The edges with the highest confidence come first. Files come after definitions, because an edge of
        // a file has no owner.
        sites.sort_by(|left, right| {
            let place = |site: &Site| (site.node.repository, site.node.path.clone(), site.line);
            left.rank.cmp(&right.rank).then_with(|| place(left).cmp(&place(right)))
        });
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for site in sites {
            if found.len() == MAX_RELATED {
                break;
            }
            if let Some(id) = self.chunk_of_site(query, &site).await?
                && seen.insert(id)
            {
                found.push(id);
            }
        }
        Ok(found)
    }

    /// The definitions and files that have a name. Exact names are preferred.
    async fn named_nodes(&self, view: &View, scope: &Scope, name: &str) -> Result<Vec<NodeKey>, QueryError> {
        let name = name.trim_end_matches("()");
        let dotted = name.replace("::", ".").replace("->", ".").replace('#', ".");
        for way in [NameMatch::Exact, NameMatch::CaseInsensitive, NameMatch::StyleInsensitive] {
            let hits = self.names.symbols(view, scope, &dotted, &[way], MAX_NAMED).await?;
            if !hits.is_empty() {
                return Ok(hits.iter().map(|hit| hit.symbol.node).collect());
            }
        }
        let files = self.names.files(view, scope, name, FileMatch::Name, MAX_NAMED).await?;
        let is_named = |path: &RepoPath| path.stem() == name || path.file_name() == name || path.as_str() == name;
        let named = files.into_iter().filter(|file| is_named(&file.path));
        Ok(named.map(|file| NodeKey::file(file.repository, &file.path)).collect())
    }

    /// The chunk with the line of a site, or the chunk of its definition.
    async fn chunk_of_site(&self, query: &PreparedQuery, site: &Site) -> Result<Option<ChunkId>, QueryError> {
        let (node, view) = (&site.node, &query.view);
        let only = Scope::only(self.caller.tenant.clone(), [node.repository]);
        match (node.kind, &node.path, site.line) {
            (NodeKind::Symbol, _, _) => {
                let ways = [NameMatch::Exact];
                let hits = self.names.symbols(view, &only, &node.name, &ways, SYMBOLS_OF_A_NAME).await?;
                let own = hits.into_iter().find(|hit| hit.symbol.node == node.key);
                Ok(own.and_then(|hit| Some((node.repository, hit.symbol.chunk?))))
            }
            (NodeKind::File | NodeKind::Section, Some(path), line) => {
                self.chunk_of_line(query, node.repository, path, line.unwrap_or(1)).await
            }
            _ => Ok(None),
        }
    }

    async fn chunk_of_line(
        &self,
        query: &PreparedQuery,
        repository: RepositoryId,
        path: &RepoPath,
        line: u32,
    ) -> Result<Option<ChunkId>, QueryError> {
        let of_file = ChunkFilter { paths: vec![globset::escape(path.as_str())], ..ChunkFilter::default() };
        let only = Scope::only(self.caller.tenant.clone(), [repository]);
        let hits = self.vectors.search_dense(&query.view, &only, &of_file, &query.vector, CHUNKS_OF_A_FILE).await?;
        let chunks = self.fetch(&query.view, &only, hits.iter().map(id_of).collect()).await?;
        let has_line = |span: cairn_domain::LineSpan| span.start <= line && line <= span.end;
        let found = chunks.iter().filter(|(_, chunk)| chunk.path == *path && has_line(chunk.span));
        Ok(found.min_by_key(|(_, chunk)| chunk.span.end - chunk.span.start).map(|(id, _)| *id))
    }
}

fn site(near: Neighbour, direction: Direction) -> Site {
    let Neighbour { edge, node } = near;
    // The reference is in the file of the edge's source.
    let line = (direction == Direction::In && edge.line > 0).then_some(edge.line);
    Site { rank: (100 - edge.confidence_percent.min(100), node.kind != NodeKind::Symbol), node, line }
}
