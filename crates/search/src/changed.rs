//! Resolves names in files that changed after they were indexed.
//!
//! The index does not contain the definitions in these files, so the definitions have no chunks and no edges.
//! The files are read and parsed when a requested name is not in the index. Only local mode can read working
//! trees.

use std::sync::Arc;

use cairn_domain::{ChunkKey, ChunkKind, ChunkRecord, ContentHash, Scope, SymbolEntry, SymbolKind, View};
use cairn_name_match::{SameName, WantedName, score_name};
use cairn_ports::{NameMatch, SymbolHit};
use cairn_ranking::{DefinitionContext, definition_key};
use cairn_redaction::{Message, quoted};

use crate::changed_files::{ChangedFile, ChangedTree};
use crate::changed_trees::Unread;
use crate::heuristic::HeuristicDefinition;
use crate::leading::{Leading, NamedPlace};
use crate::path_of_name::is_in_file;
use crate::repositories::KnownRepository;
use crate::resolve::{NameMatching, NameRequest, Resolved, Substitution, is_near_enough};
use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

/// A definition in a changed file.
#[derive(Clone, Debug)]
pub(crate) struct ChangedDefinition {
    pub(crate) repository: KnownRepository,
    pub(crate) symbol: SymbolEntry,
    pub(crate) substitution: Substitution,
    /// Other definitions of the name in changed files, each with the name of its repository.
    pub(crate) others: Vec<(String, SymbolEntry)>,
    tree: Arc<ChangedTree>,
}

/// The definitions of the requested name, by the source in which they were found.
pub(crate) enum Definitions {
    Indexed(Resolved),
    Changed(Box<ChangedDefinition>),
    /// A line that looks like a definition. Neither the index nor a changed file contains a symbol with a
    /// similar name.
    Heuristic(Box<HeuristicDefinition>),
}

impl Definitions {
    /// If a different name is used, adds to the reason which changed files were not searched.
    fn without(mut self, unread: &Unread) -> Self {
        let substitution = match &mut self {
            Self::Indexed(resolved) => resolved.substitution.as_mut(),
            Self::Changed(changed) => Some(&mut changed.substitution),
            Self::Heuristic(line) => Some(&mut line.substitution),
        };
        if let Some(substitution) = substitution {
            substitution.reason = format!("{}; {}", substitution.reason, unread.part());
        }
        self
    }
}

/// Whether no definition has the requested name. A definition with a different name may have been found.
pub(crate) fn has_other_name(definitions: &Result<Definitions, QueryError>) -> bool {
    match definitions {
        Ok(Definitions::Indexed(resolved)) => !resolved.is_same_name(),
        Ok(Definitions::Changed(changed)) => !changed.substitution.is_same_name(),
        Ok(Definitions::Heuristic(_)) => false,
        Err(error) => error.code == QueryErrorCode::NotFound,
    }
}

impl ChangedDefinition {
    /// The file with its contents in the working tree.
    pub(crate) fn file(&self) -> Option<&ChangedFile> {
        self.tree.files.iter().find(|file| file.path == self.symbol.path)
    }

    /// Returns the definition as the first result. The index does not contain the definition.
    pub(crate) fn leading(&self) -> Option<Leading> {
        let chunk = self.chunk()?;
        let symbol = SymbolEntry { chunk: Some(chunk.key), ..self.symbol.clone() };
        let (repository, score) = (chunk.repository, self.substitution.score / 10);
        let hit = SymbolHit { repository, symbol, matched: NameMatch::Fuzzy, score };
        Some(Leading { hit, matched: self.substitution.matched(), chunk: Some(chunk) })
    }

    pub(crate) fn place(&self) -> NamedPlace {
        let (repository, path) = (self.repository.record.name.to_string(), self.symbol.path.to_string());
        NamedPlace { repository, path, line: self.symbol.line }
    }

