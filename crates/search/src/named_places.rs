//! Finds the files, directories and modules that have a requested name.
//!
//! A directory or module is represented by its files, because the target of an import edge is a file.

use std::collections::BTreeSet;

use cairn_domain::{EdgeKind, NodeKey, NodeKind, RepoPath, RepositoryId, Scope, View};
use cairn_ports::{FileHit, FileMatch, Follow, Traversal, TraversalRequest};
use cairn_question::{NamedKind, is_file_name};
use cairn_ranking::fold_style;
use cairn_redaction::{Message, Phrase, quoted};

use crate::named_code::{NamedCode, NamedGroup, NamedNode};
use crate::repositories::KnownRepository;
use crate::resolve::cut_note;
use crate::{QueryError, Searcher};

/// Maximum number of files with the requested name that are used.
const MAX_FILES: usize = 8;
/// Maximum number of files and directories that the name index returns. Only the files and directories with
/// exactly the requested name are used.
const MAX_FOUND: usize = 200;
/// Maximum number of directories with the requested name that are used.
const MAX_DIRECTORIES: usize = 4;
/// Maximum number of files of a directory or module that are used.
const MAX_FILES_OF_GROUP: usize = 500;
/// Parts of a qualified name that are relative to the place where the name is used, for example `self`.
const RELATIVE: [&str; 4] = ["crate", "self", "super", "."];

impl Searcher {
    /// The files whose path is equal to the name or ends with the name. The name may omit the file
    /// extension.
    pub(crate) async fn files_called(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
    ) -> Result<Option<NamedCode>, QueryError> {
        let asked = as_path(name);
        let matching = if asked.contains(' ') { FileMatch::Similar } else { FileMatch::Name };
        let mut found = self.names.files(view, scope, &asked, matching, MAX_FOUND).await?;
        let is_full = found.len() == MAX_FOUND;
        let mut grades: Vec<_> = found.iter().filter_map(|file| grade(&asked, file.path.as_str())).collect();
        grades.sort_unstable();
        let Some(best) = grades.first().copied() else { return Ok(None) };
        found.retain(|file| grade(&asked, file.path.as_str()) == Some(best));
        let num_all = (found.len(), is_full);
        found.truncate(MAX_FILES);
        let cut = called(cut_note(found.len(), num_all, "files called "), name);
        let first = found.first().map(|file| file.path.to_string()).unwrap_or_default();
        let note = (best != Grade::Exact).then(|| read_as(name, "file", &first));
        let nodes = found.into_iter().map(|file| file_node(file.repository, file.path)).collect();
        Ok(Some(NamedCode { nodes, note, cut, ..NamedCode::default() }))
    }

    /// The files of those directories whose path is equal to the name or ends with the name.
    pub(crate) async fn directories_called(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
    ) -> Result<Option<NamedCode>, QueryError> {
        let asked = as_path(name);
        let matching = FileMatch::Directory { similar: false };
        let found = self.names.files(view, scope, &asked, matching, MAX_FOUND).await?;
        let graded = found.iter().filter_map(|hit| Some((directory_grade(&asked, hit.path.as_str())?, hit)));
        let mut graded: Vec<_> = graded.collect();
        graded.sort_by_key(|(grade, hit)| (*grade, hit.path.as_str().len()));
        let Some((best, first)) = graded.first().copied() else { return Ok(None) };
        let note = (best != Grade::Exact).then(|| read_as(name, "directory", first.path.as_str()));
        let named = graded.iter().filter(|(grade, _)| *grade == best);
        let mut paths: Vec<RepoPath> = Vec::new();
        for (_, directory) in named {
            if !paths.contains(&directory.path) {
                paths.push(directory.path.clone());
            }
        }
        let num_all = (paths.len(), graded.len() == MAX_FOUND);
        paths.truncate(MAX_DIRECTORIES);
        let cut = called(cut_note(paths.len(), num_all, "directories called "), name);
        let found = self.files_of_directories(view, scope, &paths).await?;
        Ok((!found.nodes.is_empty()).then_some(NamedCode { note, cut, ..found }))
    }

    /// The files of directories. The group has the name of the first directory.
    pub(crate) async fn files_of_directories(
        &self,
        view: &View,
        scope: &Scope,
        paths: &[RepoPath],
    ) -> Result<NamedCode, QueryError> {
        let mut nodes = Vec::new();
        for path in paths {
            let glob = format!("{}/**", globset::escape(path.as_str()));
            let files = self.names.files(view, scope, &glob, FileMatch::Glob, MAX_FILES_OF_GROUP + 1).await?;
            // A glob ignores upper and lower case.
            let is_below = |file: &FileHit| file.path.as_str().starts_with(path.as_str());
            let below = files.into_iter().filter(is_below);
            nodes.extend(below.map(|file| file_node(file.repository, file.path)));
        }
        let is_cut = nodes.len() > MAX_FILES_OF_GROUP;
        nodes.truncate(MAX_FILES_OF_GROUP);
        let name = paths.first().map(ToString::to_string).unwrap_or_default();
        let group = Some(NamedGroup { kind: NamedKind::Directory, name, is_cut });
        Ok(NamedCode { nodes, group, ..NamedCode::default() })
    }

