//! Answers questions about the graph: callers, callees, dependencies and inheritance.

use cairn_domain::{EdgeKind, EdgeRecord, NodeKey, NodeKind, NodeRecord, RepositoryId, Resolution, Scope, View};
use cairn_ports::{Direction, FileMatch};
use cairn_question::is_written_like_a_file;
use futures::{StreamExt, TryStreamExt, stream};

use crate::bounds;
use crate::changed::{Definitions, has_other_name};
use crate::file_names::{FileRequest, NamedFile};
use crate::repositories::{KnownRepository, name_of};
use crate::resolve::{NameMatching, NameRequest};
use crate::{NextCall, QueryError, QueryErrorCode, RepositorySelection, Searcher, Stamp, Substitution};

/// A relation between a name and other nodes that a caller can request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    Callers,
    Callees,
    /// All code that the file or symbol imports, refers to or depends on.
    Dependencies,
    /// All code that imports the file or symbol, refers to it or depends on it.
    Dependents,
    /// Bases and derived classes, interfaces and implementations.
    Inheritance,
}

impl Relation {
    pub const ALL: [Relation; 5] =
        [Relation::Callers, Relation::Callees, Relation::Dependencies, Relation::Dependents, Relation::Inheritance];

    pub fn as_str(self) -> &'static str {
        match self {
            Relation::Callers => "callers",
            Relation::Callees => "callees",
            Relation::Dependencies => "dependencies",
            Relation::Dependents => "dependents",
            Relation::Inheritance => "inheritance",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|relation| relation.as_str() == word)
    }

    /// The kinds and directions of the edges that belong to the relation.
    fn edges(self) -> &'static [(Direction, &'static [EdgeKind])] {
        use EdgeKind::{Calls, DependsOn, Extends, Implements, Imports, References};
        match self {
            Relation::Callers => &[(Direction::In, &[Calls])],
            Relation::Callees => &[(Direction::Out, &[Calls])],
            Relation::Dependencies => {
                &[(Direction::Out, &[Imports, DependsOn, References, Extends, Implements, Calls])]
            }
            Relation::Dependents => &[(Direction::In, &[Imports, DependsOn, References, Extends, Implements, Calls])],
            Relation::Inheritance => {
                &[(Direction::Out, &[Extends, Implements]), (Direction::In, &[Extends, Implements])]
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphRequest {
    /// A symbol (`name`, `Class.method`, `path#name` or a phrase) or the path of a file.
    pub name: String,
    /// A file near the wanted definition, if several definitions have the name.
    pub context_path: Option<String>,
    pub relation: Relation,
    pub repositories: RepositorySelection,
    pub limit: usize,
}

/// An edge in the form that answers show, with the place of the reference.
#[derive(Clone, PartialEq, Debug)]
pub struct GraphEdge {
    /// The position of the requested node in the list of these nodes.
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
    /// Number of all edges, including the edges beyond the limit.
    pub num_edges: u64,
    pub stamps: Vec<Stamp>,
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

/// Number of lists of edges that are read at the same time, because each read waits for the graph store.
const READS_AT_ONCE: usize = 4;
/// The maximum number of definitions of a name that are considered.
const MAX_DEFINITIONS: usize = 20;
/// The maximum number of files of a directory that are counted.
const MAX_FILES_OF_DIRECTORY: usize = 10_000;

impl Searcher {
    pub async fn relationship(&self, request: &GraphRequest) -> Result<GraphAnswer, QueryError> {
        if request.limit == 0 {
            return Err(QueryError::new(QueryErrorCode::ValidationError, "`limit` must be at least 1"));
        }
        bounds::word("name", &request.name)?;
        bounds::word("context_path", request.context_path.as_deref().unwrap_or_default())?;
        let view = self.catalogue.view().await?;
        let selected = self.select(&view, &request.repositories).await?;
        let scope = self.scope_of(&selected);
        let (keys, substitution) = match self.resolve(&view, &scope, &selected, request).await {
            Err(error) => return Err(self.explain_absent_name(error, &request.name, &view, &selected).await?),
            Ok(resolved) => resolved,
        };
        let mut nodes = self.graph.nodes(&view, &scope, &keys).await?;
        nodes.sort_by_key(|node| keys.iter().position(|key| *key == node.key));
        let mut edges = Vec::new();
        let mut num_edges = 0;
        let of_node =
            |about: usize| request.relation.edges().iter().map(move |(direction, kinds)| (about, *direction, *kinds));
        let lists: Vec<_> = (0..nodes.len()).flat_map(of_node).collect();
        let read = |index: usize| {
            let (about, direction, kinds) = lists[index];
            self.graph.neighbours(&view, &scope, nodes[about].key, direction, kinds, request.limit)
        };
        let mut read = stream::iter(0..lists.len()).map(read).buffered(READS_AT_ONCE);
        for (about, direction, _) in &lists {
            let Some((near, total)) = read.try_next().await? else { break };
            num_edges += total;
            let about = (*about, &nodes[*about]);
            let near = near.into_iter().take(request.limit.saturating_sub(edges.len()));
            edges.extend(near.map(|near| shown(&selected, about, &near.edge, near.node, *direction)));
        }
        drop(read);
        let mut used: Vec<RepositoryId> = nodes.iter().map(|node| node.repository).collect();
        used.extend(edges.iter().map(|edge| edge.other.repository));
        Ok(GraphAnswer {
            stamps: self.stamps(&selected, &used).await?,
            about: nodes.into_iter().map(|node| (name_of(&selected, node.repository), node)).collect(),
            substitution,
            edges,
            num_edges,
        })
    }

    /// The nodes that a name refers to: files with this path, otherwise files with this name or the
    /// definitions of the name, best first.
    async fn resolve(
        &self,
        view: &View,
        scope: &Scope,
        selected: &[KnownRepository],
        request: &GraphRequest,
    ) -> Result<(Vec<NodeKey>, Option<Substitution>), QueryError> {
        let files = self.file_nodes(view, scope, selected, &request.name).await?;
        if !files.is_empty() {
            return Ok((files, None));
        }
        let near_path = request.context_path.as_deref();
        let name = NameRequest { near_path, ..NameRequest::new(&request.name) };
        let retry = |path: &str| NextCall {
            tool: "analyze_relationship",
            reason: "analyzes the most similar path".to_owned(),
            arguments: vec![("target", path.to_owned()), ("mode", request.relation.as_str().to_owned())],
        };
        if let Some(file) = self.file_before_symbols(view, (scope, selected), name, retry).await? {
            return self.nodes_of_files(view, scope, file, &request.name).await;
        }
        let resolved = self.definitions(view, scope, selected, name).await;
        if has_other_name(&resolved) && !is_written_like_a_file(&request.name) {
            let asked = FileRequest::of_any_name(&request.name, near_path);
            if let Some(file) = self.resolve_file(view, scope, asked).await? {
                return self.nodes_of_files(view, scope, file, &request.name).await;
            }
        }
        let mut resolved = match resolved? {
            Definitions::Indexed(resolved) => resolved,
            Definitions::Changed(found) => return Err(found.not_indexed()),
            Definitions::Heuristic(found) => return Err(found.not_in_graph(selected)),
        };
        resolved.definitions.truncate(MAX_DEFINITIONS);
        Ok((resolved.definitions.iter().map(|hit| hit.symbol.node).collect(), resolved.substitution))
    }

    /// The nodes of a file and of its namesakes, or of the files of a directory, with their label.
    async fn nodes_of_files(
        &self,
        view: &View,
        scope: &Scope,
        file: NamedFile,
        requested: &str,
    ) -> Result<(Vec<NodeKey>, Option<Substitution>), QueryError> {
        let NamedFile { repository, path, is_directory, namesakes, substitution, .. } = file;
        if !is_directory {
            let namesakes = namesakes.iter().map(|hit| NodeKey::file(hit.repository, &hit.path));
            let nodes = [NodeKey::file(repository, &path)].into_iter().chain(namesakes);
            return Ok((nodes.take(MAX_DEFINITIONS).collect(), substitution));
        }
        let below = format!("{}/**", globset::escape(path.as_str()));
        let only = Scope::only(scope.tenant.clone(), [repository]);
        let files = self.names.files(view, &only, &below, FileMatch::Glob, MAX_FILES_OF_DIRECTORY).await?;
        let nodes = files.iter().take(MAX_DEFINITIONS).map(|hit| NodeKey::file(repository, &hit.path)).collect();
        let label = Substitution {
            requested: requested.to_owned(),
            used: format!("{path}/"),
            matching: NameMatching::Directory,
            score: substitution.map_or(1_000, |substitution| substitution.score),
            reason: files_used(files.len()),
            similar: Vec::new(),
        };
        Ok((nodes, Some(label)))
    }

    async fn file_nodes(
        &self,
        view: &View,
        scope: &Scope,
        selected: &[KnownRepository],
        name: &str,
    ) -> Result<Vec<NodeKey>, QueryError> {
        let Ok(path) = cairn_domain::RepoPath::parse(name) else { return Ok(Vec::new()) };
        let keys: Vec<NodeKey> = selected.iter().map(|known| NodeKey::file(known.record.id, &path)).collect();
        let nodes = self.graph.nodes(view, scope, &keys).await?;
        Ok(nodes.into_iter().map(|node| node.key).collect())
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
        // The sample consists of the edges with the smallest hashes of seed and key. So the sample is uniform
        // and does not depend on the order of the store.
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

/// The number of the files of a directory whose edges are shown.
fn files_used(num_files: usize) -> String {
    match num_files {
        _ if num_files <= MAX_DEFINITIONS => format!("all {num_files} files in it"),
        MAX_FILES_OF_DIRECTORY => format!("the first {MAX_DEFINITIONS} of at least {num_files} files in it"),
        _ => format!("the first {MAX_DEFINITIONS} of {num_files} files in it"),
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
