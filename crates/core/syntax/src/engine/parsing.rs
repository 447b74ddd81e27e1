//! Calls the parser of tree-sitter within a budget.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Range, Tree};

use super::limits::Budget;
use super::query::CompiledQuery;

/// Parses parts of the text as if they were the whole file. Without parts, the whole text is parsed. `None`
/// if the budget is used up.
pub(super) fn parse_ranges(
    parser: &mut Parser,
    query: &CompiledQuery,
    text: &str,
    ranges: &[Range],
    budget: &mut Budget<'_>,
) -> Option<Tree> {
    // Without a reset, the parser would continue with the previous file if that file used up its budget.
    parser.reset();
    parser.set_language(&query.language).ok()?;
    parser.set_included_ranges(ranges).ok()?;
    let bytes = text.as_bytes();
    let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    let mut progress = |_: &_| if budget.spend() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    parser.parse_with_options(&mut read, None, Some(ParseOptions::new().progress_callback(&mut progress)))
}
