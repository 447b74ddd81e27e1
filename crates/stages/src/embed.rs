//! embed: the chunks of changed paths get their vectors and terms, and are staged.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{ChunkRecord, DenseVector, InputType, Point, StageName, Tenant, VectorKey};
use cairn_pipeline::{Stage, StageError, Task};
use cairn_ports::{Embedder, StagedPoints, VectorCache, VectorStore};
use cairn_ranking::passage_terms;
use cairn_syntax::chunker::without_blank_edges;
use cairn_wire::{ChangedPath, Manifest, PartReport};

use crate::artifacts::Artifacts;
use crate::placed::{Changes, OpenPacks, chunk_changes};

/// May be run twice and stopped anywhere: vectors are cached by content, and staging inserts only what is not there.
pub struct EmbedStage {
    pub artifacts: Arc<Artifacts>,
    pub embedding: Arc<Embedding>,
}

#[async_trait]
impl Stage for EmbedStage {
    fn name(&self) -> StageName {
        StageName::Embed
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        let plan = self.artifacts.plan(&task.plan).await?;
        let paths = plan.embed.get(task.part.number as usize).cloned().unwrap_or_default();
        let manifest = self.artifacts.manifest_or_empty(plan.manifest.as_ref()).await?;
        let previous = self.artifacts.manifest_or_empty(plan.previous_manifest.as_ref()).await?;
        let mut packs = OpenPacks::default();
        packs.open(&self.artifacts, entries(&manifest, &paths, |path| path.now), true).await?;
        packs.open(&self.artifacts, entries(&previous, &paths, |path| path.before), false).await?;
        let (repository, rebuild) = (task.run.repository, plan.rebuild);
        let compute = move || {
            let mut all = Changes { begun: Vec::new(), ended: Vec::new() };
            for path in &paths {
                let name = path.path.as_str();
                let before = if path.before { packs.chunks(repository, &previous, name)? } else { Vec::new() };
                let now = if path.now { packs.chunks(repository, &manifest, name)? } else { Vec::new() };
                let changes = chunk_changes(&before, now, rebuild);
                all.begun.extend(changes.begun);
                all.ended.extend(changes.ended);
            }
            Ok::<_, StageError>(all)
        };
        let changes = tokio::task::spawn_blocking(compute).await;
        let changes = changes.map_err(|error| StageError::panicked(error.to_string()))??;
        self.embedding.stage(task, changes).await
    }
}

fn entries<'a>(
    manifest: &'a Manifest,
    paths: &'a [ChangedPath],
    wanted: impl Fn(&ChangedPath) -> bool + 'a,
) -> impl Iterator<Item = &'a cairn_domain::ManifestEntry> {
    paths.iter().filter(move |path| wanted(path)).filter_map(|path| manifest.find(path.path.as_str()))
}

/// Texts that are embedded and cached together. A provider is paid by the token and may throttle in the middle of a part: what
/// came before is cached, and the next attempt goes on from there.
const TEXTS_AT_ONCE: usize = 1024;

/// From chunks to staged points: shared by the chunks of files and those of patterns.
pub struct Embedding {
    pub cache: Arc<dyn VectorCache>,
    pub embedder: Arc<dyn Embedder>,
    pub vectors: Arc<dyn VectorStore>,
}

impl Embedding {
    pub(crate) async fn stage(&self, task: &Task, changes: Changes<ChunkRecord>) -> Result<PartReport, StageError> {
        let mut report = PartReport::default();
        let dense = self.dense(&task.tenant, &changes.begun, &mut report).await?;
        let points = tokio::task::spawn_blocking(move || points(changes.begun, dense)).await;
        let points = points.map_err(|error| StageError::panicked(error.to_string()))?;
        let staged = StagedPoints { points, retired: changes.ended };
        self.vectors.stage(&task.staging(), staged).await?;
        Ok(report)
    }

