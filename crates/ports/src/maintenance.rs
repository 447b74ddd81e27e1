//! Maintenance of a store with generations: sweeping, compaction and verification.

use async_trait::async_trait;
use cairn_domain::{GenerationId, RepositoryId, Tenant, View};

use crate::error::port_error;

port_error!(
    /// An error of a store's maintenance.
    MaintenanceError,
    "maintenance"
);

/// Maintenance operations. Each operation may be repeated at any time, and a repetition changes nothing.
#[async_trait]
pub trait Generations: Send + Sync {
    /// Removes the records that the published generations retired: records whose `gen_to` is one of
    /// `published`. Call this method only after the grace period, when every view in use is newer than these
    /// generations.
    async fn sweep_retired(
        &self,
        repository: RepositoryId,
        published: &[GenerationId],
    ) -> Result<u64, MaintenanceError>;

    /// Removes each record whose `gen_to` is one of `published`, if the record is visible in none of the
    /// `views`. All generations in `published` must be published. `views` must contain every view in use that
    /// is older than one of these generations, and one view that is newer than all these generations. A store
    /// may keep these records until `sweep_retired` is called.
    async fn sweep_unseen(
        &self,
        _repository: RepositoryId,
        _published: &[GenerationId],
        _views: &[View],
    ) -> Result<u64, MaintenanceError> {
        Ok(0)
    }

    /// Undoes a generation that was never published: removes the records that began in this generation, and
    /// makes the records that this generation retired current again. Returns the number of records that still
    /// refer to the generation. If the number is not zero, the caller sweeps again.
    async fn sweep_aborted(&self, repository: RepositoryId, aborted: GenerationId) -> Result<u64, MaintenanceError>;

    /// Removes every record of the repository that began in a generation earlier than `before`.
    async fn remove_repository(
        &self,
        tenant: &Tenant,
        repository: RepositoryId,
        before: GenerationId,
    ) -> Result<(), MaintenanceError>;

    /// Reorganises the stored data of the repository so that reading stays cheap. Readers get the same
    /// results as before. Each call executes one step of bounded size, and returns whether a further step is
    /// needed.
    async fn compact(&self, repository: RepositoryId) -> Result<bool, MaintenanceError>;

    /// Reads all stored data of the repository and verifies its checksums. An error describes the damaged
    /// data and how to repair it.
    async fn verify(&self, repository: RepositoryId) -> Result<(), MaintenanceError>;
}
