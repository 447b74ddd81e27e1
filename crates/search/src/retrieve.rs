//! Retrieval: the lists of candidates that are fused.

use std::collections::BTreeMap;

use cairn_domain::{ChunkKey, ChunkRecord, InputType, LineSpan, RepositoryId, Scope, SymbolEntry, View};
use cairn_ports::{ChunkFilter, FileHit, FileMatch, Hit, NameMatch, SymbolHit};
use cairn_ranking::{
    Candidate, DEFINITION, Definition, EXACT, QueryWords, RankedList, SPELLED, Spelling, defines_named_symbol, fuse,
    is_end_of_path, query_terms,
};

use crate::{QueryError, Searcher};

/// How deep each list goes. Fixed, so that every page of an answer ranks the same candidates.
const DEPTH: usize = 200;
/// Symbols looked up by name, at most.
const NAMED_SYMBOLS: usize = 50;
/// Symbols of one name among which a qualified one is looked for.
const SYMBOLS_OF_A_NAME: usize = 5_000;
/// Files with the path that was asked for, at most.
const NAMED_FILES: usize = 5;
/// Chunks of a file among which its first is looked for.
const CHUNKS_OF_A_FILE: usize = 2_000;
/// Names in a question that are looked up, at most.
const NAMES_LOOKED_UP: usize = 8;

const DENSE_PERCENT: u32 = 100;
const SPARSE_PERCENT: u32 = 100;
/// A definition of the very name that was asked for.
const NAMES_PERCENT: u32 = 150;

type ChunkId = (RepositoryId, ChunkKey);

impl Searcher {
    /// The fused candidates with their texts, in no particular order.
    pub(crate) async fn candidates(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        query: &str,
        words: &QueryWords,
    ) -> Result<Vec<Candidate>, QueryError> {
        let dense = async {
            let mut vectors = self.embedder.embed(InputType::Query, &[query]).await?;
            match vectors.pop() {
                Some(vector) => {
                    Ok::<_, QueryError>(self.vectors.search_dense(view, scope, filter, &vector, DEPTH).await?)
                }
                None => Ok(Vec::new()),
            }
        };
        let terms = query_terms(query);
        let sparse =
            async { Ok::<_, QueryError>(self.vectors.search_sparse(view, scope, filter, &terms, DEPTH).await?) };
        let named = self.named_symbols(view, scope, words);
        let files = self.named_files(view, scope, words);
        let (dense, sparse, named, files) = tokio::try_join!(dense, sparse, named, files)?;
        let (dense, sparse) = (ids(&dense), ids(&sparse));
        let pool: Vec<ChunkId> = dense.iter().chain(&sparse).copied().collect();
        let mut chunks = self.fetch(view, scope, pool).await?;
        let beginnings = self.beginnings_of(view, filter, &files, query, &mut chunks).await?;
        let defined = self.chunks_of(view, scope, filter, &named, &mut chunks).await?;
        let by_name: Vec<ChunkId> = beginnings.iter().copied().chain(defined.iter().map(|(id, _)| *id)).collect();
        let definitions: BTreeMap<ChunkId, &SymbolHit> = defined.into_iter().collect();
        let lists = [
            RankedList { name: "dense", weight_percent: DENSE_PERCENT, keys: &dense },
            RankedList { name: "terms", weight_percent: SPARSE_PERCENT, keys: &sparse },
            RankedList { name: "names", weight_percent: NAMES_PERCENT, keys: &by_name },
        ];
        let candidate = |fused: cairn_ranking::Fused<ChunkId>| {
            let chunk = chunks.remove(&fused.key)?;
            let mut extra_signals = Vec::new();
            let mut definition = None;
            if let Some(hit) = definitions.get(&fused.key) {
                definition = own_definition(&chunk, &hit.symbol);
                if definition.is_some() && !defines_named_symbol(&chunk, words) {
                    extra_signals.push(DEFINITION);
                }
                match words.spelling_of(&hit.symbol) {
                    Spelling::Whole => extra_signals.push(EXACT),
                    Spelling::Part => extra_signals.push(SPELLED),
                    Spelling::Other => {}
                }
            }
            if beginnings.contains(&fused.key) {
                extra_signals.push(EXACT);
            }
            Some(Candidate {
                chunk,
                points: fused.points,
                contributions: fused.contributions,
                extra_signals,
                definition,
            })
        };
        Ok(fuse(&lists).into_iter().filter_map(candidate).collect())
    }

    async fn named_symbols(
        &self,
        view: &View,
        scope: &Scope,
        words: &QueryWords,
    ) -> Result<Vec<SymbolHit>, QueryError> {
        let ways = [NameMatch::Exact, NameMatch::CaseInsensitive, NameMatch::StyleInsensitive];
        let mut found: Vec<SymbolHit> = Vec::new();
        for name in words.spelled.iter().take(NAMES_LOOKED_UP) {
            found.extend(self.names.symbols(view, scope, name, &ways, NAMED_SYMBOLS).await?);
        }
        let is_meant = |hit: &SymbolHit| words.spelling_of(&hit.symbol) == Spelling::Whole;
        // The last part of a qualified name may be so common that the one that is meant is not among those found.
        if let ([_, last, ..], Some(_)) = (words.spelled.as_slice(), &words.whole)
            && !found.iter().any(is_meant)
        {
            let all = self.names.symbols(view, scope, last, &[NameMatch::Exact], SYMBOLS_OF_A_NAME).await?;
            found.extend(all.into_iter().filter(is_meant));
        }
        // The very name comes first, then definitions that others can use; the rest is a total order.
        found.sort_by(|left, right| {
            let rank = |hit: &SymbolHit| {
                let spelling = words.spelling_of(&hit.symbol);
                (spelling, hit.symbol.is_test, !hit.symbol.exported, std::cmp::Reverse(hit.score))
            };
            let place = |hit: &SymbolHit| (hit.repository, hit.symbol.path.clone(), hit.symbol.line);
            rank(left).cmp(&rank(right)).then_with(|| place(left).cmp(&place(right)))
        });
        found.dedup_by(|left, right| left.repository == right.repository && left.symbol == right.symbol);
        found.truncate(NAMED_SYMBOLS);
        Ok(found)
    }

