//! Stores chunks and cached vectors in Qdrant.
//!
//! One collection per model and dimension contains every version of every chunk. A version is a point with
//! two vectors, `dense` and the sparse `terms`. The elements of the vectors are integers, so Qdrant computes
//! the same sums as the local segments. A point contains the range of generations in which it is valid
//! (`gen_from`, `gen_to`). Every query filters by the view, the tenant and the scope.
//!
//! Guarantees:
//! - Staging only inserts, so a late writer changes no existing point.
//! - If a published generation has set `gen_to` of a version, this value is never overwritten (`stage`).
//! - A server that is too old for these guarantees is refused (`version`).
//! - A request returns or fails within its deadline. This crate never retries a request.
//! - Hits have the total order of the port, although Qdrant orders equal scores arbitrarily (`find`).

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
mod points;
mod prepare;
mod read;
mod stage;
mod store;
mod sweep;
mod version;

pub use cache::QdrantVectorCache;
pub use config::{InvalidQdrantConfig, QdrantConfig};
pub use store::QdrantStore;
