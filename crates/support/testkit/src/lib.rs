//! Support for the tests of all layers: a clock that tests set, in-memory stores for artifacts, runs and API
//! keys, an in-memory index, and small repositories on disk.
//!
//! This code does not use the current time, the network or the user's git configuration. So a test gives the
//! same result on any machine.

mod blobs;
mod clock;
mod fake_index;
mod keys;
mod manifests;
mod memory_runs;
mod mutation;
mod packs;
mod repository;
pub mod work_tree;

pub use blobs::MemoryBlobs;
pub use clock::ManualClock;
pub use fake_index::{FakeContent, FakeIndex, INDEXED_AT_MS};
pub use keys::MemoryKeys;
pub use manifests::manifest_entry;
pub use memory_runs::MemoryRuns;
pub use mutation::Mutation;
pub use packs::delta_bomb;
pub use repository::FixtureRepository;
