//! The run ledger: what is planned, what has ended, what may start. Completion is *plan minus ended parts is empty*.

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

/// A run as it is begun: the plan holds every part of every stage from the start.
#[derive(Clone, PartialEq, Debug)]
pub struct NewRun {
    pub repository: RepositoryId,
    /// The published generation that the plan was made against; none for the first.
    pub previous: Option<GenerationId>,
    pub manifest: ArtifactRef,
    pub plan: ArtifactRef,
    pub parts: Vec<PartId>,
    pub lane: Lane,
    /// Parts that may be in flight at a time, so that one large run does not fill the queues.
    pub window: u32,
    /// `Revision::label` of the snapshot.
    pub revision: String,
    pub branch: Option<String>,
    /// What is known when the run begins (files by outcome, patterns used …).
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
    /// When it began, or its last part ended.
    pub progressed_at_ms: i64,
    pub ended_at_ms: Option<i64>,
    /// Why it failed or was cancelled.
    pub message: Option<String>,
    /// Parts that wait for their next attempt.
    pub postponed: Vec<PostponedPart>,
}

impl RunRecord {
    /// The job for one of its parts.
    pub fn job(&self, part: PartId) -> PartJob {
        PartJob { tenant: self.tenant.clone(), run: self.id, part, plan: self.plan.clone() }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartRecord {
    pub id: PartId,
    /// None while it is open.
    pub end: Option<PartEnd>,
    /// What the part reports: counts that are added up in the run's result, as the JSON text of their wire form.
    pub report: String,
}

/// What a worker must know before it works on a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartStatus {
    pub state: RunState,
    /// The part has ended: its job was delivered twice.
    pub is_ended: bool,
    /// Generations of the repository that ended without being published and are not swept yet.
    pub aborted: BTreeSet<GenerationId>,
}

/// A lease on syncing a repository. Ends by itself unless it is renewed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lease {
    pub repository: RepositoryId,
    /// Grows with each holder.
    pub epoch: u64,
}

#[async_trait]
pub trait Ledger: Send + Sync {
    /// Takes the repository's lease for `ttl_ms`; `Conflict` while somebody else holds it.
    async fn lease(&self, repository: RepositoryId, now_ms: i64, ttl_ms: i64) -> Result<Lease, LedgerError>;

    /// Prolongs a lease and tells how far its holder is, or ends it (`ttl_ms` 0); `Conflict` if it is no longer the newest.
    async fn renew(&self, lease: Lease, now_ms: i64, ttl_ms: i64, progress: SyncProgress) -> Result<(), LedgerError>;

    /// Creates the run and records its plan in one transaction, allotting the generation. `Conflict` if the repository has an unfinished
    /// run, or its published generation is not `previous`.
    async fn begin(&self, lease: Lease, run: NewRun) -> Result<RunId, LedgerError>;

    /// Ends a part, once: the first end stands. Returns the parts that may start because of it, and only then. `Conflict` if the run is
    /// finished.
    async fn end_part(
        &self,
        run: RunId,
        part: PartId,
        end: PartEnd,
        report: String,
        now_ms: i64,
    ) -> Result<Vec<PartId>, LedgerError>;

    /// The open parts of a run that may be worked on: their predecessors have all ended, and the run's window has room.
    async fn ready(&self, run: RunId) -> Result<Vec<PartId>, LedgerError>;

    /// Ends an unfinished run as failed or cancelled. A finished one is left as it is and `Conflict`.
    async fn abort(&self, run: RunId, state: RunState, message: &str, now_ms: i64) -> Result<(), LedgerError>;
}

