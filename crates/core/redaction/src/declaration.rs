//! Reads the string literals of declarations: blocks, properties, arrays, and literals in calls.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::judge::Style;

/// Reads the value in `variable "password" { default = "…" }` of Terraform.
pub(crate) fn block_default(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let body = &cursor.text[cursor.at..];
    let body = &body[..body.iter().position(|byte| *byte == b'}').unwrap_or(body.len())];
    let key = [b"default".as_slice(), b"value "]
        .into_iter()
        .find_map(|key| body.windows(key.len()).position(|window| window == key).map(|at| at + key.len()));
    cursor.at += key?;
    literal_behind_equals(cursor)
}

/// Reads the string literal after `=`. Blanks may surround the `=`.
fn literal_behind_equals(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    cursor.skip_spaces();
    if cursor.peek() != b'=' {
        return None;
    }
    cursor.at += 1;
    cursor.skip_spaces();
    cursor.literal(Style::Literal)
}

/// Reads the string literal in `Password { get; set; } = "…"` of C#.
pub(crate) fn after_accessors(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let rest = &cursor.text[cursor.at..cursor.text.len().min(cursor.at + 60)];
    cursor.at += rest.iter().position(|byte| *byte == b'}')? + 1;
    literal_behind_equals(cursor)
}

/// Reads the string literal in `char password[] = "…"`.
pub(crate) fn after_array(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    while matches!(cursor.peek(), b'[' | b']' | b'0'..=b'9' | b' ' | b'A'..=b'Z' | b'_') {
        cursor.at += 1;
    }
    if cursor.peek() != b'=' {
        return None;
    }
    cursor.at += 1;
    cursor.skip_blanks();
    cursor.literal(Style::Literal)
}

/// Reads the string literal in `Some("…")`, `String::from("…")`, `new Secret("…")` or `["…"`.
pub(crate) fn wrapped(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    /// Functions that convert their argument. Their argument is the value itself, not the name of a value.
    const MAKERS: [&[u8]; 12] = [
        b"byte",
        b"bytes",
        b"string",
        b"String",
        b"String::from",
        b"Some",
        b"str",
        b"Buffer.from",
        b"SecretString::new",
        b"new SecretString",
        b"strdup",
        b"Secret::new",
    ];
    let start = cursor.at;
    let list = cursor.peek() == b'[';
    if cursor.at_word(b"[]byte(") {
        cursor.at += 2;
    }
    while matches!(cursor.peek(), b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b':' | b' ' | b'!' | b'&')
        && cursor.at - start < 48
    {
        cursor.at += 1;
    }
    if !matches!(cursor.peek(), b'(' | b'[' | b'{') {
        return None;
    }
    let callee = cursor.text[start..cursor.at].trim_ascii();
    let callee = callee.strip_prefix(b"[]").or_else(|| callee.strip_prefix(b"std::")).unwrap_or(callee);
    let makes = MAKERS.contains(&callee);
    cursor.at += 1;
    cursor.skip_blanks();
    cursor.literal(if list || makes { Style::Literal } else { Style::Wrapped })
}
