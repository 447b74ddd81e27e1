//! Finds the headings of HTML documents. Comments, scripts and styles are skipped.

use super::inline::{fold, plain, shortened};
use super::outline::{Heading, Outline, RowKind};
use crate::chunker::{Lines, Rows};

/// A heading or title is ignored if it has no end tag within this many bytes.
const LONGEST: usize = 2_000;
const LONGEST_TITLE: usize = 160;

pub(super) fn outline(lines: &Lines<'_>, text: &str) -> Outline {
    // All rows except headings are marked as hidden, and no row is marked as prose. The description is read
    // from the first `<p>` element, not from rows of prose.
    let mut outline = Outline { rows: vec![RowKind::Hidden; lines.num_rows()], ..Outline::default() };
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
        let tag = at + found;
        at = match skipped(&text[tag..]) {
            Some(length) => tag + length,
            None => element(lines, text, tag, &mut outline).unwrap_or(tag + 1),
        };
    }
    outline
}

/// The length of the comment, script or style that begins here. If the end is missing, the construct extends
/// to the end of the text.
fn skipped(text: &str) -> Option<usize> {
    let kinds = [("<!--", "-->"), ("<script", "</script"), ("<style", "</style")];
    let (start, end) = kinds.into_iter().find(|(start, _)| starts_with(text, start))?;
    let body = &text.as_bytes()[start.len()..];
    let end_at = memchr::memmem::find(body, end.as_bytes());
    Some(end_at.map_or(text.len(), |found| start.len() + found + end.len()))
}

fn starts_with(text: &str, tag: &str) -> bool {
    text.as_bytes().get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()))
}

/// Records a heading, the title or the first paragraph. Returns the offset after the end of the element.
fn element(lines: &Lines<'_>, text: &str, tag: usize, outline: &mut Outline) -> Option<usize> {
    let bytes = &text.as_bytes()[tag..];
    let name_length = bytes[1..].iter().take(8).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let name = bytes[1..=name_length].to_ascii_lowercase();
    let is_new = match &name[..] {
        b"title" => outline.title.is_none(),
        b"p" => outline.description.is_none(),
        [b'h', b'1'..=b'6'] => true,
        _ => false,
    };
    if !is_new {
        return None;
    }
    let (markup, length) = content(bytes, &name)?;
    let markup = std::str::from_utf8(markup).ok()?;
    let plain_text = resolved(&fold(&plain(markup)));
    if plain_text.is_empty() {
        return Some(tag + length);
    }
    let row = lines.row_at(tag);
    match &name[..] {
        b"title" => outline.title = Some(shortened(&plain_text, LONGEST_TITLE)),
        b"p" => outline.description = Some(shortened(&plain_text, 600)),
        _ => push_heading(
            lines,
            outline,
            Rows::new(row, lines.row_at(tag + length - 1) + 1),
            usize::from(name[1] - b'0'),
            &plain_text,
        ),
    }
    Some(tag + length)
}

/// Resolves the entities that are common in titles. `&amp;` is resolved last, so that no text is resolved
/// twice.
fn resolved(text: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
    entities.into_iter().fold(text.to_owned(), |text, (entity, mark)| text.replace(entity, mark))
}

fn push_heading(lines: &Lines<'_>, outline: &mut Outline, rows: Rows, level: usize, title: &str) {
    // Two headings on the same row are one section.
    if outline.headings.last().is_none_or(|last| last.row < rows.start) && rows.end <= lines.num_rows() {
        let title = shortened(title, LONGEST_TITLE);
        outline.headings.push(Heading { row: rows.start, level: level as u8, title });
        outline.rows[rows.start..rows.end].fill(RowKind::Heading);
    }
}

/// The content of the element that begins here, and the length of the whole element with its tags.
fn content<'t>(bytes: &'t [u8], name: &[u8]) -> Option<(&'t [u8], usize)> {
    let near = &bytes[..bytes.len().min(LONGEST)];
    let start = memchr::memchr(b'>', near)? + 1;
    let is_named = |tag: &[u8]| tag.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
    // If another start tag with the same name comes before the end tag, this element has no end tag. The
    // search stops at that tag, so that the whole scan takes linear time.
    let next = |at: &usize| {
        is_named(&near[start + at + 1..])
            || near[start + at + 1..].starts_with(b"/") && is_named(&near[start + at + 2..])
    };
    let end = start + memchr::memchr_iter(b'<', &near[start..]).find(next)?;
    if !near[end..].starts_with(b"</") {
        return None;
    }
    let close = memchr::memchr(b'>', &near[end..])?;
    Some((&near[start..end], end + close + 1))
}
