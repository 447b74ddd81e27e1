//! The documents in a store: one for the registry, one for each repository, and one for each run. The store
//! has a row for each part that has ended.

use cairn_domain::{
    ArtifactRef, FailureCode, GenerationId, Hosted, PartEnd, PartId, RepositoryId, RepositoryName, RunId, Source,
    Tenant, View,
};

use crate::{Registry, RepositoryState, RunLedger};

/// A repository: its details, the outcome of its last sync, and its state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepositoryDocument {
    pub id: RepositoryId,
    pub details: RepositoryDetails,
    pub last_sync: Option<SyncOutcome>,
    pub state: RepositoryState,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepositoryDetails {
    pub tenant: Tenant,
    pub name: RepositoryName,
    pub source: Source,
    /// The configured branch; `None` for the default branch.
    pub branch: Option<String>,
    /// The caller's settings, as text that this crate does not interpret.
    pub settings: String,
    /// Former names, sorted.
    pub aliases: Vec<RepositoryName>,
    /// Set if the repository was registered from the list of an organisation, and not by a person.
    pub hosted: Option<Hosted>,
}

/// The outcome of the last sync that ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncOutcome {
    pub at_ms: i64,
    /// If the sync failed: the code of the failure, and its chain of causes.
    pub failure: Option<(FailureCode, String)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunDocument {
    pub details: RunDetails,
    pub ledger: RunLedger,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunDetails {
    pub tenant: Tenant,
    /// The manifest of the snapshot. The publication replaces the planned manifest with the published
    /// manifest.
    pub manifest: ArtifactRef,
    pub plan: ArtifactRef,
    pub revision: String,
    pub branch: Option<String>,
    /// Name of the embedding model. The name is empty until the run is published.
    pub model: String,
    /// The run's result, as text that this crate does not interpret.
    pub result: String,
    pub started_at_ms: i64,
    /// Why the run failed or was cancelled.
    pub message: Option<String>,
}

/// A part that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndedPart {
    pub run: RunId,
    pub part: PartId,
    pub end: PartEnd,
    /// The report of the part, as text that this crate does not interpret.
    pub report: String,
}

/// The documents that a change needs. A store loads these documents under the write lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reach {
    pub registry: bool,
    pub repository: Option<RepositoryId>,
    pub run: Option<RunId>,
}

/// The documents of one change. A store loads the documents that `Reach` names, lets the command change them,
/// and saves the changed documents.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Documents {
    pub registry: Registry,
    pub repository: Option<RepositoryDocument>,
    /// The run that `Reach` names. If `Reach` names no run, this is the unfinished run of the repository.
    pub run: Option<RunDocument>,
    /// The published run of the repository.
    pub previous: Option<RunDocument>,
    /// The generations of all runs of the repository, if its deletion is pending.
    pub earlier: Vec<GenerationId>,
    /// An ended part whose row the store must add.
    pub ended: Option<EndedPart>,
    /// A view that the store must save under its sequence number, because cursors refer to it.
    pub publication: Option<Publication>,
    /// If set, the store must remove the repository's runs and parts up to this generation.
    pub forgotten_until: Option<GenerationId>,
    /// Whether the store must remove the document of the repository.
    pub is_removed: bool,
}

/// The view that a publication created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Publication {
    pub view: View,
    pub at_ms: i64,
}
