//! Finds the lines of tables, including tables inside the strings of a program or a notebook.

use std::ops::Range;

/// Maximum number of bytes of one table that are read.
pub(crate) const REACH: usize = 64 * 1024;

/// Maximum length of a row, in bytes.
pub(crate) const LONGEST_LINE: usize = 4096;

/// The line around a keyword.
pub(crate) fn line_around(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let floor = hit.start.saturating_sub(LONGEST_LINE);
    let before = &text[floor..hit.start];
    let plain = before.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    let own = &before[plain.unwrap_or(0)..];
    let escaped = own.windows(2).rposition(|pair| pair == b"\\n").map(|at| plain.unwrap_or(0) + at + 2);
    let start = match escaped.or(plain) {
        None if floor > 0 => return None,
        begin => floor + begin.unwrap_or(0),
    };
    let line = next_line(text, start)?;
    (line.end >= hit.end).then(|| string_of(text, line, hit.start))
}

/// Returns the range of the line. If the line ends with the escape `\n`, it is inside a string; the range
/// then begins after the opening quote of the string that contains the position `at`. Other strings may
/// precede the string on the line.
fn string_of(text: &[u8], line: Range<usize>, at: usize) -> Range<usize> {
    if !text[line.end..].starts_with(b"\\n") {
        return line;
    }
    let is_quote = |at: &usize| text[*at] == b'"' && (*at == 0 || text[*at - 1] != b'\\');
    let start = (line.start..at).rev().find(is_quote).map_or(line.start, |at| at + 1);
    start..line.end
}

/// The line that begins at `start`. A line ends with a line feed or with the escape `\n` of a string.
fn next_line(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = &text[start..text.len().min(start + LONGEST_LINE)];
    let plain = rest.iter().position(|byte| *byte == b'\n');
    let escaped = rest[..plain.unwrap_or(rest.len())].windows(2).position(|pair| pair == b"\\n");
    let length = match escaped.or(plain) {
        Some(length) => length,
        None if start + rest.len() == text.len() => rest.len(),
        None => return None,
    };
    Some(start..start + length)
}

/// The lines after `line`, up to `REACH` bytes. Lines that only separate two strings in a list of strings are
/// omitted.
pub(crate) fn lines_after(text: &[u8], line: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = text.len().min(line.end + REACH);
    let mut at = line.end;
    std::iter::from_fn(move || {
        loop {
            let step = if text[at..end].starts_with(b"\\n") { 2 } else { 1 };
            if at + step >= end {
                return None;
            }
            let next = next_line(&text[..end], at + step)?;
            at = next.end;
            if !text[..next.start].ends_with(b"\\n") {
                return Some(next);
            }
            if !matches!(text[next.clone()].trim_ascii(), b"\"," | b"\"" | b"',") {
                return Some(next_string(text, next));
            }
        }
    })
}

/// The next string on a line. If the line begins inside a string, the result is the rest of that string.
fn next_string(text: &[u8], line: Range<usize>) -> Range<usize> {
    let bytes = &text[line.clone()];
    let is_quote = |at: &usize| bytes[*at] == b'"' && (*at == 0 || bytes[*at - 1] != b'\\');
    let mut start = 0;
    if bytes.starts_with(b"\"") {
        start = (1..bytes.len()).find(is_quote).map_or(0, |at| at + 1);
    }
    let end = (start..bytes.len()).find(is_quote).unwrap_or(bytes.len());
    line.start + start..line.start + end
}
