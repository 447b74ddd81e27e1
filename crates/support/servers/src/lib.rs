//! Real servers for tests: RabbitMQ, MinIO, Neo4j, and the test server that speaks Qdrant's protocol.
//!
//! A test takes the address of a running server from the environment (`given`) and makes a space of its own in it: a
//! vhost, a bucket, a prefix, a collection. `cairn-servers run -- COMMAND` starts all four and sets those variables. A test
//! that kills or freezes its server starts one for itself (`RabbitMq::start` and its like).
//!
//! Every server listens on 127.0.0.1 only and is a process group of its own. It ends with its handle, and also if the
//! process that holds the handle is killed: a watcher sees the pipe to it close. `scripts/servers` installs what runs here.
//!
//! `FaultProxy` stands between a client and a server and does to connections what networks do; `HttpProxy` does to requests what
//! servers under load do.

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
pub use neo4j::Neo4j;
pub use process::ServerProcess;
pub use qdrant::QdrantServer;
pub use rabbit_cluster::RabbitCluster;
pub use rabbitmq::RabbitMq;
