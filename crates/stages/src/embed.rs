//! embed: computes vectors and terms for the chunks of changed paths, and stages them.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{ChunkRecord, ContentHash, DenseVector, InputType, Point, StageName, Tenant, TermCounts, VectorKey};
use cairn_pipeline::{Stage, StageError, Task};
use cairn_ports::{Embedder, StagedPoints, VectorCache, VectorStore};
use cairn_ranking::passage_terms;
use cairn_syntax::chunker::without_blank_edges;
use cairn_wire::{ChangedPath, Manifest, PartReport};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::artifacts::Artifacts;
use crate::claims::Claims;
use crate::placed::{ChunkChanges, OpenPacks, chunk_changes};
use crate::record_ceilings::RecordCeilings;
use crate::term_layers::{changed_terms, report_terms};
use crate::threads::blocking;

/// The stage may be run twice and may be stopped at any point: vectors are cached by content, staging inserts
/// only missing points, and the table of terms has the hash of its bytes in its key.
pub struct EmbedStage {
    pub artifacts: Arc<Artifacts>,
    pub embedding: Arc<Embedding>,
    pub ceilings: Arc<RecordCeilings>,
}

#[async_trait]
impl Stage for EmbedStage {
    fn name(&self) -> StageName {
        StageName::Embed
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        let plan = self.artifacts.plan(&task.plan).await?;
        self.ceilings.check(task.run, &plan).await?;
        let paths = plan.embed.get(task.part.number as usize).cloned().unwrap_or_default();
        let manifest = self.artifacts.manifest_or_empty(plan.manifest.as_ref()).await?;
        let previous = self.artifacts.manifest_or_empty(plan.previous_manifest.as_ref()).await?;
        let mut packs = OpenPacks::default();
        packs.open(&self.artifacts, entries(&manifest, &paths, |path| path.now), true).await?;
        // The texts of ended chunks are read to subtract their terms from the term counts. A rebuild counts
        // all terms again, so it does not need the texts of ended chunks.
        packs.open(&self.artifacts, entries(&previous, &paths, |path| path.before), !plan.rebuild).await?;
        let (repository, rebuild) = (task.run.repository, plan.rebuild);
        let compute = move || {
            let mut all = ChunkChanges::default();
            for path in &paths {
                let name = path.path.as_str();
                let before = if path.before { packs.chunks(repository, &previous, name)? } else { Vec::new() };
                let now = if path.now { packs.chunks(repository, &manifest, name)? } else { Vec::new() };
                let changes = chunk_changes(before, now, rebuild);
                all.begun.extend(changes.begun);
                all.ended.extend(changes.ended);
            }
            Ok::<_, StageError>(all)
        };
        let changes = tokio::task::spawn_blocking(compute).await;
        let changes = changes.map_err(|error| StageError::panicked(error.to_string()))??;
        let (mut report, terms) = self.embedding.stage(task, changes, rebuild).await?;
        report_terms(&self.artifacts, repository, &terms, &mut report).await?;
        Ok(report)
    }
}

fn entries<'a>(
    manifest: &'a Manifest,
    paths: &'a [ChangedPath],
    wanted: impl Fn(&ChangedPath) -> bool + 'a,
) -> impl Iterator<Item = &'a cairn_domain::ManifestEntry> {
    paths.iter().filter(move |path| wanted(path)).filter_map(|path| manifest.find(path.path.as_str()))
}

/// Number of texts that are embedded and cached together. A provider charges for each token and may throttle
/// requests in the middle of a part. The next attempt does not compute the vectors of earlier texts again,
/// because they are already cached.
const TEXTS_AT_ONCE: usize = 1024;

/// Embeds chunks of files and chunks of patterns, and stages them as points.
pub struct Embedding {
    cache: Arc<dyn VectorCache>,
    embedder: Arc<dyn Embedder>,
    vectors: Arc<dyn VectorStore>,
    claims: Claims,
}

impl Embedding {
    pub fn new(cache: Arc<dyn VectorCache>, embedder: Arc<dyn Embedder>, vectors: Arc<dyn VectorStore>) -> Self {
        Self { cache, embedder, vectors, claims: Claims::default() }
    }

