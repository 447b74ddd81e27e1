//! aggregate: finds patterns, which are groups of classes or files of a snapshot with a similar structure.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_config::{PatternDetection, RepositorySettings};
use cairn_domain::{
    EdgeKey, EdgeRecord, NodeKey, NodeRecord, PatternKey, PatternRecord, RepositoryId, Scope, StageName, Tenant, View,
};
use cairn_inventory::Patterns;
use cairn_patterns::{PatternFile, PatternSettings, find_patterns, pattern_graph, shapes};
use cairn_pipeline::{Stage, StageError, Task};
use cairn_ports::{Catalogue, FailureCode, GraphStore, StagedGraph};
use cairn_wire::{ArtifactKind, PartReport, Plan, encode};

use crate::artifacts::{Artifacts, written};
use crate::differences::difference;
use crate::record_ceilings::RecordCeilings;
use crate::snapshot::{Snapshot, Snapshots};
use crate::threads::blocking;

/// The stage may be run twice and may be stopped at any point: the patterns depend only on the snapshot, and
/// staging inserts only missing records.
pub struct AggregateStage {
    pub artifacts: Arc<Artifacts>,
    pub snapshots: Arc<Snapshots>,
    pub ceilings: Arc<RecordCeilings>,
    pub catalogue: Arc<dyn Catalogue>,
    pub graph: Arc<dyn GraphStore>,
}

#[async_trait]
impl Stage for AggregateStage {
    fn name(&self) -> StageName {
        StageName::Aggregate
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        let plan = self.artifacts.plan(&task.plan).await?;
        self.ceilings.check(task.run, &plan).await?;
        let repository = task.run.repository;
        let patterns = find_in_snapshot(&self.artifacts, &self.snapshots, repository, &plan).await?;
        let encoded = encode(ArtifactKind::Patterns, &patterns);
        let artifact = self.artifacts.put_by_content("patterns", repository, encoded).await?;
        let view = self.catalogue.view().await?;
        let before = published_patterns(self.graph.as_ref(), &view, &task.tenant, repository).await?;
        let mut report = PartReport { patterns: patterns.len() as u64, ..PartReport::default() };
        report.artifacts.insert(PATTERNS.to_owned(), written(artifact));
        let staged = staged(&before, patterns, plan.rebuild);
        self.graph.stage(&task.staging(), staged).await?;
        Ok(report)
    }
}

/// Reads the patterns of the repository that are visible in the view.
pub(crate) async fn published_patterns(
    graph: &dyn GraphStore,
    view: &View,
    tenant: &Tenant,
    repository: RepositoryId,
) -> Result<Vec<PatternRecord>, StageError> {
    Ok(graph.patterns(view, &Scope::only(tenant.clone(), [repository])).await?)
}

/// The name under which the report of the part lists the artifact with the patterns. The next stage finds the
/// artifact by this name.
pub(crate) const PATTERNS: &str = "patterns";

/// Finds the patterns of a plan's snapshot with the plan's settings.
pub(crate) async fn find_in_snapshot(
    artifacts: &Arc<Artifacts>,
    snapshots: &Snapshots,
    repository: RepositoryId,
    plan: &Plan,
) -> Result<Vec<PatternRecord>, StageError> {
    let detection = RepositorySettings::parse(&plan.settings).unwrap_or_default().pattern_detection;
    if !detection.enabled {
        return Ok(Vec::new());
    }
    let planned = plan
        .manifest
        .as_ref()
        .ok_or_else(|| StageError::permanent(FailureCode::Invalid, "the plan has no manifest"))?;
    let snapshot = snapshots.load(artifacts, repository, planned, 0).await?;
    blocking(move || Ok(detect(&snapshot, &detection))).await
}

fn detect(snapshot: &Snapshot, detection: &PatternDetection) -> Vec<PatternRecord> {
    let directories = Patterns::compile("pattern_detection.directories", &detection.directories);
    let is_searched = |path: &str| match &directories {
        Ok(directories) if !directories.is_empty() => directories.find(path).is_some(),
        _ => true,
    };
    let mut all = Vec::new();
    for file in snapshot.files.iter().filter(|file| is_searched(snapshot.path(file).as_str())) {
        let input = PatternFile { path: snapshot.path(file), module_path: &file.module_path, outline: &file.outline };
        all.extend(shapes(snapshot.repository, &input));
    }
    let settings = PatternSettings {
        min_cluster_size: detection.min_cluster_size as usize,
        similarity_percent: (detection.similarity_threshold * 100.0).round() as u8,
    };
    find_patterns(snapshot.repository, &all, &settings)
}

fn staged(before: &[PatternRecord], now: Vec<PatternRecord>, rebuild: bool) -> StagedGraph {
    let (old_nodes, old_edges) = pattern_graph(before);
    let (nodes, edges) = pattern_graph(&now);
    if rebuild {
        return StagedGraph {
            nodes,
            edges,
            retired_nodes: old_nodes.iter().map(|node| node.key).collect(),
            retired_edges: old_edges.iter().map(|edge| edge.key).collect(),
            retired_patterns: before.iter().map(|pattern| pattern.key).collect(),
            patterns: now,
        };
    }
    let nodes = difference(&old_nodes, nodes, |node: &NodeRecord| (node.key.0, node.digest()));
    let edges = difference(&old_edges, edges, |edge: &EdgeRecord| (edge.key.0, edge.digest()));
    let patterns = difference(before, now, |pattern: &PatternRecord| (pattern.key.0, pattern.digest()));
    StagedGraph {
        nodes: nodes.begun,
        edges: edges.begun,
        patterns: patterns.begun,
        retired_nodes: nodes.ended.into_iter().map(NodeKey).collect(),
        retired_edges: edges.ended.into_iter().map(EdgeKey).collect(),
        retired_patterns: patterns.ended.into_iter().map(PatternKey).collect(),
    }
}
