//! Searches for files and directories by their names.

use std::cmp::Reverse;

use cairn_domain::RepoPath;
use cairn_name_match::{PathPart, has_arity};
use cairn_ports::{FileHit, FileMatch, NameMatch};
use cairn_question::{FileNameKind, FileNameQuery, only_word};
use cairn_ranking::{fold_style, path_distance};
use cairn_redaction::{Given, Message};

use crate::bounds;
use crate::changed_trees::Unread;
use crate::file_names::{FileRequest, SAME_BEGINNING, SAME_NAME, SIMILAR, is_stem};
use crate::found_files::{FileRole, FoundFiles};
use crate::prepared_query::PreparedQuery;
use crate::question_names::{NameNote, QuestionNames};
use crate::target::{FileSearch, Target, TargetType, Targeted};
use crate::whole_name::is_sentence;
use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

/// Maximum number of files that are found. The answer states whether more files match.
const MAX_FILES: usize = 10_000;
/// Maximum number of files that are shown in addition to the results, if the question is the name of a file.
const FILES_BESIDE_RESULTS: usize = 5;
/// Maximum number of files whose names are compared with a question that may be the name of a file.
const MAX_COMPARED: usize = 20;
/// Minimum length of the name of a document.
const MIN_DOCUMENT: usize = 4;
/// Maximum number of words of a phrase that may be the name of a file.
const MAX_WORDS_OF_NAME: usize = 4;

/// The ways in which a symbol has a name, apart from case and style.
const SAME_SYMBOL: [NameMatch; 3] = [NameMatch::Exact, NameMatch::CaseInsensitive, NameMatch::StyleInsensitive];

/// The files and directories with the requested name.
struct Matches {
    /// Best first. Files with the same score are sorted by their distance from `near_path`, nearest first.
    hits: Vec<FileHit>,
    /// Whether the filter excludes some files with this name.
    has_excluded: bool,
    /// Whether there are more files than `MAX_FILES`.
    is_cut: bool,
    /// Number of hits that are new files or files that changed after they were indexed. These hits come
    /// first.
    num_changed: usize,
    /// The repositories whose changed files are unknown. Set only if no indexed file has the name.
    unlisted: Option<Unread>,
}

impl Matches {
    /// A sentence about the files that are not indexed yet.
    fn changed_note(&self) -> Option<Message> {
        let note = Message::default().and(self.num_changed).and(" of the files changed after they were indexed or are");
        (self.num_changed > 0).then(|| note.and(" new; `read_code` shows them, `index_repository` indexes them."))
    }
}

impl Searcher {
    /// All files and directories with the requested name, as the results of a search.
    pub(crate) async fn files_as_results(
        &self,
        query: &PreparedQuery,
        search: FileSearch<'_>,
    ) -> Result<Targeted, QueryError> {
        let matches = self.files_named(query, search).await?;
        self.matches_as_results(query, search, matches).await
    }

    async fn matches_as_results(
        &self,
        query: &PreparedQuery,
        search: FileSearch<'_>,
        matches: Matches,
    ) -> Result<Targeted, QueryError> {
        if matches.hits.is_empty() {
            let absent = self.no_file(query, search, matches.has_excluded).await?;
            return Err(match &matches.unlisted {
                Some(unread) => unread.added_to(absent),
                None => absent,
            });
        }
        let role = match search.target.target_type {
            TargetType::Filename | TargetType::Directory => FileRole::Names,
            _ => FileRole::WithBeginnings,
        };
        let mut notes: Vec<Message> = matches.changed_note().into_iter().collect();
        if matches.is_cut {
            let message = Message::from("At least ").and(MAX_FILES).and(" files match; only the best ").and(MAX_FILES);
            notes.push(message.and(" are listed."));
        }
        if !search.filter.kinds.is_empty() {
            notes.push("Files have no kind, so the kinds do not restrict the list of files.".into());
        }
        let are_directories = search.target.target_type == TargetType::Directory;
        let files = FoundFiles::of(matches.hits, search.selected, are_directories);
        Ok(Targeted { files: FoundFiles { files, role }, ranked: Some(Vec::new()), notes })
    }

