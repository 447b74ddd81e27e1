//! Reads JSON as a stream of tokens with their offsets, and finds the blocks of its keys. Comments and
//! trailing commas are accepted, because configuration files contain them.

use super::blocks::Block;
use super::inline::shortened;
use crate::chunker::Lines;

const LONGEST_NAME: usize = 80;
/// Keys that are nested deeper than this do not become blocks. Such keys are part of the enclosing block.
const DEEPEST_KEY: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'t> {
    Open(u8),
    Close,
    /// The text between the quotes, with escapes not decoded.
    String(&'t str),
    Colon,
    Comma,
    /// A number, a word, or any other text.
    Scalar,
}

/// The tokens of a text, each with its offset.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = (usize, Token<'_>)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        at = after_blanks(bytes, at);
        let start = at;
        let token = match *bytes.get(start)? {
            open @ (b'{' | b'[') => Token::Open(open),
            b'}' | b']' => Token::Close,
            b':' => Token::Colon,
            b',' => Token::Comma,
            b'"' => {
                let end = string_end(bytes, start + 1);
                at = (end + 1).min(bytes.len());
                return Some((start, Token::String(text.get(start + 1..end).unwrap_or_default())));
            }
            _ => {
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"{}[]:,\"/".contains(byte);
                at = bytes[start + 1..].iter().position(is_end).map_or(bytes.len(), |length| start + 1 + length);
                return Some((start, Token::Scalar));
            }
        };
        at = start + 1;
        Some((start, token))
    })
}

/// The next offset at which neither white space nor a comment begins.
fn after_blanks(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        at = if bytes[at..].starts_with(b"//") {
            memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length)
        } else if bytes[at..].starts_with(b"/*") {
            memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len(), |length| at + length + 4)
        } else {
            return at;
        };
    }
}

/// The offset of the quote that ends a string, or the end of the text.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        if bytes[at + found] == b'"' {
            return at + found;
        }
        at = (at + found + 2).min(bytes.len());
    }
    bytes.len()
}

/// The text of a string, with its escapes decoded. `raw` is the text between the quotes. A malformed escape
/// becomes U+FFFD.
pub(super) fn decoded(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, escape)) = rest.split_once('\\') {
        text.push_str(before);
        let Some(mark) = escape.chars().next() else {
            rest = "";
            break;
        };
        rest = &escape[mark.len_utf8()..];
        match mark {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'u' => rest = push_unicode(rest, &mut text),
            other => text.push(other),
        }
    }
    text.push_str(rest);
    text
}

/// Reads an escape of four hexadecimal digits, or two such escapes that form a surrogate pair. Returns the
/// text after the escape.
fn push_unicode<'t>(rest: &'t str, text: &mut String) -> &'t str {
    let unit = |digits: Option<&str>| digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let Some(first) = unit(rest.get(..4)) else {
        text.push(char::REPLACEMENT_CHARACTER);
        return rest;
    };
    let after = &rest[4..];
    let second = after.strip_prefix("\\u").and_then(|low| unit(low.get(..4)));
    if let Some(second) = second
        && let Some(Ok(pair)) = char::decode_utf16([first, second]).next()
        && pair.len_utf16() == 2
    {
        text.push(pair);
        return &after[6..];
    }
    let single = char::decode_utf16([first]).next().and_then(Result::ok);
    text.push(single.unwrap_or(char::REPLACEMENT_CHARACTER));
    after
}

/// Creates blocks for keys and for the elements of long arrays.
pub(super) fn blocks(lines: &Lines<'_>, text: &str) -> Vec<Block> {
    let mut scanner = Scanner { lines, blocks: Vec::new(), open: Vec::new(), last_string: None, last_row: 0 };
    for (at, token) in tokens(text) {
        scanner.token(at, token);
    }
    while !scanner.open.is_empty() {
        scanner.end_member();
        scanner.open.pop();
    }
    scanner.blocks
}

/// An object or array that is not closed yet.
struct Container {
    is_array: bool,
    num_elements: usize,
    /// The index of the block of the current member or element.
    member: Option<usize>,
}

struct Scanner<'a, 't> {
    lines: &'a Lines<'t>,
    blocks: Vec<Block>,
    open: Vec<Container>,
    /// The row and the text of the last string, which may be a key.
    last_string: Option<(usize, &'t str)>,
    /// The row of the last token.
    last_row: usize,
}

impl<'t> Scanner<'_, 't> {
    fn token(&mut self, at: usize, token: Token<'t>) {
        match token {
            Token::Colon => {
                if let Some((row, name)) = self.last_string.take()
                    && self.open.last().is_some_and(|open| !open.is_array)
                {
                    self.begin_member(row, || decoded(name));
                }
                return;
            }
            Token::Comma => return self.end_member(),
            Token::Close => {
                self.end_member();
                self.open.pop();
                self.last_row = self.lines.row_from(self.last_row, at);
                return;
            }
            Token::Open(_) | Token::String(_) | Token::Scalar => {}
        }
        let row = self.lines.row_from(self.last_row, at);
        if self.open.last().is_some_and(|open| open.is_array && open.member.is_none()) {
            let number = self.open.last().map_or(0, |open| open.num_elements);
            self.begin_member(row, || format!("[{number}]"));
        }
        match token {
            Token::Open(mark) => self.open.push(Container { is_array: mark == b'[', num_elements: 0, member: None }),
            Token::String(raw) => self.last_string = Some((row, raw)),
            _ => {}
        }
        // A string that contains a line feed is malformed. The rows of such a string still belong to the
        // block.
        let end = if let Token::String(raw) = token { at + raw.len() + 1 } else { at };
        self.last_row = self.lines.row_from(row, end);
    }

    fn begin_member(&mut self, row: usize, name: impl FnOnce() -> String) {
        let depth = self.open.len() - 1;
        let Some(container) = self.open.last_mut() else { return };
        container.num_elements += 1;
        if depth < DEEPEST_KEY {
            container.member = Some(self.blocks.len());
            self.blocks.push(Block::new(row, row + 1, depth as u8, shortened(&name(), LONGEST_NAME)));
        }
    }

    fn end_member(&mut self) {
        if let Some(member) = self.open.last_mut().and_then(|open| open.member.take()) {
            self.blocks[member].rows.end = self.last_row + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_decoded() {
        let check = |raw, expect: &str| assert_eq!(decoded(raw), expect, "{raw}");
        check("plain", "plain");
        check(r#"a\n\"b\"\\\/\t"#, "a\n\"b\"\\/\t");
        check(r"\u00e9\ud83d\ude00", "é😀");
        check(r"\ud83d!", "\u{fffd}!");
        check(r"\ud83d\u0041", "\u{fffd}A");
        check(r"\uzz", "\u{fffd}zz");
        check("\\", "");
        check(r"\é", "é");
    }

    #[test]
    fn tokens_have_their_offsets() {
        let found: Vec<_> = tokens("{\"a\\\"\": [1, // x\n true]}").map(|(at, _)| at).collect();
        assert_eq!(found, [0, 1, 6, 8, 9, 10, 18, 22, 23]);
    }
}
