//! The target of a search: code, symbols, files or directories.

use cairn_domain::{ChunkRecord, Digester, Scope};
use cairn_ports::{ChunkFilter, FileMatch};
use cairn_ranking::{Contribution, Definition, RankedHit, Signal};
use cairn_redaction::Message;

use crate::bounds;
use crate::changed::Definitions;
use crate::chunk_filter::CompiledFilter;
use crate::file_names::is_like_a_file;
use crate::found_files::FoundFiles;
use crate::leading::Leading;
use crate::prepared_query::PreparedQuery;
use crate::question_names::QuestionNames;
use crate::repositories::KnownRepository;
use crate::resolve::{NameRequest, Resolved};
use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

/// The kind of result that a search looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TargetType {
    /// The question decides: if it is the name of a file, files with this name come first. Otherwise, the
    /// search looks for code.
    #[default]
    Auto,
    /// The definitions of the requested name.
    Symbol,
    /// Files with the requested name, together with their first lines.
    File,
    Directory,
    /// Files with the requested name, without their texts.
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
    /// Whether files with similar names are also found.
    pub fuzzy_filename: bool,
    /// Whether the name is compared only with the last part of each path.
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

    /// The way in which a name that is not a glob is compared with paths.
    pub(crate) fn literal(&self) -> FileMatch {
        let similar = self.fuzzy_filename;
        match self.target_type {
            TargetType::Directory => FileMatch::Directory { similar },
            _ if self.filename_only => FileMatch::BaseName { similar },
            _ if similar => FileMatch::Similar,
            _ => FileMatch::Name,
        }
    }

    /// The way in which a glob is compared with paths.
    pub(crate) fn glob(&self) -> FileMatch {
        if self.target_type == TargetType::Directory { FileMatch::DirectoryGlob } else { FileMatch::Glob }
    }
}

/// The name of the requested files, and the repositories and filters that restrict the search.
#[derive(Clone, Copy)]
pub(crate) struct FileSearch<'a> {
    pub(crate) name: &'a str,
    pub(crate) scope: &'a Scope,
    pub(crate) selected: &'a [KnownRepository],
    pub(crate) target: &'a Target,
    pub(crate) filter: &'a ChunkFilter,
}

/// The results of a search that looks for files or definitions instead of code: files and chunks.
#[derive(Default)]
pub(crate) struct Targeted {
    pub(crate) files: FoundFiles,
    /// The chunks that are results. `None` if the results come from the ordinary ranking.
    pub(crate) ranked: Option<Vec<RankedHit>>,
    /// Facts about the files that the caller must know.
    pub(crate) notes: Vec<Message>,
}

impl Searcher {
    /// The files and results of a search whose target is not code in general.
    pub(crate) async fn targeted(
        &self,
        query: &mut PreparedQuery,
        text: &str,
        selected: &[KnownRepository],
        (target, filter): (&Target, &ChunkFilter),
    ) -> Result<Targeted, QueryError> {
        let scope = self.scope_since(selected, filter);
        let name = query.parsed.file_name.as_ref().map_or(text.trim(), |asked| asked.name.as_str()).to_owned();
        let search = FileSearch { name: &name, scope: &scope, selected, target, filter };
        match target.target_type {
            TargetType::Symbol => {
                let found = self.definitions_as_results(query, text, (&scope, selected), (target, filter)).await;
                found.map_err(|error| with_filename_call(error, &name))
            }
            TargetType::Auto => {
                self.mark_module_question(query, text, &scope).await?;
                match self.signals.has(Signal::FileNames) {
                    true => self.files_of_question(query, text, search).await,
                    false => Ok(Targeted::default()),
                }
            }
            TargetType::File | TargetType::Directory | TargetType::Filename => {
                self.files_as_results(query, search).await
            }
        }
    }

    /// The chunks with the definitions of the requested name, in the order of the definitions. If no symbol
    /// has exactly this name, the definitions of the nearest name are followed by the definitions of other
    /// near names.
    async fn definitions_as_results(
        &self,
        query: &mut PreparedQuery,
        text: &str,
        (scope, selected): (&Scope, &[KnownRepository]),
        (target, filter): (&Target, &ChunkFilter),
    ) -> Result<Targeted, QueryError> {
        let name = asked_name(query).unwrap_or_else(|| text.trim().to_owned());
        let request = NameRequest { near_path: target.context_path.as_deref(), ..NameRequest::new(&name) };
        let definitions = self.definitions(&query.view, scope, selected, request).await?;
        let (names, cut) = names_of(definitions, selected);
        query.names = names;
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
        Ok(Targeted { ranked: Some(results), notes: cut.into_iter().collect(), ..Targeted::default() })
    }
}

/// Returns the definitions in the form of resolved names, and a sentence that states how many definitions are
/// left out.
fn names_of(definitions: Definitions, selected: &[KnownRepository]) -> (QuestionNames, Option<Message>) {
    let (mut names, mut cut) = (QuestionNames::default(), None);
    match definitions {
        Definitions::Indexed(resolved) => {
            cut = resolved.cut_note();
            let Resolved { definitions, near, substitution, .. } = resolved;
            substitution.into_iter().for_each(|used| names.note_used(used, None));
            names.leading = definitions.into_iter().chain(near).map(Leading::of).collect();
        }
        Definitions::Changed(found) => names.lead_with_changed(&found),
        Definitions::Heuristic(found) => {
            names.note_used(found.substitution.clone(), Some(found.place(selected)));
            names.leading = vec![found.leading()];
        }
    }
    (names, cut)
}

/// Extends the error for an absent symbol: if the name looks like a file name, the error suggests a call that
/// searches for files.
fn with_filename_call(error: QueryError, name: &str) -> QueryError {
    if error.code != QueryErrorCode::NotFound || !is_like_a_file(name) {
        return error;
    }
    let call = NextCall {
        tool: "search_code",
        reason: "searches for files, because this is written like the name of a file".into(),
        arguments: vec![("query", name.to_owned()), ("target_type", TargetType::Filename.as_str().to_owned())],
    };
    error.next_first(call)
}

/// The name of the symbol that a question asks for. `None` if the question does not consist of one name.
fn asked_name(query: &PreparedQuery) -> Option<String> {
    let whole = query.words.whole.as_ref()?;
    (!whole.contains(char::is_whitespace)).then(|| whole.clone())
}

/// A result gets this number of points for each percent of its score.
const POINTS_OF_PERCENT: u64 = 10_000;

pub(crate) fn result(chunk: ChunkRecord, rank: u32, percent: u64, definition: Option<Definition>) -> RankedHit {
    let points = percent * POINTS_OF_PERCENT;
    let part = Contribution { name: "names", rank: Some(rank), points: points.cast_signed() };
    RankedHit { score: points, contributions: vec![part], definition, ..RankedHit::new(chunk) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_selects_how_names_are_compared() {
        let check = |target_type, filename_only, literal: FileMatch, glob: FileMatch| {
            let target = Target { target_type, filename_only, ..Target::default() };
            assert_eq!((target.literal(), target.glob()), (literal, glob), "{target:?}");
        };
        check(TargetType::Filename, false, FileMatch::Similar, FileMatch::Glob);
        check(TargetType::Filename, true, FileMatch::BaseName { similar: true }, FileMatch::Glob);
        check(TargetType::Directory, false, FileMatch::Directory { similar: true }, FileMatch::DirectoryGlob);
    }

    #[test]
    fn target_types_are_parsed() {
        for target in TargetType::ALL {
            assert_eq!(TargetType::parse(target.as_str()), Some(target));
        }
        assert_eq!(TargetType::parse("function"), None);
    }
}
