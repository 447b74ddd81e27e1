//! Cached vectors that outlive their cache.
//!
//! A paid vector is written to the blob store before it is written to the cache, with one artifact for each
//! batch. A cache that was lost is refilled from the artifacts, without a call to the provider.
//!
//! Invariants: a vector that `put` accepted is in an artifact. An artifact never changes, and is removed only
//! when it contains no live vector.

mod batch;
mod durable;

pub use durable::DurableVectorCache;
