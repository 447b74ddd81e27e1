//! The words of Cairn as types: values in, values out.
//!
//! Nothing here does I/O, reads a clock or knows how a value is stored or sent. Serialisation lives in `wire` and in
//! the adapters. Every identity is made of content and names only (no clock, random number, host or worker id), so
//! that a stage may run twice, anywhere, and write the same records.

mod blob;
mod chunk;
mod digest;
mod edge;
mod facts;
mod generation;
mod ids;
mod manifest;
mod outline;
mod package;
mod path;
mod pattern;
mod repository;
mod run;
mod scope;
mod symbol_entry;

pub use blob::*;
pub use chunk::*;
pub use digest::*;
pub use edge::*;
pub use facts::*;
pub use generation::*;
pub use ids::*;
pub use manifest::*;
pub use outline::*;
pub use package::*;
pub use path::*;
pub use pattern::*;
pub use repository::*;
pub use run::*;
pub use scope::*;
pub use symbol_entry::*;
