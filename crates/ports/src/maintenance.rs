//! What every store with generations must be able to do besides staging and reading.

use async_trait::async_trait;
use cairn_domain::{GenerationId, RepositoryId, Tenant};

use crate::error::port_error;

port_error!(
    /// An error of a store's maintenance.
    MaintenanceError,
    "maintenance"
);

/// Sweeping. Each operation may be run again at any time and is then a no-op.
#[async_trait]
pub trait Generations: Send + Sync {
    /// Removes what the published generations retired (`gen_to` is one of them). Call only after the grace period, when no view can be older.
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError>;

    /// Undoes a generation that was never published: removes what it began, reopens what it retired. Returns the number
    /// of records that still name it (zero, or the caller sweeps again).
    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError>;

    /// Removes every record of the repository that began below `before`.
    async fn remove_repository(
        &self,
        tenant: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError>;

    /// Reorganises what is stored of the repository so that reading stays cheap. Changes nothing that a reader sees.
    async fn compact(&self, repository: RepositoryId) -> Result<(), MaintenanceError>;

    /// Reads everything that is stored of the repository and verifies checksums. A fault names what is damaged and what
    /// to do about it.
    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError>;
}
