//! Definitions that come before all other results of a search, because the question consists of their name.

use cairn_domain::ChunkRecord;
use cairn_ports::{NameMatch, ResolvedSymbol, SymbolHit};

use crate::chunk_id::ChunkId;
use crate::resolve::MatchedName;

/// The place of a definition that the index does not contain as a symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedPlace {
    pub repository: String,
    pub path: String,
    pub line: u32,
}

/// A definition that comes before all other results.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Leading {
    /// The symbol. The key of its chunk is always set.
    pub(crate) hit: SymbolHit,
    pub(crate) matched: MatchedName,
    /// The chunk. `None` if the index contains the chunk.
    pub(crate) chunk: Option<ChunkRecord>,
}

impl Leading {
    pub(crate) fn of(hit: ResolvedSymbol) -> Self {
        let (matched, score) = (MatchedName::of(&hit), hit.score / 10);
        let ResolvedSymbol { repository, symbol, .. } = hit;
        Self { hit: SymbolHit { repository, symbol, matched: NameMatch::Fuzzy, score }, matched, chunk: None }
    }

    pub(crate) fn id(&self) -> Option<ChunkId> {
        Some((self.hit.repository, self.hit.symbol.chunk?))
    }
}
