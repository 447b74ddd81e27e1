//! sync: writes a repository's snapshot into artifacts and begins the run that indexes it.
//!
//! A sync reads the tree and decides for every path whether it is indexed. The sync reads, redacts and packs
//! the new blobs, and writes the manifest and the plan. After that, one ledger transaction creates the run. A
//! sync may be stopped at any point before this transaction: its artifacts are named by content, so another
//! sync reuses them or the sweep removes them.

mod beginning;
mod budget;
mod ceiling;
mod changed;
mod changes;
mod content;
mod deadline;
#[cfg(test)]
mod deadline_tests;
mod heartbeat;
mod inventory;
mod listing_ceilings;
mod modules;
mod on_change;
mod opening;
mod packing;
mod reading;
mod refusal;
mod result;
mod settings;
mod settings_files;
mod skipped;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::Arc;

use cairn_config::{Operator, SETTINGS_FILE};
use cairn_domain::{ArtifactRef, Digest, Lane, Outcome, RunId, RunState, SyncProgress};
use cairn_faults::fail_point;
use cairn_pipeline::StageError;
use cairn_ports::{
    Catalogue, Clock, FailureCode, Lease, Ledger, PublishedGeneration, ReadOptions, RepositoryRecord, SnapshotTree,
    SourceCache, SourceReader, SyncMeter,
};
use cairn_wire::Manifest;
use tokio::time::Instant;

pub(crate) use ceiling::Ceiling;
pub use changed::{ChangedLimits, ChangedSource, ChangedSources};
pub(crate) use changes::is_doubtful;
use deadline::Deadline;
use on_change::OnChange;
pub use opening::{OpenedSource, declared_name};
pub(crate) use refusal::{invalid, of_source, over_budget};
pub(crate) use result::inventory_result;
pub use settings::{check_request, path_rules};
pub use worker::SyncWorker;

use crate::Toolchain;
use crate::artifacts::Artifacts;
use crate::threads::blocking;

/// Maximum number of attempts to read a tree on disk that changes while it is read. If files still change
/// during the last attempt, they are recorded as unreadable.
const ATTEMPTS: usize = 5;

/// The repository to sync, and the options of the sync.
#[derive(Clone, Debug)]
pub struct SyncRequest {
    pub repository: RepositoryRecord,
    /// `SnapshotTree::cache` of the last sync.
    pub cache: SourceCache,
    /// Whether every record must be written again.
    pub rebuild: bool,
    pub lane: Lane,
    /// Counts the progress of this sync.
    pub meter: Arc<SyncMeter>,
}

/// The outcome of a sync.
pub enum Synced {
    /// The current state of the source is already published.
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

/// The sync stage. The sync stage does not process parts of a run, because it begins the run.
pub struct Sync {
    pub artifacts: Arc<Artifacts>,
    pub catalogue: Arc<dyn Catalogue>,
    pub ledger: Arc<dyn Ledger>,
    pub source: Arc<dyn SourceReader>,
    pub clock: Arc<dyn Clock>,
    pub operator: Arc<Operator>,
    pub tools: Toolchain,
    /// Number of threads that read, redact and compress.
    pub num_threads: usize,
    /// The duration of a lease. If a process dies, no other process can sync the repository until the lease
    /// expires. A live process renews its lease four times within this duration.
    pub lease_ms: i64,
    /// Maximum number of parts of a run in flight.
    pub window: u32,
}

impl Sync {
    pub async fn run(&self, request: SyncRequest) -> Result<Synced, StageError> {
        self.run_if(request, async { Ok(true) }).await
    }

    /// Does the same as `run`, with a source that `check_source` has opened. When the sync reads the source,
    /// it takes the source out of `opened`.
    pub async fn run_opened(
        &self,
        request: SyncRequest,
        opened: &mut Option<OpenedSource>,
    ) -> Result<Synced, StageError> {
        self.run_leased(request, opened, async { Ok(true) }).await
    }

    /// Does the same as `run`, for a request that may be cancelled. `is_wanted` is evaluated after the lease
    /// is taken, so that an earlier cancellation is detected. A later cancellation ends the lease.
    pub async fn run_if(
        &self,
        request: SyncRequest,
        is_wanted: impl Future<Output = Result<bool, StageError>> + Send,
    ) -> Result<Synced, StageError> {
        self.run_leased(request, &mut None, is_wanted).await
    }

