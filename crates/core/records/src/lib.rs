//! Combines the facts of a blob with a path to form the records that are stored.
//!
//! Facts do not depend on a path, so equal blobs at different paths share the same facts. This crate adds the
//! path and everything that is derived from the path: the module path, whether the file is test code, the
//! weight, and the tags.

mod chunks;
mod count;
mod keys;
mod names;
mod placement;
#[cfg(test)]
mod tests;

pub use chunks::{chunk_records, passage};
pub use count::num_records;
pub use names::symbol_names;
pub use placement::Placement;

/// Increase this number when a code change produces different records for the same facts.
pub const VERSION: u64 = 5;
