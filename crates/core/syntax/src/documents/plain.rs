//! Plain text has paragraphs and no other structure.

use cairn_domain::DocumentFacts;

use super::outline::RowKind;
use super::sections::first_paragraph;
use crate::chunker::Lines;

/// Facts of plain text contain only a description: apparent headings and code spans in plain text are rarely
/// real.
pub(super) fn facts(lines: &Lines<'_>) -> DocumentFacts {
    let rows = vec![RowKind::Prose; lines.num_rows()];
    DocumentFacts { description: first_paragraph(lines, &rows), ..DocumentFacts::default() }
}
