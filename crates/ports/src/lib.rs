//! The ports: the stores and services that Cairn uses, as small traits with their errors.
//!
//! An adapter implements ports and sees no other adapter, stage or service. Every read of a store takes a
//! `View` (the generations that it sees) and a `Scope` (the repositories that it may use). Neither has a
//! default. Writes of a run are *staged* under its generation, and become visible when the catalogue
//! publishes that generation.

mod blob_key;
mod blob_store;
mod broker;
mod catalogue;
mod clock;
mod embedder;
mod error;
mod failure_code;
mod graph_store;
mod hosting;
mod key_store;
mod ledger;
mod maintenance;
mod names;
mod parser;
mod run_documents;
mod source;
mod staging;
mod vector_cache;
mod vector_store;

pub use blob_key::*;
pub use blob_store::*;
pub use broker::*;
pub use catalogue::*;
pub use clock::*;
pub use embedder::*;
pub use error::*;
pub use failure_code::*;
pub use graph_store::*;
pub use hosting::*;
pub use key_store::*;
pub use ledger::*;
pub use maintenance::*;
pub use names::*;
pub use parser::*;
pub use run_documents::*;
pub use source::*;
pub use staging::*;
pub use vector_cache::*;
pub use vector_store::*;
