//! embed_patterns: each pattern becomes a chunk that can be found.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{ChunkKey, ChunkKind, ChunkRecord, ContentHash, PatternRecord, StageName};
use cairn_patterns::pattern_chunk_text;
use cairn_pipeline::{Stage, StageError, Task};
use cairn_ports::{Catalogue, GraphStore, LedgerRead};
use cairn_wire::{ArtifactKind, PartReport, decode};

use crate::aggregate::{PATTERNS, find_in_snapshot, published_patterns};
use crate::artifacts::{Artifacts, reported};
use crate::embed::Embedding;
use crate::placed::chunk_changes;
use crate::snapshot::Snapshots;

/// May be run twice and stopped anywhere: the chunks are a function of the snapshot, and staging inserts only what is
/// not there.
pub struct EmbedPatternsStage {
    pub artifacts: Arc<Artifacts>,
    pub snapshots: Arc<Snapshots>,
    pub catalogue: Arc<dyn Catalogue>,
    pub ledger: Arc<dyn LedgerRead>,
    pub graph: Arc<dyn GraphStore>,
    pub embedding: Arc<Embedding>,
}

/// Navigation documents and patterns answer "how are things done here" before any single piece of code.
const WEIGHT_PERCENT: u16 = 120;

#[async_trait]
impl Stage for EmbedPatternsStage {
    fn name(&self) -> StageName {
        StageName::EmbedPatterns
    }

    async fn run(&self, task: &Task) -> Result<PartReport, StageError> {
        let plan = self.artifacts.plan(&task.plan).await?;
        let repository = task.run.repository;
        let now = match self.reported_patterns(task).await? {
            Some(patterns) => patterns,
            None => find_in_snapshot(&self.artifacts, &self.snapshots, repository, &plan).await?,
        };
        let view = self.catalogue.view().await?;
        let tenant = &task.tenant;
        let before = published_patterns(self.graph.as_ref(), &view, tenant, repository).await?;
        let before: Vec<ChunkRecord> = before.iter().filter_map(pattern_chunk).collect();
        let changes = chunk_changes(&before, now.iter().filter_map(pattern_chunk).collect(), plan.rebuild);
        self.embedding.stage(task, changes).await
    }
}

impl EmbedPatternsStage {
    /// What aggregation found. A run that lay unfinished for long may have outlived the artifact.
    async fn reported_patterns(&self, task: &Task) -> Result<Option<Vec<PatternRecord>>, StageError> {
        let parts = self.ledger.parts(task.run).await?;
        let Some(part) = parts.iter().find(|part| part.id.stage == StageName::Aggregate) else { return Ok(None) };
        let report = PartReport::from_json(&part.report);
        let report = report.map_err(|error| StageError::permanent("corrupt", format!("{}: {error}", part.id)))?;
        let Some(reference) = reported(&report, PATTERNS) else { return Ok(None) };
        let Some(bytes) = self.artifacts.kept_artifact(&reference).await? else { return Ok(None) };
        let patterns = decode(ArtifactKind::Patterns, &bytes);
        patterns.map(Some).map_err(|error| StageError::corrupt(&reference.key, &error))
    }
}

/// The pattern as a chunk at the place of its canonical member.
pub(crate) fn pattern_chunk(pattern: &PatternRecord) -> Option<ChunkRecord> {
    let canonical = pattern.members.get(pattern.canonical as usize)?;
    let text = pattern_chunk_text(pattern);
    let content_hash = ContentHash::of(&text);
    Some(ChunkRecord {
        // The pattern's own key tells two patterns of equal text apart.
        key: ChunkKey(cairn_domain::Digester::new("pattern-chunk").key_of(pattern.key.0).bytes(&content_hash.0).key()),
        repository: pattern.repository,
        path: canonical.path.clone(),
        language: pattern.language.clone(),
        kind: ChunkKind::Pattern,
        span: canonical.span,
        symbol: Some(pattern.name.clone()),
        symbol_kind: None,
        heading: None,
        header: format!("pattern {}\n{}", pattern.name, pattern.description),
        text,
        content_hash,
        module_path: pattern.module_path.clone(),
        is_test: false,
        exported: false,
        documented: true,
        has_secrets: false,
        weight_percent: WEIGHT_PERCENT,
        tags: Vec::new(),
        changed_at: None,
    })
}

#[cfg(test)]
pub(crate) mod fixture {
    use cairn_domain::{
        Digester, LineSpan, NodeKey, PatternKey, PatternMember, PatternRecord, RepoPath, RepositoryId, RepositoryName,
        Tenant,
    };

    /// A pattern of the repository `r`, with one member.
    pub(crate) fn pattern(name: &str) -> PatternRecord {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
        let path = RepoPath::parse("a.py").expect("a path");
        let member = PatternMember {
            node: NodeKey::file(repository, &path),
            path,
            name: name.to_owned(),
            span: LineSpan::new(1, 2),
            extra_methods: Vec::new(),
            missing_methods: Vec::new(),
        };
        PatternRecord {
            key: PatternKey(Digester::new("test").text(name).key()),
            repository,
            name: name.to_owned(),
            description: format!("what {name} does"),
            shared_methods: Vec::new(),
            shared_bases: Vec::new(),
            shared_decorators: Vec::new(),
            canonical: 0,
            members: vec![member],
            module_path: String::new(),
            language: "python".to_owned(),
        }
    }
}
