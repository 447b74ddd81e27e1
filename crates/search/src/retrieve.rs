//! Fetches the lists of candidates and ranks the candidates.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ChunkRecord, RepositoryId, Scope, View};
use cairn_ports::{ChunkFilter, FileHit, FileMatch, Hit, HitLists, ListsRequest, NameMatch, SymbolHit};
use cairn_ranking::{
    Candidate, DefinitionContext, Evidence, Lists, RankQuery, RankedHit, Ranking, RepositoryMentions, ScoreRange,
    Signal, Spelling, definition_key, is_end_of_path, rank,
};
use cairn_redaction::Message;

use crate::chunk_filter::CompiledFilter;
use crate::chunk_id::{ChunkId, Chunks, chunks_by_id, id_of_chunk};
use crate::joined_lists::{DEPTH, NamedChunks, joined, with_chunks};
use crate::prepared_query::PreparedQuery;
use crate::related::Related;
use crate::related_notes::num_edges_shown;
use crate::repositories::KnownRepository;
use crate::sites::RepositoryFile;
use crate::{QueryError, Searcher};

/// Number of chunks whose scores are read. The first `DEPTH` of these chunks become candidates because of
/// their scores. A later chunk becomes a candidate only if a different list contains it.
const SCORED: usize = 1_000;
/// Maximum number of symbols that become candidates because the question contains their names.
const NAMED_SYMBOLS: usize = 50;
/// Maximum number of symbols with the same short name that are read to find a qualified name.
const SYMBOLS_OF_A_NAME: usize = 5_000;
/// Maximum number of files that become candidates because their path is the question or ends with the
/// question.
const NAMED_FILES: usize = 5;
/// Maximum number of files of the kind that the question asks for, in addition to the files in the lists.
const FILES_OF_KIND: usize = 20;
/// Maximum number of files that are read to find the documents of a kind.
const DOCUMENTS_READ: usize = 500;
/// Maximum number of definitions that come before all other results because they are near `near_path`.
const LEADING_DEFINITIONS: usize = 10;
/// Maximum number of names of a question that are looked up.
const NAMES_LOOKED_UP: usize = 8;

/// The candidates of a question.
struct Found {
    /// The candidates in no particular order, without their texts.
    candidates: Vec<Candidate>,
    lists: Lists,
    evidence: Evidence,
    hides_related: bool,
    notes: Vec<Message>,
}

/// The ranked candidates of a question.
pub(crate) struct Ranked {
    /// The hits, without their texts.
    pub(crate) hits: Vec<RankedHit>,
    /// The evidence for the relevance of the hits.
    pub(crate) evidence: Evidence,
    /// Whether the filter excludes all code that has the requested relation to a name.
    pub(crate) hides_related: bool,
    /// Facts about the retrieval that the caller must know.
    pub(crate) notes: Vec<Message>,
    /// The repositories that have candidates, but are unrelated to the question. These repositories have no
    /// hits.
    pub(crate) left_out: BTreeSet<RepositoryId>,
}

impl Searcher {
    /// The ranked list of all candidates in the repositories. If `leaves_out` is true, repositories that are
    /// unrelated to the question are left out.
    pub(crate) async fn ranked(
        &self,
        query: &PreparedQuery,
        selected: &[KnownRepository],
        filter: &ChunkFilter,
        leaves_out: bool,
    ) -> Result<Ranked, QueryError> {
        let scope = self.scope_since(selected, filter);
        let Found { candidates, lists, evidence, hides_related, notes } =
            self.candidates(query, &scope, filter).await?;
        let subjects = query.subjects_with(filter);
        let PreparedQuery { words, frequencies, of_repositories, parsed, .. } = query;
        let repositories = match selected {
            [] | [_] => BTreeSet::new(),
            _ => {
                let mentions = RepositoryMentions::of(&parsed.text);
                let named = selected.iter().filter(|known| mentions.contain(known.record.name.as_str()));
                named.map(|known| known.record.id).collect()
            }
        };
        let (weights, signals) = (query.weights(self.signals), self.signals);
        let repositories = &repositories;
        let Ranking { hits, left_out } = rank(
            candidates,
            lists,
            RankQuery { words, subjects, repositories, of_repositories, leaves_out, weights, frequencies, signals },
        );
        Ok(Ranked { hits, evidence, hides_related, notes, left_out })
    }

