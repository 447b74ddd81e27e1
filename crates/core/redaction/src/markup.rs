//! Reads values in elements of XML and HTML, and in property lists.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::judge::Style;

/// Whether the word that ends at `end` is the name of an element and follows `<`.
pub(crate) fn begins_element(text: &[u8], end: usize) -> bool {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-' | b'.');
    let length = text[..end].iter().rev().take(48).take_while(is_part).count();
    text[..end - length].last() == Some(&b'<')
}

/// Reads the value in `<password encoding="plain">value</password>`.
pub(crate) fn with_attributes(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let tag = &cursor.text[cursor.at..cursor.text.len().min(cursor.at + 120)];
    cursor.at += tag.iter().position(|byte| matches!(byte, b'>' | b'<' | b'\n')).filter(|at| tag[*at] == b'>')?;
    element(cursor)
}

/// Reads the value in `<key>password</key>` and `<string>…</string>`, as in property lists. Also reads the
/// values of table cells and description lists in HTML.
pub(crate) fn next_element(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    const PAIRS: [(&[u8], &[u8]); 8] = [
        (b"</key>", b"<string>"),
        (b"</name>", b"<value>"),
        (b"</th>", b"<td"),
        (b"</td>", b"<td"),
        (b"</dt>", b"<dd"),
        (b"</b>", b""),
        (b"</strong>", b""),
        (b"</label>", b""),
    ];
    let rest = &cursor.text[cursor.at..];
    let (closing, opening) = PAIRS.into_iter().find(|(closing, _)| rest.starts_with(closing))?;
    cursor.at += closing.len();
    if opening.is_empty() {
        cursor.skip_spaces();
        if matches!(cursor.peek(), b':' | b'=') {
            cursor.at += 1;
            cursor.skip_spaces();
        }
        return cursor.bare().map(|span| (Style::Beside, span));
    }
    cursor.skip_lines();
    if !cursor.at_word(opening) {
        return None;
    }
    cursor.at += cursor.text[cursor.at..].iter().position(|byte| *byte == b'>')?;
    if cursor.at_word(b"><code>") {
        cursor.at += b"><code".len();
    }
    element(cursor)
}

/// Reads the value in `<password>value</password>`. The value may be on a separate line or be CDATA. A
/// closing tag is required: without it, `>` is a comparison and not the end of a tag.
pub(crate) fn element(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    cursor.at += 1;
    cursor.skip_lines();
    for tag in [b"<value>".as_slice(), b"<string>"] {
        cursor.at += if cursor.at_word(tag) { tag.len() } else { 0 };
    }
    let is_raw = cursor.at_word(b"<![CDATA[");
    if is_raw {
        cursor.at += b"<![CDATA[".len();
    }
    let start = cursor.at;
    let rest = &cursor.text[start..];
    let rest = &rest[..rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| rest.len().min(at + 80))];
    let ending: &[u8] = if is_raw { b"]]>" } else { b"</" };
    let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let length = rest[..line].windows(ending.len()).position(|window| window == ending).unwrap_or(line);
    let value = &rest[..length];
    // The element contains other elements, so it does not contain a value.
    if !is_raw && value.contains(&b'<') {
        return None;
    }
    let after = rest[length..].trim_ascii_start();
    let value = value.trim_ascii_end();
    (after.starts_with(ending) && !value.is_empty()).then(|| (Style::Literal, start..start + value.len()))
}

/// Maximum length of a value between tags, in bytes.
const LONGEST_TAGGED: usize = 80;

/// HTML tags for emphasis and code. A value may follow the opening tag or the closing tag.
const TAGS: [(&[u8], &[u8]); 9] = [
    (b"<code>", b"</code>"),
    (b"<b>", b"</b>"),
    (b"<strong>", b"</strong>"),
    (b"<tt>", b"</tt>"),
    (b"<em>", b"</em>"),
    (b"<i>", b"</i>"),
    (b"<kbd>", b"</kbd>"),
    (b"<span>", b"</span>"),
    (b"<label>", b"</label>"),
];

/// The length of the tag at this position, if one of `TAGS` is there.
pub(crate) fn tag_length(text: &[u8], at: usize, is_closing: bool) -> usize {
    let rest = &text[at.min(text.len())..];
    let tags = TAGS.iter().map(|(open, close)| if is_closing { close } else { open });
    tags.into_iter().find(|tag| rest.starts_with(tag)).map_or(0, |tag| tag.len())
}

/// The value up to the closing tag, if an opening tag precedes the value: `<code>…</code>`.
pub(crate) fn tagged(text: &[u8], start: usize) -> Option<Range<usize>> {
    let before = text[..start].trim_ascii_end();
    TAGS.iter().find(|(open, close)| text[..start].ends_with(open) || before.ends_with(close))?;
    let rest = &text[start..text.len().min(start + LONGEST_TAGGED)];
    let length = rest.windows(2).position(|pair| pair == b"</")?;
    (!rest[..length].contains(&b'\n')).then_some(start..start + length)
}
