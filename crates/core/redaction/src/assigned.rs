//! Reads the value that follows a name: first the separator, then a string literal or an unquoted value.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::declaration::{after_accessors, after_array, block_default, wrapped};
use crate::judge::Style;
use crate::markup::{begins_element, element, next_element, with_attributes};
use crate::name::name_end;
use crate::{delimited, prose};

/// Maximum number of bytes that are read after a name to find its value and the end of the value.
pub(crate) const REACH: usize = 1024;

/// The value after a name. `word_end` is the end of the keyword in the name. The function must be fast if no
/// value follows, because most keywords in a text are ordinary words to which no value is assigned.
pub(crate) fn assigned(text: &[u8], word_end: usize) -> Option<(Style, Range<usize>)> {
    let name_end = name_end(text, word_end);
    let end = text.len().min(name_end + REACH);
    let mut cursor = Cursor { text: &text[..end], at: name_end };
    let quoted = close_name(&mut cursor);
    let spaces = cursor.skip_spaces();
    match cursor.peek() {
        0xEF if cursor.at_word("：".as_bytes()) => after_separator(&mut cursor, "：".len()),
        b'<' if cursor.at_word(b"</") => next_element(&mut cursor),
        b'-' if spaces > 0 && cursor.at_word(b"-> ") => after_separator(&mut cursor, 2),
        0xE2 if cursor.at_word("→".as_bytes()) => after_separator(&mut cursor, "→".len()),
        b'{' if quoted && spaces > 0 => block_default(&mut cursor),
        b'=' | b':' | b'!' | b'?' | b'<' | b'|' | b'+' | b'~' => after_operator(&mut cursor),
        b'>' => element(&mut cursor),
        b'{' if cursor.at_word(b"{ get") => after_accessors(&mut cursor),
        b'(' | b'{' if !quoted => {
            cursor.at += 1;
            cursor.skip_blanks();
            cursor.literal(Style::Call)
        }
        b',' if !quoted => named_value(&mut cursor),
        b',' if quoted => {
            cursor.at += 1;
            cursor.literal_or_named_value()
        }
        b'v' | b'V' if cursor.at_word(b"value") => cursor.after_value_word(),
        b'[' => after_array(&mut cursor),
        b's' if quoted && cursor.at_word(b"serializeAs=") => with_attributes(&mut cursor),
        b'i' | b'w' if spaces > 0 && quoted => after_verb(&mut cursor),
        _ if spaces > 0 && !quoted && word_end > 4 && begins_element(text, name_end) => with_attributes(&mut cursor),
        _ if spaces > 0 && !quoted => after_space(&mut cursor),
        b'\n' | b'\r' | b'\\' => next_line_value(&mut cursor),
        _ => None,
    }
}

/// Skips the quotes, brackets and emphasis that close a name. Returns whether the name was quoted.
fn close_name(cursor: &mut Cursor<'_>) -> bool {
    let name_end = cursor.at;
    let quoted = cursor.skip_quote();
    if quoted && cursor.peek() == b'`' {
        cursor.at += 1;
    }
    while matches!(cursor.peek(), b']' | b')' | b'}') && cursor.at - name_end < 6 {
        cursor.at += 1;
    }
    cursor.skip_emphasis();
    quoted
}

/// Reads the value of `password -> …` and of `password：…`. The separator has `length` bytes.
fn after_separator(cursor: &mut Cursor<'_>, length: usize) -> Option<(Style, Range<usize>)> {
    cursor.at += length;
    cursor.skip_spaces();
    value(cursor)
}

/// Skips `=`, `:`, `:=`, `=>`, `==`, `?=`, `<-`, `+=` and similar operators.
fn after_operator(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let start = cursor.at;
    // A special character after `=` may begin an unquoted value.
    let is_next = |cursor: &Cursor<'_>| match (cursor.text[cursor.at - 1], cursor.peek()) {
        (b'=', next) => matches!(next, b'=' | b'>' | b'~' | b':' | b'<'),
        (_, next) => b"=:><!|+~-?".contains(&next),
    };
    while cursor.at - start < 3 && (cursor.at == start || is_next(cursor)) {
        cursor.at += 1;
    }
    let operator = &cursor.text[start..cursor.at];
    if matches!(operator, b"||" | b"??") {
        cursor.skip_spaces();
        return cursor.literal(Style::Literal);
    }
    if operator.starts_with(b"::") || !operator.iter().any(|byte| matches!(byte, b'=' | b':' | b'-')) {
        return None;
    }
    let colon = operator == b":";
    if colon {
        cursor.skip_emphasis();
        cursor.skip_spaces();
        let start = cursor.at;
        if let Some(found) = yaml_value(cursor) {
            return Some(found);
        }
        cursor.at = start;
    }
    cursor.skip_blanks();
    let start = cursor.at;
    if colon && let Some(found) = after_type(cursor) {
        return Some(found);
    }
    cursor.at = start;
    value(cursor)
}

