//! What a store keeps: one document for the registry, each repository, each run; a row for each ended part.

use cairn_domain::{
    ArtifactRef, GenerationId, Hosted, PartEnd, PartId, RepositoryId, RepositoryName, RunId, Source, Tenant, View,
};

use crate::{Registry, RepositoryState, RunLedger};

/// A repository: what it is, how its last sync went, and its state.
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
    /// Configured branch, if not the default one.
    pub branch: Option<String>,
    /// The caller's settings, as text that only readers understand.
    pub settings: String,
    /// Former names, sorted.
    pub aliases: Vec<RepositoryName>,
    /// Set if listing an organisation registered it, not a person.
    pub hosted: Option<Hosted>,
}

/// How the last sync that came to an end went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncOutcome {
    pub at_ms: i64,
    /// Code and chain of causes, if it failed.
    pub failure: Option<(String, String)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunDocument {
    pub details: RunDetails,
    pub ledger: RunLedger,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunDetails {
    pub tenant: Tenant,
    /// Of the snapshot: as planned, then as published.
    pub manifest: ArtifactRef,
    pub plan: ArtifactRef,
    pub revision: String,
    pub branch: Option<String>,
    /// Name of the embedding model; empty until it is published.
    pub model: String,
    /// The run's result, as text that only readers understand.
    pub result: String,
    pub started_at_ms: i64,
    /// Why it failed or was cancelled.
    pub message: Option<String>,
}

/// A part that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndedPart {
    pub run: RunId,
    pub part: PartId,
    pub end: PartEnd,
    /// What the part reports, as text that only readers understand.
    pub report: String,
}

/// Which documents a change needs, loaded under the write lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reach {
    pub registry: bool,
    pub repository: Option<RepositoryId>,
    pub run: Option<RunId>,
}

/// The documents of one change. A store fills in what `Reach` says, lets the command change them, and keeps the result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Documents {
    pub registry: Registry,
    pub repository: Option<RepositoryDocument>,
    /// The run that is named; where none is, the repository's unfinished one.
    pub run: Option<RunDocument>,
    /// The published run of the repository.
    pub previous: Option<RunDocument>,
    /// Generations of the runs of a repository with a pending deletion.
    pub earlier: Vec<GenerationId>,
    /// To be added, unless there is an end of that part.
    pub ended: Option<EndedPart>,
    /// To be kept under its seq, for cursors.
    pub publication: Option<Publication>,
    /// Runs and parts of the repository up to this generation are to be removed.
    pub forgotten_until: Option<GenerationId>,
    /// The repository itself is to be removed.
    pub is_gone: bool,
}

/// The view that a publication made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Publication {
    pub view: View,
    pub at_ms: i64,
}
