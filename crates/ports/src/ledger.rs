//! The run ledger: planned parts, ended parts, and parts that may start. A run is complete when every part of
//! its plan has ended.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use cairn_domain::{
    ArtifactRef, FailureCode, GenerationId, Lane, PartEnd, PartId, RepositoryId, RunId, RunState, StageName,
    SyncProgress, Tenant,
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
    /// The published generation on which the plan is based; none for the first run.
    pub previous: Option<GenerationId>,
    pub manifest: ArtifactRef,
    pub plan: ArtifactRef,
    pub parts: Vec<PartId>,
    pub lane: Lane,
    /// Maximum number of parts in flight. This limit prevents one large run from filling the queues.
    pub window: u32,
    /// `Revision::label` of the snapshot.
    pub revision: String,
    pub branch: Option<String>,
    /// The part of the result that is known when the run begins (number of files by outcome, patterns …).
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
    /// The time at which a part of the run last ended. If no part has ended, the time at which the run began.
    pub progressed_at_ms: i64,
    pub ended_at_ms: Option<i64>,
    /// The reason for the failure or the cancellation of the run.
    pub message: Option<String>,
    /// Parts that wait for their next attempt.
    pub postponed: Vec<PostponedPart>,
}

impl RunRecord {
    /// Returns the job of a part of this run.
    pub fn job(&self, part: PartId) -> PartJob {
        PartJob { tenant: self.tenant.clone(), run: self.id, part, plan: self.plan.clone() }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartRecord {
    pub id: PartId,
    /// `None` while the part is open.
    pub end: Option<PartEnd>,
    /// The report of the part, as the JSON text of its wire form. The counts of all reports are added up in
    /// the run's result.
    pub report: String,
}

/// The data that a worker needs before it starts a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartStatus {
    pub state: RunState,
    /// Whether the part has already ended. If so, the job that the worker received is a second copy, and the
    /// part needs no work.
    pub is_ended: bool,
    /// Generations of the repository that were aborted before they were published, and that are not swept
    /// yet.
    pub aborted: BTreeSet<GenerationId>,
}

/// A lease for syncing a repository. The lease expires unless the holder renews it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lease {
    pub repository: RepositoryId,
    /// Each new holder gets a higher number.
    pub epoch: u64,
}

#[async_trait]
pub trait Ledger: Send + Sync {
    /// Takes the repository's lease for `ttl_ms`. Fails with `Conflict` while another holder has the lease.
    async fn lease(&self, repository: RepositoryId, now_ms: i64, ttl_ms: i64) -> Result<Lease, LedgerError>;

    /// Renews a lease and records the progress of its holder. If `ttl_ms` is 0, ends the lease. `Conflict` if
    /// a newer lease exists.
    async fn renew(&self, lease: Lease, now_ms: i64, ttl_ms: i64, progress: SyncProgress) -> Result<(), LedgerError>;

    /// Creates the run, records its plan and allots its generation in one transaction. `Conflict` if the
    /// repository has an unfinished run, or if its published generation is not `previous`.
    async fn begin(&self, lease: Lease, run: NewRun) -> Result<RunId, LedgerError>;

    /// Ends a part. Returns the parts that may start because this part has ended. If the part has already
    /// ended, the new outcome is ignored. `Conflict` if the run is finished.
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

    /// Ends an unfinished run as failed or cancelled. The failure of a run is also recorded as the outcome of
    /// the last sync. If the run is finished, fails with `Conflict` and changes nothing.
    async fn abort(&self, run: RunId, state: RunState, message: &str, now_ms: i64) -> Result<(), LedgerError>;
}

/// The outbox. The transaction that allows a part to start also adds the part to the outbox. The part stays
/// in the outbox until the broker has confirmed its job. If the publisher dies before the confirmation,
/// another process finds the part in the outbox.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Returns unfinished runs, oldest first, each with its parts that may start but whose jobs the broker
    /// has not confirmed. Only runs without progress since `quiet_since_ms` are returned, because the jobs of
    /// all other runs are being published now.
    async fn unsent(&self, quiet_since_ms: i64, limit: usize) -> Result<Vec<(RunRecord, Vec<PartId>)>, LedgerError>;

    /// Marks the jobs of these parts as confirmed by the broker.
    async fn sent(&self, run: RunId, parts: &[PartId]) -> Result<(), LedgerError>;

    /// Stores the failure of an attempt at the part. The job of the part is delivered again later. It is not
    /// an error if the run has ended before this call.
    async fn postponed(&self, run: RunId, postponed: PostponedPart) -> Result<(), LedgerError>;

    /// Returns, for each stage, the number of parts in flight in all unfinished runs. If no job was lost, the
    /// broker holds at least one job for each of these parts.
    async fn in_flight(&self) -> Result<BTreeMap<StageName, u64>, LedgerError>;

    /// If a run has made no progress for `after_ms`, its jobs may be lost, so this method puts them into the
    /// outbox again. `held` contains the stages whose jobs the broker still has. The jobs of these stages are
    /// put back only if the run has made no progress for a much longer time. Returns the number of runs whose
    /// jobs were put back.
    async fn send_again(&self, held: &BTreeSet<StageName>, now_ms: i64, after_ms: i64) -> Result<u64, LedgerError>;
}

