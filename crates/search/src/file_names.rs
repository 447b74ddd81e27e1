//! Resolves names of files and directories in questions, and in requests for code or relationships.
//!
//! A name that looks like a file name is compared with paths before symbols are searched. A path is used if
//! the name is equal to the path, to its last parts, or to the beginning of its base name. If the path
//! differs from the requested path, the answer contains a note about the difference. Similar paths are only
//! suggested.

use std::cmp::Reverse;

use cairn_domain::{RepoPath, RepositoryId, Scope, View};
use cairn_name_match::has_arity;
use cairn_ports::{FileHit, FileMatch, NameMatch};
use cairn_question::is_written_like_a_file;
use cairn_ranking::{fold_style, path_distance};
use cairn_redaction::{Given, Message, quoted};

use crate::changed::{Definitions, has_other_name};
use crate::repositories::KnownRepository;
use crate::resolve::{NUM_SIMILAR, NameMatching, NameRequest, Substitution};
use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

/// The scores in percent: for an equal path, for an equal base name or end of the path, and for an equal
/// beginning of the base name.
pub(crate) const SAME_PATH: u32 = 100;
pub(crate) const SAME_NAME: u32 = 90;
pub(crate) const SAME_BEGINNING: u32 = 80;
/// The highest score of a similar name.
pub(crate) const SIMILAR: u32 = 50;

/// Minimum score of a file whose name is probably meant: at most two letters differ.
const MIN_MISSPELLED: u32 = 40;
/// Maximum number of letters that a misspelled name lacks at its end.
const MAX_LACKING: usize = 2;

/// Maximum number of calls that an error suggests.
pub(crate) const MAX_CALLS: usize = 2;
/// Maximum number of found paths whose distance from `near_path` is compared.
pub(crate) const MAX_FOUND: usize = 200;

/// The name of a file or directory to resolve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileRequest<'a> {
    pub(crate) name: &'a str,
    /// A file near the wanted file.
    pub(crate) near_path: Option<&'a str>,
    /// Paths whose score is lower than this score are not used.
    pub(crate) min_score: u32,
}

/// A file or directory that has the requested name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedFile {
    pub(crate) repository: RepositoryId,
    pub(crate) path: RepoPath,
    pub(crate) is_directory: bool,
    pub(crate) score: u32,
    /// Further files with the same base name and score.
    pub(crate) namesakes: Vec<FileHit>,
    /// Set if the path differs from the requested path.
    pub(crate) substitution: Option<Substitution>,
}

impl<'a> FileRequest<'a> {
    /// A request that accepts a path if the name equals the path, the end of the path, its base name or the
    /// beginning of its base name.
    pub(crate) fn new(name: &'a str, near_path: Option<&'a str>) -> Self {
        Self { name, near_path, min_score: SAME_BEGINNING }
    }

    /// A request for a name that does not look like a file name: an equal beginning of a base name is not
    /// accepted.
    pub(crate) fn of_any_name(name: &'a str, near_path: Option<&'a str>) -> Self {
        Self { min_score: SAME_NAME, ..Self::new(name, near_path) }
    }
}

impl Searcher {
    /// The file or directory with exactly this path, if the text could also be the name of a function with
    /// its number of parameters: `api/1`.
    pub(crate) async fn path_like_a_function(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
    ) -> Result<Option<NamedFile>, QueryError> {
        if !has_arity(name) {
            return Ok(None);
        }
        self.resolve_file(view, scope, FileRequest { min_score: SAME_PATH, ..FileRequest::new(name, None) }).await
    }

