//! The domain of Cairn as types: values only.
//!
//! The crate does no I/O, reads no clock and does not know how a value is stored or sent. `wire` and the
//! adapters do the serialisation. Every identity is derived from content and names only: no clock, random
//! number, host or worker id. So a stage can run twice, anywhere, and writes the same records.

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
