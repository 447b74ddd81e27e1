//! The code that the services of a cluster share: settings, connections, health, and the steps from start to
//! drain.
//!
//! The `main` of a service reads the settings, connects through `Cluster`, and passes its workers to
//! `Cluster::work` or runs its own loops. One file contains all settings, with one section for each
//! dependency. A service reads the sections that it needs, and returns an error if one of these sections is
//! missing.

mod check;
mod cluster;
mod config;
mod config_reading;
mod config_tree;
mod coordinator;
mod embedding;
mod git;
mod health;
mod indexing;
mod invalid_config;
mod isolation;
mod key;
mod organisations;
mod pipeline_config;
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
pub use check::Endpoint;
pub use cluster::Cluster;
pub use config::{ClusterConfig, HttpConfig, local_embedding};
pub use coordinator::{Coordinator, reconcile, sweep, tick};
pub use embedding::{EmbeddingConfig, LazyEmbedder, embedder, local_embedder, word_table};
pub use git::{sources, sweep_clones};
pub use health::{Check, Health};
pub use indexing::{indexing, remote};
pub use invalid_config::InvalidConfig;
pub use isolation::ParentEmbedder;
pub use key::{OwnersWork, Owning, passages};
pub use organisations::{OrganisationConfig, discover};
pub use pipeline_config::PipelineConfig;
pub use probes::Probes;
pub use query::{DEFAULT_PROCESSES, QueryConfig};
pub use questions::{searcher, shared_runs};
pub use signals::Signals;
pub use start::{Arguments, Stop, start};
pub use stores::Stores;
