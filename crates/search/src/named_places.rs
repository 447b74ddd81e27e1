//! Finds the files, directories and modules that have a requested name.
//!
//! A directory or module is represented by its files, because the target of an import edge is a file.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use cairn_domain::{EdgeKind, NodeKey, NodeKind, RepoPath, RepositoryId, Scope, View};
use cairn_ports::{FileHit, FileMatch, Follow, Traversal, TraversalRequest};
use cairn_question::{NamedKind, is_file_name};
use cairn_ranking::{fold_style, path_distance};
use cairn_redaction::{Message, Phrase, quoted};

use crate::file_names::{FileRequest, MAX_FOUND, NamedFile, SAME_NAME, SAME_PATH, named_as};
use crate::named_code::{NamedCode, NamedGroup, NamedNode};
use crate::repositories::KnownRepository;
use crate::resolve::cut_note;
use crate::{QueryError, Searcher};

/// Maximum number of files with the requested name that are used.
const MAX_FILES: usize = 8;
/// Maximum number of directories with the requested name that are used.
const MAX_DIRECTORIES: usize = 4;
/// Maximum number of files of a directory or module that are used.
const MAX_FILES_OF_GROUP: usize = 500;
/// Parts of a qualified name that are relative to the place where the name is used, for example `self`.
const RELATIVE: [&str; 4] = ["crate", "self", "super", "."];

impl Searcher {
    /// The file or directory that has the name, or the directory of the module with the name.
    /// [`Searcher::named_code`] also finds this place first.
    pub(crate) async fn named_place(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        request: FileRequest<'_>,
    ) -> Result<Option<NamedFile>, QueryError> {
        if let Some(place) = self.place_called(view, scope, request).await? {
            return Ok(place.named(request.name));
        }
        let module = self.modules_called(view, (scope, selected), request.name).await?;
        let Some(path) = module.as_ref().and_then(|module| common_directory(&module.nodes)) else { return Ok(None) };
        let exact = FileMatch::Directory { similar: false };
        let mut found = self.names.files(view, scope, path.as_str(), exact, MAX_FOUND).await?;
        found.retain(|hit| hit.path == path);
        Ok(Graded { grade: Grade::Exact, is_directory: true, hits: found, is_full: false }.named(request.name))
    }

    /// The files or directories that have the name. A path that is equal to the name comes before paths that
    /// end with the name, and a file comes before a directory.
    pub(crate) async fn place_called(
        &self,
        view: &View,
        scope: &Scope,
        request: FileRequest<'_>,
    ) -> Result<Option<Graded>, QueryError> {
        let FileRequest { name, near_path, .. } = request;
        let written = name.trim().trim_start_matches("./").trim_matches('/');
        let path = as_path(name);
        // A name with dots may be the name of a file with an unknown extension.
        let spellings = [Some(written), Some(path.as_str()).filter(|path| *path != written)];
        for asked in spellings.into_iter().flatten() {
            let files = self.graded_files(view, scope, asked, near_path).await?;
            if files.as_ref().is_some_and(|files| files.grade == Grade::Path) {
                return Ok(files);
            }
            let directories = self.graded_directories(view, scope, asked, near_path).await?;
            let places = files.into_iter().chain(directories);
            if let Some(best) = places.min_by_key(|place| (place.grade, place.is_directory)) {
                return Ok(Some(best));
            }
        }
        Ok(None)
    }

    /// The code of the files or directories that have the name.
    pub(crate) async fn code_called(
        &self,
        view: &View,
        scope: &Scope,
        request: FileRequest<'_>,
    ) -> Result<Option<NamedCode>, QueryError> {
        match self.place_called(view, scope, request).await? {
            Some(place) if place.is_directory => self.code_of_directories(view, scope, place, request.name).await,
            place => Ok(place.map(|files| files.code(request.name))),
        }
    }

    /// The files whose path is equal to the name or ends with the name. The name may omit the file
    /// extension.
    pub(crate) async fn files_called(
        &self,
        view: &View,
        scope: &Scope,
        request: FileRequest<'_>,
    ) -> Result<Option<NamedCode>, QueryError> {
        let FileRequest { name, near_path, .. } = request;
        let files = self.graded_files(view, scope, &as_path(name), near_path).await?;
        Ok(files.map(|files| files.code(name)))
    }

    /// The files of those directories whose path is equal to the name or ends with the name.
    pub(crate) async fn directories_called(
        &self,
        view: &View,
        scope: &Scope,
        request: FileRequest<'_>,
    ) -> Result<Option<NamedCode>, QueryError> {
        let FileRequest { name, near_path, .. } = request;
        match self.graded_directories(view, scope, &as_path(name), near_path).await? {
            Some(directories) => self.code_of_directories(view, scope, directories, name).await,
            None => Ok(None),
        }
    }

    async fn graded_files(
        &self,
        view: &View,
        scope: &Scope,
        asked: &str,
        near_path: Option<&str>,
    ) -> Result<Option<Graded>, QueryError> {
        // The files may separate the words of the name in a different way.
        let matching = if asked.contains([' ', '-', '_']) { FileMatch::Similar } else { FileMatch::Name };
        let found = self.names.files(view, scope, asked, matching, MAX_FOUND).await?;
        Ok(Graded::best_of(found, false, near_path, |path| grade(asked, path)))
    }

