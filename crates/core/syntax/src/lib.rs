//! Facts of one file: symbols, references, imports, bindings and chunks, from its text alone.
//!
//! Pure: text in, [`cairn_domain::FileFacts`] out. Languages are data (`cairn-languages`); the engine knows
//! no language. Facts contain nothing from the path, so that equal files share them.

pub mod chunker;
pub mod documents;
mod engine;
mod version;

pub use cairn_languages::{LanguageClass, LanguageRow, by_name, is_test_path, language_of, languages, module_path};

pub use crate::engine::{LineIndex, ParseLimits, parse_file};
pub use crate::version::tool_version;
