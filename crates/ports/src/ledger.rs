//! The run ledger: what is planned, what has ended, what may start. Completion is *plan minus ended parts is empty*.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cairn_domain::{ArtifactRef, GenerationId, PartEnd, PartId, RepositoryId, RunId, RunState, Tenant};
use cairn_wire::{PartJob, RunResult};

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
    pub ended_at_ms: Option<i64>,
    /// Why it failed or was cancelled.
    pub message: Option<String>,
    /// Generations of the repository that ended without being published and are not swept yet.
    pub aborted: BTreeSet<GenerationId>,
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

    /// Prolongs a lease, or ends it (`ttl_ms` 0); `Conflict` if it is no longer the newest.
    async fn renew(&self, lease: Lease, now_ms: i64, ttl_ms: i64) -> Result<(), LedgerError>;

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
    ) -> Result<Vec<PartId>, LedgerError>;

    /// The open parts of a run whose predecessors have all ended: what a reconciler publishes again.
    async fn ready(&self, run: RunId) -> Result<Vec<PartId>, LedgerError>;

    /// Ends an unfinished run as failed or cancelled. A finished one is left as it is and `Conflict`.
    async fn abort(&self, run: RunId, state: RunState, message: &str, now_ms: i64) -> Result<(), LedgerError>;
}

/// Reading the ledger.
#[async_trait]
pub trait LedgerRead: Send + Sync {
    /// `NotFound` if there is no such run.
    async fn run(&self, run: RunId) -> Result<RunRecord, LedgerError>;

    /// Runs of a repository (or of all), newest first.
    async fn runs(&self, repository: Option<RepositoryId>, limit: usize) -> Result<Vec<RunRecord>, LedgerError>;

    /// Unfinished runs, oldest first.
    async fn unfinished(&self) -> Result<Vec<RunRecord>, LedgerError>;

    /// The parts of a run in the order of their ids.
    async fn parts(&self, run: RunId) -> Result<Vec<PartRecord>, LedgerError>;
}