    /// The candidates of all lists.
    async fn candidates(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        filter: &ChunkFilter,
    ) -> Result<Found, QueryError> {
        let beginnings = async {
            let files = self.named_files(query, scope).await?;
            self.beginnings_of(query, filter, &files).await
        };
        let of_kind = async {
            let files = self.files_of_kind(query, scope).await?;
            self.beginnings_of(query, filter, &files).await
        };
        let (lists, symbols, beginnings, of_kind, related) = tokio::try_join!(
            self.hit_lists(query, scope, filter),
            self.named_symbols(query, scope),
            beginnings,
            of_kind,
            self.related(query, scope)
        )?;
        let HitLists { dense: scored, sparse, records } = lists;
        let Related { chunks: related, mut notes, counted } = related;
        let leading = with_chunks(leading(query, &symbols));
        let mut named = NamedChunks { beginnings, of_kind, definitions: with_chunks(symbols), leading, related };
        let chunks = self.with_named(query, scope, filter, records, &named).await?;
        let num_related = named.related.len();
        named.keep_only(&chunks);
        if let (Some(asked), Some(counted)) = (&query.parsed.relationship, counted) {
            notes.extend(num_edges_shown(asked, counted, named.related.len(), &query.names.related));
        }
        notes.extend(excluded(num_related - named.related.len(), num_related));
        let hides_related = named.related.is_empty() && num_related > 0;
        let dense = &scored[..scored.len().min(DEPTH)];
        let scores = |hits: &[Hit]| ScoreRange::of(hits.iter().map(|hit| hit.score));
        let lists = Lists { dense: scores(dense), terms: scores(&sparse), last_dense: scores(&scored).last };
        let candidates = joined((&scored, &sparse), &named, chunks, query);
        let evidence = self.evidence(query, (dense, &sparse), &candidates);
        Ok(Found { candidates, lists, evidence, hides_related, notes })
    }

    /// The chunks with the nearest vectors, and the chunks with the highest sums of term weights.
    async fn hit_lists(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        filter: &ChunkFilter,
    ) -> Result<HitLists, QueryError> {
        let PreparedQuery { view, terms, vector, .. } = query;
        // The second stage also uses the vector scores of chunks that only the search by terms finds.
        let num_scored = if query.has_second_stage(self.signals) { SCORED } else { DEPTH };
        let dense = vector.as_ref().map(|vector| (vector, num_scored));
        let request = ListsRequest { dense, sparse: (terms, SCORED), num_records: DEPTH };
        Ok(self.vectors.search(view, scope, filter, request).await?)
    }

    /// The chunks in `listed`, and the named chunks that match the filter. All chunks in `listed` match the
    /// filter.
    async fn with_named(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        filter: &ChunkFilter,
        listed: Vec<ChunkRecord>,
        named: &NamedChunks,
    ) -> Result<Chunks, QueryError> {
        let mut chunks = chunks_by_id(listed);
        let searched: BTreeSet<ChunkId> = chunks.keys().copied().collect();
        let unindexed = query.names.leading.iter().filter_map(|leading| leading.chunk.clone());
        let unindexed = chunks_by_id(unindexed.filter(|chunk| scope.contains(chunk.repository)).collect());
        let of_symbols = named.ids_of_symbols().filter(|id| scope.contains(id.0) && !unindexed.contains_key(id));
        let wanted = of_symbols.chain(named.beginnings.iter().chain(&named.of_kind).copied());
        let wanted = wanted.chain(named.related.iter().map(|related| related.id));
        // The lists already contain most of these chunks, so only the missing chunks are fetched.
        let missing = wanted.filter(|id| !searched.contains(id)).collect();
        chunks.extend(self.fetch(&query.view, scope, missing).await?);
        chunks.extend(unindexed);
        let patterns = query.patterns.iter().filter(|pattern| scope.contains(pattern.repository));
        chunks.extend(patterns.map(|pattern| (id_of_chunk(pattern), pattern.clone())));
        let compiled = CompiledFilter::new(filter)?;
        chunks.retain(|id, chunk| searched.contains(id) || compiled.lets_through(chunk));
        Ok(chunks)
    }

