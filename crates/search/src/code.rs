//! Reads code: a file, lines of a file, or a symbol. The source is the redacted text of the generation that
//! is visible in the view.

use bytes::Bytes;
use cairn_domain::{LineSpan, ManifestEntry, RepoPath, SourceText, SymbolEntry, View};
use cairn_ports::{BlobStoreError, BlobStoreExt, ErrorKind, ResolvedSymbol};
use cairn_question::{Lines, file_and_lines};
use cairn_ranking::truncate_lines;
use cairn_redaction::{Message, Own, quoted};
use cairn_wire::{ArtifactKind, Manifest, PackReader, decode};

use crate::bounds;
use crate::changed::{ChangedDefinition, Definitions};
use crate::changed_files::{ChangedFile, FileState};
use crate::error::REBUILD;
use crate::file_names::is_like_a_file;
use crate::heuristic::HeuristicDefinition;
use crate::repositories::{KnownRepository, name_of};
use crate::resolve::{NameRequest, Resolved};
use crate::{FieldFault, NextCall, QueryError, QueryErrorCode, Searcher, Stamp, Substitution};

/// The code to read: a file or directory by its `path`, or a `symbol`. If both are set, the symbol is
/// searched for only in this file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeRequest {
    pub repository: Option<String>,
    pub path: Option<String>,
    /// A name, a qualified name, `path#name`, or a phrase.
    pub symbol: Option<String>,
    /// If several definitions have the name, the definition nearest to this file is used.
    pub context_path: Option<String>,
    /// First and last line to show. `None` shows all lines.
    pub lines: Option<(u32, u32)>,
    /// Hard limit for the tokens of the text.
    pub max_tokens: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Code {
    pub repository: String,
    pub path: RepoPath,
    pub language: String,
    /// The range of lines in `text`. `None` if the file is empty.
    pub span: Option<LineSpan>,
    pub num_lines: u32,
    pub text: String,
    /// Number of requested lines that are not shown because of `max_tokens`.
    pub num_lines_cut: usize,
    pub symbol: Option<SymbolEntry>,
    /// Set if the name of the symbol differs from the requested name.
    pub substitution: Option<Substitution>,
    /// Other definitions of the name, each with the name of its repository.
    pub others: Vec<(String, SymbolEntry)>,
    /// Other repositories that contain a file with this path.
    pub also_in: Vec<String>,
    /// Sentences with facts that the caller must know, such as the number of definitions that are left out.
    pub notes: Vec<Message>,
    /// The name of the pattern that the code follows.
    pub follows_pattern: Option<String>,
    pub stamps: Vec<Stamp>,
}

impl CodeRequest {
    /// The same request for these lines of a file.
    pub(crate) fn at(&self, path: &str, lines: &Lines) -> Self {
        let lines = Some((*lines.start(), *lines.end()));
        Self { path: Some(path.to_owned()), symbol: None, lines, ..self.clone() }
    }
}

impl Searcher {
    /// Reads a file, some of its lines, or a symbol. If no file has the path, lines in the path are
    /// considered: `src/server.go:642-652`.
    pub async fn read_code(&self, request: &CodeRequest) -> Result<Code, QueryError> {
        let read = self.read_requested(request).await;
        let position = request.path.as_deref().filter(|_| request.lines.is_none()).and_then(file_and_lines);
        match (read, position) {
            (Err(error), Some((path, lines))) if error.code == QueryErrorCode::NotFound => {
                self.read_requested(&request.at(path, &lines)).await
            }
            (read, _) => read,
        }
    }