    /// The files for a question that does not specify the type of its target. If the question is a glob, all
    /// matching files are the results. Otherwise, the best matching files are shown in addition to the
    /// results.
    pub(crate) async fn files_of_question(
        &self,
        query: &mut PreparedQuery,
        text: &str,
        search: FileSearch<'_>,
    ) -> Result<Targeted, QueryError> {
        let asked = match &query.parsed.file_name {
            // If a symbol has a name such as `register/2`, the question asks for this symbol and not for a
            // file.
            Some(asked) if has_arity(&asked.name) && query.names.has_exact => return Ok(Targeted::default()),
            Some(asked) => asked.clone(),
            None => match self.file_without_usual_name(query, text, search).await? {
                Some(asked) => asked,
                None => return self.places_of_word(query, text, search).await,
            },
        };
        let search = FileSearch { name: &asked.name, ..search };
        if asked.kind == FileNameKind::Glob {
            let mut matches = self.files_named(query, search).await?;
            let absent = asked.place.as_ref().filter(|place| !keep_within(place, &mut matches.hits));
            if !matches.hits.is_empty() {
                let mut targeted = self.matches_as_results(query, search, matches).await?;
                targeted.notes.extend(absent.map(|place| no_directory(place)));
                return Ok(targeted);
            }
        }
        self.files_beside_results(query, asked.kind, search).await
    }

    /// A question that is the name of a file, although it does not look like a file name: `makefile`,
    /// `docker-compose` or `hpack spec`. No symbol may have this name. The base name of the file must be
    /// exactly the question, or the question must consist of several words that are the name of the file
    /// without its extension. A caller who restricts the kinds of chunks does not ask for a file.
    async fn file_without_usual_name(
        &self,
        query: &mut PreparedQuery,
        text: &str,
        search: FileSearch<'_>,
    ) -> Result<Option<FileNameQuery>, QueryError> {
        let is_for_chunks = !search.filter.kinds.is_empty();
        if is_for_chunks || query.names.has_exact || query.parsed.relationship.is_some() {
            return Ok(None);
        }
        let Some(name) = only_word(text).or_else(|| short_phrase(text)) else { return Ok(None) };
        let (view, scope) = (&query.view, search.scope);
        let of_words = glob_of_words(&name);
        let files = match &of_words {
            Some(glob) => self.names.files(view, scope, glob, FileMatch::Glob, MAX_COMPARED).await?,
            None => {
                let matching = FileMatch::BaseName { similar: false };
                self.names.files(view, scope, &name, matching, MAX_COMPARED).await?
            }
        };
        let is_same = |file: &FileHit| file.path.file_name().eq_ignore_ascii_case(&name);
        let is_meant = |file: &&FileHit| {
            is_same(file) || is_document(&name, &file.path) || (of_words.is_some() && is_stem(&name, &file.path))
        };
        let Some(file) = files.iter().find(|file| is_same(file)).or_else(|| files.iter().find(is_meant)) else {
            return Ok(None);
        };
        let ways = if is_same(file) { &SAME_SYMBOL[..1] } else { &SAME_SYMBOL[..] };
        if !self.names.symbols(view, scope, &name.replace(' ', "_"), ways, 1).await?.is_empty() {
            return Ok(None);
        }
        let asked = FileNameQuery { name: file.path.file_name().to_owned(), kind: FileNameKind::FileName, place: None };
        query.parsed.file_name = Some(asked.clone());
        // No symbol has this name, and symbols with similar names are ignored, because the question names a
        // file.
        query.names = QuestionNames::default();
        Ok(Some(asked))
    }

    /// The files and directories with the name, if the question is one word and no symbol has this name. A
    /// file may have an extension. A question without the dots of a qualified name may also be about a topic,
    /// so the beginnings of these files are not preferred.
    async fn places_of_word(
        &self,
        query: &mut PreparedQuery,
        text: &str,
        search: FileSearch<'_>,
    ) -> Result<Targeted, QueryError> {
        let is_about_code = query.names.has_exact || query.parsed.relationship.is_some();
        let Some(name) = only_word(text).filter(|_| !is_about_code && search.filter.kinds.is_empty()) else {
            return Ok(Targeted::default());
        };
        let (view, scope, near_path) = (&query.view, search.scope, search.target.context_path.as_deref());
        let place = self.place_called(view, scope, FileRequest::of_any_name(&name, near_path)).await?;
        let Some(place) = place else { return Ok(Targeted::default()) };
        let ways = if place.is_directory { &SAME_SYMBOL[..1] } else { &SAME_SYMBOL[..] };
        if !self.names.symbols(view, scope, &name, ways, 1).await?.is_empty() {
            return Ok(Targeted::default());
        }
        let mut hits = self.filtered_files(place.hits, place.is_directory, search.selected, search.filter).await?;
        let mut directories = Vec::new();
        if !place.is_directory
            && let Some(found) = self.graded_directories(view, scope, &name, near_path).await?
        {
            directories = self.filtered_files(found.hits, true, search.selected, search.filter).await?;
        }
        let num_left = cut_to(&mut hits, FILES_BESIDE_RESULTS) + cut_to(&mut directories, FILES_BESIDE_RESULTS);
        if !place.is_directory && name.contains(['.', ':']) {
            query.named_files = hits.clone();
        }
        let mut files = FoundFiles::of(hits, search.selected, place.is_directory);
        files.extend(FoundFiles::of(directories, search.selected, true));
        let notes = more_files(num_left).into_iter().collect();
        Ok(Targeted { files: FoundFiles { files, role: FileRole::BesideResults }, ranked: None, notes })
    }

