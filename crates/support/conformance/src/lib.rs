//! One suite per port, run by every adapter of it, and faults to plant in an adapter to see that the suite would notice.
//!
//! A suite is a list of named checks over the port's trait alone, so that the local adapter and the one for a real
//! server answer for the same contract. Each check works in a tenant, repository or key space of its own (`Case`), so a
//! suite runs on one shared server as well as on a fresh store per check. An adapter's test does two things:
//!
//! ```text
//! suite::passes(&blob_store::checks(), open_a_store).await
//! suite::catches(&blob_store::checks(), &blob_store::faults(), open_a_store).await
//! ```

pub mod blob_store;
pub mod broker;
pub mod embedder;
pub mod graph_store;
pub mod names;
pub mod runs;
pub mod suite;
pub mod vector_cache;
pub mod vector_store;

mod case;

pub use case::Case;
