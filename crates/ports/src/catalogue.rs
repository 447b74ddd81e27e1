//! The catalogue: the repositories, and the published generation of each repository.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cairn_domain::{
    ArtifactRef, GenerationId, Hosted, PublishedSeq, RepositoryId, RepositoryName, RunId, RunState, Scope, Source,
    SyncProgress, Tenant, View,
};
pub use cairn_runs::SyncOutcome;
use cairn_wire::RunResult;

use crate::error::port_error;

port_error!(
    /// An error of the catalogue.
    CatalogueError,
    "catalogue"
);

/// A repository in the catalogue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepositoryRecord {
    pub id: RepositoryId,
    pub tenant: Tenant,
    pub name: RepositoryName,
    pub source: Source,
    /// The configured branch, tag or commit id. `None` for the default branch.
    pub branch: Option<String>,
    /// Settings from the command line, a call or a list file, as the JSON text of their wire form.
    pub settings: String,
    /// Former names.
    pub aliases: Vec<RepositoryName>,
    /// Set if the repository was registered because it is in the list of an organisation. If the repository
    /// is registered again without this value, the stored value is removed.
    pub hosted: Option<Hosted>,
    /// The outcome of the last sync that ended. The catalogue sets this value, and `register` does not change
    /// it.
    pub last_sync: Option<SyncOutcome>,
    /// The progress of a requested sync that has not ended. The catalogue sets this value, and `register`
    /// does not change it.
    pub pending_sync: Option<SyncProgress>,
    /// The time of the next attempt at the pending sync, if an attempt has failed. `last_sync` contains the
    /// reason for the failure. The catalogue sets this value, and `register` does not change it.
    pub next_attempt_at_ms: Option<i64>,
}

impl RepositoryRecord {
    /// Creates a record with the default branch and without settings.
    pub fn new(tenant: Tenant, name: RepositoryName, source: Source) -> Self {
        Self {
            id: RepositoryId::derive(&tenant, &name),
            tenant,
            name,
            source,
            branch: None,
            settings: String::new(),
            aliases: Vec::new(),
            hosted: None,
            last_sync: None,
            pending_sync: None,
            next_attempt_at_ms: None,
        }
    }
}

/// A published generation.
#[derive(Clone, PartialEq, Debug)]
pub struct PublishedGeneration {
    pub run: RunId,
    pub seq: PublishedSeq,
    /// The manifest of the snapshot.
    pub manifest: ArtifactRef,
    /// `Revision::label` of the snapshot.
    pub revision: String,
    pub branch: Option<String>,
    /// Milliseconds since 1970.
    pub indexed_at_ms: i64,
    /// `Published` or `Partial`.
    pub state: RunState,
    pub result: RunResult,
    /// Name of the embedding model that computed the vectors.
    pub model: String,
}

/// Whether a caller may see the contents of the repository with this name.
pub type MaySee<'a> = dyn Fn(&RepositoryName) -> bool + Send + Sync + 'a;

#[async_trait]
pub trait Catalogue: Send + Sync {
    /// Adds the repository. If a repository with this id exists, its name, source, branch, settings and host
    /// data are replaced, and the aliases are added to the existing aliases.
    async fn register(&self, repository: RepositoryRecord) -> Result<(), CatalogueError>;

    /// Adds a repository from an organisation's list, in the same way as `register`. However, if the id
    /// exists, the stored branch and settings are kept, because a call may have changed them after the list
    /// was read.
    async fn register_listed(&self, repository: RepositoryRecord) -> Result<(), CatalogueError>;

    /// Replaces the settings of a registered repository and changes nothing else. Returns `Conflict` and
    /// changes nothing if the stored settings differ from `expected`, because another call has changed them.
    async fn change_settings(
        &self,
        repository: RepositoryId,
        expected: &str,
        settings: &str,
    ) -> Result<(), CatalogueError>;