    /// The directories and files that a question names. The files are stored in the query, so that their
    /// first chunks become candidates.
    async fn files_beside_results(
        &self,
        query: &mut PreparedQuery,
        kind: FileNameKind,
        search: FileSearch<'_>,
    ) -> Result<Targeted, QueryError> {
        let (mut found, mut num_left) = (Vec::new(), 0);
        if kind == FileNameKind::Path {
            let directory =
                Target { target_type: TargetType::Directory, fuzzy_filename: false, ..search.target.clone() };
            let mut directories = self.files_named(query, FileSearch { target: &directory, ..search }).await?.hits;
            directories.retain(|hit| hit.score >= SAME_NAME);
            num_left += cut_to(&mut directories, FILES_BESIDE_RESULTS);
            found = FoundFiles::of(directories, search.selected, true);
        }
        let matches = self.files_named(query, search).await?;
        let mut notes: Vec<Message> = matches.changed_note().into_iter().collect();
        let Matches { mut hits, has_excluded, .. } = matches;
        num_left += cut_to(&mut hits, FILES_BESIDE_RESULTS);
        if hits.is_empty() && has_excluded {
            let message = Message::from("Files are called ").and(Given(search.name));
            notes.push(message.and(", but the filters exclude them."));
        } else if hits.first().is_none_or(|best| best.score <= SIMILAR) && found.is_empty() {
            let similar = hits.iter().map(|hit| hit.path.to_string()).collect();
            let (requested, substitution) = (search.name.to_owned(), None);
            match self.note_of_skipped_file(search.selected, search.name).await? {
                Some(skipped) => notes.push(skipped),
                None => {
                    query.names.notes.push(NameNote { requested, is_file: true, substitution, similar, place: None });
                }
            }
        }
        notes.extend(more_files(num_left));
        found.extend(FoundFiles::of(hits.clone(), search.selected, false));
        let is_named = hits.first().is_some_and(|best| best.score >= SAME_BEGINNING);
        hits.retain(|hit| !is_named || hit.score >= SAME_BEGINNING);
        let has_name = |hit: &FileHit| hit.path.file_name() == search.name;
        if hits.iter().any(has_name) {
            hits.retain(has_name);
        }
        query.named_files = hits;
        Ok(Targeted { files: FoundFiles { files: found, role: FileRole::BesideResults }, ranked: None, notes })
    }

    /// The files or directories whose names match, without those that the filter excludes.
    async fn files_named(&self, query: &PreparedQuery, search: FileSearch<'_>) -> Result<Matches, QueryError> {
        let FileSearch { selected, target, filter, .. } = search;
        let all = self.matching_files(query, search).await?;
        let (num_all, is_cut) = (all.len(), all.len() == MAX_FILES);
        let are_directories = target.target_type == TargetType::Directory;
        let mut hits = self.filtered_files(all, are_directories, selected, filter).await?;
        let has_excluded = hits.len() < num_all;
        if let Some(near) = &target.context_path {
            hits.sort_by_key(|hit| (Reverse(hit.score), path_distance(near, hit.path.as_str())));
        }
        let mut matches = Matches { hits, has_excluded, is_cut, num_changed: 0, unlisted: None };
        if !are_directories && !is_pattern(search.name) {
            self.add_changed(&mut matches, search).await?;
        }
        Ok(matches)
    }

    /// Adds the changed files with the requested name, if no indexed file has the name.
    async fn add_changed(&self, matches: &mut Matches, search: FileSearch<'_>) -> Result<(), QueryError> {
        if matches.hits.first().is_some_and(|best| best.score > SIMILAR) {
            return Ok(());
        }
        let FileSearch { name, selected, target, filter, .. } = search;
        let part = if target.filename_only { PathPart::BaseName } else { PathPart::Whole };
        let near_path = target.context_path.as_deref();
        let (mut changed, unlisted) = self.changed_hits((name, part), near_path, selected, filter).await?;
        (matches.num_changed, matches.unlisted) = (changed.len(), unlisted);
        changed.append(&mut matches.hits);
        matches.hits = changed;
        Ok(())
    }