    async fn read_requested(&self, request: &CodeRequest) -> Result<Code, QueryError> {
        let (view, selected) = self.view_for(request).await?;
        match (&request.symbol, &request.path) {
            // Such a text is more often the name of a file than the name of a symbol: `package.json`.
            (Some(symbol), None) if is_like_a_file(symbol) => {
                let of_target = CodeRequest { symbol: None, ..request.clone() };
                self.read_target(symbol, &of_target).await
            }
            (Some(symbol), path) => match self.read_symbol(&view, &selected, symbol, path.as_deref(), request).await {
                Err(error) => Err(self.explain_absent_name(error, symbol, &view, &selected).await?),
                read => read,
            },
            (None, Some(path)) => {
                let read = self.read_path(&view, &selected, path, request).await;
                // A path such as `src/server.py#Server.run` refers to a symbol, unless a file has this path.
                match (read, path.split_once('#')) {
                    (Err(error), Some((_, name))) if error.code == QueryErrorCode::NotFound && !name.is_empty() => {
                        self.read_symbol(&view, &selected, path, None, request).await
                    }
                    (read, _) => read,
                }
            }
            (None, None) => {
                let message = "give `path` (optionally with `lines`) or `symbol`";
                Err(bounds::invalid(FieldFault::of("path"), message))
            }
        }
    }

    /// The view, and the repositories in which the code is searched for.
    pub(crate) async fn view_for(&self, request: &CodeRequest) -> Result<(View, Vec<KnownRepository>), QueryError> {
        let words = [
            ("repository", &request.repository),
            ("path", &request.path),
            ("symbol", &request.symbol),
            ("context_path", &request.context_path),
        ];
        for (field, text) in words {
            bounds::word(field, text.as_deref().unwrap_or_default())?;
        }
        let view = self.catalogue.view().await?;
        let selected = match &request.repository {
            Some(word) => vec![self.select_one(&view, word).await?],
            None => self.repositories(&view).await?,
        };
        Ok((view, selected))
    }

    pub(crate) async fn read_symbol(
        &self,
        view: &View,
        selected: &[KnownRepository],
        symbol: &str,
        path: Option<&str>,
        request: &CodeRequest,
    ) -> Result<Code, QueryError> {
        let scope = self.scope_of(selected);
        let name = NameRequest { path, near_path: request.context_path.as_deref(), ..NameRequest::new(symbol) };
        let resolved = match self.definitions(view, &scope, selected, name).await? {
            Definitions::Indexed(resolved) => resolved,
            Definitions::Changed(found) => return self.read_changed(selected, *found, request).await,
            Definitions::Heuristic(found) => return self.read_heuristic(view, selected, *found, request).await,
        };
        let cut = resolved.cut_note();
        let Resolved { definitions, substitution, .. } = resolved;
        let [best, others @ ..] = definitions.as_slice() else {
            return Err(QueryError::new(QueryErrorCode::InternalError, "a resolved name has no definition"));
        };
        let lines = request.lines.unwrap_or((best.symbol.span.start, best.symbol.span.end));
        let of_file = CodeRequest { lines: Some(lines), ..request.clone() };
        let owner: Vec<KnownRepository> =
            selected.iter().filter(|known| known.record.id == best.repository).cloned().collect();
        let mut code = self.read_file(view, &owner, best.symbol.path.as_str(), &of_file).await?;
        code.substitution = substitution;
        code.symbol = Some(best.symbol.clone());
        let other = |hit: &ResolvedSymbol| (name_of(selected, hit.repository), hit.symbol.clone());
        code.others = others.iter().map(other).collect();
        code.notes.extend(cut);
        Ok(code)
    }

    /// Reads the lines that look like a definition, or the requested lines of the same file.
    async fn read_heuristic(
        &self,
        view: &View,
        selected: &[KnownRepository],
        found: HeuristicDefinition,
        request: &CodeRequest,
    ) -> Result<Code, QueryError> {
        let span = found.span();
        let of_file = CodeRequest { lines: Some(request.lines.unwrap_or((span.start, span.end))), ..request.clone() };
        let owner: Vec<KnownRepository> =
            selected.iter().filter(|known| known.record.id == found.chunk.repository).cloned().collect();
        let code = self.read_file(view, &owner, found.chunk.path.as_str(), &of_file).await?;
        Ok(Code { substitution: Some(found.substitution), ..code })
    }

