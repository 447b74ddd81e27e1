//! sync: brings a repository's snapshot into artifacts and begins the run that indexes it.
//!
//! Reads the tree, decides what becomes of every path, reads and redacts the blobs that are new, packs them, writes
//! manifest and plan. Only then one ledger transaction creates the run. May be stopped anywhere before that: what it
//! wrote is named by content and found again, or swept.

mod changes;
mod inventory;
mod modules;
mod packing;
mod settings;
#[cfg(test)]
mod tests;
mod worker;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cairn_config::Operator;
use cairn_domain::{ArtifactRef, Digest, Lane, Outcome, RunId, RunState, StageName, SyncProgress};
use cairn_faults::fail_point;
use cairn_pipeline::StageError;
use cairn_ports::{
    Catalogue, Clock, ErrorKind, FailureCode, Lease, Ledger, NewRun, PublishedGeneration, ReadOptions,
    RepositoryRecord, SnapshotTree, SourceCache, SourceError, SourceReader, SyncMeter,
};
use cairn_wire::{ArtifactKind, FileError, Manifest, Plan, RequestSettings, RunResult, StageDuration, encode};
use tokio::time::Instant;

pub(crate) use changes::is_doubtful;
pub use settings::path_rules;
pub use worker::SyncWorker;

use crate::Toolchain;
use crate::artifacts::{Artifacts, facts_key_of};
use crate::threads::blocking;

/// A working tree that is written to while it is read is read again, this often.
const ATTEMPTS: usize = 5;
/// Between two attempts to renew a lease while the ledger cannot be reached.
const HEARTBEAT_AGAIN: Duration = Duration::from_secs(1);
/// Errors that a result lists; all are counted.
pub(crate) const ERRORS_LISTED: usize = 100;

/// What to sync.
#[derive(Clone, Debug)]
pub struct SyncRequest {
    pub repository: RepositoryRecord,
    /// What `SnapshotTree::cache` gave last time.
    pub cache: SourceCache,
    /// Makes every record anew.
    pub rebuild: bool,
    pub lane: Lane,
}

/// What a sync came to.
pub enum Synced {
    /// Nothing to do: what is published is this state of the source.
    Unchanged {
        published: Box<PublishedGeneration>,
        cache: SourceCache,
    },
    Begun {
        run: RunId,
        plan: ArtifactRef,
        cache: SourceCache,
    },
}

/// The first stage. Not driven by deliveries of a run, since it is what begins one.
pub struct Sync {
    pub artifacts: Arc<Artifacts>,
    pub catalogue: Arc<dyn Catalogue>,
    pub ledger: Arc<dyn Ledger>,
    pub source: Arc<dyn SourceReader>,
    pub clock: Arc<dyn Clock>,
    pub operator: Arc<Operator>,
    pub tools: Toolchain,
    /// Threads that read, redact and compress.
    pub num_threads: usize,
    /// How long the lease of a process that died keeps others out. Renewed four times within it.
    pub lease_ms: i64,
    /// Parts of a run that may be in flight at a time.
    pub window: u32,
}

impl Sync {
    pub async fn run(&self, request: SyncRequest) -> Result<Synced, StageError> {
        self.run_if(request, async { Ok(true) }).await
    }

    /// The same for a request that may be taken back. `is_wanted` is asked under the lease: what is taken back before is
    /// seen then, and what is taken back later ends the lease.
    pub async fn run_if(
        &self,
        request: SyncRequest,
        is_wanted: impl Future<Output = Result<bool, StageError>> + Send,
    ) -> Result<Synced, StageError> {
        let asked_at = Instant::now();
        let lease = self.ledger.lease(request.repository.id, self.clock.now_ms(), self.lease_ms).await?;
        fail_point!("sync::leased", |said| Err(StageError::injected(said)));
        let synced = {
            let meter = Arc::new(SyncMeter::default());
            let heartbeat = self.heartbeat(lease, asked_at, &meter);
            let synced = async {
                if is_wanted.await? {
                    self.under_lease(lease, request, &meter).await
                } else {
                    Err(StageError::cancelled())
                }
            };
            tokio::select! {
                synced = synced => synced,
                error = heartbeat => Err(error),
            }
        };
        if let Err(error) = self.ledger.renew(lease, self.clock.now_ms(), 0, SyncProgress::default()).await {
            let error = StageError::from(error).chain();
            tracing::warn!(repository = %lease.repository, error, "the lease is not given back and ends by itself");
        }
        synced
    }

