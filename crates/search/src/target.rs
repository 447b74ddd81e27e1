//! The target of a search: code, symbols, files or directories.

use std::cmp::Reverse;

use cairn_domain::{ChunkRecord, Digester, RepositoryId, Scope};
use cairn_ports::{ChunkFilter, FileHit, FileMatch};
use cairn_question::FileNameKind;
use cairn_ranking::{Contribution, Definition, RankedHit, path_distance};

use crate::bounds;
use crate::changed::Definitions;
use crate::chunk_filter::CompiledFilter;
use crate::leading::Leading;
use crate::prepared_query::PreparedQuery;
use crate::question_names::{NameNote, QuestionNames};
use crate::repositories::{KnownRepository, name_of};
use crate::resolve::{NUM_SIMILAR, NameRequest, Resolved};
use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

/// Maximum number of files that are found before they are sorted by nearness.
const MAX_FILES: usize = 500;
/// Maximum number of files whose beginnings are shown.
const MAX_BEGINNINGS: usize = 10;
/// Maximum number of files that are listed in addition to the results if a question is the name of a file.
const FILES_BESIDE_RESULTS: usize = 5;
/// The scores, in percent, of the same name and of a name with the same beginning, and the maximum score of a
/// similar name.
const SAME_NAME: u32 = 90;
const SAME_BEGINNING: u32 = 80;
const SIMILAR: u32 = 50;

/// The kind of things that a search looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TargetType {
    /// The question decides: if it is the name of a file, files with this name come first. Otherwise, the
    /// search looks for code.
    #[default]
    Auto,
    /// Definitions of a name.
    Symbol,
    /// Files with a name, together with their first lines.
    File,
    Directory,
    /// Files with a name, without their texts.
    Filename,
}

impl TargetType {
    pub const ALL: [TargetType; 5] =
        [TargetType::Auto, TargetType::Symbol, TargetType::File, TargetType::Directory, TargetType::Filename];

    pub fn as_str(self) -> &'static str {
        match self {
            TargetType::Auto => "auto",
            TargetType::Symbol => "symbol",
            TargetType::File => "file",
            TargetType::Directory => "directory",
            TargetType::Filename => "filename",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.as_str() == word)
    }
}

/// The target of a search, and the options for comparing names of files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    pub target_type: TargetType,
    /// A path near the wanted code. Files and definitions near this path come first.
    pub context_path: Option<String>,
    /// Whether similar names of files are found.
    pub fuzzy_filename: bool,
    /// Whether only the last part of a path is compared.
    pub filename_only: bool,
}

impl Default for Target {
    fn default() -> Self {
        Self { target_type: TargetType::Auto, context_path: None, fuzzy_filename: true, filename_only: false }
    }
}

impl Target {
    pub(crate) fn check(&self) -> Result<(), QueryError> {
        bounds::word("context_path", self.context_path.as_deref().unwrap_or_default())
    }

    pub(crate) fn digest(&self, digester: Digester) -> Digester {
        let Self { target_type, context_path, fuzzy_filename, filename_only } = self;
        let digester = digester.text(target_type.as_str()).option(context_path.as_deref(), Digester::text);
        digester.number((*fuzzy_filename).into()).number((*filename_only).into())
    }

    /// The way in which the name is compared with paths. A name with wildcards is a glob.
    fn matching(&self, name: &str) -> FileMatch {
        let similar = self.fuzzy_filename;
        match self.target_type {
            TargetType::Directory => FileMatch::Directory { similar },
            _ if name.contains(['*', '?']) => FileMatch::Glob,
            _ if self.filename_only => FileMatch::BaseName { similar },
            _ if similar => FileMatch::Similar,
            _ => FileMatch::Name,
        }
    }
}

/// A file or directory whose name matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundFile {
    pub repository: String,
    pub path: String,
    pub is_directory: bool,
    /// In percent, see [`FileHit::score`].
    pub score: u32,
}

/// The files and chunks that a target type selects.
#[derive(Default)]
pub(crate) struct Targeted {
    pub(crate) files: Vec<FoundFile>,
    /// The results of the search. `None` if the results come from the ordinary ranking.
    pub(crate) ranked: Option<Vec<RankedHit>>,
}

impl Searcher {
    /// The files and results of a search whose target is not code in general.
    pub(crate) async fn targeted(
        &self,
        query: &mut PreparedQuery,
        text: &str,
        selected: &[KnownRepository],
        (target, filter): (&Target, &ChunkFilter),
        limit: usize,
    ) -> Result<Targeted, QueryError> {
        let scope = self.scope_since(selected, filter);
        let name = query.parsed.file_name.as_ref().map_or(text.trim(), |asked| asked.name.as_str()).to_owned();
        match target.target_type {
            TargetType::Symbol => {
                let ranked = self.definitions_as_results(query, text, (&scope, selected), (target, filter)).await?;
                Ok(Targeted { files: Vec::new(), ranked: Some(ranked) })
            }
            TargetType::Auto => {
                let Some(kind) = query.parsed.file_name.as_ref().map(|asked| asked.kind) else {
                    return Ok(Targeted::default());
                };
                let files = self.files_beside_results(query, (&name, kind), &scope, selected, (target, filter)).await?;
                Ok(Targeted { files, ranked: None })
            }
            TargetType::File | TargetType::Directory | TargetType::Filename => {
                let mut hits = self.files_named(query, &name, &scope, (target, filter)).await?;
                if hits.is_empty() {
                    return Err(self.no_file(query, &name, &scope, target).await?);
                }
                hits.truncate(limit);
                let is_directory = target.target_type == TargetType::Directory;
                let ranked = match target.target_type {
                    TargetType::File => self.beginnings_as_results(query, filter, &hits).await?,
                    _ => Vec::new(),
                };
                Ok(Targeted { files: found_files(&hits, selected, is_directory), ranked: Some(ranked) })
            }
        }
    }

