//! The shared parts of a cluster's services: settings, connections, health, and the way from start to drain.
//!
//! A service's main reads its settings, connects through `Cluster`, and passes its workers to `Cluster::work`
//! (or runs loops of its own). One file contains all settings, with a section for each dependency. A service
//! reads the sections that it needs and reports a missing one.

mod cluster;
mod config;
mod config_secrets;
mod coordinator;
mod embedding;
mod git;
mod health;
mod indexing;
mod isolation;
mod key;
mod organisations;
mod probes;
mod query;
mod questions;
mod signals;
mod start;
mod stores;
mod topology;
mod work;
pub mod workers;

pub use cairn_rabbitmq::topology::COORDINATOR;
pub use cluster::Cluster;
pub use config::{ClusterConfig, HttpConfig, InvalidConfig, PipelineConfig};
pub use coordinator::{Coordinator, tick};
pub use embedding::{EmbeddingConfig, embedder};
pub use git::{sources, sweep_clones};
pub use health::{Check, Health};
pub use indexing::{indexing, remote};
pub use key::{OwnersWork, Owning, passages};
pub use organisations::{OrganisationConfig, discover};
pub use probes::Probes;
pub use query::{DEFAULT_PROCESSES, QueryConfig};
pub use questions::searcher;
pub use signals::Signals;
pub use start::{Arguments, Stop, start};
pub use stores::Stores;
