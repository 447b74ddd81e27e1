//! Reads the term counts of the repositories that a question searches.
//!
//! The manifest of a generation lists the layers of its counts. Layers never change, so they are cached by
//! key. A question reads only the layers of the repositories in its scope, so a repository that the caller
//! may not see does not affect the weights.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_domain::{ArtifactRef, TermCounts, WordPair};
use cairn_name_match::{LearnedAbbreviation, WantedName};
use cairn_ports::BlobStoreExt;
use cairn_question::LearnedPair;
use cairn_ranking::{LearnedWords, QuestionWord, RepositoryWords, ScopeFrequencies};
use cairn_recent::Recent;
use cairn_wire::{ArtifactKind, decode};
use futures::{StreamExt, TryStreamExt, stream};

use crate::code::damaged;
use crate::repositories::KnownRepository;
use crate::{QueryError, Searcher};

/// Maximum memory of the cached layers.
const MAX_CACHED_BYTES: usize = 256 << 20;
/// Maximum number of generations whose lists of layers are cached.
const MAX_LISTS: usize = 20_000;
/// Number of repositories whose layers are read at the same time.
const READS_AT_ONCE: usize = 16;

/// A cache of layers. All questions of a process share the cache.
pub struct TermTables(Mutex<Cached>);

struct Cached {
    /// The layers by key.
    layers: Recent<String, Arc<TermCounts>>,
    /// The list of layers of each generation, by the key of the generation's manifest.
    lists: Recent<String, Arc<Vec<ArtifactRef>>>,
}

impl Default for TermTables {
    fn default() -> Self {
        Self(Mutex::new(Cached::default()))
    }
}

impl Default for Cached {
    fn default() -> Self {
        Self { layers: Recent::new(MAX_CACHED_BYTES), lists: Recent::new(MAX_LISTS) }
    }
}

impl TermTables {
    fn cached(&self) -> MutexGuard<'_, Cached> {
        // No method leaves the cache inconsistent, so the cache can be used after another thread has
        // panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cached {
    fn add_layer(&mut self, key: &str, layer: &Arc<TermCounts>) {
        let of_words = |(pair, _): &(WordPair, i32)| pair.word.len() + pair.other.len();
        let of_pairs = size_of_val(layer.pairs.as_slice()) + layer.pairs.iter().map(of_words).sum::<usize>();
        let size_bytes = size_of_val(layer.terms.as_slice()) + of_pairs;
        self.layers.add_always(key.to_owned(), Arc::clone(layer), size_bytes);
    }
}

impl Searcher {
    /// The frequencies of the question's terms in the repositories.
    pub(crate) async fn frequencies(
        &self,
        selected: &[KnownRepository],
        question: &str,
    ) -> Result<ScopeFrequencies, QueryError> {
        Ok(self.counts(selected, question, Vec::new()).await?.0)
    }

    /// The frequencies of the question's terms in all repositories, and the counts of the keywords in each
    /// repository.
    pub(crate) async fn counts(
        &self,
        selected: &[KnownRepository],
        question: &str,
        keywords: Vec<QuestionWord>,
    ) -> Result<(ScopeFrequencies, RepositoryWords), QueryError> {
        let compares = selected.len() > 1 && !keywords.is_empty();
        let (mut frequencies, mut words) = (ScopeFrequencies::of(question), RepositoryWords::of(keywords));
        let tables_of =
            |index: usize| async move { Ok::<_, QueryError>((index, self.tables_of(&selected[index]).await?)) };
        let mut all = stream::iter(0..selected.len()).map(tables_of).buffered(READS_AT_ONCE);
        while let Some((index, tables)) = all.try_next().await? {
            frequencies.add(&tables);
            // A repository without counts was indexed by an older release, so its words are unknown.
            if compares && !tables.is_empty() {
                words.add(selected[index].record.id, &tables);
            }
        }
        Ok((frequencies, words))
    }

