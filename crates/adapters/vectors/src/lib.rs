//! Caches vectors, and restores them after a loss of the cache.
//!
//! Each batch of vectors from a provider is written to the blob store as one artifact before it is written to
//! the cache. A lost cache is refilled from the artifacts, without a call to the provider.
//!
//! Invariants: every vector that `put` accepted is in an artifact until the vector is swept. An artifact
//! never changes, and it is removed only when it contains no live vector.

mod batch;
mod durable;

pub use durable::DurableVectorCache;
