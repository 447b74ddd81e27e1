//! Finds files by their names among the files that changed after they were indexed.

use std::cmp::Reverse;
use std::sync::Arc;

use cairn_domain::RepoPath;
use cairn_languages::{is_test_path, language_of};
use cairn_name_match::{PathPart, WantedFile};
use cairn_ports::{ChunkFilter, FileHit, IncludeTests};
use cairn_ranking::path_distance;
use cairn_redaction::{Message, quoted};

use crate::changed_files::{ChangedFile, ChangedTree};
use crate::changed_trees::Unread;
use crate::chunk_filter::CompiledFilter;
use crate::code::{Code, CodeRequest};
use crate::file_names::{FileRequest, SAME_PATH, reason};
use crate::repositories::KnownRepository;
use crate::resolve::{NameMatching, Substitution};
use crate::{QueryError, QueryErrorCode, Searcher};

/// A changed file whose name matches.
struct ChangedPath {
    repository: KnownRepository,
    tree: Arc<ChangedTree>,
    hit: FileHit,
}

impl ChangedPath {
    /// The file with its contents. `None` if the file was not read.
    fn file(&self) -> Option<&ChangedFile> {
        self.tree.files.iter().find(|file| file.path == self.hit.path)
    }

    fn substitution(&self, requested: &str) -> Substitution {
        let FileHit { path, score, .. } = &self.hit;
        let name = requested.trim().trim_start_matches("./");
        let other = if path.as_str() == name { String::new() } else { format!("{}, ", reason(name, *score)) };
        Substitution {
            requested: requested.to_owned(),
            used: path.to_string(),
            matching: NameMatching::Changed,
            score: score * 10,
            reason: format!("{other}a file that is new or changed after it was indexed"),
            similar: Vec::new(),
        }
    }

    /// The error for a file that was not read, because too many files changed.
    fn not_read(&self) -> QueryError {
        let message = Message::default().and(quoted(self.hit.path.as_str())).and(" is new or changed after it was");
        let message = message.and(" indexed, and too many files changed to read it");
        QueryError::new(QueryErrorCode::NotFound, message)
            .hint("index the repository again first")
            .next(self.repository.indexing_of_changes())
    }

    /// Whether the filter accepts the file. The file is not indexed, so it has no tags and no module. If the
    /// file was not read, its name determines its language.
    fn is_in(&self, filter: &ChunkFilter, compiled: &CompiledFilter<'_>) -> bool {
        let ChunkFilter { languages, kinds: _, paths: _, module_prefixes, include_tests, tags, since: _ } = filter;
        let language = match self.file() {
            Some(file) => &file.language,
            None => language_of(&self.hit.path, &[]).map_or("", |row| row.name),
        };
        (languages.is_empty() || languages.iter().any(|wanted| wanted == language))
            && module_prefixes.is_empty()
            && tags.is_empty()
            && match include_tests {
                IncludeTests::Include => true,
                IncludeTests::Exclude => !is_test_path(language, &self.hit.path),
                IncludeTests::Only => is_test_path(language, &self.hit.path),
            }
            && compiled.lets_file_through(&self.hit.path)
    }
}

impl Searcher {
    /// The changed files whose names match, best first, and the repositories whose changed files are unknown.
    async fn changed_paths(
        &self,
        selected: &[KnownRepository],
        (wanted, near_path): (&WantedFile, Option<&str>),
    ) -> (Vec<ChangedPath>, Option<Unread>) {
        let trees = self.changed_trees(selected).await;
        let mut found = Vec::new();
        for (known, tree) in &trees.trees {
            for path in tree.files.iter().map(|file| &file.path).chain(&tree.left_out) {
                let Some(score) = wanted.score(path.as_str(), &path.as_str().to_lowercase()) else { continue };
                let (repository, path) = (known.record.id, path.clone());
                let hit = FileHit { repository, path, score: score.score, rank: score.rank };
                found.push(ChangedPath { repository: (*known).clone(), tree: Arc::clone(tree), hit });
            }
        }
        let distance = |path: &RepoPath| near_path.map_or(0, |near| path_distance(near, path.as_str()));
        found.sort_by_cached_key(|ChangedPath { hit, .. }| {
            (Reverse(hit.score), distance(&hit.path), Reverse(hit.rank), hit.path.clone(), hit.repository)
        });
        (found, trees.unlisted())
    }

    /// The changed files that have the requested name and that the filter accepts, and the repositories whose
    /// changed files are unknown.
    pub(crate) async fn changed_hits(
        &self,
        (name, part): (&str, PathPart),
        near_path: Option<&str>,
        selected: &[KnownRepository],
        filter: &ChunkFilter,
    ) -> Result<(Vec<FileHit>, Option<Unread>), QueryError> {
        let compiled = CompiledFilter::new(filter)?;
        let wanted = WantedFile::new(name, part, false);
        let (found, unlisted) = self.changed_paths(selected, (&wanted, near_path)).await;
        let found = found.into_iter().filter(|found| found.is_in(filter, &compiled)).map(|found| found.hit);
        Ok((found.collect(), unlisted))
    }

    /// Reads the changed file with exactly the requested path. `None` if the request is not a path, or if no
    /// changed file has the path.
    pub(crate) async fn read_exact_changed(
        &self,
        selected: &[KnownRepository],
        named: FileRequest<'_>,
        request: &CodeRequest,
    ) -> Result<Option<Code>, QueryError> {
        if !named.name.contains('/') {
            return Ok(None);
        }
        let wanted = WantedFile::new(named.name, PathPart::Whole, false);
        let (found, _) = self.changed_paths(selected, (&wanted, named.near_path)).await;
        match found.first().filter(|best| best.hit.score == SAME_PATH) {
            Some(best) => self.read_changed_path(selected, best, named.name, request).await.map(Some),
            None => Ok(None),
        }
    }

    /// Reads the changed file with the requested name, if the index contains no such file. `absent` is the
    /// error if no changed file has the name either.
    pub(crate) async fn read_changed_or(
        &self,
        selected: &[KnownRepository],
        named: FileRequest<'_>,
        request: &CodeRequest,
        absent: QueryError,
    ) -> Result<Code, QueryError> {
        let wanted = WantedFile::new(named.name, PathPart::Whole, false);
        let (found, unlisted) = self.changed_paths(selected, (&wanted, named.near_path)).await;
        let best = found.first().filter(|best| best.hit.score >= named.min_score);
        if best.is_none_or(|best| best.hit.score < SAME_PATH)
            && let Some(skipped) = self.skipped(selected, named.name).await?
        {
            return Err(skipped);
        }
        match (best, unlisted) {
            (Some(best), _) => self.read_changed_path(selected, best, named.name, request).await,
            (None, Some(unread)) => Err(unread.added_to(absent)),
            (None, None) => Err(absent),
        }
    }

    async fn read_changed_path(
        &self,
        selected: &[KnownRepository],
        found: &ChangedPath,
        requested: &str,
        request: &CodeRequest,
    ) -> Result<Code, QueryError> {
        let Some(file) = found.file() else { return Err(found.not_read()) };
        let lines = request.lines.unwrap_or((1, u32::MAX));
        let code = self.code_of_changed(selected, (&found.repository, file), lines, request.max_tokens).await?;
        Ok(Code { substitution: Some(found.substitution(requested)), ..code })
    }
}
