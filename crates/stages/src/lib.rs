//! The stages: thin shells around the core. Each takes artifacts and stores through ports, calls a pure function, and
//! writes what came out. `docs/stage-contract.md` lists what every stage must hold to.

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
mod retire;
mod snapshot;
mod sweep;
mod sync;
mod threads;
mod toolchain;

pub use aggregate::AggregateStage;
pub use artifacts::Artifacts;
pub use discover::{
    Absence, Changes, Discover, Discovered, InvalidRules, Locate, OrganisationRules, Vanished, Watched,
};
pub use embed::{EmbedStage, Embedding};
pub use embed_patterns::EmbedPatternsStage;
pub use link::LinkStage;
pub use parse::ParseStage;
pub use publish::PublishStage;
pub use retire::RetireStage;
pub use snapshot::{SNAPSHOT_MEMORY_BYTES, Snapshots};
pub use sweep::{GRACE_MS, Sweep};
pub use sync::{Sync, SyncRequest, SyncWorker, Synced, path_rules};
pub use toolchain::Toolchain;