    /// The file or directory with the requested name. If several files have the best score, the file nearest
    /// to `near_path` is used.
    pub(crate) async fn resolve_file(
        &self,
        view: &View,
        scope: &Scope,
        request: FileRequest<'_>,
    ) -> Result<Option<NamedFile>, QueryError> {
        let wants_directory = request.name.ends_with('/');
        let name = request.name.trim().trim_start_matches("./").trim_end_matches('/');
        if name.is_empty() {
            return Ok(None);
        }
        let mut files = match wants_directory {
            true => Vec::new(),
            false => self.names.files(view, scope, name, FileMatch::Name, MAX_FOUND).await?,
        };
        files.retain(|hit| hit.score >= request.min_score);
        let best_score = files.first().map_or(0, |best| best.score);
        if best_score < SAME_PATH {
            let exact = FileMatch::Directory { similar: false };
            let mut directories = self.names.files(view, scope, name, exact, MAX_FOUND).await?;
            directories.retain(|hit| hit.score >= SAME_NAME && hit.score > best_score);
            if !directories.is_empty() {
                return Ok(named(request, name, directories, true));
            }
        }
        Ok(named(request, name, files, false))
    }

    /// The file to which a name refers, if the name looks like a file name and no symbol has exactly this
    /// name. Returns an error if neither a file nor a symbol has the name, because a file name must not
    /// resolve to a symbol with a near name.
    pub(crate) async fn file_before_symbols(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        request: NameRequest<'_>,
        retry: impl Fn(&str) -> NextCall,
    ) -> Result<Option<NamedFile>, QueryError> {
        let name = request.name;
        if !is_like_a_file(name) {
            return Ok(None);
        }
        let found = self.resolve_file(view, scope, FileRequest::new(name, request.near_path)).await?;
        let ways: &[NameMatch] = match &found {
            Some(file) if file.score >= SAME_NAME => return Ok(found),
            Some(_) => &[NameMatch::Exact],
            None => &[NameMatch::Exact, NameMatch::CaseInsensitive, NameMatch::StyleInsensitive],
        };
        if !self.names.symbols(view, scope, name, ways, 1).await?.is_empty() {
            return Ok(None);
        }
        if found.is_some() {
            return Ok(found);
        }
        let error = self.unknown_file(view, scope, name, retry).await?;
        let definitions = self.definitions(view, scope, selected, request).await;
        if definitions.is_ok() && !has_other_name(&definitions) {
            return Ok(None);
        }
        let similar = match definitions {
            Ok(Definitions::Indexed(resolved)) => resolved.names(),
            Ok(Definitions::Changed(changed)) => vec![changed.symbol.qualified_name.clone()],
            Ok(Definitions::Heuristic(_)) => return Ok(None),
            Err(absent) if absent.code == QueryErrorCode::NotFound => absent.similar_symbols,
            Err(failed) => return Err(failed),
        };
        Err(with_symbols(error, similar))
    }

    /// The error for a path that no file has. The error contains similar paths. `retry` builds the suggested
    /// call, which repeats the failed call with a similar path.
    pub(crate) async fn unknown_file(
        &self,
        view: &View,
        scope: &Scope,
        path: &str,
        retry: impl Fn(&str) -> NextCall,
    ) -> Result<QueryError, QueryError> {
        let near = self.similar_paths(view, scope, path).await?;
        let mut error = QueryError::new(QueryErrorCode::NotFound, no_file(path));
        if let Some(best) = near.first() {
            let (first, read) = (retry(best), read_call(best));
            error = error.hint("paths are relative to the repository's root").next(first.clone());
            if first != read {
                error = error.next(read);
            }
        } else {
            error = error.hint("search for words in the file instead").next(NextCall {
                tool: "search_code",
                reason: "finds code by words".into(),
                arguments: vec![("query", path.replace('/', " "))],
            });
        }
        error.similar_files = near;
        Ok(error)
    }

