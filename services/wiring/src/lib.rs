//! What the services of a cluster share: settings, connections, health, and the way from start to drain.
//!
//! A service's main reads its settings, connects what it needs through `Cluster`, and hands its workers to `Cluster::work`
//! (or runs loops of its own). All settings stand in one file with a section for each dependency; a service reads the
//! sections that it needs and says which one is missing.

mod cluster;
mod config;
mod coordinator;
mod embedding;
mod git;
mod health;
mod indexing;
mod key;
mod organisations;
mod probes;
mod query;
mod questions;
mod start;
mod stores;
mod topology;
pub mod workers;

pub use cairn_rabbitmq::topology::COORDINATOR;
pub use cluster::{Cluster, Signals};
pub use config::{ClusterConfig, HttpConfig, InvalidConfig, PipelineConfig};
pub use coordinator::{Coordinator, tick};
pub use embedding::{EmbeddingConfig, embedder, passages};
pub use git::{sources, sweep_clones};
pub use health::{Check, Health};
pub use indexing::{indexing, remote};
pub use key::{OwnersWork, Owning};
pub use organisations::{OrganisationConfig, discover};
pub use probes::Probes;
pub use query::{DEFAULT_PROCESSES, QueryConfig};
pub use questions::searcher;
pub use start::{Arguments, Stop, start};
pub use stores::Stores;