/// A sync request whose job must be published.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncRequest {
    pub job: SyncJob,
    pub lane: Lane,
    pub rebuild: bool,
    /// True if the request comes from the schedule, and false if it comes from a person.
    pub is_scheduled: bool,
}

/// Records sync requests, and returns the requests whose sync may start.
#[async_trait]
pub trait Requests: Send + Sync {
    /// Requests a sync and returns the number of the request. A second request gets the same number if the
    /// sync of the first request has not started. If a sync or a run is in progress, the request is for the
    /// next sync. `NotFound` for a repository that does not exist.
    async fn ask(&self, repository: RepositoryId, lane: Lane, rebuild: bool, now_ms: i64) -> Result<u64, LedgerError>;

    /// Requests a sync in the bulk lane because the schedule requires it. If a person's request is already
    /// waiting, that request stays as it is, and no second request is made.
    async fn schedule(&self, repository: RepositoryId, now_ms: i64) -> Result<u64, LedgerError>;

    /// Returns the requests whose sync may start. The total number of returned requests, syncs in progress
    /// and runs in progress is at most `in_flight`. Interactive requests may exceed `in_flight` by one
    /// eighth. Interactive requests come first. Within a lane, the request that has waited longest comes
    /// first. The returned requests count as in progress from now on. If no worker has started a request
    /// after `again_after_ms`, or if a request is not reported as `dispatched` within
    /// `HANDED_OVER_WITHIN_MS`, the request is returned again.
    async fn dispatch(
        &self,
        in_flight: usize,
        now_ms: i64,
        again_after_ms: i64,
    ) -> Result<Vec<SyncRequest>, LedgerError>;

    /// Marks the job of the request as confirmed by the broker. It is not an error if the repository was
    /// deleted before this call.
    async fn dispatched(&self, repository: RepositoryId, request: u64) -> Result<(), LedgerError>;

    /// Stores the failure of an attempt at the sync, with its code and its chain of causes. The job of the
    /// sync is delivered again at `until_ms`. Until then, the sync does not count as in progress. It is not
    /// an error if the repository was deleted or the request was cancelled before this call.
    async fn postpone(
        &self,
        repository: RepositoryId,
        request: u64,
        failure: (FailureCode, String),
        now_ms: i64,
        until_ms: i64,
    ) -> Result<(), LedgerError>;

    /// Returns the repository's request with this number, if the request is not answered yet.
    async fn asked(&self, repository: RepositoryId, request: u64) -> Result<Option<SyncRequest>, LedgerError>;

    /// Answers a request whose sync has ended: the sync began a run, found nothing new, or failed with a code
    /// and a chain of causes.
    async fn answer(
        &self,
        repository: RepositoryId,
        request: u64,
        failure: Option<(FailureCode, String)>,
        now_ms: i64,
    ) -> Result<(), LedgerError>;

    /// Cancels the pending requests of these repositories. The last sync of each of these repositories is
    /// recorded as `cancelled`. A sync in progress loses its lease, so it cannot begin a run. If a sync takes
    /// the lease after this call, it checks its request again and finds the request cancelled. A run that has
    /// already begun continues. Returns the repositories that had a request.
    async fn cancel(
        &self,
        repositories: &[RepositoryId],
        message: &str,
        now_ms: i64,
    ) -> Result<Vec<RepositoryId>, LedgerError>;
}

/// The read operations of the ledger.
#[async_trait]
pub trait LedgerRead: Send + Sync {
    /// `NotFound` if the run does not exist.
    async fn run(&self, run: RunId) -> Result<RunRecord, LedgerError>;

    /// The status of a part, which a worker reads before it starts the part. `NotFound` if the run does not
    /// exist.
    async fn part_status(&self, run: RunId, part: PartId) -> Result<PartStatus, LedgerError>;

    /// The runs of a repository, or of all repositories, newest first.
    async fn runs(&self, repository: Option<RepositoryId>, limit: usize) -> Result<Vec<RunRecord>, LedgerError>;

    /// Returns the newest runs of the repositories in one read, newest first: at most `of_each` runs of each
    /// repository, and at most `in_all` runs in total.
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