/// The outbox: what may start stands in the ledger from the same transaction on that allowed it, until the broker has
/// confirmed its job. Whoever publishes may die in between; somebody else finds it here.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Unfinished runs with parts that may start and whose jobs the broker is not known to have; oldest first. Only those
    /// without progress since `quiet_since_ms`: of the others somebody is publishing right now.
    async fn unsent(&self, quiet_since_ms: i64, limit: usize) -> Result<Vec<(RunRecord, Vec<PartId>)>, LedgerError>;

    /// The broker has confirmed the jobs of these parts.
    async fn sent(&self, run: RunId, parts: &[PartId]) -> Result<(), LedgerError>;

    /// An attempt at the part failed, and its job comes again later. A run that ended meanwhile is no error.
    async fn postponed(&self, run: RunId, postponed: PostponedPart) -> Result<(), LedgerError>;

    /// How many parts of unfinished runs are in flight, by stage: as many jobs the broker has, if none is lost.
    async fn in_flight(&self) -> Result<BTreeMap<StageName, u64>, LedgerError>;

    /// Puts back the jobs of runs without progress for `after_ms`, for they may be lost; not those of the stages whose jobs the
    /// broker has (`held`), unless it has stood still for very long. Returns how many runs.
    async fn send_again(&self, held: &BTreeSet<StageName>, now_ms: i64, after_ms: i64) -> Result<u64, LedgerError>;
}

/// A sync that is to be handed to the broker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncRequest {
    pub job: SyncJob,
    pub lane: Lane,
    pub rebuild: bool,
    /// A schedule asked, and no person.
    pub is_scheduled: bool,
}

/// Who asked for a sync of what, and which syncs may start.
#[async_trait]
pub trait Requests: Send + Sync {
    /// Asks for a sync and returns the request's number. Asking again before it has started is the same request; while
    /// one is under way, or a run is unfinished, it is the next. `NotFound` for a repository that is not there.
    async fn ask(&self, repository: RepositoryId, lane: Lane, rebuild: bool, now_ms: i64) -> Result<u64, LedgerError>;

    /// Asks in the bulk lane because a sync is due. Joined to what a person asks, it is that person's request.
    async fn schedule(&self, repository: RepositoryId, now_ms: i64) -> Result<u64, LedgerError>;

    /// Requests whose sync may start, at most as many as leave no more than `in_flight` syncs and runs under way: interactive
    /// ones first, for which there is an eighth more room than for others, then the longest waiting. They count as under way
    /// from now on; one that nobody works on is given again `again_after_ms` later, and one that was not said to be `dispatched` after `HANDED_OVER_WITHIN_MS` at the latest.
    async fn dispatch(
        &self,
        in_flight: usize,
        now_ms: i64,
        again_after_ms: i64,
    ) -> Result<Vec<SyncRequest>, LedgerError>;

    /// The broker has confirmed the job of the request. A repository that was deleted since is no error.
    async fn dispatched(&self, repository: RepositoryId, request: u64) -> Result<(), LedgerError>;

    /// An attempt at the sync failed with a code and a chain of causes, and its job comes again at `until_ms`. Until then it counts as
    /// under way no more. A repository that was deleted since is no error, nor is a request that nobody waits for.
    async fn postpone(
        &self,
        repository: RepositoryId,
        request: u64,
        failure: (String, String),
        now_ms: i64,
        until_ms: i64,
    ) -> Result<(), LedgerError>;

    /// What is asked of a repository under that number, if it still waits for an answer.
    async fn asked(&self, repository: RepositoryId, request: u64) -> Result<Option<SyncRequest>, LedgerError>;

    /// The sync was done (a run began, or nothing was new), or failed for good with a code and a chain of causes.
    async fn answer(
        &self,
        repository: RepositoryId,
        request: u64,
        failure: Option<(String, String)>,
        now_ms: i64,
    ) -> Result<(), LedgerError>;

    /// Nobody waits any more for what was asked of these: their last sync counts as `cancelled`, and whoever has the lease of
    /// one loses it, so that it can begin no run. (Whoever takes a lease asks once more under it.) Returns those of which something was asked; a run that has begun is not concerned.
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
    /// `NotFound` if there is no such run.
    async fn run(&self, run: RunId) -> Result<RunRecord, LedgerError>;

    /// How things stand for a part that is to be worked on. `NotFound` if there is no such run.
    async fn part_status(&self, run: RunId, part: PartId) -> Result<PartStatus, LedgerError>;

    /// Runs of a repository (or of all), newest first.
    async fn runs(&self, repository: Option<RepositoryId>, limit: usize) -> Result<Vec<RunRecord>, LedgerError>;

    /// The newest runs of the repositories, at most `of_each` of one and `in_all` of all, in one read; newest first.
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
