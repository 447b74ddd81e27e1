//! Neo4j: the graph of nodes, edges and patterns, the documents of catalogue and ledger, and API keys.
//!
//! `connection` and `transaction` are all that talks to the server. Every statement runs in an explicit transaction that
//! is retried as a whole (`retry`), because the driver's own auto-commit calls retry silently for up to a minute and a
//! commit whose answer is lost may have happened. So every transaction's work may be run twice, and what is written has
//! a key under a uniqueness constraint (`schema`).
//!
//! One server may hold several installations: each has a namespace, which ends the names of its labels and
//! relationship types (`names`).

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
