//! Chunks and cached vectors in Qdrant.
//!
//! One collection per model and dimension holds every version of every chunk as a point with two vectors, `dense` and
//! the sparse `terms`, whose elements are integers, so that Qdrant's sums are those of the local segments. A point says
//! from which generation to which it is there (`gen_from`, `gen_to`), and a question's view becomes part of its filter,
//! beside tenant and scope: no store query leaves them out.
//!
//! What holds:
//! - staging only inserts: a late writer changes nothing that is there;
//! - a mark that a published generation made is never overwritten (`stage`);
//! - a server that is too old for any of this is refused (`version`);
//! - a request is answered within its deadline or fails; nothing is tried again here;
//! - hits come in the total order of the port, although Qdrant breaks ties as it likes (`find`).

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
