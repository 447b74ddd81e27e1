//! Keys of the chunks of a file.

use cairn_domain::{ChunkKey, ContentHash, FileFacts};
use rustc_hash::FxHashMap;

use crate::placement::Placement;

/// The key of each chunk, in the order of the facts. Chunks of equal content are numbered in order of
/// position.
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
