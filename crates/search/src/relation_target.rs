//! Resolves the target of `analyze_relationship` to nodes of the graph. Relationship questions in a search
//! use the same resolution (`named_code.rs`).

use cairn_domain::{NodeKey, RepoPath, Scope, View};
use cairn_question::{NamedKind, Relation, RelationshipAsked};
use cairn_redaction::{Message, Phrase};

use crate::file_names::{FileRequest, MAX_FOUND, NamedFile, SAME_NAME, SAME_PATH};
use crate::graph_request::GraphRequest;
use crate::named_code::{NamedAs, NamedCode, NamedGroup, NamedNode};
use crate::repositories::KnownRepository;
use crate::resolve::{NUM_SIMILAR, NameMatching, NameRequest, Resolved, cut_note};
use crate::{NextCall, QueryError, QueryErrorCode, Searcher, Substitution};

/// The maximum number of files with one name that are considered.
pub(crate) const MAX_FILES: usize = 20;

/// The nodes to which a requested name was resolved.
pub(crate) struct RelationTarget {
    /// The nodes, best first.
    pub(crate) nodes: Vec<NodeKey>,
    /// Whether the nodes are the files of one directory or module. Edges between these files are not shown.
    pub(crate) is_group: bool,
    /// Set if the name of the nodes differs from the requested name.
    pub(crate) substitution: Option<Substitution>,
    /// Sentences that state how many nodes with the name are not considered.
    pub(crate) cut: Vec<Message>,
}

impl Searcher {
    /// The nodes that a name refers to. Files with this path are tried first, then definitions, files,
    /// directories, modules and packages with the name, and then near names.
    pub(crate) async fn relation_target(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        request: &GraphRequest,
    ) -> Result<RelationTarget, QueryError> {
        let nodes = self.file_nodes(view, scope, selected, &request.name).await?;
        if !nodes.is_empty() {
            return Ok(RelationTarget { nodes, is_group: false, substitution: None, cut: Vec::new() });
        }
        if let Some(exact) = self.path_like_a_function(view, scope, &request.name).await? {
            return self.target_of_file(view, scope, exact, &request.name).await;
        }
        let near_path = request.context_path.as_deref();
        let name = NameRequest { near_path, ..NameRequest::new(&request.name) };
        let retry = |path: &str| NextCall {
            tool: "analyze_relationship",
            reason: "analyzes the most similar path".into(),
            arguments: vec![("target", path.to_owned()), ("mode", request.relation.as_str().to_owned())],
        };
        match self.file_before_symbols(view, (scope, selected), name, retry).await {
            Ok(Some(file)) => self.target_of_file(view, scope, file, &request.name).await,
            Ok(None) => self.target_of_name(view, (scope, selected), name).await,
            // The name of a package or module may look like a file name: `@acme/ui`.
            Err(error) if error.code == QueryErrorCode::NotFound => {
                let named = self.named_code(view, (scope, selected), &asked(&request.name), name).await?;
                let NamedAs::Place(place) = named else { return Err(error) };
                Ok(target_of_place(place, &request.name))
            }
            Err(error) => Err(error),
        }
    }

    /// The nodes of the definitions, files, directories, modules or packages with the name, or with a near
    /// name.
    async fn target_of_name(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        request: NameRequest<'_>,
    ) -> Result<RelationTarget, QueryError> {
        let NameRequest { name, near_path, .. } = request;
        match self.named_code(view, (scope, selected), &asked(name), request).await? {
            NamedAs::Definitions(resolved) => Ok(target_of_definitions(resolved)),
            NamedAs::Changed(found) => Err(found.not_indexed()),
            NamedAs::Line(found) => Err(found.not_in_graph(selected)),
            NamedAs::Place(place) => {
                let file = FileRequest::of_any_name(name, near_path);
                let is_file = place.group.is_none() && place.nodes.iter().all(|node| node.path.is_some());
                let first = place.nodes.first().and_then(|node| node.path.clone());
                let is_used = |file: &NamedFile| is_file && Some(&file.path) == first.as_ref();
                match self.resolve_file(view, scope, file).await?.filter(is_used) {
                    Some(file) => self.target_of_file(view, scope, file, name).await,
                    None => Ok(target_of_place(place, name)),
                }
            }
            NamedAs::Absent(absent) => {
                let note = absent.note;
                absent.definitions.map(target_of_definitions).map_err(|error| with_note(error, note))
            }
        }
    }