    /// The files that the whole question is the path of, or the end of it; the very path first.
    async fn named_files(&self, view: &View, scope: &Scope, words: &QueryWords) -> Result<Vec<FileHit>, QueryError> {
        let Some(path) = words.path() else { return Ok(Vec::new()) };
        let mut found = self.names.files(view, scope, path, FileMatch::Name, NAMED_SYMBOLS).await?;
        found.retain(|file| is_end_of_path(path, &file.path));
        found.sort_by_key(|file| file.path.as_str().len());
        found.truncate(NAMED_FILES);
        Ok(found)
    }

    /// The first chunk of each file.
    async fn beginnings_of(
        &self,
        view: &View,
        filter: &ChunkFilter,
        files: &[FileHit],
        query: &str,
        chunks: &mut BTreeMap<ChunkId, ChunkRecord>,
    ) -> Result<Vec<ChunkId>, QueryError> {
        if files.is_empty() || !filter.paths.is_empty() {
            return Ok(Vec::new());
        }
        let Some(vector) = self.embedder.embed(InputType::Query, &[query]).await?.pop() else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for file in files {
            let path = ChunkFilter { paths: vec![escaped(file.path.as_str())], ..filter.clone() };
            let only = Scope::only(self.caller.tenant.clone(), [file.repository]);
            let all = self.vectors.search_dense(view, &only, &path, &vector, CHUNKS_OF_A_FILE).await?;
            let of_file = self.fetch(view, &only, ids(&all)).await?;
            let first = of_file.iter().filter(|(_, chunk)| chunk.path == file.path).min_by_key(|(_, chunk)| chunk.span);
            if let Some((id, chunk)) = first {
                found.push(*id);
                chunks.entry(*id).or_insert_with(|| chunk.clone());
            }
        }
        Ok(found)
    }

    async fn fetch(
        &self,
        view: &View,
        scope: &Scope,
        mut ids: Vec<ChunkId>,
    ) -> Result<BTreeMap<ChunkId, ChunkRecord>, QueryError> {
        ids.sort();
        ids.dedup();
        let chunks = self.vectors.fetch(view, scope, &ids, false).await?;
        Ok(chunks.into_iter().map(|chunk| ((chunk.repository, chunk.key), chunk)).collect())
    }

    /// The chunks that show the named symbols. They are searched for by the terms of the name within the symbol's own
    /// file, so that no store needs an index from symbols to chunks.
    async fn chunks_of<'hit>(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        named: &'hit [SymbolHit],
        chunks: &mut BTreeMap<ChunkId, ChunkRecord>,
    ) -> Result<Vec<(ChunkId, &'hit SymbolHit)>, QueryError> {
        let mut found: Vec<(ChunkId, &SymbolHit)> = Vec::new();
        for hit in named {
            let shows = |chunk: &ChunkRecord| {
                chunk.repository == hit.repository
                    && chunk.path == hit.symbol.path
                    && chunk.span.contains(hit.symbol.line)
            };
            let known = chunks.iter().filter(|(_, chunk)| shows(chunk)).min_by_key(|(_, chunk)| chunk.span.num_lines());
            if let Some((id, _)) = known {
                found.push((*id, hit));
                continue;
            }
            let path = ChunkFilter { paths: vec![escaped(hit.symbol.path.as_str())], ..filter.clone() };
            let only = Scope::only(scope.tenant.clone(), [hit.repository]);
            if !filter.paths.is_empty() || !scope.contains(hit.repository) {
                continue;
            }
            let near = self.vectors.search_sparse(view, &only, &path, &query_terms(&hit.symbol.name), 20).await?;
            for (id, chunk) in self.fetch(view, scope, ids(&near)).await? {
                if shows(&chunk) {
                    found.push((id, hit));
                }
                chunks.entry(id).or_insert(chunk);
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|(id, _)| seen.insert(*id));
        Ok(found)
    }
}

/// The definition, if the chunk shows it among others.
fn own_definition(chunk: &ChunkRecord, symbol: &SymbolEntry) -> Option<Definition> {
    let is_own = chunk.symbol_kind.is_some() && chunk.symbol.as_deref() == Some(symbol.qualified_name.as_str());
    let span = LineSpan::new(symbol.line, symbol.line);
    (!is_own).then(|| Definition { symbol: symbol.qualified_name.clone(), node: symbol.node, span })
}

fn ids(hits: &[Hit]) -> Vec<ChunkId> {
    hits.iter().map(|hit| (hit.repository, hit.key)).collect()
}

/// A path as a glob that matches only itself.
fn escaped(path: &str) -> String {
    globset::escape(path)
}