/// Reads a string literal, a string literal in a call, or an unquoted value.
fn value(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    if cursor.at_word(b"``") && !cursor.at_word(b"```") {
        cursor.at += 1;
    }
    let start = cursor.at;
    if cursor.at_word(b"''")
        && let Some(found) = delimited::literal(cursor.text, start)
    {
        return Some((Style::Literal, found));
    }
    if let Some(found) = cursor.literal(Style::Literal).or_else(|| wrapped(cursor)) {
        return Some(found);
    }
    cursor.at = start;
    if let Some(found) = delimited::literal(cursor.text, start) {
        return Some((Style::Literal, found));
    }
    let bare = cursor.bare()?;
    let resume = cursor.at;
    if let Some(found) = alternative(cursor) {
        return Some(found);
    }
    cursor.at = resume;
    Some((Style::Loose, bare))
}

/// Reads the default value in `process.env.PASSWORD || "…"`, `… ?? "…"` and `… or "…"`.
fn alternative(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    cursor.skip_spaces();
    let operator = [b"|| ".as_slice(), b"?? ", b"or ", b"?: "].into_iter().find(|operator| cursor.at_word(operator))?;
    cursor.at += operator.len();
    cursor.literal(Style::Literal)
}

/// Reads the value in `&anchor value` and `!!str value`, or the line after `|` or `>`.
fn yaml_value(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let start = cursor.at;
    while cursor.peek() == b'&' || cursor.at_word(b"!!") {
        while !matches!(cursor.peek(), 0..=32) {
            cursor.at += 1;
        }
        cursor.skip_spaces();
    }
    let anchored = cursor.at > start;
    if matches!(cursor.peek(), b'|' | b'>') {
        cursor.at += 1;
        while matches!(cursor.peek(), b'-' | b'+' | b'0'..=b'9' | b' ' | b'\r') {
            cursor.at += 1;
        }
        let breaks = cursor.at_line_end();
        cursor.skip_lines();
        return if breaks && cursor.text[cursor.at - 1] == b' ' {
            cursor.bare().map(|span| (Style::Line, span))
        } else {
            None
        };
    }
    let found = cursor.literal(Style::Literal).or_else(|| cursor.bare().map(|span| (Style::Line, span)));
    cursor.skip_quote();
    cursor.skip_spaces();
    // A type such as `&str` looks like a YAML anchor. If other text follows on the line, the supposed anchor
    // is a type, so no value is returned.
    let is_line = cursor.at > start && (cursor.at_line_end() || cursor.peek() == b'#');
    if is_line && anchored { found } else { None }
}

/// Reads the string literal in `: &'static str = "…"` or `: Optional[str] = "…"`, where a type precedes the
/// `=`.
fn after_type(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let rest = &cursor.text[cursor.at..cursor.text.len().min(cursor.at + 48)];
    let is_type = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'&' | b'\'' | b' ' | b'<' | b'>' | b'[' | b']' | b'|' | b'.' | b',' | b':' | b'?')
    };
    let length = rest.iter().position(|byte| !is_type(byte))?;
    if rest[length] != b'=' {
        return None;
    }
    cursor.at += length + 1;
    cursor.skip_blanks();
    cursor.literal(Style::Literal).or_else(|| wrapped(cursor))
}

/// Reads the value in `value: …` on the line after `- name: DB_PASSWORD`.
fn next_line_value(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    cursor.skip_lines();
    if cursor.at_word(b"value") { cursor.after_value_word() } else { None }
}

/// Reads the value of `{name: PASSWORD, value: …}`.
fn named_value(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    cursor.at += 1;
    cursor.skip_spaces();
    if cursor.at_word(b"value:") { cursor.after_value_word() } else { None }
}

/// Reads the value in a sentence such as `` `password` is `x` ``.
fn after_verb(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let verb = cursor.bare()?;
    if !matches!(&cursor.text[verb], b"is" | b"was") {
        return None;
    }
    cursor.skip_spaces();
    value(cursor)
}

/// Reads a value that follows the name after a space, without an operator: `password 'x'`, `password string =
/// "x"`, `password is "x"`, `--password x`.
fn after_space(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    let delimited = delimited::literal(cursor.text, cursor.at).map(|value| (Style::Beside, value));
    if let Some(found) = delimited.or_else(|| cursor.literal(Style::Beside)) {
        return Some(found);
    }
    if let Some(end) = prose::after_verb(cursor.text, cursor.at) {
        cursor.at = end;
        cursor.skip_spaces();
        return value(cursor);
    }
    if let Some(found) = after_to(cursor) {
        return Some(found);
    }
    let bare = cursor.bare()?;
    let resume = cursor.at;
    cursor.skip_spaces();
    match (&cursor.text[bare.clone()], cursor.peek()) {
        (b"is" | b"was", _) => value(cursor),
        (b"As" | b"as", _) => {
            cursor.bare()?;
            cursor.skip_spaces();
            if cursor.peek() != b'=' {
                return None;
            }
            cursor.at += 1;
            cursor.skip_blanks();
            cursor.literal(Style::Literal)
        }
        (_, b'=') if cursor.at > resume => {
            cursor.at += 1;
            cursor.skip_blanks();
            cursor.literal(Style::Literal)
        }
        _ => Some((Style::Spaced, bare)),
    }
}

/// Reads the string literal in `set the password to "…"`.
fn after_to(cursor: &mut Cursor<'_>) -> Option<(Style, Range<usize>)> {
    if !cursor.at_word(b"to ") {
        return None;
    }
    let start = cursor.at;
    cursor.at += b"to ".len();
    let found = cursor.literal(Style::Beside);
    if found.is_none() {
        cursor.at = start;
    }
    found
}