    /// The nodes of a file and of other files with the same name, or the nodes of the files of a directory. A
    /// note is added if the path differs from the requested name.
    async fn target_of_file(
        &self,
        view: &View,
        scope: &Scope,
        file: NamedFile,
        requested: &str,
    ) -> Result<RelationTarget, QueryError> {
        let NamedFile { repository, path, is_directory, namesakes, substitution, .. } = file;
        if is_directory {
            let only = Scope::only(scope.tenant.clone(), [repository]);
            let place = self.files_of_directories(view, &only, &[path]).await?;
            return Ok(target_of_place(place, requested));
        }
        let namesakes = namesakes.iter().map(|hit| NodeKey::file(hit.repository, &hit.path));
        let mut nodes: Vec<NodeKey> = [NodeKey::file(repository, &path)].into_iter().chain(namesakes).collect();
        let num_all = (nodes.len(), nodes.len() >= MAX_FOUND);
        nodes.truncate(MAX_FILES);
        let cut = cut_note(nodes.len(), num_all, "files called ");
        let cut = cut.map(|note| note.and(Phrase(requested)).and(" are considered.")).into_iter().collect();
        Ok(RelationTarget { nodes, is_group: false, substitution, cut })
    }

    async fn file_nodes(
        &self,
        view: &View,
        scope: &Scope,
        selected: &[KnownRepository],
        name: &str,
    ) -> Result<Vec<NodeKey>, QueryError> {
        let Ok(path) = RepoPath::parse(name) else { return Ok(Vec::new()) };
        let keys: Vec<NodeKey> = selected.iter().map(|known| NodeKey::file(known.record.id, &path)).collect();
        let nodes = self.graph.nodes(view, scope, &keys).await?;
        Ok(nodes.into_iter().map(|node| node.key).collect())
    }
}

/// Converts the name to a question about any relation, so that definitions, files, directories, modules and
/// packages with the name are all tried.
fn asked(name: &str) -> RelationshipAsked {
    let relation = Relation::Related;
    RelationshipAsked { relation, direction: relation.direction(), name: name.to_owned(), kind: None, other: None }
}

fn target_of_definitions(resolved: Resolved) -> RelationTarget {
    let nodes = resolved.definitions.iter().map(|hit| hit.symbol.node).collect();
    let cut = resolved.cut_note().into_iter().collect();
    RelationTarget { nodes, is_group: false, substitution: resolved.substitution, cut }
}

fn target_of_place(place: NamedCode, requested: &str) -> RelationTarget {
    let label = |used: String, matching, score: u32, reason: String| Substitution {
        requested: requested.to_owned(),
        used,
        matching,
        score: 10 * score,
        reason,
        similar: Vec::new(),
    };
    let score = if place.note.is_none() { SAME_PATH } else { SAME_NAME };
    let substitution = match (&place.group, place.nodes.first()) {
        (Some(group), _) => {
            let (used, matching) = match group.kind {
                NamedKind::Module => (group.name.clone(), NameMatching::Module),
                _ => (format!("{}/", group.name), NameMatching::Directory),
            };
            let similar = group.others.iter().map(|path| format!("{path}/")).collect();
            Some(Substitution { similar, ..label(used, matching, score, files_used(group, place.nodes.len())) })
        }
        (None, Some(NamedNode { path: Some(path), .. })) => {
            let is_other = place.note.is_some() || path.as_str() != requested.trim().trim_start_matches("./");
            let others = place.nodes.iter().skip(1).filter_map(|node| node.path.as_ref());
            let similar = others.take(NUM_SIMILAR - 1).map(ToString::to_string).collect();
            let label = label(path.to_string(), NameMatching::File, SAME_NAME, "same name".to_owned());
            is_other.then_some(Substitution { similar, ..label })
        }
        (None, Some(package)) if place.note.is_some() => {
            Some(label(package.name.clone(), NameMatching::Package, score, "part of its name".to_owned()))
        }
        (None, _) => None,
    };
    let (is_group, cut) = (place.group.is_some(), place.cut_notes());
    RelationTarget { nodes: place.nodes.into_iter().map(|node| node.node).collect(), is_group, substitution, cut }
}

/// Adds a note to the hint of an error.
fn with_note(error: QueryError, note: Option<&'static str>) -> QueryError {
    let Some(note) = note.map(|note| note.trim_end_matches('.')) else { return error };
    let hint = match error.hint.clone() {
        Some(hint) => hint.and("; ").and(note),
        None => note.into(),
    };
    QueryError { hint: Some(hint), ..error }
}

/// The number of files of the directories or of the module, if the nodes are their files.
fn files_used(group: &NamedGroup, num_files: usize) -> String {
    let place = match group.others.len() {
        0 => "it".to_owned(),
        others => format!("the {} directories with this name", 1 + others),
    };
    match group.is_cut {
        true => format!("the first {num_files} files in {place}"),
        false => format!("all {num_files} files in {place}"),
    }
}