    /// Vectors by content: from the cache, and from the embedder for the rest, each content once.
    async fn dense(
        &self,
        tenant: &Tenant,
        chunks: &[ChunkRecord],
        report: &mut PartReport,
    ) -> Result<Vec<DenseVector>, StageError> {
        let model = self.embedder.model();
        let key = |chunk: &ChunkRecord| VectorKey { model: model.clone(), content: chunk.content_hash };
        let keys: Vec<VectorKey> = chunks.iter().map(key).collect();
        let mut vectors = self.cache.get(tenant, &keys).await?;
        let mut missing: Vec<usize> = (0..chunks.len()).filter(|index| vectors[*index].is_none()).collect();
        report.cache_hits = (chunks.len() - missing.len()) as u64;
        missing.sort_by(|left, right| keys[*left].cmp(&keys[*right]));
        missing.dedup_by(|left, right| keys[*left] == keys[*right]);
        let texts: Vec<(VectorKey, &str)> =
            missing.iter().map(|index| (keys[*index].clone(), without_blank_edges(&chunks[*index].text))).collect();
        let entries = self.embedded(tenant, &texts).await?;
        report.chunks_embedded = entries.len() as u64;
        for (index, vector) in vectors.iter_mut().enumerate().filter(|(_, vector)| vector.is_none()) {
            let found = entries.binary_search_by(|(entry, _)| entry.cmp(&keys[index]));
            *vector = found.ok().map(|at| entries[at].1.clone());
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    /// Embeds and caches, some texts at a time.
    async fn embedded(
        &self,
        tenant: &Tenant,
        texts: &[(VectorKey, &str)],
    ) -> Result<Vec<(VectorKey, DenseVector)>, StageError> {
        let mut entries = Vec::with_capacity(texts.len());
        for some in texts.chunks(TEXTS_AT_ONCE) {
            let (keys, texts): (Vec<VectorKey>, Vec<&str>) = some.iter().cloned().unzip();
            let embedded = self.embedder.embed(InputType::Passage, &texts).await?;
            let new: Vec<(VectorKey, DenseVector)> = keys.into_iter().zip(embedded).collect();
            self.cache.put(tenant, &new).await?;
            entries.extend(new);
        }
        Ok(entries)
    }
}

fn points(chunks: Vec<ChunkRecord>, dense: Vec<DenseVector>) -> Vec<Point> {
    let point = |(chunk, dense): (ChunkRecord, DenseVector)| {
        let sparse = passage_terms(&cairn_placing::passage(&chunk));
        Point { chunk, dense, sparse }
    };
    chunks.into_iter().zip(dense).map(point).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use cairn_domain::{ContentHash, ModelId};
    use cairn_ports::{EmbedderError, ErrorKind, VectorCacheError};
    use cairn_testkit::FakeIndex;

    use super::*;

    /// Embeds so many texts, and is then throttled.
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

    #[tokio::test]
    async fn what_was_embedded_before_a_failure_is_cached() {
        let model = ModelId { name: "fake".to_owned(), dimensions: 1 };
        let cache = Arc::new(Cached::default());
        let embedding = Embedding {
            cache: Arc::clone(&cache) as Arc<dyn VectorCache>,
            embedder: Arc::new(Throttled { model: model.clone(), left: Mutex::new(2 * TEXTS_AT_ONCE) }),
            vectors: Arc::new(FakeIndex::new(Vec::new()).await.expect("an empty index")),
        };
        let key = |number: usize| VectorKey { model: model.clone(), content: ContentHash::of(&number.to_string()) };
        let texts: Vec<(VectorKey, &str)> = (0..2 * TEXTS_AT_ONCE + 1).map(|number| (key(number), "text")).collect();
        let error = embedding.embedded(&Tenant::local(), &texts).await.expect_err("throttled");
        assert_eq!(error.code, "throttled");
        assert_eq!(cache.0.lock().expect("no panic").len(), 2 * TEXTS_AT_ONCE);
    }
}
