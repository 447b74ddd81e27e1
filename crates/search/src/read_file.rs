//! Reads files by their paths, and lists directories.

use std::collections::BTreeSet;

use cairn_domain::{LineSpan, ManifestEntry, RepoPath, RepositoryId, View};
use cairn_ports::FileMatch;
use cairn_ranking::truncate_lines;
use cairn_redaction::{Message, Own, quoted};
use futures::{StreamExt, TryStreamExt, stream};

use crate::code::{Code, CodeRequest, check_lines, lines};
use crate::file_names::{FileRequest, NamedFile, read_call};
use crate::repositories::{KnownRepository, name_of, some_names};
use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

/// Number of manifests that are read at the same time. Concurrent reads save time, because each read waits
/// for the store.
const MANIFESTS_AT_ONCE: usize = 8;
/// Maximum number of files, and maximum number of directories, in the list of a directory.
const MAX_LISTED: usize = 10_000;
/// Maximum number of other repositories in the list of repositories with the same path.
const MAX_ALSO_IN: usize = 10;
/// Maximum number of repository names in the sentence about these repositories.
const MAX_NAMED: usize = 3;
/// The language that is reported for the list of a directory.
const DIRECTORY: &str = "directory";

impl Searcher {
    /// Reads the file or directory at a path. If the path does not exist, reads the file or directory whose
    /// path partly matches the requested path. Among equally good matches, indexed files are preferred to
    /// files that changed after they were indexed.
    pub(crate) async fn read_path(
        &self,
        view: &View,
        selected: &[KnownRepository],
        path: &str,
        request: &CodeRequest,
    ) -> Result<Code, QueryError> {
        if let Some(exact) = self.read_exact(view, selected, path, request).await? {
            return Ok(exact);
        }
        let scope = self.scope_of(selected);
        let named = FileRequest::new(path, request.context_path.as_deref());
        if let Some(changed) = self.read_exact_changed(selected, named, request).await? {
            return Ok(changed);
        }
        if let Some(found) = self.resolve_file(view, &scope, named).await? {
            return self.read_named(view, selected, found, request).await;
        }
        let absent = self.unknown_file(view, &scope, path, read_call).await?;
        self.read_changed_or(selected, named, request, absent).await
    }

    /// Reads the file or lists the directory to which a name was resolved.
    pub(crate) async fn read_named(
        &self,
        view: &View,
        selected: &[KnownRepository],
        named: NamedFile,
        request: &CodeRequest,
    ) -> Result<Code, QueryError> {
        let owner = selected.iter().find(|known| known.record.id == named.repository);
        let no_file = || QueryError::new(QueryErrorCode::InternalError, "the file of a resolved name is missing");
        let owner = std::slice::from_ref(owner.ok_or_else(no_file)?);
        let mut code = match named.is_directory {
            true => self.list_directory(view, &owner[0], &named.path, request).await?,
            false => self.read_file(view, owner, named.path.as_str(), request).await?,
        };
        let same_path = named.namesakes.iter().filter(|hit| hit.path == named.path);
        code.add_others_with_path(same_path.map(|hit| name_of(selected, hit.repository)).collect());
        Ok(Code { substitution: named.substitution, ..code })
    }

    /// The files and directories in a directory, one path per line. Directories come first and end with `/`.
    async fn list_directory(
        &self,
        view: &View,
        known: &KnownRepository,
        directory: &RepoPath,
        request: &CodeRequest,
    ) -> Result<Code, QueryError> {
        let scope = self.scope_of(std::slice::from_ref(known));
        let children = format!("{}/*", globset::escape(directory.as_str()));
        let mut directories = self.names.files(view, &scope, &children, FileMatch::DirectoryGlob, MAX_LISTED).await?;
        let mut files = self.names.files(view, &scope, &children, FileMatch::Glob, MAX_LISTED).await?;
        // A glob ignores upper and lower case, so entries of directories whose paths differ only in case are
        // removed.
        for hits in [&mut directories, &mut files] {
            hits.retain(|hit| hit.path.directory() == directory.as_str());
        }
        let directories = directories.iter().map(|hit| format!("{}/\n", hit.path));
        let text: String = directories.chain(files.iter().map(|hit| format!("{}\n", hit.path))).collect();
        let num_lines = text.lines().count() as u32;
        let (first, last) = request.lines.unwrap_or((1, u32::MAX));
        check_lines(known, directory, num_lines, (first, last))?;
        let last = last.min(num_lines);
        let (shown, num_lines_cut) = truncate_lines(lines(&text, first, last), request.max_tokens);
        let shown_last = last.saturating_sub(num_lines_cut as u32);
        Ok(Code {
            repository: known.record.name.to_string(),
            path: directory.clone(),
            language: DIRECTORY.to_owned(),
            span: (first <= shown_last).then(|| LineSpan::new(first, shown_last)),
            num_lines,
            text: shown.to_owned(),
            num_lines_cut,
            symbol: None,
            substitution: None,
            others: Vec::new(),
            also_in: Vec::new(),
            notes: Vec::new(),
            follows_pattern: None,
            stamps: self.stamps(std::slice::from_ref(known), &[known.record.id]).await?,
        })
    }