    pub(crate) fn chunk(&self) -> Option<ChunkRecord> {
        let SymbolEntry { qualified_name, kind, path, span, node, .. } = &self.symbol;
        let file = self.file()?;
        let lines = file.text.split_inclusive('\n').skip(span.start.saturating_sub(1) as usize);
        let text: String = lines.take((span.end + 1).saturating_sub(span.start) as usize).collect();
        Some(ChunkRecord {
            key: ChunkKey(node.0),
            repository: self.repository.record.id,
            path: path.clone(),
            language: file.language.clone(),
            kind: chunk_kind(*kind),
            span: *span,
            symbol: Some(qualified_name.clone()),
            symbol_kind: Some(*kind),
            heading: None,
            header: String::new(),
            content_hash: ContentHash::of(&text),
            text,
            module_path: self.symbol.module_path.clone(),
            is_test: self.symbol.is_test,
            exported: self.symbol.exported,
            documented: self.symbol.documented,
            has_secrets: false,
            weight_percent: 100,
            tags: Arc::default(),
            changed_at: None,
        })
    }

    /// The error for a question about the relations of the definition. The index does not contain these
    /// relations yet.
    pub(crate) fn not_indexed(&self) -> QueryError {
        let SymbolEntry { qualified_name, path, line, .. } = &self.symbol;
        let message = Message::default().and(quoted(qualified_name)).and(" is in ").and(quoted(path.as_str()));
        let message = message.and(", line ").and(*line).and(", which changed after it was indexed");
        let repository = self.repository.record.name.to_string();
        QueryError::new(QueryErrorCode::NotFound, message)
            .hint("its relations will be known when the repository has been indexed again")
            .next(self.repository.indexing_of_changes())
            .next(NextCall {
                tool: "read_code",
                reason: "reads the definition".into(),
                arguments: vec![("repository", repository), ("symbol", format!("{path}#{qualified_name}"))],
            })
    }
}

/// The kind of a chunk that contains one definition.
fn chunk_kind(kind: SymbolKind) -> ChunkKind {
    match kind {
        SymbolKind::Function => ChunkKind::Function,
        SymbolKind::Method => ChunkKind::Method,
        SymbolKind::Class => ChunkKind::Class,
        _ => ChunkKind::Group,
    }
}

/// A symbol of a changed file, with its nearness to the requested name.
struct Candidate<'a> {
    known: &'a KnownRepository,
    tree: &'a Arc<ChangedTree>,
    symbol: &'a SymbolEntry,
    score: u32,
    reason: String,
}

impl Searcher {
    /// The definitions of the requested name, from the first source that contains a definition. Definitions
    /// with exactly this name are searched for first, in the index and then in changed files; then
    /// definitions with a near name, in the same order; and last a line that looks like the definition.
    pub(crate) async fn definitions(
        &self,
        view: &View,
        scope: &Scope,
        selected: &[KnownRepository],
        request: NameRequest<'_>,
    ) -> Result<Definitions, QueryError> {
        let indexed = self.resolve_name(view, (scope, selected), request).await;
        let is_settled = match &indexed {
            Ok(resolved) => resolved.has_exactly_this_name(),
            Err(error) => error.code != QueryErrorCode::NotFound,
        };
        if is_settled {
            return indexed.map(Definitions::Indexed);
        }
        let request = request.with_path_of_name();
        let changed = self.changed_trees(selected).await;
        if let Some(found) = best(same_names(&changed.trees, request), request) {
            return Ok(Definitions::Changed(Box::new(found)));
        }
        let found = match (indexed, best(near_names(&changed.trees, request), request)) {
            (Err(_), Some(found)) => Ok(Definitions::Changed(Box::new(found))),
            (Err(absent), None) => {
                let found = self.heuristic_definition(view, scope, request).await?;
                found.map(|found| Definitions::Heuristic(Box::new(found))).ok_or(absent)
            }
            (indexed, _) => indexed.map(Definitions::Indexed),
        };
        Ok(match (found, changed.unread()) {
            (Ok(found), Some(unread)) => found.without(&unread),
            (Err(absent), Some(unread)) => return Err(unread.added_to(absent)),
            (found, None) => return found,
        })
    }