    pub(crate) async fn graded_directories(
        &self,
        view: &View,
        scope: &Scope,
        asked: &str,
        near_path: Option<&str>,
    ) -> Result<Option<Graded>, QueryError> {
        let found = self.names.files(view, scope, asked, FileMatch::Directory { similar: false }, MAX_FOUND).await?;
        Ok(Graded::best_of(found, true, near_path, |path| directory_grade(asked, path)))
    }

    /// The files of the directories. If a directory is below another one, its files are used once.
    async fn code_of_directories(
        &self,
        view: &View,
        scope: &Scope,
        directories: Graded,
        name: &str,
    ) -> Result<Option<NamedCode>, QueryError> {
        let Graded { grade, hits, is_full, .. } = directories;
        let note = (grade == Grade::Style).then(|| read_as(name, "directory", hits[0].path.as_str()));
        let mut paths: Vec<RepoPath> = Vec::new();
        for directory in hits {
            let is_known = |path: &RepoPath| *path == directory.path || is_below(path, &directory.path);
            if !paths.iter().any(is_known) {
                paths.retain(|path| !is_below(&directory.path, path));
                paths.push(directory.path);
            }
        }
        let num_all = (paths.len(), is_full);
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
            let below = files.into_iter().filter(|file| is_below(path, &file.path));
            nodes.extend(below.map(|file| file_node(file.repository, file.path)));
        }
        let is_cut = nodes.len() > MAX_FILES_OF_GROUP;
        nodes.truncate(MAX_FILES_OF_GROUP);
        let mut names = paths.iter().map(ToString::to_string);
        let name = names.next().unwrap_or_default();
        let group = Some(NamedGroup { kind: NamedKind::Directory, name, others: names.collect(), is_cut });
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
        let group = Some(NamedGroup { kind: NamedKind::Module, name: name.to_owned(), others: Vec::new(), is_cut });
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

/// Whether the path is in the directory.
fn is_below(directory: &RepoPath, path: &RepoPath) -> bool {
    path.as_str().strip_prefix(directory.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

/// The innermost directory that contains all nodes. `None` if only the root of the repository contains them.
fn common_directory(nodes: &[NamedNode]) -> Option<RepoPath> {
    let mut directories = nodes.iter().map(|node| node.path.as_ref().map_or("", RepoPath::directory));
    let mut common = directories.next()?;
    for directory in directories {
        while !common.is_empty() && !format!("{directory}/").starts_with(&format!("{common}/")) {
            common = common.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }
    RepoPath::parse(common).ok()
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

/// The files or directories that match a requested name most closely. The list is not empty.
pub(crate) struct Graded {
    grade: Grade,
    pub(crate) is_directory: bool,
    /// Best first.
    pub(crate) hits: Vec<FileHit>,
    /// Whether the name index may contain more of them.
    is_full: bool,
}

impl Graded {
    /// The hits with the best grade. `None` if no hit has a grade.
    fn best_of(
        mut hits: Vec<FileHit>,
        is_directory: bool,
        near_path: Option<&str>,
        grade: impl Fn(&str) -> Option<Grade>,
    ) -> Option<Self> {
        let is_full = hits.len() == MAX_FOUND;
        let best = hits.iter().filter_map(|hit| grade(hit.path.as_str())).min()?;
        hits.retain(|hit| grade(hit.path.as_str()) == Some(best));
        // The directory with the shortest path is meant.
        let length = |hit: &FileHit| if is_directory { hit.path.as_str().len() } else { 0 };
        let distance = |hit: &FileHit| near_path.map(|near| path_distance(near, hit.path.as_str()));
        hits.sort_by_key(|hit| (Reverse(hit.score), distance(hit), length(hit)));
        Some(Self { grade: best, is_directory, hits, is_full })
    }

    /// The first file or directory. Its label states that its path differs from the name.
    fn named(self, name: &str) -> Option<NamedFile> {
        let hits = self.hits.into_iter().map(|hit| FileHit { score: hit.score.clamp(SAME_NAME, SAME_PATH), ..hit });
        named_as(name, hits.collect(), self.is_directory)
    }

    /// The nodes of the files.
    fn code(self, name: &str) -> NamedCode {
        let Self { grade, mut hits, is_full, .. } = self;
        let num_all = (hits.len(), is_full);
        hits.truncate(MAX_FILES);
        let cut = called(cut_note(hits.len(), num_all, "files called "), name);
        let note = (grade == Grade::Style).then(|| read_as(name, "file", hits[0].path.as_str()));
        let nodes = hits.into_iter().map(|file| file_node(file.repository, file.path)).collect();
        NamedCode { nodes, note, cut, ..NamedCode::default() }
    }
}

/// How closely a requested name matches the name of a file or directory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Grade {
    /// Equal to the whole path.
    Path,
    /// Equal to the last parts of the path.
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
    // A path without its extension is not the whole path.
    let of_stem = directory_grade(asked, &stem).map(|grade| grade.max(Grade::Exact));
    directory_grade(asked, path).into_iter().chain(of_stem).min()
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
        return Some(if path == asked { Grade::Path } else { Grade::Exact });
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
        check("auth.py", "auth.py", Some(Grade::Path));
        check("auth.py", "src/auth.py", Some(Grade::Exact));
        check("auth", "auth.py", Some(Grade::Exact));
        check("auth", "src/auth.py", Some(Grade::Exact));
        check("auth/session", "src/auth/session.py", Some(Grade::Exact));
        check("Auth", "src/auth.py", Some(Grade::Style));
        check("user service", "src/user_service.py", Some(Grade::Style));
        check("auth", "src/oauth.py", None);
        check("auth", "auth/session.py", None);
        check("src/auth/session", "session.py", None);
    }
}
