//! Cached vectors that outlive their cache.
//!
//! What a provider was paid for is written to the blob store before it goes into the cache, one artifact a batch. A
//! cache that was lost is filled again from the artifacts, without asking the provider.
//!
//! What holds: a vector that `put` accepted is in an artifact; an artifact is never changed, and removed only when
//! nothing in it is live.

mod batch;
mod durable;

pub use durable::DurableVectorCache;
