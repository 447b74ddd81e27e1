//! The run ledger: planned parts, ended parts, and parts that may start. A run is complete when every part of
//! its plan has ended.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use cairn_domain::{
    ArtifactRef, GenerationId, Lane, PartEnd, PartId, RepositoryId, RunId, RunState, StageName, SyncProgress, Tenant,
};
pub use cairn_runs::{HANDED_OVER_WITHIN_MS, PostponedPart};
use cairn_wire::{PartJob, RunResult, SyncJob};

use crate::error::port_error;

port_error!(
    /// An error of the run ledger.
    LedgerError,
    "ledger"
);

/// A new run. The plan contains every part of every stage from the start.
#[derive(Clone, PartialEq, Debug)]
pub struct NewRun {
    pub repository: RepositoryId,
    /// The published generation that the plan was made against; none for the first run.
    pub previous: Option<GenerationId>,
    pub manifest: ArtifactRef,
    pub plan: ArtifactRef,
    pub parts: Vec<PartId>,
    pub lane: Lane,
    /// Maximum number of parts in flight, so that one large run does not fill the queues.
    pub window: u32,
    /// `Revision::label` of the snapshot.
    pub revision: String,
    pub branch: Option<String>,
    /// The part of the result that is known when the run begins (files by outcome, patterns …).
    pub result: RunResult,
    pub started_at_ms: i64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct RunRecord {
    pub id: RunId,
    pub tenant: Tenant,
    pub lane: Lane,
    pub previous: Option<GenerationId>,
    pub manifest: ArtifactRef,
    pub plan: ArtifactRef,
    pub revision: String,
    pub branch: Option<String>,
    pub state: RunState,
    pub num_parts: u32,
    pub num_ended: u32,
    pub num_failed: u32,
    pub result: RunResult,
    pub started_at_ms: i64,
    /// The time at which the run began, or at which the last of its ended parts ended.
    pub progressed_at_ms: i64,
    pub ended_at_ms: Option<i64>,
    /// The reason of a failure or a cancellation.
    pub message: Option<String>,
    /// Parts that wait for their next attempt.
    pub postponed: Vec<PostponedPart>,
}

impl RunRecord {
    /// The job of one of its parts.
    pub fn job(&self, part: PartId) -> PartJob {
        PartJob { tenant: self.tenant.clone(), run: self.id, part, plan: self.plan.clone() }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartRecord {
    pub id: PartId,
    /// None while it is open.
    pub end: Option<PartEnd>,
    /// The report of the part: counts that are added up in the run's result, as the JSON text of their wire
    /// form.
    pub report: String,
}

/// The data that a worker needs before it starts a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartStatus {
    pub state: RunState,
    /// The part has ended: its job was delivered twice.
    pub is_ended: bool,
    /// Generations of the repository that ended unpublished and are not swept yet.
    pub aborted: BTreeSet<GenerationId>,
}

/// A lease for syncing a repository. It ends by itself unless it is renewed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lease {
    pub repository: RepositoryId,
    /// Grows with each new holder.
    pub epoch: u64,
}

#[async_trait]
pub trait Ledger: Send + Sync {
    /// Takes the repository's lease for `ttl_ms`. `Conflict` while another holder has it.
    async fn lease(&self, repository: RepositoryId, now_ms: i64, ttl_ms: i64) -> Result<Lease, LedgerError>;

    /// Renews a lease and records the progress of its holder, or ends it (`ttl_ms` 0). `Conflict` if a newer
    /// lease exists.
    async fn renew(&self, lease: Lease, now_ms: i64, ttl_ms: i64, progress: SyncProgress) -> Result<(), LedgerError>;

    /// Creates the run, records its plan and allots the generation, in one transaction. `Conflict` if the
    /// repository has an unfinished run, or its published generation is not `previous`.
    async fn begin(&self, lease: Lease, run: NewRun) -> Result<RunId, LedgerError>;

    /// Ends a part once: a second end is ignored. Returns the parts that may start because of the first end.
    /// `Conflict` if the run is finished.
    async fn end_part(
        &self,
        run: RunId,
        part: PartId,
        end: PartEnd,
        report: String,
        now_ms: i64,
    ) -> Result<Vec<PartId>, LedgerError>;

    /// The open parts of a run that may start: all their predecessors have ended, and the run's window is not
    /// full.
    async fn ready(&self, run: RunId) -> Result<Vec<PartId>, LedgerError>;

    /// Ends an unfinished run as failed or cancelled. `Conflict` if the run is finished; it is not changed
    /// then.
    async fn abort(&self, run: RunId, state: RunState, message: &str, now_ms: i64) -> Result<(), LedgerError>;
}

/// The outbox. A part that may start is in the ledger from the transaction that allowed it until the broker
/// has confirmed its job. If the publisher dies in between, another process finds the part here.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Unfinished runs with parts that may start and whose jobs are not confirmed, oldest first. Only runs
    /// without progress since `quiet_since_ms`: the jobs of the others are being published now.
    async fn unsent(&self, quiet_since_ms: i64, limit: usize) -> Result<Vec<(RunRecord, Vec<PartId>)>, LedgerError>;