    /// Stages the changes. Returns the report, and the changes in the term counts.
    pub(crate) async fn stage(
        &self,
        task: &Task,
        changes: ChunkChanges,
        rebuild: bool,
    ) -> Result<(PartReport, TermCounts), StageError> {
        let mut report = PartReport::default();
        let dense = self.dense(&task.tenant, &changes.begun, &mut report).await?;
        let (staged, terms) = blocking(move || {
            let points = points(changes.begun, dense);
            let terms = changed_terms(&points, &changes.ended, rebuild);
            let retired = changes.ended.into_iter().map(|chunk| chunk.key).collect();
            Ok((StagedPoints { points, retired }, terms))
        })
        .await?;
        self.vectors.stage(&task.staging(), staged).await?;
        Ok((report, terms))
    }

    /// Returns the vectors of the chunks, in the order of the chunks. The embedder computes only the vectors
    /// that are not cached, and embeds equal texts only once.
    async fn dense(
        &self,
        tenant: &Tenant,
        chunks: &[ChunkRecord],
        report: &mut PartReport,
    ) -> Result<Vec<DenseVector>, StageError> {
        // The texts are sorted, so that a retry after a failure groups the texts in the same way.
        let texts: BTreeMap<ContentHash, &str> =
            chunks.iter().map(|chunk| (chunk.content_hash, without_blank_edges(&chunk.text))).collect();
        let mut left: Vec<Text> = texts.into_iter().collect();
        let mut found: FxHashMap<ContentHash, DenseVector> = FxHashMap::default();
        let mut embedded: FxHashSet<ContentHash> = FxHashSet::default();
        while !left.is_empty() {
            let mut ends = self.claims.ends();
            // The contents are claimed before the cache is read. Therefore, if another part has already ended
            // its claim on some content, the vector of this content is in the cache.
            let mut claim = self.claims.take(tenant, left.iter().map(|(content, _)| *content));
            let (own, others): (Vec<Text>, Vec<Text>) =
                left.into_iter().partition(|(content, _)| claim.has(tenant, *content));
            let known = self.cached(tenant, &own).await?;
            claim.keep(|content| !known.contains_key(&content));
            let missing: Vec<Text> = own.into_iter().filter(|(content, _)| !known.contains_key(content)).collect();
            embedded.extend(missing.iter().map(|(content, _)| *content));
            found.extend(known);
            for some in missing.chunks(TEXTS_AT_ONCE) {
                found.extend(self.embedded(tenant, some).await?);
            }
            drop(claim);
            left = others;
            if !left.is_empty() {
                // Waiting fails only if the sender was dropped, but `self` still owns the sender.
                let _ = ends.changed().await;
            }
        }
        report.chunks_embedded = embedded.len() as u64;
        report.cache_hits = chunks.iter().filter(|chunk| !embedded.contains(&chunk.content_hash)).count() as u64;
        Ok(chunks.iter().filter_map(|chunk| found.get(&chunk.content_hash).cloned()).collect())
    }

    fn key(&self, content: ContentHash) -> VectorKey {
        VectorKey { model: self.embedder.model().clone(), content }
    }

