//! Exact search in one text: literal texts and regular expressions, with the semantics of ripgrep.
//!
//! A pattern is compiled once. The compiled pattern contains the expression that finds matches, and a query
//! of trigrams. Every text that contains a match satisfies the query, so an index of trigrams can exclude
//! most texts. The query and the index use folded text, so that one index is sufficient for case-sensitive
//! and case-insensitive searches.

mod context;
mod fold;
mod grams;
mod lines;
mod pattern;
mod plan;
mod query;

pub use context::{ShownLine, with_context};
pub use grams::{GRAMS_VERSION, Gram, GramReader};
pub use lines::{Hit, Hits};
pub use pattern::{Pattern, PatternError, PatternRequest};
pub use query::GramQuery;