    async fn run_leased(
        &self,
        request: SyncRequest,
        opened: &mut Option<OpenedSource>,
        is_wanted: impl Future<Output = Result<bool, StageError>> + Send,
    ) -> Result<Synced, StageError> {
        let asked_at = Instant::now();
        let lease = self.ledger.lease(request.repository.id, self.clock.now_ms(), self.lease_ms).await?;
        fail_point!("sync::leased", |message| Err(StageError::injected(message)));
        let synced = {
            let meter = Arc::clone(&request.meter);
            let heartbeat = self.heartbeat(lease, asked_at, &meter);
            let synced = async {
                if is_wanted.await? {
                    self.under_lease(lease, request, opened, &meter).await
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
            tracing::warn!(repository = %lease.repository, error, "the lease could not be ended and will expire");
        }
        synced
    }

    async fn under_lease(
        &self,
        lease: Lease,
        request: SyncRequest,
        opened: &mut Option<OpenedSource>,
        meter: &Arc<SyncMeter>,
    ) -> Result<Synced, StageError> {
        let now = Instant::now();
        let began_at = opened.as_ref().and_then(|opened| now.checked_sub(opened.took)).unwrap_or(now);
        let deadline = Deadline::new(began_at, self.operator.ceilings.sync_timeout_seconds);
        let view = self.catalogue.view().await?;
        let published = self.catalogue.published(&view, request.repository.id).await?;
        let published = published.as_ref();
        let previous = self.previous_manifest(published).await?;
        if let Some(last) = published {
            match deadline.limit(meter, self.is_where_it_was(&request, last, &previous)).await {
                Ok(true) => return Ok(Synced::Unchanged { published: Box::new(last.clone()), cache: request.cache }),
                Ok(false) => {}
                Err(error) if refusal::is_refusal(&error) => {
                    return self.refuse(lease, &request, published, error).await;
                }
                Err(error) => return Err(error),
            }
        }
        let mut attempt = 1;
        loop {
            let on_change = if attempt < ATTEMPTS { OnChange::ListAgain } else { OnChange::Record };
            let reading = self.read(&request, opened.take(), &previous, meter, on_change);
            match deadline.limit(meter, reading).await {
                Err(error) if error.code == FailureCode::Conflict && attempt < ATTEMPTS => attempt += 1,
                Err(error) if refusal::is_refusal(&error) => {
                    return self.refuse(lease, &request, published, error).await;
                }
                Err(error) => return Err(error),
                Ok(snapshot) => return self.begin(lease, &request, published, &previous, snapshot, began_at).await,
            }
        }
    }

    /// The manifest of the published generation. The manifest is empty if no generation is published.
    async fn previous_manifest(&self, published: Option<&PublishedGeneration>) -> Result<Arc<Manifest>, StageError> {
        Ok(match published {
            Some(published) => self.artifacts.manifest(&published.manifest).await?,
            None => Arc::default(),
        })
    }

    fn inputs_digest(&self, request: &SyncRequest) -> Digest {
        self.tools.inputs_digest(&self.operator, &request.repository.settings)
    }

    /// Whether the sync can end without opening the source. This saves time, because opening the source may
    /// need a full fetch. The sync can end if the published snapshot was made from the current head of the
    /// source, all other inputs are unchanged, and no failed file must be tried again.
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
        // If `.cairn.yaml` may select the branch, the head of the selected branch must also be unchanged.
        let has_settings = previous.find(SETTINGS_FILE).is_some();
        let selected = published.branch.clone().filter(|_| branch.is_none() && has_settings);
        for branch in std::iter::once(branch.clone()).chain(selected.map(Some)) {
            let (tenant, meter) = (Some(tenant.clone()), Arc::clone(&request.meter));
            let options = ReadOptions { tenant, branch, meter, ..ReadOptions::default() };
            let (source, location) = (Arc::clone(&self.source), request.repository.source.clone());
            let head = blocking(move || source.head(&location, &options).map_err(of_source)).await?;
            if head.is_none_or(|head| head.to_string() != published.revision) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Opens the source and takes the inventory. Packs are written during the inventory.
    async fn read(
        &self,
        request: &SyncRequest,
        opened: Option<OpenedSource>,
        previous: &Arc<Manifest>,
        meter: &Arc<SyncMeter>,
        on_change: OnChange,
    ) -> Result<ReadSnapshot, StageError> {
        let tree = match opened {
            Some(opened) => opened.tree?,
            None => self.open(request, meter).await?,
        };
        let settings = Arc::new(self.settings(request, &tree, meter, on_change).await?);
        let inventory = inventory::Inventory {
            reading: reading::Reading {
                tools: self.tools.clone(),
                settings: Arc::clone(&settings),
                tree: Arc::clone(&tree),
                meter: Arc::clone(meter),
                on_change,
            },
            inputs_digest: self.inputs_digest(request),
            // A rebuild reads all files again, because a pack of an earlier run may have been lost.
            previous: if request.rebuild { Arc::default() } else { Arc::clone(previous) },
            ceilings: self.operator.ceilings.clone(),
        };
        let taken = inventory.take(&self.artifacts, request.repository.id, self.num_threads).await?;
        Ok(ReadSnapshot { tree, taken, settings })
    }
}

/// A snapshot whose inventory is taken and whose packs are written.
struct ReadSnapshot {
    tree: Arc<dyn SnapshotTree>,
    taken: inventory::Taken,
    settings: Arc<settings::Effective>,
}