    /// Reads the definition from the file in the working tree.
    async fn read_changed(
        &self,
        selected: &[KnownRepository],
        found: ChangedDefinition,
        request: &CodeRequest,
    ) -> Result<Code, QueryError> {
        let Some(file) = found.file() else {
            return Err(QueryError::new(QueryErrorCode::InternalError, "a changed definition has no file"));
        };
        let span = found.symbol.span;
        let lines = request.lines.unwrap_or((span.start, span.end));
        let code = self.code_of_changed(selected, (&found.repository, file), lines, request.max_tokens).await?;
        Ok(Code {
            symbol: Some(found.symbol.clone()),
            substitution: Some(found.substitution.clone()),
            others: found.others.clone(),
            ..code
        })
    }

    /// Lines of a changed file with its contents in the working tree.
    pub(crate) async fn code_of_changed(
        &self,
        selected: &[KnownRepository],
        (known, file): (&KnownRepository, &ChangedFile),
        (first, last): (u32, u32),
        max_tokens: usize,
    ) -> Result<Code, QueryError> {
        check_lines(known, &file.path, file.num_lines, (first, last))?;
        let last = last.min(file.num_lines);
        let (text, num_lines_cut) = truncate_lines(lines(&file.text, first, last), max_tokens);
        let shown_last = last.saturating_sub(num_lines_cut as u32);
        Ok(Code {
            repository: known.record.name.to_string(),
            path: file.path.clone(),
            language: file.language.clone(),
            span: (first <= shown_last).then(|| LineSpan::new(first, shown_last)),
            num_lines: file.num_lines,
            text: text.to_owned(),
            num_lines_cut,
            symbol: None,
            substitution: None,
            others: Vec::new(),
            also_in: Vec::new(),
            notes: Vec::new(),
            follows_pattern: None,
            stamps: self.stamps(selected, &[known.record.id]).await?,
        })
    }

    pub(crate) async fn code(
        &self,
        known: &KnownRepository,
        selected: &[KnownRepository],
        entry: &ManifestEntry,
        source: &SourceText,
        request: &CodeRequest,
    ) -> Result<Code, QueryError> {
        let (first, last) = request.lines.unwrap_or((1, u32::MAX));
        check_lines(known, &entry.path, entry.num_lines, (first, last))?;
        let last = last.min(entry.num_lines);
        let wanted = lines(&source.text, first, last);
        let (text, num_lines_cut) = truncate_lines(wanted, request.max_tokens);
        let shown_last = last.saturating_sub(num_lines_cut as u32);
        Ok(Code {
            repository: known.record.name.to_string(),
            path: entry.path.clone(),
            language: source.language.clone().unwrap_or_default(),
            span: (first <= shown_last).then(|| LineSpan::new(first, shown_last)),
            num_lines: entry.num_lines,
            text: text.to_owned(),
            num_lines_cut,
            symbol: None,
            substitution: None,
            others: Vec::new(),
            also_in: Vec::new(),
            notes: self.note_of_changed_file(known, entry).await.into_iter().collect(),
            follows_pattern: None,
            stamps: self.stamps(selected, &[known.record.id]).await?,
        })
    }

    /// A sentence that states that the file was changed or removed after it was indexed.
    async fn note_of_changed_file(&self, known: &KnownRepository, entry: &ManifestEntry) -> Option<Message> {
        let (changed, published) = self.changed.as_ref().zip(known.published.as_ref())?;
        let happened = match changed.file_state(&known.record, entry, published.indexed_at_ms).await {
            FileState::Same => return None,
            FileState::Changed => "changed",
            FileState::Removed => "was removed",
        };
        let message = Message::from("The file ").and(happened).and(" after it was indexed; the text is that of ");
        Some(message.and("the index."))
    }

    /// Adds the name of the pattern that the shown lines follow.
    pub(crate) async fn with_pattern(
        &self,
        view: &View,
        known: &KnownRepository,
        mut code: Code,
    ) -> Result<Code, QueryError> {
        if let Some(span) = code.span {
            let id = known.record.id;
            let members = self.pattern_members(view, std::slice::from_ref(known), [id]).await?;
            let followed = members.get(&id).and_then(|members| members.followed_at(&code.path, span));
            code.follows_pattern = followed.map(str::to_owned);
        }
        Ok(code)
    }

