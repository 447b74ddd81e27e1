//! Extracts the facts of one file from its text: symbols, references, imports, bindings and chunks.
//!
//! This crate is pure: its input is text, and its output is [`cairn_domain::FileFacts`]. Languages are data
//! in `cairn-languages`, so the engine contains no rules that apply to only one language. Facts do not depend
//! on the path, so files with equal content share them.

pub mod chunker;
pub mod documents;
mod engine;
mod version;

pub use cairn_languages::{LanguageClass, LanguageRow, by_name, is_test_path, language_of, languages, module_path};

pub use crate::engine::{LineIndex, ParseLimits, parse_file};
pub use crate::version::tool_version;