    /// Tells how far the sync is. Ends only if the lease is lost: somebody else has it, or it has run out while the ledger could not
    /// be reached.
    async fn heartbeat(&self, lease: Lease, asked_at: Instant, meter: &SyncMeter) -> StageError {
        let lasts = Duration::from_millis(self.lease_ms as u64);
        let (mut held_until, mut pause) = (asked_at + lasts, lasts / 4);
        loop {
            tokio::time::sleep(pause).await;
            let asked_at = Instant::now();
            let renewing = self.ledger.renew(lease, self.clock.now_ms(), self.lease_ms, meter.progress());
            match tokio::time::timeout_at(held_until, renewing).await {
                Ok(Ok(())) => (held_until, pause) = (asked_at + lasts, lasts / 4),
                Ok(Err(error)) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::NotFound) => {
                    return error.into();
                }
                Ok(Err(error)) => {
                    let error = StageError::from(error);
                    if Instant::now() >= held_until {
                        return error;
                    }
                    tracing::warn!(repository = %lease.repository, "the lease is not renewed yet: {}", error.chain());
                    pause = HEARTBEAT_AGAIN.min(lasts / 4);
                }
                Err(_) => return StageError::timed_out(lasts),
            }
        }
    }

    async fn under_lease(
        &self,
        lease: Lease,
        request: SyncRequest,
        meter: &Arc<SyncMeter>,
    ) -> Result<Synced, StageError> {
        let began_at = Instant::now();
        let view = self.catalogue.view().await?;
        let published = self.catalogue.published(&view, request.repository.id).await?;
        let previous = match &published {
            Some(published) => self.artifacts.manifest(&published.manifest).await?,
            None => Arc::default(),
        };
        if let Some(published) = &published
            && self.is_where_it_was(&request, published, &previous).await?
        {
            return Ok(Synced::Unchanged { published: Box::new(published.clone()), cache: request.cache });
        }
        let mut attempt = 1;
        loop {
            let snapshot = self.read(&request, &previous, meter).await;
            match snapshot {
                Err(error) if error.code == FailureCode::Conflict && attempt < ATTEMPTS => attempt += 1,
                Err(error) if error.code == FailureCode::InvalidSettings => {
                    return self.refuse(lease, &request, published, error).await;
                }
                Err(error) => return Err(error),
                Ok(snapshot) => return self.begin(lease, &request, published, &previous, snapshot, began_at).await,
            }
        }
    }

    fn inputs_digest(&self, request: &SyncRequest) -> Digest {
        self.tools.inputs_digest(&self.operator, &request.repository.settings)
    }

    /// Whether the source's head is what is published, everything else that decides is what it was, and nothing is to be tried again.
    /// Then opening it, which for a remote may mean to fetch all of it, would find nothing.
    async fn is_where_it_was(
        &self,
        request: &SyncRequest,
        published: &PublishedGeneration,
        previous: &Manifest,
    ) -> Result<bool, StageError> {
        let has_failed = previous.entries.iter().any(|entry| matches!(entry.outcome, Outcome::Failed { .. }));
        let is_settled = published.state == RunState::Published && !has_failed && !request.rebuild;
        if !is_settled || previous.inputs_digest != Some(self.inputs_digest(request)) {
            return Ok(false);
        }
        let RepositoryRecord { tenant, branch, .. } = &request.repository;
        let options = ReadOptions { tenant: Some(tenant.clone()), branch: branch.clone(), ..ReadOptions::default() };
        let (source, location) = (Arc::clone(&self.source), request.repository.source.clone());
        let head = blocking(move || source.head(&location, &options).map_err(of_source)).await?;
        Ok(head.is_some_and(|head| head.to_string() == published.revision))
    }

    /// Opens the source and takes the inventory; packs are written as they are filled.
    async fn read(
        &self,
        request: &SyncRequest,
        previous: &Arc<Manifest>,
        meter: &Arc<SyncMeter>,
    ) -> Result<ReadSnapshot, StageError> {
        let (tenant, branch) = (Some(request.repository.tenant.clone()), request.repository.branch.clone());
        let options = ReadOptions {
            tenant,
            branch,
            cache: request.cache.clone(),
            meter: Arc::clone(meter),
            ..ReadOptions::default()
        };
        let (source, location) = (Arc::clone(&self.source), request.repository.source.clone());
        let tree = blocking(move || source.open(&location, &options).map_err(of_source)).await?;
        let tree: Arc<dyn SnapshotTree> = Arc::from(tree);
        let request_settings = RequestSettings::from_json(&request.repository.settings).map_err(|error| {
            StageError::permanent(FailureCode::InvalidSettings, format!("stored settings: {error}"))
        })?;
        let (operator, settings_tree) = (Arc::clone(&self.operator), Arc::clone(&tree));
        let effective = blocking(move || settings::read(settings_tree.as_ref(), &operator, &request_settings)).await?;
        let inventory = inventory::Inventory {
            tools: self.tools.clone(),
            settings: Arc::new(effective),
            inputs_digest: self.inputs_digest(request),
            // A rebuild reads everything again: what was packed before may be lost.
            previous: if request.rebuild { Arc::default() } else { Arc::clone(previous) },
            tree: Arc::clone(&tree),
            meter: Arc::clone(meter),
        };
        let taken = inventory.take(&self.artifacts, request.repository.id, self.num_threads).await?;
        Ok(ReadSnapshot { tree, taken, settings: inventory.settings })
    }

    async fn begin(
        &self,
        lease: Lease,
        request: &SyncRequest,
        published: Option<PublishedGeneration>,
        previous: &Manifest,
        snapshot: ReadSnapshot,
        began_at: Instant,
    ) -> Result<Synced, StageError> {
        let ReadSnapshot { tree, taken, settings } = snapshot;
        let (revision, cache) = (tree.revision().label(), tree.cache().clone());
        let rebuild = request.rebuild
            || (published.is_some() && previous.tools != taken.manifest.tools)
            || self.holds_doubtful(previous).await?;
        let changed = changes::changed_paths(previous, &taken.manifest, rebuild);
        let nothing_new = changed.is_empty() && changes::same_inventory(previous, &taken.manifest);
        if let Some(published) = published.as_ref().filter(|published| nothing_new && published.revision == revision) {
            return Ok(Synced::Unchanged { published: Box::new(published.clone()), cache });
        }
        let mut result = self.result(request, &revision, &taken.manifest, &settings);
        let mut plan = changes::plan(&changed, &taken.manifest, taken.packs);
        plan.rebuild = rebuild;
        plan.changes = !nothing_new || published.is_none();
        plan.settings.clone_from(&settings.text);
        plan.previous_manifest = published.as_ref().map(|published| published.manifest.clone());
        let manifest = self.artifacts.put_manifest(request.repository.id, taken.manifest).await?;
        plan.manifest = Some(manifest.clone());
        let parts = plan.parts();
        let plan = encode(ArtifactKind::Plan, &plan);
        let plan = self.artifacts.put_by_content("plans", request.repository.id, plan).await?;
        let duration_ms = u64::try_from(began_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        result.durations.push(StageDuration { stage: StageName::Sync.as_str().to_owned(), duration_ms });
        let run = NewRun {
            repository: request.repository.id,
            previous: published.map(|published| published.run.generation),
            manifest,
            plan: plan.clone(),
            parts,
            lane: request.lane,
            window: self.window,
            revision,
            branch: tree.branch().map(ToOwned::to_owned),
            result,
            started_at_ms: self.clock.now_ms(),
        };
        let (repository, revision) = (&request.repository.name, run.revision.clone());
        let run = self.ledger.begin(lease, run).await?;
        tracing::info!(%run, %repository, revision, "a run has begun");
        Ok(Synced::Begun { run, plan, cache })
    }

    /// Whether stores may hold records of files that are listed as failed: the ledger says that nobody could parse their pack,
    /// and its facts are there. What of them was staged nobody knows, so all of the repository begins anew.
    async fn holds_doubtful(&self, previous: &Manifest) -> Result<bool, StageError> {
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

    /// Settings that cannot be used: a run that failed says so, and what is published stays.
    async fn refuse(
        &self,
        lease: Lease,
        request: &SyncRequest,
        published: Option<PublishedGeneration>,
        error: StageError,
    ) -> Result<Synced, StageError> {
        let repository = request.repository.id;
        let plan = encode(ArtifactKind::Plan, &Plan::default());
        let plan = self.artifacts.put_by_content("plans", repository, plan).await?;
        let manifest = self.artifacts.put_manifest(repository, Manifest::default()).await?;
        let run = NewRun {
            repository,
            previous: published.map(|published| published.run.generation),
            manifest,
            plan,
            parts: Plan::default().parts(),
            lane: request.lane,
            window: self.window,
            revision: String::new(),
            branch: None,
            result: RunResult { repository: request.repository.name.to_string(), ..RunResult::default() },
            started_at_ms: self.clock.now_ms(),
        };
        let run = self.ledger.begin(lease, run).await?;
        let message = format!("{}: {}", FailureCode::InvalidSettings, error.chain());
        self.ledger.abort(run, RunState::Failed, &message, self.clock.now_ms()).await?;
        Err(error)
    }

    fn result(
        &self,
        request: &SyncRequest,
        revision: &str,
        manifest: &Manifest,
        settings: &settings::Effective,
    ) -> RunResult {
        RunResult {
            repository: request.repository.name.to_string(),
            path: request.repository.source.location().to_owned(),
            commit: revision.to_owned(),
            include: settings.rule_settings.include.clone(),
            exclude: settings.rule_settings.exclude.clone(),
            max_file_size: settings.rules.max_file_size().bytes(),
            ..inventory_result(manifest)
        }
    }
}

/// What the inventory alone says: files by outcome, errors, secrets.
pub(crate) fn inventory_result(manifest: &Manifest) -> RunResult {
    let mut result = RunResult::default();
    for entry in &manifest.entries {
        *result.files.entry(entry.outcome.label()).or_default() += 1;
        result.files_indexed += u64::from(entry.outcome.is_indexed());
        result.secrets += u64::from(entry.num_secrets);
        if let cairn_domain::Outcome::Failed { message, .. } = &entry.outcome {
            result.num_errors += 1;
            if result.errors.len() < ERRORS_LISTED {
                result.errors.push(FileError { file: entry.path.to_string(), message: message.clone() });
            }
        }
    }
    result
}

/// A host that is away or throttles is this repository's matter: the syncs of others do not wait for it.
pub(crate) fn of_source(error: SourceError) -> StageError {
    StageError::from(error).of_its_own()
}

struct ReadSnapshot {
    tree: Arc<dyn SnapshotTree>,
    taken: inventory::Taken,
    settings: Arc<settings::Effective>,
}
