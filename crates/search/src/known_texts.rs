//! Caches what recent questions read from the texts of chunks.
//!
//! The second stage of the ranking compares the texts of many hits with the question. It uses only facts
//! about a text, which equal texts have in common ([`TextFacts`]). So these facts are cached by the hash of
//! the text. The text of a chunk is cached with them, but it is used only for the same chunk in the same
//! published state, because the shown text also depends on the place of the chunk.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_domain::{ChunkRecord, ContentHash, PublishedSeq};
use cairn_ranking::{FactsOfTexts, TextFacts};
use cairn_recent::Recent;

use crate::chunk_id::{ChunkId, id_of_chunk};

/// Maximum memory of the cached facts and texts.
const MAX_CACHED_BYTES: usize = 128 << 20;
/// The memory that a cached text uses in addition to its facts and its bytes.
const TEXT_BYTES: usize = 256;

/// The facts about recently read texts. All searchers of one process share these facts.
pub struct KnownTexts(Mutex<Recent<ContentHash, Arc<KnownText>>>);

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
        Self(Mutex::new(Recent::new(MAX_CACHED_BYTES)))
    }
}

impl KnownTexts {
    fn known(&self) -> MutexGuard<'_, Recent<ContentHash, Arc<KnownText>>> {
        // No method leaves the cache inconsistent, so the cache can be used after another thread has
        // panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached facts about the texts of these chunks, and the cached texts of the same chunks in the same
    /// published state.
    pub(crate) fn of(
        &self,
        seq: PublishedSeq,
        chunks: &BTreeMap<ChunkId, ContentHash>,
    ) -> (FactsOfTexts, BTreeMap<ChunkId, ShownText>) {
        let (mut facts, mut shown) = (FactsOfTexts::with_capacity(chunks.len()), BTreeMap::new());
        let mut known = self.known();
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
    pub(crate) fn add(&self, seq: PublishedSeq, chunk: &ChunkRecord) -> Arc<TextFacts> {
        let facts = Arc::new(TextFacts::read(&chunk.text));
        let num_bytes = TEXT_BYTES + facts.num_bytes() + chunk.text.len();
        let shown = ShownText { text: chunk.text.clone(), has_secrets: chunk.has_secrets };
        let text = KnownText { facts: Arc::clone(&facts), id: id_of_chunk(chunk), seq, shown };
        self.known().add(chunk.content_hash, Arc::new(text), num_bytes);
        facts
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{ChunkKey, ChunkKind, LineSpan, RepoPath, RepositoryId, RepositoryName, Tenant};

    use super::*;

    fn chunk(path: &str, text: &str) -> ChunkRecord {
        let repository = RepositoryId::derive(&Tenant::new("acme"), &RepositoryName::new("one"));
        let (path, content_hash) = (RepoPath::parse(path).expect("a valid path"), ContentHash::of(text.trim()));
        ChunkRecord {
            key: ChunkKey::derive(repository, &path, content_hash, 1),
            repository,
            path,
            language: "rust".to_owned(),
            kind: ChunkKind::Text,
            span: LineSpan::new(1, 1),
            symbol: None,
            symbol_kind: None,
            heading: None,
            header: String::new(),
            text: text.to_owned(),
            content_hash,
            module_path: String::new(),
            is_test: false,
            exported: false,
            documented: false,
            has_secrets: false,
            weight_percent: 100,
            tags: Arc::default(),
            changed_at: None,
        }
    }

    /// The facts and the text of a chunk that are cached.
    fn known(texts: &KnownTexts, seq: u64, chunk: &ChunkRecord) -> (bool, Option<String>) {
        let asked = BTreeMap::from([(id_of_chunk(chunk), chunk.content_hash)]);
        let (facts, shown) = texts.of(PublishedSeq(seq), &asked);
        (facts.contains_key(&chunk.content_hash), shown.into_values().map(|shown| shown.text).next())
    }

    #[test]
    fn text_is_used_only_for_the_same_chunk_in_the_same_state() {
        let texts = KnownTexts::default();
        let (first, copy) = (chunk("a.rs", "\nsend()"), chunk("b.rs", "send()"));
        assert_eq!(known(&texts, 1, &first), (false, None));
        assert_eq!(*texts.add(PublishedSeq(1), &first), TextFacts::read("send()"));
        assert_eq!(known(&texts, 1, &first), (true, Some("\nsend()".to_owned())));
        assert_eq!(known(&texts, 1, &copy), (true, None));
        assert_eq!(known(&texts, 2, &first), (true, None));
        texts.add(PublishedSeq(2), &copy);
        assert_eq!(known(&texts, 2, &copy), (true, Some("send()".to_owned())));
    }

    #[test]
    fn long_unused_texts_are_dropped() {
        let texts = KnownTexts::default();
        let first = chunk("a.rs", "first");
        texts.add(PublishedSeq(1), &first);
        let long = "x".repeat(MAX_CACHED_BYTES / 2);
        for name in ["b.rs", "c.rs"] {
            texts.add(PublishedSeq(1), &chunk(name, &format!("{name}{long}")));
        }
        assert_eq!(known(&texts, 1, &first), (false, None));
        assert!(texts.known().num_bytes() <= MAX_CACHED_BYTES);
    }
}