    /// The paths of the files whose base name is probably misspelled in the request, most similar first.
    pub(crate) async fn misspelled_files(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, QueryError> {
        let matching = FileMatch::BaseName { similar: true };
        let mut files = self.names.files(view, scope, name, matching, NUM_SIMILAR).await?;
        files.retain(|hit| is_misspelled_as(name, hit) && is_meant(hit.path.file_name()));
        Ok(files.iter().map(|hit| hit.path.to_string()).collect())
    }

    /// The paths of files with similar names, most similar first. If names are equally similar, the file
    /// whose directories have the longest common end with the path comes first.
    pub(crate) async fn similar_paths(
        &self,
        view: &View,
        scope: &Scope,
        path: &str,
    ) -> Result<Vec<String>, QueryError> {
        let mut near = self.names.files(view, scope, path, FileMatch::Similar, MAX_FOUND).await?;
        if near.is_empty() {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
            near = self.names.files(view, scope, name, FileMatch::Similar, MAX_FOUND).await?;
        }
        near.sort_by_key(|hit| (Reverse(hit.score), Reverse(num_same_directories(path, hit.path.as_str()))));
        near.truncate(NUM_SIMILAR);
        Ok(near.iter().map(|hit| hit.path.to_string()).collect())
    }
}

/// Whether the misspelled name of a file has this base name, with or without its extension.
fn is_misspelled_as(name: &str, hit: &FileHit) -> bool {
    let lacks_end = |whole: &str| {
        let end = whole.to_lowercase().strip_prefix(&name.to_lowercase()).map(|end| end.chars().count());
        end.is_some_and(|lacking| lacking <= MAX_LACKING)
    };
    let is_similar = (MIN_MISSPELLED..=SIMILAR).contains(&hit.score);
    is_similar || lacks_end(hit.path.file_name()) || lacks_end(hit.path.stem())
}

/// Whether a text is written like the name of a file. A name with its number of parameters, such as
/// `register/2`, contains a slash, but is the name of a symbol.
pub(crate) fn is_like_a_file(name: &str) -> bool {
    is_written_like_a_file(name) && !has_arity(name)
}

/// Whether the name is the base name of the file without its extension, apart from case and style.
pub(crate) fn is_stem(name: &str, path: &RepoPath) -> bool {
    fold_style(path.stem()) == fold_style(&name.replace(' ', ""))
}

/// Number of equal directories at the ends of both paths, apart from case.
pub(crate) fn num_same_directories(left: &str, right: &str) -> usize {
    let directories = |path: &'_ str| path.to_lowercase().rsplit('/').skip(1).map(str::to_owned).collect::<Vec<_>>();
    let (left, right) = (directories(left), directories(right));
    left.iter().zip(&right).take_while(|(left, right)| left == right).count()
}

pub(crate) fn no_file(path: &str) -> Message {
    Message::from("no file has the path ").and(Given(path))
}

/// The call that reads a path.
pub(crate) fn read_call(path: &str) -> NextCall {
    NextCall {
        tool: "read_code",
        reason: "reads the most similar path".into(),
        arguments: vec![("path", path.to_owned())],
    }
}

/// The best hit, with the other files that have the same name, and with a note if its path differs from the
/// requested path. The hits must be sorted by score.
fn named(request: FileRequest<'_>, name: &str, mut hits: Vec<FileHit>, is_directory: bool) -> Option<NamedFile> {
    if let Some(near) = request.near_path {
        hits.sort_by_key(|hit| (Reverse(hit.score), path_distance(near, hit.path.as_str())));
    }
    let mut hits = hits.into_iter();
    let best = hits.next()?;
    let others: Vec<FileHit> = hits.collect();
    let is_namesake = |hit: &FileHit| hit.score == best.score && hit.path.file_name() == best.path.file_name();
    let substitution = (best.path.as_str() != name).then(|| Substitution {
        requested: request.name.to_owned(),
        used: best.path.to_string(),
        matching: NameMatching::File,
        score: best.score * 10,
        reason: reason(name, best.score).to_owned(),
        similar: other_paths(&best, &others),
    });
    let namesakes = others.iter().filter(|hit| is_namesake(hit)).cloned().collect();
    let FileHit { repository, path, score, .. } = best;
    Some(NamedFile { repository, path, is_directory, score, namesakes, substitution })
}

/// The best hit for a name that is not always written like the path of the hit: the name may omit the
/// extension, or separate the parts of the path with dots. The hits must be sorted by score.
pub(crate) fn named_as(name: &str, hits: Vec<FileHit>, is_directory: bool) -> Option<NamedFile> {
    let written = name.trim().trim_start_matches("./").trim_end_matches('/');
    let mut found = named(FileRequest::of_any_name(name, None), written, hits, is_directory)?;
    let is_written = found.path.as_str().to_lowercase().ends_with(&written.to_lowercase());
    if let Some(label) = found.substitution.as_mut().filter(|_| !is_written) {
        label.score = SAME_NAME * 10;
        label.reason = "same name".to_owned();
    }
    Some(found)
}

/// The first paths that differ from the best path, without duplicates. Other repositories may contain the
/// same paths.
fn other_paths(best: &FileHit, others: &[FileHit]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for hit in others.iter().filter(|hit| hit.path != best.path) {
        if !paths.iter().any(|path| path == hit.path.as_str()) {
            paths.push(hit.path.to_string());
        }
    }
    paths.truncate(NUM_SIMILAR - 1);
    paths
}

pub(crate) fn reason(name: &str, score: u32) -> &'static str {
    match (score, name.contains('/')) {
        (SAME_PATH.., _) => "other case",
        (SAME_NAME.., true) => "same end of the path",
        (SAME_NAME.., false) => "same base name",
        _ => "same beginning",
    }
}

