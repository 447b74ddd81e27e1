//! The ids of chunks, and maps from ids to chunks.

use std::collections::BTreeMap;

use cairn_domain::{ChunkKey, ChunkRecord, NodeKey, RepositoryId};

pub(crate) type ChunkId = (RepositoryId, ChunkKey);
pub(crate) type Chunks = BTreeMap<ChunkId, ChunkRecord>;

pub(crate) fn id_of_chunk(chunk: &ChunkRecord) -> ChunkId {
    (chunk.repository, chunk.key)
}

pub(crate) fn chunks_by_id(chunks: Vec<ChunkRecord>) -> Chunks {
    chunks.into_iter().map(|chunk| (id_of_chunk(&chunk), chunk)).collect()
}

/// The node of the symbol whose code the chunk contains. `None` for chunks without a symbol. If several
/// symbols of the file have the same name and kind, the node of the first symbol is returned.
pub(crate) fn node_of(chunk: &ChunkRecord) -> Option<NodeKey> {
    let (symbol, kind) = (chunk.symbol.as_deref()?, chunk.symbol_kind?);
    Some(NodeKey::symbol(chunk.repository, &chunk.path, symbol, kind, 0))
}