    /// The directories and files that a question names. The first chunks of the files become candidates.
    async fn files_beside_results(
        &self,
        query: &mut PreparedQuery,
        (name, kind): (&str, FileNameKind),
        scope: &Scope,
        selected: &[KnownRepository],
        (target, filter): (&Target, &ChunkFilter),
    ) -> Result<Vec<FoundFile>, QueryError> {
        let mut found = Vec::new();
        if kind == FileNameKind::Path {
            let directory = Target { target_type: TargetType::Directory, fuzzy_filename: false, ..target.clone() };
            let mut directories = self.files_named(query, name, scope, (&directory, filter)).await?;
            directories.retain(|hit| hit.score >= SAME_NAME);
            directories.truncate(FILES_BESIDE_RESULTS);
            found = found_files(&directories, selected, true);
        }
        let mut hits = self.files_named(query, name, scope, (target, filter)).await?;
        hits.truncate(FILES_BESIDE_RESULTS);
        if hits.first().is_none_or(|best| best.score <= SIMILAR) && found.is_empty() {
            let similar = hits.iter().map(|hit| hit.path.to_string()).collect();
            let (requested, substitution) = (name.to_owned(), None);
            query.names.notes.push(NameNote { requested, is_file: true, substitution, similar, place: None });
        }
        found.extend(found_files(&hits, selected, false));
        let is_named = hits.first().is_some_and(|best| best.score >= SAME_BEGINNING);
        hits.retain(|hit| !is_named || hit.score >= SAME_BEGINNING);
        query.named_files = hits;
        Ok(found)
    }

    /// The files whose names match, best first. If several files have the same score, the files near the
    /// context come first.
    async fn files_named(
        &self,
        query: &PreparedQuery,
        name: &str,
        scope: &Scope,
        (target, filter): (&Target, &ChunkFilter),
    ) -> Result<Vec<FileHit>, QueryError> {
        let mut matching = target.matching(name);
        if matching == FileMatch::Glob
            && let Err(error) = bounds::glob("query", name)
        {
            // A question that is not a valid glob may still be the name of a file.
            if target.target_type != TargetType::Auto {
                return Err(error);
            }
            matching = FileMatch::Name;
        }
        let mut hits = self.names.files(&query.view, scope, name, matching, MAX_FILES).await?;
        let compiled = CompiledFilter::new(filter)?;
        hits.retain(|hit| compiled.lets_file_through(&hit.path));
        if let Some(near) = &target.context_path {
            hits.sort_by_key(|hit| (Reverse(hit.score), path_distance(near, hit.path.as_str())));
        }
        Ok(hits)
    }

    /// The first chunks of the files, in the order of the files.
    async fn beginnings_as_results(
        &self,
        query: &PreparedQuery,
        filter: &ChunkFilter,
        files: &[FileHit],
    ) -> Result<Vec<RankedHit>, QueryError> {
        let filter = ChunkFilter { paths: Vec::new(), ..filter.clone() };
        let files = &files[..files.len().min(MAX_BEGINNINGS)];
        let ids = self.beginnings_of(&query.view, &filter, files).await?;
        let scope = Scope::only(self.caller.tenant.clone(), ids.iter().map(|(repository, _)| *repository));
        let mut chunks = self.fetch(&query.view, &scope, ids.iter().copied().collect()).await?;
        let scores = ids.iter().map(|id| {
            let of_file = |hit: &&FileHit| chunks.get(id).is_some_and(|chunk| hit.path == chunk.path);
            files.iter().find(of_file).map_or(0, |hit| u64::from(hit.score))
        });
        let scores: Vec<u64> = scores.collect();
        let hits = ids.into_iter().zip(scores).zip(1..);
        Ok(hits.filter_map(|((id, score), rank)| Some(result(chunks.remove(&id)?, rank, score, None))).collect())
    }

