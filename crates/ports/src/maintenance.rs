//! The operations of every store with generations, except staging and reading.

use async_trait::async_trait;
use cairn_domain::{GenerationId, RepositoryId, Tenant};

use crate::error::port_error;

port_error!(
    /// An error of a store's maintenance.
    MaintenanceError,
    "maintenance"
);

/// Sweeping. Each operation may be repeated at any time; a repetition changes nothing.
#[async_trait]
pub trait Generations: Send + Sync {
    /// Removes the records that the published generations retired (`gen_to` is one of them). Call it only
    /// after the grace period, when every view is newer.
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError>;

    /// Undoes a generation that was never published: removes the records that it began and reopens those that
    /// it retired. Returns the number of records that still refer to it. If this is not zero, the caller
    /// sweeps again.
    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError>;

    /// Removes every record of the repository that began below `before`.
    async fn remove_repository(
        &self,
        tenant: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError>;

    /// Reorganises the stored data of the repository so that reading stays cheap. Readers see no difference.
    async fn compact(&self, repository: RepositoryId) -> Result<(), MaintenanceError>;

    /// Reads all stored data of the repository and verifies checksums. An error names the damaged data and
    /// the repair.
    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError>;
}