    /// The broker has confirmed the jobs of these parts.
    async fn sent(&self, run: RunId, parts: &[PartId]) -> Result<(), LedgerError>;

    /// An attempt at the part failed, and its job is delivered again later. A run that ended meanwhile is not
    /// an error.
    async fn postponed(&self, run: RunId, postponed: PostponedPart) -> Result<(), LedgerError>;

    /// The number of parts of unfinished runs that are in flight, by stage. The broker has as many jobs, if
    /// none is lost.
    async fn in_flight(&self) -> Result<BTreeMap<StageName, u64>, LedgerError>;

    /// Makes the jobs of runs without progress for `after_ms` ready again, because they may be lost. Jobs of
    /// stages whose jobs the broker still has (`held`) are left alone, unless the run had no progress for
    /// very long. Returns the number of runs.
    async fn send_again(&self, held: &BTreeSet<StageName>, now_ms: i64, after_ms: i64) -> Result<u64, LedgerError>;
}

/// A sync whose job is to be published.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncRequest {
    pub job: SyncJob,
    pub lane: Lane,
    pub rebuild: bool,
    /// The schedule requested it, not a person.
    pub is_scheduled: bool,
}

/// Requested syncs, and the syncs that may start.
#[async_trait]
pub trait Requests: Send + Sync {
    /// Requests a sync and returns the number of the request. A second request before the sync starts has the
    /// same number. While a sync or a run is in progress, a request waits for the next sync. `NotFound` for a
    /// repository that does not exist.
    async fn ask(&self, repository: RepositoryId, lane: Lane, rebuild: bool, now_ms: i64) -> Result<u64, LedgerError>;

    /// Requests a sync in the bulk lane because it is due. If a person's request is already waiting, that
    /// request is kept and no second one is made.
    async fn schedule(&self, repository: RepositoryId, now_ms: i64) -> Result<u64, LedgerError>;

    /// Returns the requests whose sync may start. Together with the syncs and runs in progress they are at
    /// most `in_flight`; interactive requests may exceed this limit by an eighth. Interactive requests come
    /// first. Within a lane, the request that has waited longest comes first. The returned requests count as
    /// in progress from now on. A request that no worker has started is returned again after
    /// `again_after_ms`. A request that is not reported as `dispatched` is returned again after
    /// `HANDED_OVER_WITHIN_MS`.
    async fn dispatch(
        &self,
        in_flight: usize,
        now_ms: i64,
        again_after_ms: i64,
    ) -> Result<Vec<SyncRequest>, LedgerError>;

    /// The broker has confirmed the job of the request. A repository that was deleted meanwhile is not an
    /// error.
    async fn dispatched(&self, repository: RepositoryId, request: u64) -> Result<(), LedgerError>;

    /// An attempt of the sync failed with a code and a chain of causes. Its job is delivered again at
    /// `until_ms`. Until then it does not count as in progress. A repository that was deleted meanwhile is
    /// not an error, and neither is a request that was cancelled.
    async fn postpone(
        &self,
        repository: RepositoryId,
        request: u64,
        failure: (String, String),
        now_ms: i64,
        until_ms: i64,
    ) -> Result<(), LedgerError>;

    /// The request of a repository with this number, if it is not answered yet.
    async fn asked(&self, repository: RepositoryId, request: u64) -> Result<Option<SyncRequest>, LedgerError>;

    /// The sync has ended: a run began, nothing was new, or it failed with a code and a chain of causes.
    async fn answer(
        &self,
        repository: RepositoryId,
        request: u64,
        failure: Option<(String, String)>,
        now_ms: i64,
    ) -> Result<(), LedgerError>;

    /// Cancels the pending requests of these repositories. Their last sync counts as `cancelled`. The holder
    /// of a lease loses it and can begin no run. (A sync checks its request again under the lease.) Returns
    /// the repositories that had a request. A run that has begun goes on.
    async fn cancel(
        &self,
        repositories: &[RepositoryId],
        message: &str,
        now_ms: i64,
    ) -> Result<Vec<RepositoryId>, LedgerError>;
}

/// Reading the ledger.
#[async_trait]
pub trait LedgerRead: Send + Sync {
    /// `NotFound` if the run does not exist.
    async fn run(&self, run: RunId) -> Result<RunRecord, LedgerError>;

    /// The status of a part before a worker starts it. `NotFound` if the run does not exist.
    async fn part_status(&self, run: RunId, part: PartId) -> Result<PartStatus, LedgerError>;

    /// Runs of a repository (or of all), newest first.
    async fn runs(&self, repository: Option<RepositoryId>, limit: usize) -> Result<Vec<RunRecord>, LedgerError>;

    /// The newest runs of the repositories in one read, newest first: at most `of_each` of one repository,
    /// and `in_all` together.
    async fn runs_of(
        &self,
        repositories: &[RepositoryId],
        of_each: usize,
        in_all: usize,
    ) -> Result<Vec<RunRecord>, LedgerError>;

    /// Unfinished runs, oldest first.
    async fn unfinished(&self) -> Result<Vec<RunRecord>, LedgerError>;

    /// The parts of a run in the order of their ids.
    async fn parts(&self, run: RunId) -> Result<Vec<PartRecord>, LedgerError>;
}
