//! Facts of a blob at a path: the records that stores hold.
//!
//! Facts do not depend on a path, so that equal blobs share them. Here they are combined with the path and
//! with everything that is derived from it: module path, whether it is test code, weight, tags.

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

/// Raise it when the same facts give different records.
pub const VERSION: u64 = 3;