/// Adds two suggestions to the error for a path: the names of symbols that are similar to the path, and the
/// call that reads the symbol with the most similar name.
fn with_symbols(mut error: QueryError, similar: Vec<String>) -> QueryError {
    if let (Some(best), true) = (similar.first(), error.next_calls.len() < MAX_CALLS) {
        error = error.next(NextCall {
            tool: "read_code",
            reason: Message::default().and(quoted(best)).and(" is the most similar name of a symbol"),
            arguments: vec![("symbol", best.clone())],
        });
    }
    error.similar_symbols = similar;
    error
}

#[cfg(test)]
mod tests {
    use cairn_domain::Key128;

    use super::*;

    fn hit(path: &str, score: u32) -> FileHit {
        let path = RepoPath::parse(path).expect("a path");
        FileHit { repository: RepositoryId(Key128([0; 16])), path, score, rank: 0 }
    }

    #[test]
    fn other_paths_are_labelled() {
        let check = |name: &str, hits: &[(&str, u32)], expect: Option<(&str, u32, &str)>| {
            let hits = hits.iter().map(|(path, score)| hit(path, *score)).collect();
            let found = named(FileRequest::new(name, None), name, hits, false).expect("a file");
            let label = found.substitution.as_ref();
            assert_eq!(label.map(|label| (label.used.as_str(), label.score, label.reason.as_str())), expect, "{name}");
        };
        check("a/config.json", &[("a/config.json", 100)], None);
        check("A/config.json", &[("a/config.json", 100)], Some(("a/config.json", 1_000, "other case")));
        check("config.json", &[("a/config.json", 90)], Some(("a/config.json", 900, "same base name")));
        check("a/b.rs", &[("src/a/b.rs", 90)], Some(("src/a/b.rs", 900, "same end of the path")));
        check("ADR-025", &[("docs/ADR-025-x.md", 80)], Some(("docs/ADR-025-x.md", 800, "same beginning")));
    }

    #[test]
    fn nearest_of_equal_files_is_used() {
        let hits = vec![hit("a/config.json", 90), hit("b/c/config.json", 90), hit("b/config.jsonc", 80)];
        let found = named(FileRequest::new("config.json", Some("b/c/main.rs")), "config.json", hits, false);
        let found = found.expect("a file");
        assert_eq!(found.path.as_str(), "b/c/config.json");
        assert_eq!(found.namesakes.iter().map(|hit| hit.path.as_str()).collect::<Vec<_>>(), ["a/config.json"]);
        assert_eq!(found.substitution.expect("a label").similar, ["a/config.json", "b/config.jsonc"]);
    }
}