    /// The files of the modules with this name. The settings of a repository may give a module a name that
    /// differs from its directory.
    pub(crate) async fn modules_called(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        name: &str,
    ) -> Result<Option<NamedCode>, QueryError> {
        let spellings: BTreeSet<String> = [name.to_owned(), as_path(name), as_path(name).replace('/', ".")].into();
        let of_repository = |known: &KnownRepository| {
            let id = known.record.id;
            spellings.iter().map(|name| NodeKey::module(id, name)).collect::<Vec<_>>()
        };
        let starts: Vec<NodeKey> = selected.iter().flat_map(of_repository).collect();
        let Traversal { reached, is_cut } =
            self.reached_over(view, scope, starts, EdgeKind::Contains, MAX_FILES_OF_GROUP + 1).await?;
        let is_cut = is_cut || reached.len() > MAX_FILES_OF_GROUP;
        let files = reached.into_iter().map(|reached| reached.node).filter(|node| node.kind == NodeKind::File);
        let files = files.filter_map(|node| Some(file_node(node.repository, node.path?)));
        let nodes: Vec<NamedNode> = files.take(MAX_FILES_OF_GROUP).collect();
        let group = Some(NamedGroup { kind: NamedKind::Module, name: name.to_owned(), is_cut });
        Ok((!nodes.is_empty()).then_some(NamedCode { nodes, group, ..NamedCode::default() }))
    }

    /// The nodes that one edge of this kind connects with a start node. The edge begins at the start node.
    pub(crate) async fn reached_over(
        &self,
        view: &View,
        scope: &Scope,
        starts: Vec<NodeKey>,
        kind: EdgeKind,
        max_nodes: usize,
    ) -> Result<Traversal, QueryError> {
        let request = TraversalRequest {
            starts,
            follow: Follow::Out,
            returns_starts: false,
            kinds: vec![kind],
            min_confidence_percent: 1,
            max_depth: 1,
            // With this limit, a node with too many edges also exceeds `max_nodes`, so the cut is reported.
            max_edges_per_node: max_nodes + 1,
            max_nodes,
        };
        Ok(self.graph.traverse(view, scope, &request).await?)
    }
}

fn file_node(repository: RepositoryId, path: RepoPath) -> NamedNode {
    let node = NodeKey::file(repository, &path);
    NamedNode { node, name: path.file_name().to_owned(), path: Some(path), definition: None }
}

/// The sentence about files or directories that are left out. `note` is the beginning of this sentence.
fn called(note: Option<Message>, name: &str) -> Option<Message> {
    note.map(|note| note.and(Phrase(name)).and(" are used."))
}

pub(crate) fn read_as(name: &str, kind: &'static str, used: &str) -> Message {
    Message::default().and(Phrase(name)).and(" is read as the ").and(kind).and(" ").and(quoted(used)).and(".")
}

/// How closely a requested name matches the name of a file or directory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Grade {
    Exact,
    /// Equal apart from case and style.
    Style,
}

/// Converts a qualified name to a path: `auth.session` and `crate::auth::session` become `auth/session`.
fn as_path(name: &str) -> String {
    let name = name.trim_end_matches("()").trim_start_matches("./").trim_matches('/');
    if name.contains('/') || is_file_name(name) {
        return name.to_owned();
    }
    let parts = name.split("::").flat_map(|part| part.split('.'));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).skip_while(|part| RELATIVE.contains(part)).collect();
    parts.join("/")
}

/// How closely the name matches the path of a file, or the last parts of the path. The name may omit the file
/// extension.
fn grade(asked: &str, path: &str) -> Option<Grade> {
    let stem = match path.rsplit_once('/') {
        Some((directory, base)) => format!("{directory}/{}", without_ending(base)),
        None => without_ending(path).to_owned(),
    };
    [path, &stem].into_iter().filter_map(|path| directory_grade(asked, path)).min()
}

fn without_ending(base: &str) -> &str {
    base.rsplit_once('.').map_or(base, |(stem, _)| if stem.is_empty() { base } else { stem })
}

/// How closely the name matches the path of a directory, or the last parts of the path.
fn directory_grade(asked: &str, path: &str) -> Option<Grade> {
    let num_parts = asked.split('/').count();
    let parts: Vec<&str> = path.split('/').collect();
    let end = parts.get(parts.len().checked_sub(num_parts)?..)?.join("/");
    if end == asked {
        return Some(Grade::Exact);
    }
    let is_style = !asked.is_empty() && fold_style(&end.replace(' ', "")) == fold_style(&asked.replace(' ', ""));
    is_style.then_some(Grade::Style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualified_names_are_paths() {
        let check = |name: &str, expect: &str| assert_eq!(as_path(name), expect, "{name}");
        check("auth", "auth");
        check("auth.session", "auth/session");
        check("crate::auth::session", "auth/session");
        check("auth.py", "auth.py");
        check("./src/auth/", "src/auth");
    }

    #[test]
    fn names_are_ends_of_paths() {
        let check = |asked: &str, path: &str, expect: Option<Grade>| {
            assert_eq!(grade(asked, path), expect, "{asked} for {path}");
        };
        check("auth.py", "src/auth.py", Some(Grade::Exact));
        check("auth", "src/auth.py", Some(Grade::Exact));
        check("auth/session", "src/auth/session.py", Some(Grade::Exact));
        check("Auth", "src/auth.py", Some(Grade::Style));
        check("user service", "src/user_service.py", Some(Grade::Style));
        check("auth", "src/oauth.py", None);
        check("auth", "auth/session.py", None);
        check("src/auth/session", "session.py", None);
    }
}
