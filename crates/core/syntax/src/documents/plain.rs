//! Reads plain text, which has paragraphs and no other structure.

use cairn_domain::DocumentFacts;

use super::outline::RowKind;
use super::sections::first_paragraph;
use crate::chunker::Lines;

/// The facts of plain text contain only a description. In plain text, most texts that look like headings or
/// code spans are something else.
pub(super) fn facts(lines: &Lines<'_>) -> DocumentFacts {
    let rows = vec![RowKind::Prose; lines.num_rows()];
    DocumentFacts { description: first_paragraph(lines, &rows), ..DocumentFacts::default() }
}
