//! Begins the run that indexes a snapshot: stores the manifest and the plan, and creates the run. A refused
//! sync creates a failed run.

use std::collections::BTreeSet;
use std::sync::Arc;

use cairn_domain::{ArtifactRef, PartId, RunState, StageName};
use cairn_pipeline::StageError;
use cairn_ports::{Lease, NewRun, PublishedGeneration};
use cairn_wire::{ArtifactKind, ChangedPath, Manifest, Plan, PlannedRefusal, RunResult, StageDuration, encode};
use tokio::time::Instant;

use super::changes::{self, is_doubtful};
use super::inventory::Taken;
use super::result;
use super::settings::Effective;
use super::{ReadSnapshot, Sync, SyncRequest, Synced};
use crate::artifacts::facts_key_of;

/// The difference between a snapshot and the published generation.
struct Changes {
    paths: Vec<ChangedPath>,
    /// Whether the records of all paths must be written again.
    rebuild: bool,
    /// Whether no record changes, and the inventory is the same.
    is_empty: bool,
}

/// A manifest and a plan that are stored as artifacts, and the parts of the plan.
struct StoredPlan {
    manifest: ArtifactRef,
    plan: ArtifactRef,
    parts: Vec<PartId>,
}

impl Sync {
    /// Begins the run of a snapshot. If the snapshot is already published, no run begins.
    pub(super) async fn begin(
        &self,
        lease: Lease,
        request: &SyncRequest,
        published: Option<&PublishedGeneration>,
        previous: &Manifest,
        snapshot: ReadSnapshot,
        began_at: Instant,
    ) -> Result<Synced, StageError> {
        let ReadSnapshot { tree, taken, settings } = snapshot;
        let (revision, cache) = (tree.revision().label(), tree.cache().clone());
        let changes = self.changes(request, published, previous, &taken.manifest).await?;
        if let Some(published) = published.filter(|published| changes.is_empty && published.revision == revision) {
            return Ok(Synced::Unchanged { published: Box::new(published.clone()), cache });
        }
        let branch = tree.branch().map(|branch| settings.redactor.redact(branch).text.into_owned());
        // The tree of a large repository needs much memory, and so does the encoded manifest.
        drop(tree);
        let mut result = result::of_snapshot(&request.repository, &revision, &taken.manifest, &settings);
        let stored = self.store_plan(request, published, &changes, taken, &settings).await?;
        let duration_ms = u64::try_from(began_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        result.durations.push(StageDuration { stage: StageName::Sync.as_str().to_owned(), duration_ms });
        let plan = stored.plan.clone();
        let run = NewRun { revision, branch, result, ..self.new_run(request, published, stored) };
        let (repository, revision) = (&request.repository.name, run.revision.clone());
        let run = self.ledger.begin(lease, run).await?;
        tracing::info!(%run, %repository, revision, "a run has begun");
        Ok(Synced::Begun { run, plan, cache })
    }

    async fn changes(
        &self,
        request: &SyncRequest,
        published: Option<&PublishedGeneration>,
        previous: &Manifest,
        now: &Manifest,
    ) -> Result<Changes, StageError> {
        let rebuild = request.rebuild
            || (published.is_some() && previous.tools != now.tools)
            || self.holds_doubtful(previous).await?;
        let paths = changes::changed_paths(previous, now, rebuild);
        let is_empty = paths.is_empty() && changes::same_inventory(previous, now);
        Ok(Changes { paths, rebuild, is_empty })
    }

    async fn store_plan(
        &self,
        request: &SyncRequest,
        published: Option<&PublishedGeneration>,
        changes: &Changes,
        taken: Taken,
        settings: &Effective,
    ) -> Result<StoredPlan, StageError> {
        let repository = request.repository.id;
        let mut plan = changes::plan(&changes.paths, &taken.manifest, taken.packs);
        plan.rebuild = changes.rebuild;
        plan.changes = !changes.is_empty || published.is_none();
        plan.settings.clone_from(&settings.text);
        plan.previous_manifest = published.map(|published| published.manifest.clone());
        let manifest = self.artifacts.put_manifest(repository, Arc::new(taken.manifest)).await?;
        plan.manifest = Some(manifest.clone());
        let parts = plan.parts();
        let plan = encode(ArtifactKind::Plan, &plan);
        let plan = self.artifacts.put_by_content("plans", repository, plan).await?;
        Ok(StoredPlan { manifest, plan, parts })
    }

    /// A run of the stored plan, without a revision, a branch and a result.
    fn new_run(&self, request: &SyncRequest, published: Option<&PublishedGeneration>, stored: StoredPlan) -> NewRun {
        let StoredPlan { manifest, plan, parts } = stored;
        NewRun {
            repository: request.repository.id,
            previous: published.map(|published| published.run.generation),
            manifest,
            plan,
            parts,
            lane: request.lane,
            window: self.window,
            revision: String::new(),
            branch: None,
            result: RunResult::default(),
            started_at_ms: self.clock.now_ms(),
        }
    }

    /// Whether stores may contain records of files that are recorded as failed: the part that parses their
    /// pack was abandoned, but its facts exist. If such files exist, it is unknown which of their records
    /// were staged, so the whole repository is indexed again.
    pub(super) async fn holds_doubtful(&self, previous: &Manifest) -> Result<bool, StageError> {
        let slots =
            previous.entries.iter().filter(|entry| is_doubtful(entry)).filter_map(|entry| entry.source.as_ref());
        let keys: BTreeSet<String> = slots.map(|slot| facts_key_of(&slot.artifact)).collect();
        for key in keys {
            if self.artifacts.blobs.list(&key).await?.iter().any(|found| found.key == key) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Records the refusal as a failed run. The published generation stays published.
    pub(super) async fn refuse(
        &self,
        lease: Lease,
        request: &SyncRequest,
        published: Option<&PublishedGeneration>,
        error: StageError,
    ) -> Result<Synced, StageError> {
        let repository = request.repository.id;
        let refusal = Some(PlannedRefusal { code: error.code, message: error.chain() });
        let plan = encode(ArtifactKind::Plan, &Plan { refusal, ..Plan::default() });
        let plan = self.artifacts.put_by_content("plans", repository, plan).await?;
        let manifest = self.artifacts.put_manifest(repository, Arc::default()).await?;
        let stored = StoredPlan { manifest, plan, parts: Plan::default().parts() };
        let result = RunResult { repository: request.repository.name.to_string(), ..RunResult::default() };
        let run = NewRun { result, ..self.new_run(request, published, stored) };
        let run = self.ledger.begin(lease, run).await?;
        let message = format!("{}: {}", error.code, error.chain());
        self.ledger.abort(run, RunState::Failed, &message, self.clock.now_ms()).await?;
        Err(error)
    }
}
