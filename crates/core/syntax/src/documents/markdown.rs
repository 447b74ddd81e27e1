//! Finds the headings of Markdown row by row: ATX, setext and HTML headings outside of fences, comments and
//! front matter. The rules of CommonMark apply, except where real documents usually differ from CommonMark.

use super::inline::{fold, plain};
use super::outline::{Heading, Outline, RowKind};
use crate::chunker::{Lines, Rows};

/// If a longer paragraph is followed by `---`, the paragraph is prose and the `---` is a rule. In CommonMark,
/// the paragraph would be a heading.
const MOST_SETEXT_ROWS: usize = 3;
/// The maximum number of rows of an HTML heading.
const MOST_HTML_ROWS: usize = 8;

/// The text directly before a row. If the row is a setext underline, a paragraph before it becomes a heading.
#[derive(Clone, Copy)]
enum Paragraph {
    None,
    /// A paragraph that begins at this row.
    From(usize),
    /// The text of a list item, quotation or table. An underline below such text is a horizontal rule.
    Other,
}

impl Paragraph {
    /// The state after a row that is not a heading.
    fn after(self, row: usize, indent: usize, text: &str) -> Self {
        match self {
            _ if text.is_empty() => Paragraph::None,
            _ if starts_other_block(text) => Paragraph::Other,
            Paragraph::None if indent <= 3 => Paragraph::From(row),
            Paragraph::None => Paragraph::Other,
            current => current,
        }
    }
}

