//! Finds several values that belong to one name: YAML lists and blocks, and arrays of string literals.

use std::ops::Range;

use crate::before::{LONGEST, skip_blanks};
use crate::cursor::Cursor;
use crate::judge::Style;

/// Maximum number of items of one list.
const MOST_ITEMS: usize = 64;

/// Maximum length of an array, in bytes.
const ARRAY_REACH: usize = 4096;

/// The first line of the block scalar whose indicator is at `at`.
pub(crate) fn block_line(text: &[u8], at: usize) -> Option<Range<usize>> {
    let line = at + text[at..].iter().take(200).position(|byte| *byte == b'\n')? + 1;
    let start = skip_blanks(text, line);
    let rest = &text[start..text.len().min(start + LONGEST)];
    let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    let length = rest[..length].trim_ascii_end().len();
    (start > line && length > 0 && !rest[..length].contains(&b' ')).then(|| start..start + length)
}

/// The items of a YAML list below a name in the plural.
pub(crate) fn items(text: &[u8], name: &Range<usize>, end_of_line: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !is_plural(&text[name.clone()]) {
        return found;
    }
    let line_feed = text[end_of_line..].iter().take(2).position(|byte| *byte == b'\n');
    let Some(mut at) = line_feed.map(|at| end_of_line + at + 1) else { return found };
    while found.len() < MOST_ITEMS {
        let start = skip_blanks(text, at);
        if !text[start..].starts_with(b"- ") {
            break;
        }
        let start = skip_blanks(text, start + 2);
        let rest = &text[start..text.len().min(start + LONGEST)];
        let Some(length) = rest.iter().position(|byte| *byte == b'\n') else { break };
        at = start + length + 1;
        let value = rest[..length].trim_ascii_end();
        let value = &value[..value.windows(2).position(|pair| pair == b" #").unwrap_or(value.len())];
        let quoted = matches!(value, [b'"', .., b'"'] | [b'\'', .., b'\'']);
        let skip = usize::from(quoted);
        if value.len() > 2 * skip {
            found.push(start + skip..start + value.len() - skip);
        }
    }
    found
}

/// The string literals of an array after a name in the plural.
pub(crate) fn literals(text: &[u8], name: &Range<usize>, start: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !is_plural(&text[name.clone()]) {
        return found;
    }
    let mut cursor = Cursor { text: &text[..text.len().min(start + ARRAY_REACH)], at: start };
    while found.len() < MOST_ITEMS {
        cursor.skip_lines();
        let Some((_, literal)) = cursor.literal(Style::Literal) else { break };
        found.push(literal);
        cursor.skip_quote();
        cursor.skip_lines();
        if cursor.peek() != b',' {
            break;
        }
        cursor.at += 1;
    }
    found
}

fn is_plural(name: &[u8]) -> bool {
    name.last().is_some_and(|byte| byte.eq_ignore_ascii_case(&b's'))
}