    /// The definition of a name in a changed file, if the index does not contain the name.
    pub(crate) async fn changed_definition(
        &self,
        view: &View,
        scope: &Scope,
        selected: &[KnownRepository],
        request: NameRequest<'_>,
    ) -> Result<Option<ChangedDefinition>, QueryError> {
        if self.changed.is_none() {
            return Ok(None);
        }
        let same = [NameMatch::Exact, NameMatch::CaseInsensitive, NameMatch::StyleInsensitive];
        if !self.names.symbols(view, scope, request.name, &same, 1).await?.is_empty() {
            return Ok(None);
        }
        Ok(best(same_names(&self.changed_trees(selected).await.trees, request), request))
    }
}

type Changed<'a> = [(&'a KnownRepository, Arc<ChangedTree>)];

fn symbols<'a>(
    changed: &'a Changed<'_>,
    request: NameRequest<'a>,
) -> impl Iterator<Item = (&'a KnownRepository, &'a Arc<ChangedTree>, &'a SymbolEntry)> {
    let of_files = changed.iter().flat_map(|(known, tree)| tree.files.iter().map(move |file| (*known, tree, file)));
    let symbols = of_files.flat_map(|(known, tree, file)| file.symbols.iter().map(move |symbol| (known, tree, symbol)));
    symbols.filter(move |(_, _, symbol)| request.path.is_none_or(|path| is_in_file(path, &symbol.path)))
}

fn same_names<'a>(changed: &'a Changed<'_>, request: NameRequest<'a>) -> Vec<Candidate<'a>> {
    let candidate = |(known, tree, symbol): (&'a KnownRepository, &'a Arc<ChangedTree>, &'a SymbolEntry)| {
        let (score, style) = match SameName::of(request.name, &symbol.name, &symbol.qualified_name)? {
            SameName::Exact => (1_000, ""),
            SameName::Case => (980, "other case, "),
            SameName::Style => (950, "other style, "),
        };
        Some(Candidate { known, tree, symbol, score, reason: style.to_owned() })
    };
    symbols(changed, request).filter_map(candidate).collect()
}

fn near_names<'a>(changed: &'a Changed<'_>, request: NameRequest<'a>) -> Vec<Candidate<'a>> {
    let wanted = WantedName::new(request.name);
    let candidate = |(known, tree, symbol): (&'a KnownRepository, &'a Arc<ChangedTree>, &'a SymbolEntry)| {
        let near = score_name(&wanted, &symbol.name).filter(|near| is_near_enough(near.score, near.reasons))?;
        Some(Candidate { known, tree, symbol, score: near.score, reason: format!("{}, ", near.reasons) })
    };
    symbols(changed, request).filter_map(candidate).collect()
}

/// Returns the best candidate. The remaining candidates with the same name and score become the other
/// definitions in the result.
fn best(mut candidates: Vec<Candidate<'_>>, request: NameRequest<'_>) -> Option<ChangedDefinition> {
    let context = DefinitionContext { near_path: request.near_path };
    candidates.sort_by(|left, right| {
        let place = definition_key(left.known.record.id, left.symbol, 0, context);
        let other = definition_key(right.known.record.id, right.symbol, 0, context);
        right.score.cmp(&left.score).then_with(|| place.cmp(&other))
    });
    let first = candidates.first()?;
    let symbol = first.symbol.clone();
    let is_other = |other: &&Candidate<'_>| other.score == first.score && other.symbol.name == symbol.name;
    let place = |other: &Candidate<'_>| (other.known.record.name.to_string(), other.symbol.clone());
    let others = candidates.iter().skip(1).filter(is_other).map(place).collect();
    let substitution = Substitution {
        requested: request.name.to_owned(),
        used: symbol.qualified_name.clone(),
        matching: NameMatching::Changed,
        score: first.score,
        reason: format!("{}in a file that changed after it was indexed", first.reason),
        similar: Vec::new(),
    };
    Some(ChangedDefinition {
        repository: first.known.clone(),
        tree: Arc::clone(first.tree),
        symbol,
        substitution,
        others,
    })
}