    /// The files or directories whose names match. A name with wildcards is a glob, unless a file or
    /// directory has this name.
    async fn matching_files(
        &self,
        query: &PreparedQuery,
        FileSearch { name, scope, target, .. }: FileSearch<'_>,
    ) -> Result<Vec<FileHit>, QueryError> {
        let files = |matching| self.names.files(&query.view, scope, name, matching, MAX_FILES);
        let literal = target.literal();
        if !is_pattern(name) {
            return Ok(files(literal).await?);
        }
        let mut exact = files(without_similar(literal)).await?;
        exact.retain(|hit| hit.score >= SAME_NAME);
        if !exact.is_empty() {
            return Ok(exact);
        }
        let is_glob = name.contains(['*', '?']);
        match bounds::glob("query", name) {
            Ok(_) => {
                let mut found = files(target.glob()).await?;
                // Like a name without wildcards, a glob may match only the end of a path.
                if found.is_empty() && name.contains('/') {
                    let end = format!("**/{}", name.trim_start_matches("./").trim_start_matches('/'));
                    found = self.names.files(&query.view, scope, &end, target.glob(), MAX_FILES).await?;
                }
                if is_glob || !found.is_empty() {
                    return Ok(found);
                }
            }
            // A question that is not a valid glob may still be the name of a file.
            Err(error) if is_glob && target.target_type != TargetType::Auto => return Err(error),
            Err(_) => {}
        }
        Ok(files(literal).await?)
    }

    /// The error for a name that no file has. The error contains similar names.
    async fn no_file(
        &self,
        query: &PreparedQuery,
        FileSearch { name, scope, target, selected, .. }: FileSearch<'_>,
        has_excluded: bool,
    ) -> Result<QueryError, QueryError> {
        let what = if target.target_type == TargetType::Directory { "directory" } else { "file" };
        if has_excluded {
            let message = Message::from("a ").and(what).and(" is called ").and(Given(name));
            let message = message.and(", but the filters exclude it");
            return Ok(QueryError::new(QueryErrorCode::NotFound, message).hint("search without the filters").next(
                NextCall {
                    tool: "search_code",
                    reason: "searches without the filters".into(),
                    arguments: vec![
                        ("query", name.to_owned()),
                        ("target_type", target.target_type.as_str().to_owned()),
                    ],
                },
            ));
        }
        let base = name.rsplit('/').next().unwrap_or(name);
        let no_file = Message::from("no ").and(what).and(" is called ").and(Given(name));
        let mut error = QueryError::new(QueryErrorCode::NotFound, no_file);
        error.similar_files = self.similar_paths(&query.view, scope, base).await?;
        error.hint = self.note_of_skipped_file(selected, name).await?;
        if let Some(best) = error.similar_files.first().cloned() {
            error = error.next(NextCall {
                tool: "read_code",
                reason: "reads the most similar path".into(),
                arguments: vec![("path", best)],
            });
        }
        Ok(error.next(NextCall {
            tool: "search_code",
            reason: "finds code by words".into(),
            arguments: vec![("query", name.to_owned())],
        }))
    }
}

/// Keeps the files below directories with this name, apart from case and separators of words. Keeps all
/// files, and returns false, if there is no such directory.
fn keep_within(name: &str, files: &mut Vec<FileHit>) -> bool {
    let folded = |text: &str| fold_style(&text.replace(' ', "_"));
    let wanted = folded(name);
    let is_within = |file: &FileHit| file.path.directory().split('/').any(|directory| folded(directory) == wanted);
    let has_directory = files.iter().any(is_within);
    files.retain(|file| !has_directory || is_within(file));
    has_directory
}

fn no_directory(name: &str) -> Message {
    let message = Message::from("None of these files is in a directory called ").and(Given(name));
    message.and(", so this restriction is ignored.")
}

/// Whether a name has characters that have a meaning in a glob.
fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '{'])
}

/// Returns the kind of match that accepts the same names as `matching`, except similar names.
fn without_similar(matching: FileMatch) -> FileMatch {
    match matching {
        FileMatch::Similar => FileMatch::Name,
        FileMatch::BaseName { .. } => FileMatch::BaseName { similar: false },
        FileMatch::Directory { .. } => FileMatch::Directory { similar: false },
        other => other,
    }
}

