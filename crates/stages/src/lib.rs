//! The stages of the pipeline. Each stage reads artifacts and stores through ports, calls pure functions of
//! the core, and writes the result. `docs/stage-contract.md` lists the rules for every stage.

mod aggregate;
mod artifacts;
mod claims;
mod differences;
mod discover;
mod embed;
mod embed_patterns;
mod link;
mod parse;
mod pattern_chunk;
mod placed;
mod publish;
mod record_ceilings;
mod repeated_contents;
mod retire;
mod snapshot;
mod stage_set;
mod sweep;
mod sync;
mod term_layers;
mod threads;
mod toolchain;

pub use artifacts::Artifacts;
pub use discover::{
    Absence, Changes, Discover, Discovered, InvalidRules, Locate, OrganisationRules, Vanished, Watched,
};
pub use embed::Embedding;
pub use record_ceilings::RecordCeilings;
pub use snapshot::{SNAPSHOT_MEMORY_BYTES, Snapshots};
pub use stage_set::{StageSet, SweepStores};
pub use sweep::{GRACE_MS, Sweep};
pub use sync::{
    ChangedLimits, ChangedSource, ChangedSources, OpenedSource, Sync, SyncRequest, SyncWorker, Synced, check_request,
    declared_name, path_rules,
};
pub use toolchain::Toolchain;
