//! Real servers for tests: RabbitMQ, MinIO, Neo4j, and the test server with Qdrant's protocol.
//!
//! A test takes the address of a running server from the environment (`given`) and creates its own vhost,
//! bucket, prefix or collection on it. `cairn-servers run -- COMMAND` starts all four servers and sets the
//! variables. A test that kills or freezes its server starts its own (`RabbitMq::start` and similar).
//!
//! Every server listens only on 127.0.0.1 and is a process group of its own. It ends when its handle is
//! dropped, and also if the process with the handle is killed: a watcher notices that the pipe is closed.
//! `scripts/servers` installs the programs.
//!
//! `FaultProxy` injects faults of networks between a client and a server; `HttpProxy` injects faults of
//! servers under load.

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