    /// Reads the file at a path that the index contains.
    pub(crate) async fn read_file(
        &self,
        view: &View,
        selected: &[KnownRepository],
        path: &str,
        request: &CodeRequest,
    ) -> Result<Code, QueryError> {
        match self.read_exact(view, selected, path, request).await? {
            Some(code) => Ok(code),
            None => Err(self.unknown_file(view, &self.scope_of(selected), path, read_call).await?),
        }
    }

    /// Reads the file with exactly this path. `None` if no indexed file has the path. Returns an error if
    /// only one repository is selected, and the path is in this repository but not indexed.
    pub(crate) async fn read_exact(
        &self,
        view: &View,
        selected: &[KnownRepository],
        path: &str,
        request: &CodeRequest,
    ) -> Result<Option<Code>, QueryError> {
        let path = path.trim_start_matches("./");
        let owners = match selected {
            [_] => selected.to_vec(),
            _ => self.nearest_owners(view, selected, path, request.context_path.as_deref()).await?,
        };
        for known in &owners {
            let Some(entry) = self.manifest_entry(known, path).await? else { continue };
            match self.text(&entry).await? {
                Some(source) => {
                    let mut code = self.code(known, selected, &entry, &source, request).await?;
                    let others = owners.iter().filter(|other| other.record.id != known.record.id);
                    code.add_others_with_path(others.map(|other| other.record.name.to_string()).collect());
                    return Ok(Some(self.with_pattern(view, known, code).await?));
                }
                None if owners.len() == 1 => return Err(not_indexed(path, &entry)),
                None => {}
            }
        }
        Ok(None)
    }

    /// The error for a path that is in a repository, but not in its index. Only the manifest lists such
    /// paths.
    pub(crate) async fn skipped(
        &self,
        selected: &[KnownRepository],
        path: &str,
    ) -> Result<Option<QueryError>, QueryError> {
        let entry_in = |index: usize| self.manifest_entry(&selected[index], path);
        let mut entries = stream::iter(0..selected.len()).map(entry_in).buffered(MANIFESTS_AT_ONCE);
        while let Some(entry) = entries.try_next().await? {
            if let Some(entry) = entry {
                return Ok(Some(not_indexed(path, &entry)));
            }
        }
        Ok(None)
    }

    /// The repositories that contain the path. Repositories that also contain the file `near_path` come
    /// first.
    async fn nearest_owners(
        &self,
        view: &View,
        selected: &[KnownRepository],
        path: &str,
        near_path: Option<&str>,
    ) -> Result<Vec<KnownRepository>, QueryError> {
        let mut owners = self.owners(view, selected, path).await?;
        if let (Some(near), true) = (near_path, owners.len() > 1) {
            let near = self.owners(view, &owners, near).await?;
            owners.sort_by_key(|known| near.iter().all(|near| near.record.id != known.record.id));
        }
        Ok(owners)
    }

    /// The repositories that contain the path according to the name index, in the order of `selected`.
    async fn owners(
        &self,
        view: &View,
        selected: &[KnownRepository],
        path: &str,
    ) -> Result<Vec<KnownRepository>, QueryError> {
        let hits = self.names.files(view, &self.scope_of(selected), path, FileMatch::Path, selected.len()).await?;
        let owners: BTreeSet<RepositoryId> = hits.iter().map(|hit| hit.repository).collect();
        Ok(selected.iter().filter(|known| owners.contains(&known.record.id)).cloned().collect())
    }
}

impl Code {
    /// Adds the names of other repositories that contain the path, and a sentence with the number of these
    /// repositories.
    fn add_others_with_path(&mut self, mut names: Vec<String>) {
        let Some(some) = some_names(&names, names.len(), MAX_NAMED) else { return };
        let note = Message::default().and(quoted(self.path.as_str())).and(" is also a path in ").and(Own(some));
        self.notes.push(note.and("; `repository` selects one of them."));
        names.truncate(MAX_ALSO_IN);
        self.also_in = names;
    }
}

fn not_indexed(path: &str, entry: &ManifestEntry) -> QueryError {
    let outcome = Own(entry.outcome.label());
    let message = Message::default().and(quoted(path)).and(" is not indexed: ").and(outcome);
    let hint = "`coverage --why PATH` (tool `index_status`) reports why";
    QueryError::new(QueryErrorCode::NotFound, message).hint(hint).next(NextCall {
        tool: "index_status",
        reason: "explains why the file is not indexed".into(),
        arguments: vec![("path", path.to_owned())],
    })
}
