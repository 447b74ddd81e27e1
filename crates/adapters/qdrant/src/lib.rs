//! Chunks and cached vectors in Qdrant.
//!
//! One collection per model and dimension contains every version of every chunk. A version is a point with
//! two vectors, `dense` and the sparse `terms`. Their elements are integers, so Qdrant computes the same sums
//! as the local segments. A point has the range of generations in which it exists (`gen_from`, `gen_to`).
//! Every query filters by the view, the tenant and the scope.
//!
//! Guarantees:
//! - staging only inserts: a late writer changes no existing point;
//! - a mark of a published generation is never overwritten (`stage`);
//! - a server that is too old for these guarantees is refused (`version`);
//! - a request returns or fails within its deadline; this crate never retries;
//! - hits have the total order of the port, although Qdrant orders ties arbitrarily (`find`).

mod cache;
mod collection;
mod conditions;
mod config;
mod connection;
mod error;
mod fields;
mod find;
mod paths;
mod payload;
mod prepare;
mod read;
mod stage;
mod store;
mod sweep;
mod version;

pub use cache::QdrantVectorCache;
pub use config::{InvalidQdrantConfig, QdrantConfig};
pub use store::QdrantStore;
