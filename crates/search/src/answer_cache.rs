//! Caches the ranked hits of questions.
//!
//! The cache key contains everything on which the hits depend: the tenant, the searched repositories with
//! their published runs, the question, the options for interpreting it, and its filters. Each publication
//! changes the published runs, and therefore the key. Therefore hits are never returned for a newer state, or
//! to a caller with a different scope. Texts and stamps are read again for each page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use cairn_domain::{Digest, Digester, ManifestEntry, View};
use cairn_ports::{ChunkFilter, RepositoryRecord};
use cairn_question::{ParseOptions, ParsedQuery, QueryType};
use cairn_ranking::RankedHit;
use cairn_recent::SharedRecent;

use crate::changed_files::{ChangedFiles, ChangedTree, FileState};
use crate::repositories::KnownRepository;
use crate::strategy::{Asked, Retrieved};
use crate::{QueryError, Searcher};

/// Maximum memory of the cached hits.
const MAX_CACHED_BYTES: usize = 64 << 20;
/// The estimated memory of a cached question in addition to its hits.
const QUESTION_BYTES: usize = 16 << 10;

/// The hits of the most recent questions. All questions of a process share the cache.
pub struct AnswerCache(SharedRecent<Digest, Arc<CachedAnswer>>);

struct CachedAnswer {
    retrieved: Retrieved,
    /// Whether changed files were searched for a name. The key does not depend on these files. So if this
    /// field is true, the cached hits are used only for later pages, which must come from the same hits as
    /// the first page.
    has_read_changes: bool,
}

impl Default for AnswerCache {
    fn default() -> Self {
        Self::with_bytes(MAX_CACHED_BYTES)
    }
}

impl AnswerCache {
    /// Creates a cache with this maximum size. A cache of zero bytes stores nothing.
    pub fn with_bytes(max_bytes: usize) -> Self {
        Self(SharedRecent::new(max_bytes))
    }
}

/// Reads changed files, and remembers that they were read.
struct ReadMark {
    files: Arc<dyn ChangedFiles>,
    is_read: AtomicBool,
}

#[async_trait]
impl ChangedFiles for ReadMark {
    async fn changed_files(&self, repository: &RepositoryRecord) -> Arc<ChangedTree> {
        self.is_read.store(true, Ordering::Relaxed);
        self.files.changed_files(repository).await
    }

    async fn file_state(&self, repository: &RepositoryRecord, entry: &ManifestEntry, indexed_at_ms: i64) -> FileState {
        self.files.file_state(repository, entry, indexed_at_ms).await
    }
}

impl Searcher {
    /// Retrieves the hits of a question, from the cache if an equal question was asked before and the
    /// published state has not changed.
    pub(crate) async fn retrieve_once(
        &self,
        view: View,
        asked: &Asked<'_>,
        selected: &[KnownRepository],
    ) -> Result<Retrieved, QueryError> {
        let key = self.key_of(asked, selected);
        let known = self.answers.0.lock().get(&key);
        if let Some(known) = known.filter(|known| !known.has_read_changes || asked.offset > 0) {
            let mut known = known.retrieved.clone();
            // The repositories have the same generations in the cached view and in the new view, but the
            // cached view may have expired, so the new view replaces it.
            known.query.view = view;
            return Ok(known);
        }
        let changed = self.changed.clone().map(|files| Arc::new(ReadMark { files, is_read: AtomicBool::new(false) }));
        let retrieved = match &changed {
            Some(changed) => {
                let changed: Option<Arc<dyn ChangedFiles>> = Some(Arc::<ReadMark>::clone(changed));
                Searcher { changed, ..self.clone() }.retrieve(view, asked, selected).await?
            }
            None => self.retrieve(view, asked, selected).await?,
        };
        let has_read_changes = changed.is_some_and(|changed| changed.is_read.load(Ordering::Relaxed));
        let hits_bytes = retrieved.hits.iter().map(size_bytes).sum::<usize>();
        let size_bytes = QUESTION_BYTES + hits_bytes + retrieved.files.size_bytes();
        let mut cached = retrieved.clone();
        cached.hits.iter_mut().for_each(|hit| hit.chunk.text = String::new());
        let answer = CachedAnswer { retrieved: cached, has_read_changes };
        self.answers.0.lock().add(key, Arc::new(answer), size_bytes);
        Ok(retrieved)
    }

    fn key_of(&self, asked: &Asked<'_>, selected: &[KnownRepository]) -> Digest {
        let Asked { text, forced_type, filter, target, in_all, .. } = *asked;
        let options = ParseOptions { forced_type, ..ParseOptions::default() };
        let since = ParsedQuery::new(text, options).filters.since.map(|since| asked.resolve(since));
        let (version, signals) = (self.index_version(selected), format!("{:?}", self.signals));
        let digester = Digester::new("answer").text(self.caller.tenant.as_str()).text(&version).text(&signals);
        let ids = |digester: Digester, known: &KnownRepository| digester.key_of(known.record.id.0);
        let digester = digester.list(selected, ids).text(text);
        let digester = digester.option(forced_type.map(QueryType::as_str), Digester::text);
        let digester =
            of_filter(digester, filter).option(since, |digester, since| digester.number(since.cast_unsigned()));
        target.digest(digester.number(in_all.into())).digest()
    }
}

/// Adds all fields of a filter to the digest.
fn of_filter(digester: Digester, filter: &ChunkFilter) -> Digester {
    let ChunkFilter { languages, kinds, paths, module_prefixes, include_tests, tags, since } = filter;
    let texts = |digester: Digester, texts: &[String]| digester.list(texts, |digester, text| digester.text(text));
    let digester = texts(texts(digester, languages), paths);
    let digester = digester.list(kinds, |digester, kind| digester.text(kind.as_str()));
    let digester = texts(texts(digester, module_prefixes), tags);
    let digester = digester.number(*include_tests as u64);
    digester.option(*since, |digester, since| digester.number(since.cast_unsigned()))
}

/// The approximate memory of a hit.
fn size_bytes(hit: &RankedHit) -> usize {
    size_of::<RankedHit>() + 512 + 128 * hit.also_at.len()
}
