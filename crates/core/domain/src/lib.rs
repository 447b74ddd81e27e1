//! The types of Cairn's domain. These types are plain values.
//!
//! The crate does no I/O, reads no clock and contains no serialisation; `wire` and the adapters serialise
//! values. Every identity is derived only from content and names, and never from a clock, a random number, a
//! host or a worker id. So a stage that runs twice, on any host, writes the same records.

mod blob;
mod chunk;
mod digest;
mod edge;
mod facts;
mod failure_code;
mod generation;
mod ids;
mod key;
mod manifest;
mod module;
mod outline;
mod package;
mod path;
mod pattern;
mod repository;
mod run;
mod scope;
mod symbol_entry;
mod term_counts;

pub use blob::*;
pub use chunk::*;
pub use digest::*;
pub use edge::*;
pub use facts::*;
pub use failure_code::*;
pub use generation::*;
pub use ids::*;
pub use key::*;
pub use manifest::*;
pub use module::*;
pub use outline::*;
pub use package::*;
pub use path::*;
pub use pattern::*;
pub use repository::*;
pub use run::*;
pub use scope::*;
pub use symbol_entry::*;
pub use term_counts::*;
