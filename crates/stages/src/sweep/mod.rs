//! sweep: removes from every store the data that no view can see.
//!
//! The catalogue lists the generations that must be swept, so a sweep that was interrupted can simply be
//! repeated. The cost of sweeping generations depends on the amount of removed data. Each sweep also executes
//! one maintenance step of bounded size in each store. The cost of sweeping artifacts depends on the number
//! of live manifests. Artifacts younger than the grace period are never deleted.

mod artifacts;
mod dead_letters;
mod failures;
mod generations;
#[cfg(test)]
mod tests;
mod vectors;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use cairn_domain::{ArtifactRef, GenerationId, RepositoryId, Tenant};
use cairn_ports::{Catalogue, CatalogueSweep, Clock, DeadLetters, Generations, GraphStore, VectorCache};

use crate::artifacts::Artifacts;

/// The default grace period. This period is longer than the lifetime of a cursor.
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
    /// The store of dead letters, if one exists.
    pub letters: Option<Arc<dyn DeadLetters>>,
    /// How long old data is kept after a newer generation is published. This period is shorter than
    /// `GRACE_MS` only if no reader can exist.
    pub grace_ms: i64,
    /// The repositories for which the maintenance of a store is not finished.
    pub unfinished: Mutex<BTreeSet<RepositoryId>>,
}

/// A deleted repository: its tenant, its id, and the first generation that is not deleted.
type Deleted = (Tenant, RepositoryId, GenerationId);

/// Whether the reference is a manifest. The list of live artifacts also contains the plans of unfinished
/// runs. The sweep does not read plans, because the manifest of a run names the same artifacts as its plan.
fn is_manifest(reference: &ArtifactRef) -> bool {
    reference.key.starts_with("manifests/")
}
