//! Derives the keys of the chunks of a file.

use cairn_domain::{ChunkKey, ContentHash, FileFacts};
use rustc_hash::FxHashMap;

use crate::placement::Placement;

/// The keys of the chunks, in the order of `facts.chunks`. Chunks with equal content are numbered in the same
/// order, so that their keys differ.
pub(crate) fn chunk_keys(placement: Placement<'_>, facts: &FileFacts) -> Vec<ChunkKey> {
    let mut seen: FxHashMap<ContentHash, u32> = FxHashMap::default();
    let key = |content: ContentHash| {
        let ordinal = seen.entry(content).or_default();
        let key = ChunkKey::derive(placement.repository, &placement.entry.path, content, *ordinal);
        *ordinal += 1;
        key
    };
    facts.chunks.iter().map(|chunk| chunk.content_hash).map(key).collect()
}
