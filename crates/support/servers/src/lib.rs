//! Real servers for tests: RabbitMQ, MinIO, Neo4j, and a test server with Qdrant's protocol.
//!
//! A test reads the address of a running server from the environment (`given`), and creates its own vhost,
//! bucket, prefix or collection on this server. `cairn-servers run -- COMMAND` starts all four servers and
//! sets the variables. A test that kills or freezes a server starts its own server (for example with
//! `RabbitMq::start`).
//!
//! Every server listens only on 127.0.0.1, and runs in a separate process group. A server ends when its
//! handle is dropped. A server also ends if the process with the handle is killed, because a watcher notices
//! that a pipe is closed. `scripts/servers` installs the programs.
//!
//! `FaultProxy` injects the faults of a network between a client and a server. `HttpProxy` injects the faults
//! of a server under load.

#[cfg(feature = "collections")]
mod collections;
mod detached;
mod fault_proxy;
mod fleet;
pub mod given;
mod group;
mod http;
mod http_proxy;
mod install;
mod loopback;
mod management;
mod minio;
#[cfg(feature = "namespaces")]
mod namespaces;
mod neo4j;
mod process;
mod qdrant;
mod rabbit_cluster;
mod rabbitmq;
mod watcher;

#[cfg(feature = "collections")]
pub use collections::{Collections, QDRANT_PATIENCE};
pub use detached::{down, keep, up};
pub use fault_proxy::{Direction, FaultProxy, Flow, Rules};
pub use fleet::Fleet;
pub use http::{get, look};
pub use http_proxy::{Exchange, HttpProxy, HttpRequest, Refusal, Treatment};
pub use loopback::free_ports;
pub use management::Vhost;
pub use minio::MinIo;
#[cfg(feature = "namespaces")]
pub use namespaces::Namespace;
pub use neo4j::Neo4j;
pub use process::ServerProcess;
pub use qdrant::QdrantServer;
pub use rabbit_cluster::RabbitCluster;
pub use rabbitmq::RabbitMq;