    /// The chunks with the definitions of a name, in the order of the definitions. If no symbol has exactly
    /// this name, the definitions of other near names follow.
    async fn definitions_as_results(
        &self,
        query: &mut PreparedQuery,
        text: &str,
        (scope, selected): (&Scope, &[KnownRepository]),
        (target, filter): (&Target, &ChunkFilter),
    ) -> Result<Vec<RankedHit>, QueryError> {
        let name = asked_name(query).unwrap_or_else(|| text.trim().to_owned());
        let request = NameRequest { near_path: target.context_path.as_deref(), ..NameRequest::new(&name) };
        query.names = QuestionNames::default();
        match self.definitions(&query.view, scope, selected, request).await? {
            Definitions::Indexed(Resolved { definitions, near, substitution }) => {
                substitution.into_iter().for_each(|used| query.names.note_used(used, None));
                query.names.leading = definitions.into_iter().chain(near).map(Leading::of).collect();
            }
            Definitions::Changed(found) => query.names.lead_with_changed(&found),
            Definitions::Heuristic(found) => {
                query.names.note_used(found.substitution.clone(), Some(found.place(selected)));
                query.names.leading = vec![found.leading()];
            }
        }
        let leading = &query.names.leading;
        let indexed = leading.iter().filter(|leading| leading.chunk.is_none());
        let mut chunks = self.fetch(&query.view, scope, indexed.filter_map(Leading::id).collect()).await?;
        let unindexed = leading.iter().filter_map(|leading| leading.chunk.clone());
        chunks.extend(unindexed.map(|chunk| ((chunk.repository, chunk.key), chunk)));
        let compiled = CompiledFilter::new(filter)?;
        chunks.retain(|_, chunk| compiled.lets_through(chunk));
        let mut results = Vec::new();
        for leading in leading {
            let Some(chunk) = leading.id().and_then(|id| chunks.remove(&id)) else { continue };
            let symbol = &leading.hit.symbol;
            let is_own = chunk.symbol.as_deref() == Some(symbol.qualified_name.as_str());
            let definition = Definition { symbol: symbol.qualified_name.clone(), span: symbol.span };
            let (rank, percent) = (results.len() as u32 + 1, u64::from(leading.hit.score));
            results.push(result(chunk, rank, percent, (!is_own).then_some(definition)));
        }
        Ok(results)
    }

    /// The error for a name that no file has, with similar names.
    async fn no_file(
        &self,
        query: &PreparedQuery,
        name: &str,
        scope: &Scope,
        target: &Target,
    ) -> Result<QueryError, QueryError> {
        let base = name.rsplit('/').next().unwrap_or(name);
        let near = self.names.files(&query.view, scope, base, FileMatch::Similar, NUM_SIMILAR).await?;
        let what = if target.target_type == TargetType::Directory { "directory" } else { "file" };
        let mut error = QueryError::new(QueryErrorCode::NotFound, format!("no {what} is called `{name}`"));
        error.similar_files = near.iter().map(|hit| hit.path.to_string()).collect();
        if let Some(best) = near.first() {
            error = error.next(NextCall {
                tool: "read_code",
                reason: "reads the most similar path".to_owned(),
                arguments: vec![("path", best.path.to_string())],
            });
        }
        Ok(error.next(NextCall {
            tool: "search_code",
            reason: "finds code by words".to_owned(),
            arguments: vec![("query", name.to_owned())],
        }))
    }
}

/// The name that a question for a symbol asks for: its only mention of code.
fn asked_name(query: &PreparedQuery) -> Option<String> {
    let whole = query.words.whole.as_ref()?;
    (!whole.contains(char::is_whitespace)).then(|| whole.clone())
}

fn found_files(hits: &[FileHit], selected: &[KnownRepository], is_directory: bool) -> Vec<FoundFile> {
    let name = |id: RepositoryId| name_of(selected, id);
    let found = |hit: &FileHit| FoundFile {
        repository: name(hit.repository),
        path: hit.path.to_string(),
        is_directory,
        score: hit.score,
    };
    hits.iter().map(found).collect()
}

/// Points of one percent of a score.
const POINTS_OF_PERCENT: u64 = 10_000;

fn result(chunk: ChunkRecord, rank: u32, percent: u64, definition: Option<Definition>) -> RankedHit {
    let points = percent * POINTS_OF_PERCENT;
    RankedHit {
        chunk,
        score: points,
        contributions: vec![Contribution { name: "names", rank: Some(rank), points }],
        priors: Vec::new(),
        relation_rank: None,
        via: None,
        pattern_rank: None,
        step: None,
        named: None,
        definition,
        also_at: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_selects_how_names_are_compared() {
        let check = |target_type, filename_only, name: &str, expect: FileMatch| {
            let target = Target { target_type, filename_only, ..Target::default() };
            assert_eq!(target.matching(name), expect, "{name}");
        };
        check(TargetType::Filename, false, "config.json", FileMatch::Similar);
        check(TargetType::Filename, true, "config.json", FileMatch::BaseName { similar: true });
        check(TargetType::Filename, true, "*.test.ts", FileMatch::Glob);
        check(TargetType::Directory, false, "docs/adr", FileMatch::Directory { similar: true });
    }

    #[test]
    fn target_types_are_parsed() {
        for target in TargetType::ALL {
            assert_eq!(TargetType::parse(target.as_str()), Some(target));
        }
        assert_eq!(TargetType::parse("function"), None);
    }
}