    /// The repositories in scope, without deleted repositories, sorted by name.
    async fn repositories(&self, scope: &Scope) -> Result<Vec<RepositoryRecord>, CatalogueError>;

    /// The tenant's repositories whose names the caller may see, without deleted repositories, sorted by
    /// name. The store applies `may_see`, so repositories that the caller may not see never leave the store.
    async fn visible(&self, tenant: &Tenant, may_see: &MaySee<'_>) -> Result<Vec<RepositoryRecord>, CatalogueError>;

    /// Returns the view for a new question. All parts of the view are read in one operation.
    async fn view(&self) -> Result<View, CatalogueError>;

    /// Returns the view of an earlier question, without repositories that were deleted after that question.
    /// `None` if the view is too old.
    async fn view_at(&self, seq: PublishedSeq) -> Result<Option<View>, CatalogueError>;

    /// Returns the published generations of these repositories in the view, in any order. All generations are
    /// read in one operation. With a separate read for each repository, the duration of a question would grow
    /// with the number of repositories.
    async fn published_of(
        &self,
        view: &View,
        repositories: &[RepositoryId],
    ) -> Result<Vec<PublishedGeneration>, CatalogueError>;

    /// Returns the published generation of the repository in the view.
    async fn published(
        &self,
        view: &View,
        repository: RepositoryId,
    ) -> Result<Option<PublishedGeneration>, CatalogueError> {
        Ok(self.published_of(view, &[repository]).await?.pop())
    }

    /// Publishes the run's generation in one transaction, which checks the run's state and the repository's
    /// previous generation. Returns the existing sequence number if the run is already published. `Conflict`
    /// if the run was cancelled or has failed.
    async fn publish(&self, published: PublishedGeneration) -> Result<PublishedSeq, CatalogueError>;

    /// Hides the repository from every later view and cancels its unfinished run. Returns the generation of
    /// the deletion: records that began in an earlier generation must be removed.
    async fn delete(&self, repository: RepositoryId, now_ms: i64) -> Result<GenerationId, CatalogueError>;
}

/// The generations that may be swept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SweepList {
    /// Published generations that are older than every view in use. The records that these generations
    /// retired may be removed.
    pub retired: Vec<RunId>,
    /// Generations of failed or cancelled runs. These generations must be undone, and then removed from the
    /// catalogue.
    pub aborted: Vec<RunId>,
    /// Deleted repositories with the generation of the deletion. The records of a repository are removed
    /// first, and then the repository itself.
    pub deleted: Vec<(Tenant, RepositoryId, GenerationId)>,
}

/// The operations of the catalogue that a sweep needs.
#[async_trait]
pub trait CatalogueSweep: Send + Sync {
    /// The generations that may be swept now. A published generation must be at least `grace_ms` old.
    async fn sweep_list(&self, now_ms: i64, grace_ms: i64) -> Result<SweepList, CatalogueError>;

    /// Marks these generations as swept in every store. `now_ms` is the time before the sweep. The swept
    /// generations are not listed again. The swept aborted generations are no longer hidden, and the swept
    /// deleted repositories are removed. Runs that were aborted less than `grace_ms` before `now_ms` stay
    /// hidden and stay in the list, because a late writer may still add records to them. If a deletion
    /// cancelled such a run, the deletion also stays in the list.
    async fn swept(&self, swept: &SweepList, now_ms: i64, grace_ms: i64) -> Result<(), CatalogueError>;

    /// Returns the repositories with a running sync or an unfinished run. Some artifacts of these
    /// repositories may be in use although no document refers to them yet.
    async fn at_work(&self, now_ms: i64) -> Result<BTreeSet<RepositoryId>, CatalogueError>;

    /// Returns the manifests of the published generations that a view may still see, and the manifests and
    /// plans of unfinished runs. Each manifest or plan is returned with the tenant of its repository.
    async fn live_manifests(&self, now_ms: i64, grace_ms: i64) -> Result<Vec<(Tenant, ArtifactRef)>, CatalogueError>;
}