    async fn cached(
        &self,
        tenant: &Tenant,
        texts: &[Text<'_>],
    ) -> Result<FxHashMap<ContentHash, DenseVector>, StageError> {
        if texts.is_empty() {
            return Ok(FxHashMap::default());
        }
        let keys: Vec<VectorKey> = texts.iter().map(|(content, _)| self.key(*content)).collect();
        let vectors = self.cache.get(tenant, &keys).await?;
        Ok(texts.iter().zip(vectors).filter_map(|((content, _), vector)| Some((*content, vector?))).collect())
    }

    /// Embeds the texts and caches their vectors.
    async fn embedded(
        &self,
        tenant: &Tenant,
        texts: &[Text<'_>],
    ) -> Result<Vec<(ContentHash, DenseVector)>, StageError> {
        let (contents, texts): (Vec<ContentHash>, Vec<&str>) = texts.iter().copied().unzip();
        let vectors = self.embedder.embed(InputType::Passage, &texts).await?;
        let new: Vec<(VectorKey, DenseVector)> =
            contents.into_iter().map(|content| self.key(content)).zip(vectors).collect();
        self.cache.put(tenant, &new).await?;
        Ok(new.into_iter().map(|(key, vector)| (key.content, vector)).collect())
    }
}

/// The hash of the content, and the text that is embedded for this content.
type Text<'a> = (ContentHash, &'a str);

fn points(chunks: Vec<ChunkRecord>, dense: Vec<DenseVector>) -> Vec<Point> {
    let point = |(chunk, dense): (ChunkRecord, DenseVector)| {
        let sparse = passage_terms(&cairn_records::passage(&chunk));
        Point { chunk, dense, sparse }
    };
    chunks.into_iter().zip(dense).map(point).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use cairn_domain::ModelId;
    use cairn_ports::{BlobStoreExt, EmbedderError, ErrorKind, FailureCode, VectorCacheError};
    use cairn_testkit::{FakeIndex, MemoryBlobs};
    use cairn_wire::{ArtifactKind, Plan, encode};

    use super::*;
    use crate::pattern_chunk::fixture::pattern;
    use crate::pattern_chunk::pattern_chunk;
    use crate::record_ceilings::tests::{EMBED, ceilings, parsed};

    /// An embedder that embeds `left` texts, and returns `Throttled` for all further texts.
    struct Throttled {
        model: ModelId,
        left: Mutex<usize>,
    }

    #[async_trait]
    impl Embedder for Throttled {
        fn model(&self) -> &ModelId {
            &self.model
        }

        async fn embed(&self, _input_type: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError> {
            // Like a real provider, the embedder lets other tasks continue during the call.
            tokio::task::yield_now().await;
            let mut left = self.left.lock().expect("no panic");
            let throttled = EmbedderError::new(ErrorKind::Throttled { retry_after: None }, "embed", "fake");
            *left = left.checked_sub(texts.len()).ok_or(throttled)?;
            Ok(texts.iter().map(|_| DenseVector(vec![1])).collect())
        }
    }

    #[derive(Default)]
    struct Cached(Mutex<Vec<VectorKey>>);

    #[async_trait]
    impl VectorCache for Cached {
        async fn get(
            &self,
            _tenant: &Tenant,
            keys: &[VectorKey],
        ) -> Result<Vec<Option<DenseVector>>, VectorCacheError> {
            let cached = self.0.lock().expect("no panic");
            Ok(keys.iter().map(|key| cached.contains(key).then(|| DenseVector(vec![1]))).collect())
        }

        async fn put(&self, _tenant: &Tenant, entries: &[(VectorKey, DenseVector)]) -> Result<(), VectorCacheError> {
            self.0.lock().expect("no panic").extend(entries.iter().map(|(key, _)| key.clone()));
            Ok(())
        }

        async fn sweep(
            &self,
            _tenant: &Tenant,
            _is_live: &(dyn for<'a> Fn(&'a VectorKey) -> bool + Send + Sync),
        ) -> Result<u64, VectorCacheError> {
            Ok(0)
        }
    }

    fn embedding(left: usize) -> (Embedding, Arc<Cached>) {
        let (model, cache) = (ModelId { name: "fake".to_owned(), dimensions: 1 }, Arc::new(Cached::default()));
        let embedder = Throttled { model, left: Mutex::new(left) };
        let vectors = FakeIndex::empty();
        (Embedding::new(Arc::clone(&cache) as Arc<dyn VectorCache>, Arc::new(embedder), Arc::new(vectors)), cache)
    }

    fn chunks(texts: impl Iterator<Item = String>) -> Vec<ChunkRecord> {
        let chunk = pattern_chunk(&pattern("Any")).expect("it has members");
        texts.map(|text| ChunkRecord { content_hash: ContentHash::of(&text), text, ..chunk.clone() }).collect()
    }

    /// If a run exceeds a ceiling, its part fails before it stages points. If the run is within the ceilings,
    /// its part tries to stage points, and this store returns `Forbidden`.
    #[tokio::test]
    async fn run_over_a_ceiling_embeds_nothing() {
        let (runs, run) = parsed().await;
        let blobs = Arc::new(MemoryBlobs::default());
        let plan = encode(ArtifactKind::Plan, &Plan::default());
        let plan = blobs.put_artifact("plans/r/x", plan.into()).await.expect("put");
        let task = Task { tenant: Tenant::local(), run, part: EMBED, plan, aborted: BTreeSet::new() };
        for (max_chunks, max_records, expect) in
            [(6, 70, FailureCode::OverBudget), (7, 69, FailureCode::OverBudget), (7, 70, FailureCode::Forbidden)]
        {
            let stage = EmbedStage {
                artifacts: Artifacts::new(blobs.clone()),
                embedding: Arc::new(embedding(0).0),
                ceilings: ceilings(runs.clone(), max_chunks, max_records),
            };
            assert_eq!(stage.run(&task).await.expect_err("no points are staged").code, expect);
        }
    }

    #[tokio::test]
    async fn vectors_before_a_failure_are_cached() {
        let (embedding, cache) = embedding(2 * TEXTS_AT_ONCE);
        let chunks = chunks((0..2 * TEXTS_AT_ONCE + 1).map(|number| number.to_string()));
        let error =
            embedding.dense(&Tenant::local(), &chunks, &mut PartReport::default()).await.expect_err("throttled");
        assert_eq!(error.code, FailureCode::Throttled);
        assert_eq!(cache.0.lock().expect("no panic").len(), 2 * TEXTS_AT_ONCE);
    }

    /// Several parts with the same content may run at the same time, for example for a library and its forks.
    /// The content is then embedded only once.
    #[tokio::test]
    async fn concurrent_parts_embed_a_content_once() {
        let (embedding, _) = embedding(4);
        let parts = [&["a", "b"][..], &["b", "c", "a", "b"], &["c", "d"]];
        let parts = parts.map(|texts| chunks(texts.iter().map(|text| (*text).to_owned())));
        let embedded = async |chunks: &[ChunkRecord]| {
            let mut report = PartReport::default();
            let vectors = embedding.dense(&Tenant::local(), chunks, &mut report).await.expect("four are enough");
            assert_eq!(vectors.len(), chunks.len());
            (report.chunks_embedded, report.cache_hits)
        };
        let [first, second, third] = &parts;
        let counts = tokio::join!(embedded(first), embedded(second), embedded(third));
        assert_eq!(counts, ((2, 0), (1, 3), (1, 1)));
    }

    #[tokio::test]
    async fn waiter_embeds_after_owner_fails() {
        let (embedding, cache) = embedding(1);
        let (tenant, mut reports) = (Tenant::local(), [PartReport::default(), PartReport::default()]);
        let [both, one] = [&["a", "b"][..], &["b"]].map(|texts| chunks(texts.iter().map(|text| (*text).to_owned())));
        let [first, second] = &mut reports;
        let (fails, waits) =
            tokio::join!(embedding.dense(&tenant, &both, first), embedding.dense(&tenant, &one, second));
        assert_eq!(fails.expect_err("a second request exceeds the limit").code, FailureCode::Throttled);
        assert_eq!(waits.expect("one is not").len(), 1);
        assert_eq!(cache.0.lock().expect("no panic").len(), 1);
    }

    /// A part does not wait for another tenant's claim on the same content, because tenants share no vectors.
    #[tokio::test]
    async fn tenants_do_not_wait_for_each_other() {
        let (embedding, _) = embedding(2);
        let chunks = chunks(["a".to_owned()].into_iter());
        let content = chunks[0].content_hash;
        let claim = embedding.claims.take(&Tenant::new("other"), [content].into_iter());
        let mut report = PartReport::default();
        embedding.dense(&Tenant::local(), &chunks, &mut report).await.expect("one is enough");
        assert!(report.chunks_embedded == 1 && claim.has(&Tenant::new("other"), content));
    }
}
