//! Plain text: no structure but paragraphs.

use cairn_domain::DocumentFacts;

use super::sections::{RowKind, first_paragraph};
use crate::chunker::Lines;

/// Only a description: what looks like a heading or a code span in plain text rarely is one.
pub(super) fn facts(lines: &Lines<'_>) -> DocumentFacts {
    let rows = vec![RowKind::Prose; lines.num_rows()];
    DocumentFacts { description: first_paragraph(lines, &rows), ..DocumentFacts::default() }
}
