//! Facts of one file: symbols, references, imports, bindings and chunks, out of its text alone.
//!
//! Pure: text in, [`cairn_domain::FileFacts`] out. Languages are data (`LANGUAGES.md`); the engine that reads them knows
//! none. Facts hold nothing that comes from the path, so that equal files share them.

pub mod chunker;
pub mod documents;
mod engine;
mod version;

pub use crate::engine::{LineIndex, ParseLimits, parse_file};
pub use crate::version::tool_version;
pub use cairn_languages::*;