    /// The symbols that the question names, best first.
    async fn named_symbols(&self, query: &PreparedQuery, scope: &Scope) -> Result<Vec<SymbolHit>, QueryError> {
        let PreparedQuery { view, words, names, .. } = query;
        let ways = [NameMatch::Exact, NameMatch::CaseInsensitive, NameMatch::StyleInsensitive];
        let mut found: Vec<SymbolHit> = Vec::new();
        for name in words.spelled.iter().take(NAMES_LOOKED_UP) {
            found.extend(self.names.symbols(view, scope, name, &ways, NAMED_SYMBOLS).await?);
        }
        let near = names.near.iter().map(|near| &near.hit);
        found.extend(near.filter(|hit| scope.contains(hit.repository)).cloned());
        let is_meant = |hit: &SymbolHit| words.spelling_of(&hit.symbol) == Spelling::Whole;
        // If many symbols have the same short name, the limited list may not contain the requested symbol.
        if let ([_, last, ..], Some(_)) = (words.spelled.as_slice(), &words.whole)
            && !found.iter().any(is_meant)
        {
            let all = self.names.symbols(view, scope, last, &[NameMatch::Exact], SYMBOLS_OF_A_NAME).await?;
            found.extend(all.into_iter().filter(is_meant));
        }
        // The exact name comes first. The definitions of a name have the same order as in `read_code`, except
        // that uses are not counted, because counting needs the graph.
        let context = DefinitionContext { near_path: query.near_path.as_deref() };
        found.sort_by(|left, right| {
            let rank = |hit: &SymbolHit| (words.spelling_of(&hit.symbol), std::cmp::Reverse(hit.score));
            let place = definition_key(left.repository, &left.symbol, 0, context);
            let other = definition_key(right.repository, &right.symbol, 0, context);
            rank(left).cmp(&rank(right)).then_with(|| place.cmp(&other))
        });
        found.dedup_by(|left, right| left.repository == right.repository && left.symbol == right.symbol);
        found.truncate(NAMED_SYMBOLS);
        Ok(found)
    }

    /// The files that the question names, or the documents that it asks for: the changelog, the licence or
    /// the readme file. Otherwise, the files whose path equals the whole question or ends with the whole
    /// question, with the exact path first.
    async fn named_files(&self, query: &PreparedQuery, scope: &Scope) -> Result<Vec<FileHit>, QueryError> {
        let PreparedQuery { view, words, named_files, .. } = query;
        if !named_files.is_empty() {
            return Ok(named_files.iter().filter(|file| scope.contains(file.repository)).cloned().collect());
        }
        let documents = self.asked_documents(query, scope).await?;
        if !documents.is_empty() {
            return Ok(documents);
        }
        let Some(path) = words.path() else { return Ok(Vec::new()) };
        let mut found = self.names.files(view, scope, path, FileMatch::Name, NAMED_SYMBOLS).await?;
        found.retain(|file| is_end_of_path(path, &file.path));
        found.sort_by_key(|file| file.path.as_str().len());
        found.truncate(NAMED_FILES);
        Ok(found)
    }

