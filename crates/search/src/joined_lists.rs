//! Joins the lists of candidates: each candidate is a chunk with its positions in the lists.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::{ChunkRecord, SymbolEntry};
use cairn_ports::{Hit, SymbolHit};
use cairn_ranking::{Candidate, Definition, Exactness, Listed, RelationRank, Spelling, Via};

use crate::chunk_id::{ChunkId, Chunks, id_of_chunk};
use crate::prepared_query::PreparedQuery;
use crate::related::RelatedChunk;

/// Maximum length of each list. The length is constant, so that every page of an answer ranks the same
/// candidates.
pub(crate) const DEPTH: usize = 200;

/// Chunks of the files and symbols that the question names, best first.
pub(crate) struct NamedChunks {
    /// The first chunks of the named files.
    pub(crate) beginnings: Vec<ChunkId>,
    /// The first chunks of files of the kind that the question asks for. They get no points for a name.
    pub(crate) of_kind: Vec<ChunkId>,
    /// The chunks that contain the named symbols, each with its best named symbol.
    pub(crate) definitions: Vec<(ChunkId, SymbolHit)>,
    /// The chunks with the definitions of the nearest names, if the whole question is a misspelled name.
    pub(crate) leading: Vec<(ChunkId, SymbolHit)>,
    /// The chunks that have the requested relation to a name.
    pub(crate) related: Vec<RelatedChunk>,
}

impl NamedChunks {
    /// The ids of the chunks that contain a named symbol or one of the nearest names.
    pub(crate) fn ids_of_symbols(&self) -> impl Iterator<Item = ChunkId> {
        self.definitions.iter().chain(&self.leading).map(|(id, _)| *id)
    }

    /// Removes the chunks that `chunks` does not contain.
    pub(crate) fn keep_only(&mut self, chunks: &Chunks) {
        self.beginnings.retain(|id| chunks.contains_key(id));
        self.definitions.retain(|(id, _)| chunks.contains_key(id));
        self.leading.retain(|(id, _)| chunks.contains_key(id));
        self.related.retain(|related| chunks.contains_key(&related.id));
    }
}

/// The chunks of the symbols, in the order of the symbols. Symbols without a chunk are omitted. Each chunk is
/// listed once, with its best symbol.
pub(crate) fn with_chunks(symbols: Vec<SymbolHit>) -> Vec<(ChunkId, SymbolHit)> {
    let mut seen = BTreeSet::new();
    let shown = symbols.into_iter().filter_map(|hit| Some(((hit.repository, hit.symbol.chunk?), hit)));
    shown.filter(|(id, _)| seen.insert(*id)).collect()
}

/// Joins the lists into one list that contains each chunk with its positions in the original lists.
pub(crate) fn joined(
    (dense, sparse): (&[Hit], &[Hit]),
    named: &NamedChunks,
    chunks: Chunks,
    query: &PreparedQuery,
) -> Vec<Candidate> {
    let positions = Positions::of((dense, sparse), named, query);
    chunks.into_iter().map(|(id, chunk)| positions.candidate(id, chunk)).collect()
}

/// The positions of the chunks in each list.
struct Positions<'a> {
    query: &'a PreparedQuery,
    dense: BTreeMap<ChunkId, Listed>,
    sparse: BTreeMap<ChunkId, Listed>,
    /// The first chunks of the named files.
    beginnings: &'a [ChunkId],
    /// The positions of the chunks of the named files and symbols.
    names: BTreeMap<ChunkId, u32>,
    symbols: BTreeMap<ChunkId, &'a SymbolEntry>,
    leading: BTreeMap<ChunkId, u32>,
    related: BTreeMap<ChunkId, (RelationRank, &'a [Via])>,
    patterns: BTreeMap<ChunkId, u32>,
}

impl<'a> Positions<'a> {
    fn of((dense, sparse): (&[Hit], &[Hit]), named: &'a NamedChunks, query: &'a PreparedQuery) -> Self {
        let definitions = named.definitions.iter().chain(&named.leading);
        let related = |(rank, RelatedChunk { id, definition, via }): (u32, &'a RelatedChunk)| {
            (*id, (RelationRank { definition: *definition, rank }, via.as_slice()))
        };
        Self {
            query,
            dense: listed(dense),
            sparse: listed(sparse),
            beginnings: &named.beginnings,
            names: name_ranks(named),
            symbols: definitions.map(|(id, hit)| (*id, &hit.symbol)).collect(),
            leading: named.leading.iter().map(|(id, _)| *id).zip(1..).collect(),
            related: (1..).zip(&named.related).map(related).collect(),
            patterns: query.patterns.iter().map(id_of_chunk).zip(1..).collect(),
        }
    }

    fn candidate(&self, id: ChunkId, chunk: ChunkRecord) -> Candidate {
        let dense = self.dense.get(&id).copied();
        let related = self.related.get(&id);
        let symbol = self.symbols.get(&id);
        Candidate {
            dense: dense.filter(|listed| listed.rank.is_some()),
            dense_score: dense.map(|listed| listed.score),
            terms: self.sparse.get(&id).copied(),
            name_rank: self.names.get(&id).copied(),
            relation_rank: related.map(|(rank, _)| *rank),
            via: related.map_or_else(Vec::new, |(_, via)| via.to_vec()),
            pattern_rank: self.patterns.get(&id).copied(),
            named: self.exactness(id),
            definition: symbol.and_then(|symbol| own_definition(&chunk, symbol)),
            chunk,
        }
    }

    /// How exactly the question names the chunk.
    fn exactness(&self, id: ChunkId) -> Option<Exactness> {
        if self.beginnings.contains(&id) {
            return Some(Exactness::Exact);
        }
        if let Some(rank) = self.leading.get(&id) {
            return Some(Exactness::Near(*rank));
        }
        match self.query.words.spelling_of(self.symbols.get(&id)?) {
            Spelling::Whole => Some(Exactness::Exact),
            Spelling::Part | Spelling::Style => Some(Exactness::OtherStyle),
            Spelling::Other => None,
        }
    }
}

/// The positions of the chunks of the named files and symbols. The files come first.
fn name_ranks(named: &NamedChunks) -> BTreeMap<ChunkId, u32> {
    let of_symbols = named.definitions.iter().map(|(id, _)| *id);
    let mut ranks: BTreeMap<ChunkId, u32> = BTreeMap::new();
    for id in named.beginnings.iter().copied().chain(of_symbols) {
        let next = ranks.len() as u32 + 1;
        ranks.entry(id).or_insert(next);
    }
    ranks
}

/// The rank and the score of each chunk in a list. Only the first `DEPTH` chunks have a rank.
fn listed(hits: &[Hit]) -> BTreeMap<ChunkId, Listed> {
    let listed = |(rank, hit): (u32, &Hit)| {
        let rank = (rank as usize <= DEPTH).then_some(rank);
        (id_of(hit), Listed { rank, score: hit.score })
    };
    (1..).zip(hits).map(listed).collect()
}

/// The definition of the symbol in the chunk. `None` if the whole chunk is the definition of this symbol.
fn own_definition(chunk: &ChunkRecord, symbol: &SymbolEntry) -> Option<Definition> {
    let is_own = chunk.symbol_kind.is_some() && chunk.symbol.as_deref() == Some(symbol.qualified_name.as_str());
    (!is_own).then(|| Definition { symbol: symbol.qualified_name.clone(), span: symbol.span })
}

pub(crate) fn id_of(hit: &Hit) -> ChunkId {
    (hit.repository, hit.key)
}
