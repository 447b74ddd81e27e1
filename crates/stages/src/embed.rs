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
        let texts: Vec<&str> = missing.iter().map(|index| without_blank_edges(&chunks[*index].text)).collect();
        let embedded = self.embedder.embed(InputType::Passage, &texts).await?;
        report.chunks_embedded = embedded.len() as u64;
        let entries: Vec<(VectorKey, DenseVector)> =
            missing.iter().map(|index| keys[*index].clone()).zip(embedded).collect();
        self.cache.put(tenant, &entries).await?;
        for (index, vector) in vectors.iter_mut().enumerate().filter(|(_, vector)| vector.is_none()) {
            let found = entries.binary_search_by(|(entry, _)| entry.cmp(&keys[index]));
            *vector = found.ok().map(|at| entries[at].1.clone());
        }
        Ok(vectors.into_iter().flatten().collect())
    }
}

fn points(chunks: Vec<ChunkRecord>, dense: Vec<DenseVector>) -> Vec<Point> {
    let point = |(chunk, dense): (ChunkRecord, DenseVector)| {
        let sparse = passage_terms(&cairn_placing::passage(&chunk));
        Point { chunk, dense, sparse }
    };
    chunks.into_iter().zip(dense).map(point).collect()
}