    /// Returns, for each word in `words`, the words that the code of these repositories uses together with
    /// it. Only the tables of these repositories are used, so other repositories do not affect the result.
    pub(crate) async fn learned(
        &self,
        selected: &[KnownRepository],
        words: &[String],
    ) -> Result<Vec<LearnedPair>, QueryError> {
        let all = self.all_tables_of(selected).await?;
        let learned = LearnedWords::new(&all);
        let of_word = |word: &String| {
            let pair = |second: String| LearnedPair { first: word.clone(), second };
            learned.of(word).into_iter().map(pair).collect::<Vec<_>>()
        };
        Ok(words.iter().flat_map(of_word).collect())
    }

    /// The abbreviations and long forms that the code of these repositories uses for the words of a name.
    /// Other repositories do not affect the result.
    pub(crate) async fn learned_abbreviations(
        &self,
        selected: &[KnownRepository],
        name: &str,
    ) -> Result<Vec<LearnedAbbreviation>, QueryError> {
        let (wanted, all) = (WantedName::new(name), self.all_tables_of(selected).await?);
        let learned = LearnedWords::new(&all);
        let of_word = |word: &str| {
            let pair = |other: String| LearnedAbbreviation { word: word.to_owned(), other };
            learned.abbreviations_of(word).into_iter().map(pair).collect::<Vec<_>>()
        };
        Ok(wanted.word_texts().into_iter().flat_map(of_word).collect())
    }

    async fn all_tables_of(&self, selected: &[KnownRepository]) -> Result<Vec<Arc<TermCounts>>, QueryError> {
        let mut all = Vec::new();
        let tables_of = |index: usize| self.tables_of(&selected[index]);
        let mut read = stream::iter(0..selected.len()).map(tables_of).buffered(READS_AT_ONCE);
        while let Some(tables) = read.try_next().await? {
            all.extend(tables);
        }
        Ok(all)
    }

    /// The layers of a repository. The result is empty if the repository is not published, or if an older
    /// release indexed it.
    pub(crate) async fn tables_of(&self, known: &KnownRepository) -> Result<Vec<Arc<TermCounts>>, QueryError> {
        let mut tables = Vec::new();
        for reference in self.layers_of(known).await?.iter() {
            tables.push(self.layer(reference).await?);
        }
        Ok(tables)
    }

    async fn layers_of(&self, known: &KnownRepository) -> Result<Arc<Vec<ArtifactRef>>, QueryError> {
        let Some(published) = &known.published else { return Ok(Arc::default()) };
        let key = &published.manifest.key;
        let cached = self.term_tables.cached().lists.get(key);
        if let Some(layers) = cached {
            return Ok(layers);
        }
        let layers = Arc::new(self.manifest(known).await?.map(|manifest| manifest.terms).unwrap_or_default());
        self.term_tables.cached().lists.add(key.clone(), Arc::clone(&layers), 1);
        Ok(layers)
    }

    async fn layer(&self, reference: &ArtifactRef) -> Result<Arc<TermCounts>, QueryError> {
        let cached = self.term_tables.cached().layers.get(&reference.key);
        if let Some(layer) = cached {
            return Ok(layer);
        }
        let bytes = self.blobs.get_artifact(reference).await?;
        let table = decode(ArtifactKind::TermCounts, &bytes).map_err(|error| damaged(&reference.key, &error))?;
        let table = Arc::new(table);
        self.term_tables.cached().add_layer(&reference.key, &table);
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_used_layers_leave_the_cache() {
        let terms = vec![(0, 1); MAX_CACHED_BYTES / size_of::<(u32, i32)>() / 2];
        let large = Arc::new(TermCounts { num_chunks: 1, terms, ..TermCounts::default() });
        let mut cached = Cached::default();
        cached.add_layer("a", &large);
        cached.add_layer("b", &large);
        assert!(cached.layers.get("a").is_some());
        cached.add_layer("c", &large);
        let found = ["a", "b", "c"].map(|key| cached.layers.get(key).is_some());
        assert_eq!(found, [true, false, true]);
        assert!(cached.layers.num_bytes() <= MAX_CACHED_BYTES);
    }
}
