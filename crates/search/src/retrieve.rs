//! Retrieval: the lists of candidates that are fused.

use std::collections::BTreeMap;

use cairn_domain::{ChunkKey, ChunkRecord, InputType, RepositoryId, Scope, View};
use cairn_ports::{ChunkFilter, Hit, NameMatch, SymbolHit};
use cairn_ranking::{Candidate, QueryWords, RankedList, fuse, query_terms};

use crate::{SearchError, Searcher};

/// How deep each list goes. Fixed, so that every page of an answer ranks the same candidates.
const DEPTH: usize = 200;
/// Symbols looked up by name, at most.
const NAMED_SYMBOLS: usize = 50;
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
    ) -> Result<Vec<Candidate>, SearchError> {
        let dense = async {
            let mut vectors = self.embedder.embed(InputType::Query, &[query]).await?;
            match vectors.pop() {
                Some(vector) => {
                    Ok::<_, SearchError>(self.vectors.search_dense(view, scope, filter, &vector, DEPTH).await?)
                }
                None => Ok(Vec::new()),
            }
        };
        let terms = query_terms(query);
        let sparse =
            async { Ok::<_, SearchError>(self.vectors.search_sparse(view, scope, filter, &terms, DEPTH).await?) };
        let named = self.named_symbols(view, scope, words);
        let (dense, sparse, named) = tokio::try_join!(dense, sparse, named)?;
        let (dense, sparse) = (ids(&dense), ids(&sparse));
        let pool: Vec<ChunkId> = dense.iter().chain(&sparse).copied().collect();
        let mut chunks = self.fetch(view, scope, pool).await?;
        let by_name = self.chunks_of(view, scope, filter, &named, &mut chunks).await?;
        let lists = [
            RankedList { name: "dense", weight_percent: DENSE_PERCENT, keys: &dense },
            RankedList { name: "terms", weight_percent: SPARSE_PERCENT, keys: &sparse },
            RankedList { name: "names", weight_percent: NAMES_PERCENT, keys: &by_name },
        ];
        let candidate = |fused: cairn_ranking::Fused<ChunkId>| {
            let chunk = chunks.remove(&fused.key)?;
            Some(Candidate {
                chunk,
                points: fused.points,
                contributions: fused.contributions,
                extra_signals: Vec::new(),
            })
        };
        Ok(fuse(&lists).into_iter().filter_map(candidate).collect())
    }

    async fn named_symbols(
        &self,
        view: &View,
        scope: &Scope,
        words: &QueryWords,
    ) -> Result<Vec<SymbolHit>, SearchError> {
        let ways = [NameMatch::Exact, NameMatch::CaseInsensitive, NameMatch::StyleInsensitive];
        let mut found: Vec<SymbolHit> = Vec::new();
        for name in words.names.iter().take(NAMES_LOOKED_UP) {
            found.extend(self.names.symbols(view, scope, name, &ways, NAMED_SYMBOLS).await?);
        }
        // Definitions that others can use come first; the rest is a total order.
        found.sort_by(|left, right| {
            let rank = |hit: &SymbolHit| (hit.symbol.is_test, !hit.symbol.exported, std::cmp::Reverse(hit.score));
            let place = |hit: &SymbolHit| (hit.repository, hit.symbol.path.clone(), hit.symbol.line);
            rank(left).cmp(&rank(right)).then_with(|| place(left).cmp(&place(right)))
        });
        found.truncate(NAMED_SYMBOLS);
        Ok(found)
    }

    async fn fetch(
        &self,
        view: &View,
        scope: &Scope,
        mut ids: Vec<ChunkId>,
    ) -> Result<BTreeMap<ChunkId, ChunkRecord>, SearchError> {
        ids.sort();
        ids.dedup();
        let chunks = self.vectors.fetch(view, scope, &ids, false).await?;
        Ok(chunks.into_iter().map(|chunk| ((chunk.repository, chunk.key), chunk)).collect())
    }

    /// The chunks that show the named symbols. They are searched for by the terms of the name within the symbol's own
    /// file, so that no store needs an index from symbols to chunks.
    async fn chunks_of(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        named: &[SymbolHit],
        chunks: &mut BTreeMap<ChunkId, ChunkRecord>,
    ) -> Result<Vec<ChunkId>, SearchError> {
        let mut found = Vec::new();
        for hit in named {
            let shows = |chunk: &ChunkRecord| {
                chunk.repository == hit.repository
                    && chunk.path == hit.symbol.path
                    && chunk.span.contains(hit.symbol.line)
            };
            let known = chunks.iter().filter(|(_, chunk)| shows(chunk)).min_by_key(|(_, chunk)| chunk.span.num_lines());
            if let Some((id, _)) = known {
                found.push(*id);
                continue;
            }
            let path = ChunkFilter { paths: vec![escaped(hit.symbol.path.as_str())], ..filter.clone() };
            let only = Scope::only(scope.tenant.clone(), [hit.repository]);
            if !filter.paths.is_empty() || !scope.contains(hit.repository) {
                continue;
            }
            let near = self.vectors.search_sparse(view, &only, &path, &query_terms(&hit.symbol.name), 20).await?;
            for (id, chunk) in self.fetch(view, scope, ids(&near)).await? {
                if shows(&chunk) && !found.contains(&id) {
                    found.push(id);
                }
                chunks.entry(id).or_insert(chunk);
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|id| seen.insert(*id));
        Ok(found)
    }
}

fn ids(hits: &[Hit]) -> Vec<ChunkId> {
    hits.iter().map(|hit| (hit.repository, hit.key)).collect()
}

/// A path as a glob that matches only itself.
fn escaped(path: &str) -> String {
    globset::escape(path)
}