    /// The manifest of the published generation.
    pub(crate) async fn manifest(&self, known: &KnownRepository) -> Result<Option<Manifest>, QueryError> {
        let Some(published) = &known.published else { return Ok(None) };
        let bytes = self.blobs.get_artifact(&published.manifest).await.map_err(missing_artifact)?;
        Ok(Some(decode(ArtifactKind::Manifest, &bytes).map_err(|error| damaged(&published.manifest.key, &error))?))
    }

    pub(crate) async fn manifest_entry(
        &self,
        known: &KnownRepository,
        path: &str,
    ) -> Result<Option<ManifestEntry>, QueryError> {
        let manifest = self.manifest(known).await?;
        Ok(manifest.and_then(|manifest| manifest.find(path).cloned()))
    }

    pub(crate) async fn text(&self, entry: &ManifestEntry) -> Result<Option<SourceText>, QueryError> {
        let (true, Some(slot)) = (entry.outcome.is_indexed(), &entry.source) else { return Ok(None) };
        let bytes: Bytes = self.blobs.get(&slot.artifact.key).await.map_err(missing_artifact)?;
        let source = PackReader::open(ArtifactKind::SourcePack, bytes).and_then(|mut pack| pack.read(slot.index));
        Ok(Some(source.map_err(|error| damaged(&slot.artifact.key, &error))?))
    }
}

/// Fails if the file does not contain the lines.
pub(crate) fn check_lines(
    known: &KnownRepository,
    path: &RepoPath,
    num_lines: u32,
    (first, last): (u32, u32),
) -> Result<(), QueryError> {
    if first > 0 && first <= last && (first <= num_lines || num_lines == 0) {
        return Ok(());
    }
    let message = Message::from("lines ").and(first).and("-").and(last).and(" are outside ").and(quoted(path.as_str()));
    let message = message.and(", which has ").and(num_lines).and(" lines");
    let is_reversed = first > 0 && first > last;
    let (field, max_allowed, provided) =
        if is_reversed { ("end_line", None, last) } else { ("start_line", Some(u64::from(num_lines)), first) };
    let fault = FieldFault { max_allowed, provided: Some(provided.into()), ..FieldFault::of(field) };
    Err(bounds::invalid(fault, message).next(NextCall {
        tool: "read_code",
        reason: "reads the file from its first line".into(),
        arguments: vec![("repository", known.record.name.to_string()), ("path", path.to_string())],
    }))
}

/// An artifact that the catalogue refers to must exist. If it is missing, the index is damaged.
pub(crate) fn missing_artifact(error: BlobStoreError) -> QueryError {
    let is_missing = error.kind == ErrorKind::NotFound;
    let error = QueryError::from(error);
    if is_missing { QueryError { code: QueryErrorCode::Corrupt, ..error.hint(REBUILD) } } else { error }
}

pub(crate) fn damaged(key: &str, error: &cairn_wire::DecodeError) -> QueryError {
    let message = Own(format!("artifact `{key}` is damaged: {error}"));
    QueryError::new(QueryErrorCode::Corrupt, message).hint(REBUILD)
}

/// The lines from `first` to `last`, with their line ends. Line numbers are one-based.
pub(crate) fn lines(text: &str, first: u32, last: u32) -> &str {
    let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let start = starts.by_ref().nth(first.saturating_sub(1) as usize).unwrap_or(text.len());
    let end = if last >= first { starts.nth((last - first) as usize).unwrap_or(text.len()) } else { start };
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn lines_end_with_their_line_feeds() {
        let check = |first, last, expect: &str| assert_eq!(lines("a\nb\nc", first, last), expect, "{first}-{last}");
        check(1, 1, "a\n");
        check(2, 3, "b\nc");
        check(3, 9, "c");
        check(4, 9, "");
        check(1, 3, "a\nb\nc");
    }
}
