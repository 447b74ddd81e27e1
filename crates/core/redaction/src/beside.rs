//! Finds the value of an object with the keys `name` and `value` in any order: `{"value": "…", "name":
//! "DB_PASSWORD"}`.

use std::ops::Range;

use crate::before::line_before;
use crate::cursor::Cursor;
use crate::judge::{self, Style};
use crate::name::{Name, Naming, name_end};

/// Keys that contain a name, as in `"name": "DB_PASSWORD"`.
const NAME_KEYS: [&[u8]; 6] = [b"name", b"key", b"type", b"id", b"variable", b"parameterkey"];

/// Keys that contain the value for the name in the same object.
const VALUE_KEYS: [&[u8]; 2] = [b"value", b"parametervalue"];

/// Maximum distance between the name and the start of its value, in bytes.
const REACH: usize = 240;

/// The value that belongs to the name around a keyword.
pub(crate) fn value(text: &[u8], hit: &Range<usize>, naming: Naming) -> Option<Range<usize>> {
    let end = name_end(text, hit.end);
    if !matches!(text.get(end), Some(b'"' | b'\'' | b'\n' | b'\r' | b'\\' | b',' | b' ') | None) {
        return None;
    }
    let name = Name::around(text, hit.clone(), naming)?;
    let key = key_start(text, name.span.start)?;
    let is_secret =
        |(style, value): &(Style, Range<usize>)| judge::is_secret(naming, name.promise, *style, &text[value.clone()]);
    before(text, key).filter(is_secret).or_else(|| after(text, name.span.end).filter(is_secret)).map(|(_, value)| value)
}

/// The start of the key whose value begins at `start`, if the key is in `NAME_KEYS`.
fn key_start(text: &[u8], start: usize) -> Option<usize> {
    let line = line_before(text, start);
    let is_filler = |byte: &u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\');
    let sign = line.iter().rposition(|byte| !is_filler(byte))?;
    if !matches!(line[sign], b':' | b'=') {
        return None;
    }
    let end = line[..sign].iter().rposition(|byte| !is_filler(byte))? + 1;
    let is_part = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let key = line[..end].iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    let is_key = NAME_KEYS.iter().any(|known| line[key..end].eq_ignore_ascii_case(known));
    is_key.then_some(start - line.len() + key)
}

/// The value, if its key precedes the key of the name.
fn before(text: &[u8], key: usize) -> Option<(Style, Range<usize>)> {
    let floor = key.saturating_sub(REACH);
    let at = VALUE_KEYS.iter().filter_map(|word| last_key(&text[floor..key], word)).max()?;
    let (style, value) = value_of(text, floor + at, key)?;
    are_pairs(text.get(value.end..key)?).then_some((style, value))
}

/// The value, if its key follows the name.
fn after(text: &[u8], end: usize) -> Option<(Style, Range<usize>)> {
    let rest = &text[end..text.len().min(end + REACH / 2)];
    let at = VALUE_KEYS.iter().filter_map(|word| first_key(rest, word)).min()?;
    are_pairs(&rest[..at]).then(|| value_of(text, end + at, text.len())).flatten()
}

/// The start of the last key in `part` that is equal to `word`.
fn last_key(part: &[u8], word: &[u8]) -> Option<usize> {
    part.windows(word.len()).rposition(|window| window.eq_ignore_ascii_case(word)).filter(|at| is_key(part, *at, word))
}

fn first_key(part: &[u8], word: &[u8]) -> Option<usize> {
    part.windows(word.len()).position(|window| window.eq_ignore_ascii_case(word)).filter(|at| is_key(part, *at, word))
}

/// Whether `word` at position `at` is a whole key.
fn is_key(part: &[u8], at: usize, word: &[u8]) -> bool {
    let begins = at == 0 || !part[at - 1].is_ascii_alphanumeric();
    let ends = part.get(at + word.len()).is_some_and(|next| !next.is_ascii_alphanumeric());
    begins && ends
}

/// The value of the key at position `key`: a string literal, or an unquoted value up to the end of the line.
fn value_of(text: &[u8], key: usize, end: usize) -> Option<(Style, Range<usize>)> {
    let mut cursor = Cursor { text: &text[..end.min(key + 2 * REACH)], at: key };
    cursor.at += cursor.text[key..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    cursor.skip_quote();
    cursor.skip_spaces();
    if !matches!(cursor.peek(), b'=' | b':') {
        return None;
    }
    cursor.at += 1;
    cursor.skip_spaces();
    if let Some(found) = cursor.literal(Style::Literal) {
        return Some(found);
    }
    let rest = &cursor.text[cursor.at..];
    let length = rest.iter().position(|byte| *byte <= 32).filter(|length| matches!(rest[*length], b'\r' | b'\n'))?;
    (length > 0).then(|| (Style::Line, cursor.at..cursor.at + length))
}

/// Whether the text between the two pairs has only characters that may occur in simple pairs.
fn are_pairs(between: &[u8]) -> bool {
    between.iter().all(|byte| byte.is_ascii_alphanumeric() || b" \t\r\n\"'\\,:=_-.".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_found_before_and_after_the_name() {
        for (text, expect) in [
            ("{\"value\": \"k3J9!x\", \"name\": \"DB_PASSWORD\"}", Some("k3J9!x")),
            ("- value: k3}J9!x\n  name: DB_PASSWORD\n", Some("k3}J9!x")),
            ("{\"key\": \"password\", \"type\": \"string\", \"value\": \"k3J9!x\"}", Some("k3J9!x")),
            ("<p value=\"k3J9!x\" name=\"password\"/>", Some("k3J9!x")),
            ("{\"value\": \"k3J9!x\"}, {\"name\": \"password\"}", None),
            ("{\"value\": \"k3J9!x\", \"label\": \"password\"}", None),
            ("{\"values\": \"k3J9!x\", \"name\": \"password\"}", None),
        ] {
            let at = text.to_lowercase().find("pass").expect("a keyword");
            let found = value(text.as_bytes(), &(at..at + 4), Naming::Password);
            assert_eq!(found.map(|value| &text[value]), expect, "{text}");
        }
    }
}
