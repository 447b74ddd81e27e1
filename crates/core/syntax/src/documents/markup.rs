//! Finds the headings of reStructuredText and AsciiDoc, row by row.

use super::outline::{Heading, Outline, RowKind};
use crate::chunker::Lines;

/// Finds the sections of reStructuredText. A heading is a row of text with an underline and, optionally, an
/// overline. Each of these lines repeats one punctuation mark. The order in which the marks first appear
/// determines their levels.
pub(super) fn restructured_text(lines: &Lines<'_>) -> Outline {
    let mut outline = Outline { rows: vec![RowKind::Prose; lines.num_rows()], ..Outline::default() };
    let mut styles: Vec<(u8, bool)> = Vec::new();
    let mut row = 0;
    while row < lines.num_rows() {
        let Some((num_rows, mark, is_overlined)) = rst_heading(lines, row) else {
            if is_hidden_rst(lines.row(row)) {
                outline.rows[row] = RowKind::Hidden;
            }
            row += 1;
            continue;
        };
        let style = (mark, is_overlined);
        let level = styles.iter().position(|&known| known == style).unwrap_or_else(|| {
            styles.push(style);
            styles.len() - 1
        });
        let title_row = row + usize::from(is_overlined);
        outline.headings.push(Heading::new(row, level + 1, lines.row(title_row)));
        outline.rows[row..row + num_rows].fill(RowKind::Heading);
        row += num_rows;
    }
    outline
}

/// For a heading that begins at the row: the number of its rows, its mark, and whether it has an overline.
fn rst_heading(lines: &Lines<'_>, row: usize) -> Option<(usize, u8, bool)> {
    let text = |row: usize| if row < lines.num_rows() { lines.row(row).trim_ascii_end() } else { "" };
    let follows_text = row > 0 && !lines.is_blank(row - 1) && !lines.row(row - 1).starts_with(".. ");
    if follows_text {
        return None;
    }
    let first = text(row);
    if let Some(mark) = rule_mark(first) {
        let (title, under) = (text(row + 1), text(row + 2));
        let is_heading = !title.is_empty() && rule_mark(title).is_none() && under == first;
        return is_heading.then_some((3, mark, true));
    }
    let under = text(row + 1);
    let mark = rule_mark(under)?;
    let width = first.chars().take(200).count();
    let is_long_enough = under.len() >= width.min(4);
    let starts_at_margin = !first.is_empty() && !first.starts_with([' ', '\t']) && !first.starts_with(".. ");
    (starts_at_margin && is_long_enough).then_some((2, mark, false))
}

/// The mark of a row that consists of two or more equal marks.
fn rule_mark(row: &str) -> Option<u8> {
    let mark = *row.as_bytes().first()?;
    (row.len() >= 2 && mark.is_ascii_punctuation() && row.bytes().all(|byte| byte == mark)).then_some(mark)
}

/// Whether the row begins a directive or a comment. Neither of them is prose.
fn is_hidden_rst(row: &str) -> bool {
    row.starts_with(".. ")
}

/// Finds the sections of AsciiDoc, such as `= Title` and `== Section`, outside of delimited blocks.
pub(super) fn asciidoc(lines: &Lines<'_>) -> Outline {
    let mut outline = Outline { rows: vec![RowKind::Prose; lines.num_rows()], ..Outline::default() };
    let mut delimiter: Option<&str> = None;
    for row in 0..lines.num_rows() {
        let text = lines.row(row).trim_ascii_end();
        if let Some(open) = delimiter {
            outline.rows[row] = RowKind::Hidden;
            if text == open {
                delimiter = None;
            }
        } else if is_delimiter(text) {
            outline.rows[row] = RowKind::Hidden;
            delimiter = Some(text);
        } else if let Some((level, title)) = asciidoc_heading(text) {
            outline.headings.push(Heading::new(row, level, title));
            outline.rows[row] = RowKind::Heading;
        } else if text.starts_with(':') || text.starts_with("//") || (text.starts_with('[') && text.ends_with(']')) {
            outline.rows[row] = RowKind::Hidden;
        }
    }
    outline
}

/// Whether the row delimits a listing, literal, comment or passthrough block. The text of other blocks is
/// prose.
fn is_delimiter(text: &str) -> bool {
    text.starts_with("```") || (text.len() >= 4 && matches!(rule_mark(text), Some(b'-' | b'.' | b'/' | b'+')))
}

fn asciidoc_heading(text: &str) -> Option<(usize, &str)> {
    let mark = *text.as_bytes().first().filter(|byte| matches!(byte, b'=' | b'#'))?;
    let level = text.bytes().take(7).take_while(|&byte| byte == mark).count();
    let title = text[level..].strip_prefix(' ')?;
    (level <= 6 && !title.trim().is_empty()).then_some((level, title))
}