    /// The documents that the question asks for by their kind. The documents with the shortest paths come
    /// first, because they are about the whole repository.
    async fn asked_documents(&self, query: &PreparedQuery, scope: &Scope) -> Result<Vec<FileHit>, QueryError> {
        let kind = query.subjects.file_kind.filter(|_| self.signals.has(Signal::FileKind));
        let Some(kind) = kind.filter(|kind| !kind.document_names().is_empty()) else { return Ok(Vec::new()) };
        let glob = format!("{{{}}}*", kind.document_names().join(","));
        let mut found = self.names.files(&query.view, scope, &glob, FileMatch::Glob, DOCUMENTS_READ).await?;
        found.retain(|file| kind.is_document(&file.path));
        found.sort_by_key(|file| (file.path.as_str().matches('/').count(), file.path.as_str().len()));
        found.truncate(NAMED_FILES);
        Ok(found)
    }

    /// The files of the kind that the question asks for in words: "jupyter notebooks". The shortest paths
    /// come first.
    async fn files_of_kind(&self, query: &PreparedQuery, scope: &Scope) -> Result<Vec<FileHit>, QueryError> {
        let kind = query.subjects.file_kind.filter(|_| self.signals.has(Signal::FileKind));
        let Some(glob) = kind.and_then(|kind| kind.path_glob()) else { return Ok(Vec::new()) };
        let mut found = self.names.files(&query.view, scope, &glob, FileMatch::Glob, DOCUMENTS_READ).await?;
        found.sort_by_key(|file| file.path.as_str().len());
        found.truncate(FILES_OF_KIND);
        Ok(found)
    }

    /// The first chunk of each file that matches the filter, in the order of the files. The list is empty if
    /// the filter restricts paths.
    pub(crate) async fn beginnings_of(
        &self,
        query: &PreparedQuery,
        filter: &ChunkFilter,
        files: &[FileHit],
    ) -> Result<Vec<ChunkId>, QueryError> {
        if !filter.paths.is_empty() {
            return Ok(Vec::new());
        }
        let files: Vec<RepositoryFile> = files.iter().map(|file| (file.repository, file.path.clone())).collect();
        let mut first: BTreeMap<RepositoryFile, ChunkId> = BTreeMap::new();
        for place in self.places(query, files.iter(), filter).await? {
            first.entry((place.repository, place.path)).or_insert((place.repository, place.key));
        }
        Ok(files.iter().filter_map(|file| first.get(file).copied()).collect())
    }

    /// The chunks without their texts.
    pub(crate) async fn fetch(&self, view: &View, scope: &Scope, ids: BTreeSet<ChunkId>) -> Result<Chunks, QueryError> {
        if ids.is_empty() {
            return Ok(Chunks::new());
        }
        let ids: Vec<ChunkId> = ids.into_iter().collect();
        Ok(chunks_by_id(self.vectors.fetch(view, scope, &ids, false).await?))
    }

    pub(crate) async fn fetch_texts(
        &self,
        view: &View,
        scope: &Scope,
        ids: BTreeSet<ChunkId>,
    ) -> Result<Chunks, QueryError> {
        if ids.is_empty() {
            return Ok(Chunks::new());
        }
        let ids: Vec<ChunkId> = ids.into_iter().collect();
        Ok(chunks_by_id(self.vectors.fetch(view, scope, &ids, true).await?))
    }
}

/// The sentence that states how many places with the requested relation the filters exclude.
fn excluded(num_excluded: usize, num_all: usize) -> Option<Message> {
    let message = || Message::from("The filters exclude ").and(num_excluded).and(" of ").and(num_all);
    (num_excluded > 0).then(|| message().and(" places at the edges."))
}

/// The definitions that come before all other results. If the question is a name and the caller gave a path
/// as context, the result contains the definitions of this name, nearest first.
fn leading(query: &PreparedQuery, symbols: &[SymbolHit]) -> Vec<SymbolHit> {
    let named = query.names.leading.iter().map(|leading| leading.hit.clone());
    let is_meant = |hit: &&SymbolHit| query.words.spelling_of(&hit.symbol) == Spelling::Whole;
    if query.near_path.is_some() && query.names.leading.is_empty() {
        return symbols.iter().filter(is_meant).take(LEADING_DEFINITIONS).cloned().collect();
    }
    named.collect()
}