/// A construct whose rows are hidden up to its end.
enum Hiding {
    Fence { mark: u8, length: usize },
    Until(&'static str),
}

pub(super) fn outline(lines: &Lines<'_>) -> Outline {
    let mut outline = Outline { rows: vec![RowKind::Prose; lines.num_rows()], ..Outline::default() };
    let mut row = front_matter(lines, &mut outline);
    let mut hiding: Option<Hiding> = None;
    let mut paragraph = Paragraph::None;
    while row < lines.num_rows() {
        let (indent, text) = indented(lines.row(row));
        if let Some(hidden_by) = &hiding {
            outline.rows[row] = RowKind::Hidden;
            if ends(hidden_by, indent, text) {
                hiding = None;
            }
        } else if let Some(opened) = opens(indent, text) {
            outline.rows[row] = RowKind::Hidden;
            hiding = Some(opened);
            paragraph = Paragraph::None;
        } else if indent <= 3
            && let Some(next) = heading(lines, row, text, paragraph, &mut outline)
        {
            paragraph = Paragraph::None;
            row = next;
            continue;
        } else {
            paragraph = paragraph.after(row, indent, text);
        }
        row += 1;
    }
    outline
}

/// The number of columns of indentation, and the text without white space at both ends.
fn indented(row: &str) -> (usize, &str) {
    let text = row.trim_ascii();
    let leading = row.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    (leading.map(|byte| if byte == b'\t' { 4 } else { 1 }).sum(), text)
}

/// Hides the front matter, and reads the title and description from the front matter. Returns the first row
/// after the front matter.
fn front_matter(lines: &Lines<'_>, outline: &mut Outline) -> usize {
    let mark = lines.row(0).trim_ascii_end();
    if mark != "---" && mark != "+++" {
        return 0;
    }
    let is_end = |row: &usize| matches!(lines.row(*row).trim_ascii_end(), "..." | "---" | "+++");
    let Some(end) = (1..lines.num_rows()).find(is_end) else { return 0 };
    for row in 1..end {
        let Some((key, value)) = lines.row(row).split_once([':', '=']) else { continue };
        let value = fold(value.trim().trim_matches(['"', '\'']));
        match key.trim_end() {
            "title" if !value.is_empty() => outline.title = Some(value),
            "description" if !value.is_empty() && !matches!(value.as_str(), ">" | "|" | ">-" | "|-") => {
                outline.description = Some(value);
            }
            _ => {}
        }
    }
    outline.rows[..=end].fill(RowKind::Hidden);
    end + 1
}

fn opens(indent: usize, text: &str) -> Option<Hiding> {
    let first = *text.as_bytes().first()?;
    if indent <= 3 && matches!(first, b'`' | b'~') {
        let length = text.bytes().take_while(|&byte| byte == first).count();
        let is_fence = length >= 3 && !(first == b'`' && text[length..].contains('`'));
        return is_fence.then_some(Hiding::Fence { mark: first, length });
    }
    if first != b'<' || indent > 3 {
        return None;
    }
    let ends = [("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"), ("<pre", "</pre>")];
    let (_, end) = ends.into_iter().find(|(start, _)| text.starts_with(start))?;
    (!text.contains(end)).then_some(Hiding::Until(end))
}

fn ends(hiding: &Hiding, indent: usize, text: &str) -> bool {
    match *hiding {
        Hiding::Fence { mark, length } => indent <= 3 && text.len() >= length && text.bytes().all(|byte| byte == mark),
        Hiding::Until(end) => text.contains(end),
    }
}

/// Adds a heading that begins or ends at the row. Returns the row after the heading.
fn heading(lines: &Lines<'_>, row: usize, text: &str, paragraph: Paragraph, outline: &mut Outline) -> Option<usize> {
    if let Some((level, title)) = atx(text) {
        outline.headings.push(Heading::new(row, level, title));
        outline.rows[row] = RowKind::Heading;
        return Some(row + 1);
    }
    if let (Paragraph::From(first), Some(level)) = (paragraph, setext_level(text)) {
        if row - first > MOST_SETEXT_ROWS {
            return None;
        }
        outline.headings.push(Heading::new(first, level, lines.slice(Rows::new(first, row))));
        outline.rows[first..=row].fill(RowKind::Heading);
        return Some(row + 1);
    }
    let (level, title, end) = html_heading(lines, row, text)?;
    outline.headings.push(Heading::new(row, level, title));
    outline.rows[row..end].fill(RowKind::Heading);
    Some(end)
}

/// Reads a heading of the form `## Title ##`.
fn atx(text: &str) -> Option<(usize, &str)> {
    let level = text.bytes().take(7).take_while(|&byte| byte == b'#').count();
    let rest = &text[level..];
    if level == 0 || level > 6 || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim_end_matches('#');
    // Closing marks are removed only if a blank precedes these marks. So the title `# C#` keeps its last `#`.
    let title = if title.ends_with([' ', '\t']) || title.is_empty() { title } else { rest };
    Some((level, title.trim()))
}

fn setext_level(text: &str) -> Option<usize> {
    let is_all = |mark: u8| text.bytes().all(|byte| byte == mark);
    match text.as_bytes().first()? {
        b'=' if is_all(b'=') => Some(1),
        b'-' if text.len() > 1 && is_all(b'-') => Some(2),
        _ => None,
    }
}

/// Reads a heading of the form `<h1 align="center">Title</h1>`. Many READMEs begin with such a heading.
/// Returns the level, the markup between the tags, and the row after the heading.
fn html_heading<'t>(lines: &Lines<'t>, row: usize, text: &str) -> Option<(usize, &'t str, usize)> {
    let bytes = text.as_bytes();
    let level = match bytes {
        [b'<', b'h' | b'H', digit @ b'1'..=b'6', b' ' | b'>', ..] => usize::from(digit - b'0'),
        _ => return None,
    };
    let last = (row + MOST_HTML_ROWS).min(lines.num_rows());
    let block = lines.slice(Rows::new(row, last));
    let end = block.find(&format!("</h{level}>")).or_else(|| block.find(&format!("</H{level}>")))?;
    let markup = block[..end].split_once('>')?.1;
    let end_row = row + block[..end].matches('\n').count() + 1;
    (!plain(markup).is_empty()).then_some((level, markup, end_row))
}

fn starts_other_block(text: &str) -> bool {
    let digits = text.bytes().take(9).take_while(u8::is_ascii_digit).count();
    ["- ", "* ", "+ ", ">", "|", "<"].iter().any(|marker| text.starts_with(marker))
        || matches!(text, "-" | "*" | "+")
        || (digits > 0 && text[digits..].starts_with([')', '.']))
}
