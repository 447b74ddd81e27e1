//! Caches what recent questions read from the texts of chunks.
//!
//! The second stage of the ranking compares the texts of many hits with the question. It uses only facts
//! about a text, which equal texts have in common ([`TextFacts`]). So these facts are cached by the hash of
//! the text. The text of a chunk is cached with them, but it is used only for the same chunk in the same
//! published state, because the shown text also depends on the place of the chunk.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{ContentHash, PublishedSeq};
use cairn_ranking::{FactsOfTexts, TextFacts};
use cairn_recent::SharedRecent;

use crate::chunk_id::ChunkId;

/// Maximum memory of the cached facts and texts.
const MAX_CACHED_BYTES: usize = 128 << 20;
/// The memory that a cached text uses in addition to its facts and its bytes.
const TEXT_BYTES: usize = 256;

/// The facts about recently read texts. All searchers of one process share these facts.
pub struct KnownTexts(SharedRecent<ContentHash, Arc<KnownText>>);

struct KnownText {
    facts: Arc<TextFacts>,
    /// The chunk whose text is cached.
    id: ChunkId,
    /// The published state in which the text was read.
    seq: PublishedSeq,
    shown: ShownText,
}

/// The text of a chunk, as it is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShownText {
    pub(crate) text: String,
    pub(crate) has_secrets: bool,
}

impl Default for KnownTexts {
    fn default() -> Self {
        Self(SharedRecent::new(MAX_CACHED_BYTES))
    }
}

impl KnownTexts {
    /// The cached facts about the texts of these chunks, and the cached texts of the same chunks in the same
    /// published state.
    pub(crate) fn of(
        &self,
        seq: PublishedSeq,
        chunks: &BTreeMap<ChunkId, ContentHash>,
    ) -> (FactsOfTexts, BTreeMap<ChunkId, ShownText>) {
        let (mut facts, mut shown) = (FactsOfTexts::with_capacity(chunks.len()), BTreeMap::new());
        let mut known = self.0.lock();
        for (id, hash) in chunks {
            let Some(text) = known.get(hash) else { continue };
            if (text.id, text.seq) == (*id, seq) {
                shown.insert(*id, text.shown.clone());
            }
            facts.insert(*hash, Arc::clone(&text.facts));
        }
        (facts, shown)
    }

    /// Caches the text of a chunk, and returns the facts about it.
    pub(crate) fn add(
        &self,
        seq: PublishedSeq,
        (id, hash): (ChunkId, ContentHash),
        shown: &ShownText,
    ) -> Arc<TextFacts> {
        let facts = Arc::new(TextFacts::read(&shown.text));
        let num_bytes = TEXT_BYTES + facts.num_bytes() + shown.text.len();
        let text = KnownText { facts: Arc::clone(&facts), id, seq, shown: shown.clone() };
        self.0.lock().add(hash, Arc::new(text), num_bytes);
        facts
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{ChunkKey, Key128, RepositoryId};

    use super::*;

    /// The address of a chunk: its id, and the hash of its text without blank lines at the beginning.
    fn chunk(number: u8, text: &str) -> (ChunkId, ContentHash) {
        let key = Key128([number; 16]);
        ((RepositoryId(key), ChunkKey(key)), ContentHash::of(text.trim()))
    }

    fn shown(text: &str) -> ShownText {
        ShownText { text: text.to_owned(), has_secrets: false }
    }

    /// Whether the facts about the text of a chunk are cached, and its cached text.
    fn known(texts: &KnownTexts, seq: u64, (id, hash): (ChunkId, ContentHash)) -> (bool, Option<ShownText>) {
        let (facts, mut known) = texts.of(PublishedSeq(seq), &BTreeMap::from([(id, hash)]));
        (facts.contains_key(&hash), known.remove(&id))
    }

    #[test]
    fn text_is_used_only_for_the_same_chunk_in_the_same_state() {
        let texts = KnownTexts::default();
        let (text, text_of_copy) = (shown("\nsend()"), shown("send()"));
        let (first, copy) = (chunk(1, &text.text), chunk(2, &text_of_copy.text));
        assert_eq!(known(&texts, 1, first), (false, None));
        assert_eq!(*texts.add(PublishedSeq(1), first, &text), TextFacts::read("send()"));
        assert_eq!(known(&texts, 1, first), (true, Some(text)));
        assert_eq!(known(&texts, 1, copy), (true, None));
        assert_eq!(known(&texts, 2, first), (true, None));
        texts.add(PublishedSeq(2), copy, &text_of_copy);
        assert_eq!(known(&texts, 2, copy), (true, Some(text_of_copy)));
    }

    #[test]
    fn long_unused_texts_are_dropped() {
        let texts = KnownTexts::default();
        let first = chunk(0, "first");
        texts.add(PublishedSeq(1), first, &shown("first"));
        let long = "x".repeat(MAX_CACHED_BYTES / 2);
        for number in 1..3 {
            let text = format!("{number}{long}");
            texts.add(PublishedSeq(1), chunk(number, &text), &shown(&text));
        }
        assert_eq!(known(&texts, 1, first), (false, None));
        assert!(texts.0.lock().num_bytes() <= MAX_CACHED_BYTES);
    }
}
