//! The ports: small traits, with their errors, for the stores and services that Cairn uses.
//!
//! An adapter implements ports and does not depend on another adapter, a stage or a service. Every read of a
//! store takes a `View` (the visible generations) and a `Scope` (the repositories that may be read). Neither
//! parameter has a default value. Writes of a run are *staged* under its generation, and become visible when
//! the catalogue publishes that generation.

mod blob_key;
mod blob_store;
mod broker;
mod catalogue;
mod clock;
mod embedder;
mod error;
mod graph_store;
mod hosting;
mod key_store;
mod ledger;
mod maintenance;
mod names;
mod parser;
mod plain;
mod run_documents;
mod source;
mod staging;
mod texts;
mod traversal;
mod vector_cache;
mod vector_store;

pub use blob_key::*;
pub use blob_store::*;
pub use broker::*;
pub use cairn_domain::FailureCode;
pub use catalogue::*;
pub use clock::*;
pub use embedder::*;
pub use error::*;
pub use graph_store::*;
pub use hosting::*;
pub use key_store::*;
pub use ledger::*;
pub use maintenance::*;
pub use names::*;
pub use parser::*;
pub use plain::{plain, plain_cause, plain_io};
pub use run_documents::*;
pub use source::*;
pub use staging::*;
pub use texts::*;
pub use traversal::*;
pub use vector_cache::*;
pub use vector_store::*;
