//! The catalogue: which repositories there are, and which generation of each is published.

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

/// A repository as the catalogue knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepositoryRecord {
    pub id: RepositoryId,
    pub tenant: Tenant,
    pub name: RepositoryName,
    pub source: Source,
    /// Configured branch, if not the default one.
    pub branch: Option<String>,
    /// Settings given at the command line or in the list file, as the JSON text of their wire form.
    pub settings: String,
    /// Former names.
    pub aliases: Vec<RepositoryName>,
    /// Set if listing an organisation registered it. Who registers it again without takes it over.
    pub hosted: Option<Hosted>,
    /// How the last sync went that came to an end. Kept by the catalogue, not by who registers.
    pub last_sync: Option<SyncOutcome>,
    /// How far a sync is that was asked for and has come to no end yet. Kept by the catalogue as well.
    pub pending_sync: Option<SyncProgress>,
    /// When the pending sync is attempted again, if an attempt has failed; `last_sync` says why. Kept by the catalogue.
    pub next_attempt_at_ms: Option<i64>,
}

impl RepositoryRecord {
    /// A repository that nobody has said anything of but where it is: its default branch, no settings.
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

/// A generation that was published.
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
    /// Name of the embedding model that its vectors are of.
    pub model: String,
}

/// Whether a caller may see what a repository of that name holds.
pub type MaySee<'a> = dyn Fn(&RepositoryName) -> bool + Send + Sync + 'a;

#[async_trait]
pub trait Catalogue: Send + Sync {
    /// Adds the repository, or updates name, source, branch, settings and what its host says of the one of the same id;
    /// aliases are added.
    async fn register(&self, repository: RepositoryRecord) -> Result<(), CatalogueError>;

    /// The repositories in scope that are not deleted, sorted by name.
    async fn repositories(&self, scope: &Scope) -> Result<Vec<RepositoryRecord>, CatalogueError>;

    /// Those of the tenant's repositories whose names the caller may see, not deleted, sorted by name. No other leaves the store.
    async fn visible(&self, tenant: &Tenant, may_see: &MaySee<'_>) -> Result<Vec<RepositoryRecord>, CatalogueError>;

    /// What a question sees from now on. Both numbers are read in one go.
    async fn view(&self) -> Result<View, CatalogueError>;

    /// What a question saw that was asked at that seq, without what was deleted since; `None` once it is too old.
    async fn view_at(&self, seq: PublishedSeq) -> Result<Option<View>, CatalogueError>;

    /// The generations of the repositories that the view sees, in one read, in no order: a question that looked at one
    /// repository after the other would take as long as there are repositories.
    async fn published_of(
        &self,
        view: &View,
        repositories: &[RepositoryId],
    ) -> Result<Vec<PublishedGeneration>, CatalogueError>;

    /// The generation of the repository that the view sees.
    async fn published(
        &self,
        view: &View,
        repository: RepositoryId,
    ) -> Result<Option<PublishedGeneration>, CatalogueError> {
        Ok(self.published_of(view, &[repository]).await?.pop())
    }

    /// Publishes the run's generation: one transaction, guarded by the run's state and by the repository's previous generation. A
    /// run that is published already is success; one that was cancelled or failed is `Conflict`.
    async fn publish(&self, published: PublishedGeneration) -> Result<PublishedSeq, CatalogueError>;

    /// Hides the repository from every view from now on and returns the generation of the deletion: records that began below it
    /// are to be removed. An unfinished run is cancelled.
    async fn delete(&self, repository: RepositoryId, now_ms: i64) -> Result<GenerationId, CatalogueError>;
}

/// What keeps a store clean: which generations may be swept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SweepList {
    /// Published, and old enough that no view can be older: what they retired may go.
    pub retired: Vec<RunId>,
    /// Failed or cancelled: to be undone, then forgotten.
    pub aborted: Vec<RunId>,
    /// Deleted repositories and the generation of the deletion: to be removed, then forgotten.
    pub deleted: Vec<(Tenant, RepositoryId, GenerationId)>,
}

/// Sweeping, as the catalogue sees it.
#[async_trait]
pub trait CatalogueSweep: Send + Sync {
    /// What may be swept now; published generations only if they were published at least `grace_ms` ago.
    async fn sweep_list(&self, now_ms: i64, grace_ms: i64) -> Result<SweepList, CatalogueError>;

    /// What was swept in every store before `now_ms`: never listed again, aborted generations are no longer hidden, deleted
    /// repositories forgotten. Runs that were aborted less than `grace_ms` before stay hidden and listed, for a late
    /// writer may still add to them; so do deletions that cancelled such a run.
    async fn swept(&self, swept: &SweepList, now_ms: i64, grace_ms: i64) -> Result<(), CatalogueError>;

    /// Repositories that somebody syncs, or that have an unfinished run: some of what is written for them is named by nothing
    /// yet.
    async fn at_work(&self, now_ms: i64) -> Result<BTreeSet<RepositoryId>, CatalogueError>;

    /// The manifests of the published generations that a view may still see, and those and the plans of unfinished runs, each
    /// with the tenant of its repository.
    async fn live_manifests(&self, now_ms: i64, grace_ms: i64) -> Result<Vec<(Tenant, ArtifactRef)>, CatalogueError>;
}