/// Keeps the first `limit` hits, and returns the number of removed hits.
fn cut_to(hits: &mut Vec<FileHit>, limit: usize) -> usize {
    // Similar names are not counted, because they do not match.
    let num_left = hits.iter().skip(limit).filter(|hit| hit.score > SIMILAR).count();
    hits.truncate(limit);
    num_left
}

/// A sentence about the files that are not shown.
fn more_files(num_left: usize) -> Option<Message> {
    let message = Message::default().and(num_left).and(" more files match;");
    (num_left > 0).then(|| message.and(" `target_type: filename` lists all of them."))
}

/// A phrase of a few words that is no question and has no punctuation.
fn short_phrase(text: &str) -> Option<String> {
    if is_sentence(text) {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_word = |word: &&str| word.chars().all(|character| character.is_alphanumeric() || character == '_');
    ((2..=MAX_WORDS_OF_NAME).contains(&words.len()) && words.iter().all(is_word)).then(|| words.join(" "))
}

/// Whether the name is that of a document whose name is written in capitals: `readme` for `README.md`.
fn is_document(name: &str, path: &RepoPath) -> bool {
    let stem = path.stem();
    stem.len() >= MIN_DOCUMENT
        && stem.chars().all(|letter| letter.is_uppercase() || letter == '_')
        && stem.eq_ignore_ascii_case(name)
}

/// The glob for the files whose name without extension has the words of the requested name, in any style.
/// `None` if the requested name has only one word, unlike `docker-compose`, `whats_new` or `hpack spec`.
fn glob_of_words(name: &str) -> Option<String> {
    let words: Vec<String> = name.split(['-', '_', ' ']).filter(|word| !word.is_empty()).map(globset::escape).collect();
    let stems = ["_", "-", " ", ""].map(|separator| words.join(separator));
    let names = stems.iter().flat_map(|stem| [stem.clone(), format!("{stem}.*")]);
    (words.len() > 1).then(|| format!("{{{}}}", names.collect::<Vec<_>>().join(",")))
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryId, RepositoryName, Tenant};

    use super::*;

    #[test]
    fn documents_are_found_by_their_names() {
        let check = |name: &str, path: &str, expect: bool| {
            assert_eq!(is_document(name, &RepoPath::parse(path).expect("a path")), expect, "{name} {path}");
        };
        check("readme", "README.md", true);
        check("changelog", "docs/CHANGELOG", true);
        check("code_of_conduct", "CODE_OF_CONDUCT.md", true);
        check("server", "server.js", false);
        check("api", "API.md", false);
    }

    #[test]
    fn directories_are_found_by_their_words() {
        let file = |path: &str| FileHit {
            repository: RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r")),
            path: RepoPath::parse(path).expect("a path"),
            score: 0,
            rank: 0,
        };
        let check = |place: &str, expect: &[&str]| {
            let mut files = vec![file("doc/index.rst"), file("doc/user_guide/install.rst")];
            let is_found = keep_within(place, &mut files);
            let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
            assert_eq!(paths, expect, "{place}");
            assert_eq!(is_found, place != "cellar", "{place}");
        };
        check("user guide", &["doc/user_guide/install.rst"]);
        check("User-Guide", &["doc/user_guide/install.rst"]);
        check("doc", &["doc/index.rst", "doc/user_guide/install.rst"]);
        check("cellar", &["doc/index.rst", "doc/user_guide/install.rst"]);
    }

    #[test]
    fn phrases_may_be_names_of_files() {
        let check = |text: &str, path: &str, expect: bool| {
            let path = RepoPath::parse(path).expect("a path");
            let name = only_word(text).or_else(|| short_phrase(text));
            let is_name = name.is_some_and(|name| glob_of_words(&name).is_some() && is_stem(&name, &path));
            assert_eq!(is_name, expect, "{text} {path}");
        };
        check("hpack spec", "spec/hpack_spec.lua", true);
        check("docker-compose", "examples/docker-compose.yml", true);
        check("whats new", "docs/WhatsNew.md", true);
        // One ordinary word is a topic.
        check("server", "lib/server.js", false);
        check("hpack spec", "spec/hpack_spec_test.lua", false);
        check("where is the file of the hpack spec", "spec/hpack_spec.lua", false);
        check("hpack, spec", "spec/hpack_spec.lua", false);
    }
}
