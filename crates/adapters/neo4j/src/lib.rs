//! Stores the graph (nodes, edges and patterns), the documents of the catalogue and the ledger, and API keys
//! in Neo4j.
//!
//! Only `connection` and `transaction` communicate with the server. Every statement runs in an explicit
//! transaction that is retried as a whole (`retry`). The driver's auto-commit calls are not used, because
//! they retry silently for up to a minute.
//!
//! A commit may have succeeded although its reply was lost, so the work of a transaction may run twice.
//! Therefore every written record has a key under a uniqueness constraint (`schema`).
//!
//! One server may contain several installations. Each installation has a namespace, which is the suffix of
//! its labels and relationship types (`names`).

mod clock;
mod config;
mod connection;
mod fault;
mod graph;
mod keys;
mod names;
mod retry;
mod runs;
mod schema;
mod transaction;
mod values;

pub use clock::Neo4jClock;
pub use config::{InvalidNeo4jConfig, Neo4jConfig};
pub use connection::{ConnectError, Neo4j};
pub use graph::Neo4jGraph;
pub use keys::Neo4jKeys;
pub use runs::Neo4jRuns;
