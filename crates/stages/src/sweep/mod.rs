//! sweep: removes data that no view can see, from every store.
//!
//! It takes no input: the catalogue lists the generations to sweep. A sweep that was stopped is simply
//! repeated. The cost of sweeping generations grows with the data that is removed. The cost of sweeping
//! artifacts grows with the number of live manifests, and artifacts younger than the grace period are never
//! deleted.

mod artifacts;
mod dead_letters;
mod failures;
mod generations;
#[cfg(test)]
mod tests;
mod vectors;

use std::sync::Arc;

use cairn_domain::{ArtifactRef, GenerationId, RepositoryId, Tenant};
use cairn_ports::{Catalogue, CatalogueSweep, Clock, DeadLetters, Generations, GraphStore, VectorCache};

use crate::artifacts::Artifacts;

/// The default grace period: longer than the lifetime of a cursor.
pub const GRACE_MS: i64 = 15 * 60 * 1000;

pub struct Sweep {
    pub artifacts: Arc<Artifacts>,
    pub catalogue: Arc<dyn Catalogue>,
    pub sweeping: Arc<dyn CatalogueSweep>,
    pub graph: Arc<dyn GraphStore>,
    pub clock: Arc<dyn Clock>,
    pub cache: Arc<dyn VectorCache>,
    /// Every store with generations.
    pub stores: Vec<Arc<dyn Generations>>,
    /// The store of dead letters, if the wiring has one.
    pub letters: Option<Arc<dyn DeadLetters>>,
    /// How long data stays after a newer generation is published. `GRACE_MS`, except where no reader can
    /// exist.
    pub grace_ms: i64,
}

/// A deleted repository: its tenant, its id, and the first generation that is not deleted.
type Deleted = (Tenant, RepositoryId, GenerationId);

/// The list of live artifacts contains the plans of unfinished runs and their manifests. A plan names no
/// artifact that its manifest does not name.
fn is_manifest(reference: &ArtifactRef) -> bool {
    reference.key.starts_with("manifests/")
}
