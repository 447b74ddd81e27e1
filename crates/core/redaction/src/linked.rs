//! Finds the value of a name if no usual operator separates the name from the value, as in tuples, pairs,
//! declarations, lists of variables and lists of definitions.
//!
//! This module runs after all other readers of values. If the text between a name and a literal gives only
//! weak evidence that they belong together, the literal must look more clearly like a generated password.

use std::ops::Range;

use crate::before::{line_after, line_before};
use crate::cursor::Cursor;
use crate::judge::{self, Style};
use crate::name::{Name, Naming, Promise, name_end};
use crate::phrase::{is_passphrase, is_signed_phrase};
use crate::shape::Shape;
use crate::{block, data, delimited, frame, shape};

/// Maximum distance between a name and its value, in bytes.
const REACH: usize = 96;

/// Maximum length of a value, in bytes.
const LONGEST: usize = 160;

/// The maximum number of words, and the maximum number of unknown words, between a name and its value.
const MOST_WORDS: usize = 7;
const MOST_UNKNOWN: usize = 1;

/// Words of declarations and statements that may be between a name and its value.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "value", "values", "val", "default", "init", "inz", "initial", "put", "to", "is", "as", "of", "be", "with", "by",
    "equals", "pic", "picture", "usage", "display", "x", "a", "n", "s", "e", "string", "text", "str", "char", "character",
    "varchar", "varchar2", "nvarchar", "nchar", "wstring", "type", "constant", "const", "final", "static", "var", "let",
    "not", "null", "unique", "encrypted", "unencrypted", "plain", "plaintext", "cleartext", "replace", "db", "dw", "byte",
    "bytes", "ascii", "asciz", "aliased", "dim", "len", "max", "private", "public", "literal",
];

/// The value in a frame or in a text of several lines. Other readers would mistake the delimiters for the
/// value.
pub(crate) fn framed(text: &[u8], hit: &Range<usize>, naming: Naming) -> Option<Range<usize>> {
    let end = name_end(text, hit.end);
    let is_blank = text.get(end) == Some(&b' ');
    if !is_blank && !frame::may_follow(text, end) && block::opened(text, end).is_none() {
        return None;
    }
    let name = Name::around(text, hit.clone(), naming)?;
    let value = frame::value(text, &name.span).or_else(|| block::opened(text, end));
    let value = value.or_else(|| frame::last_of_list(text, &name.span))?;
    // In braces, only the value of a name that indicates a password is accepted, because templates, blocks of
    // programs and attributes of JSX also have values in braces.
    let in_braces = text[end..value.start].iter().all(|byte| matches!(byte, b' ' | b'=' | b'{'));
    let is_strict = name.promise == Promise::Weak || (in_braces && name.promise != Promise::Password);
    (!is_strict && is_line(text, &value, &name, naming)).then_some(value)
}

/// The value of the name around a keyword.
pub(crate) fn value(text: &[u8], hit: &Range<usize>, naming: Naming) -> Option<Range<usize>> {
    let name = Name::around(text, hit.clone(), naming)?;
    let is_verb = text[name.span.clone()].eq_ignore_ascii_case(b"pass");
    if name.promise == Promise::Weak || naming == Naming::Auth || is_verb {
        return None;
    }
    literal(text, &name, naming).or_else(|| {
        let below = block::value(text, &name.span).or_else(|| defined(text, &name.span));
        below.filter(|value| is_line(text, value, &name, naming)).or_else(|| last_word(text, &name))
    })
}

/// Whether the text is a secret value, assuming that only a value can be at this position.
fn is_line(text: &[u8], value: &Range<usize>, name: &Name, naming: Naming) -> bool {
    let bytes = &text[value.clone()];
    data::is_written(bytes, name.promise, true) || judge::is_secret(naming, name.promise, Style::Line, bytes)
}

/// The string literal that belongs to the name.
fn literal(text: &[u8], name: &Name, naming: Naming) -> Option<Range<usize>> {
    let is_value = |(value, link): &(Range<usize>, Link)| {
        let bytes = &text[value.clone()];
        let is_secret = judge::is_secret(naming, name.promise, Style::Literal, bytes)
            && !judge::is_code(bytes)
            && !judge::is_never_a_password(bytes);
        // A literal with this pair of characters contains the tags of a struct field in Go.
        let has_pair = bytes.windows(2).any(|pair| pair == b":\"");
        let is_code_in_text = text[value.start - 1] == b'`' && bytes.contains(&b' ') && *link == Link::Loose;
        is_secret
            && !has_pair
            && !is_code_in_text
            && match link {
                Link::Certain => name.promise == Promise::Explicit || judge::is_more_than_a_word(bytes),
                Link::Loose => is_generated(bytes),
            }
    };
    let certain = |value: Range<usize>| (value, Link::Certain);
    let found = in_list(text, name).or_else(|| valued(text, name)).map(certain).filter(is_value);
    let found = found.or_else(|| after(text, name).filter(is_value));
    found.or_else(|| before(text, name).map(certain).filter(is_value)).map(|(value, _)| value)
}

/// Whether the value has three classes of characters or random capitals, and is not a name.
fn is_generated(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    let num_signs = shape.signs + shape.joiners;
    let num_classes = [shape.lower, shape.upper, shape.digits, num_signs].iter().filter(|count| **count > 0).count();
    let is_name =
        || value.split(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':')).all(crate::expression::is_name);
    let has_few_words = shape.in_words * 3 <= shape.letters();
    let is_mixed = match num_classes {
        4 => shape.signs > 0 || has_few_words,
        3 => shape.digits > 0 && has_few_words && !is_name(),
        _ => false,
    };
    let is_word = shape.blanks == 0 && (shape::is_case_noise(value) || is_mixed);
    value.len() >= 8 && !shape::is_uuid(value) && (is_word || is_signed_phrase(value) || is_passphrase(value))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    /// Only a value can follow.
    Certain,
    /// The literal may also be an argument or a message.
    Loose,
}

/// The literal after the name, and how certainly it is the value of the name.
fn after(text: &[u8], name: &Name) -> Option<(Range<usize>, Link)> {
    let end = text.len().min(name.span.end + REACH + LONGEST);
    let mut cursor = Cursor { text: &text[..end], at: name.span.end };
    let is_key = cursor.skip_quote();
    let mut glue = Glue {
        num_words: 0,
        num_unknown: 0,
        num_breaks: 0,
        has_operator: false,
        num_commas: 0,
        has_sign: false,
        is_key,
        has_blank: false,
    };
    while cursor.at - name.span.end < REACH {
        let start = cursor.at;
        let found = delimited::literal(cursor.text, start).filter(|_| glue.has_operator || glue.has_blank);
        let found = found.or_else(|| cursor.literal(Style::Literal).map(|(_, value)| value));
        if let Some(value) = found.map(|value| trimmed(text, value)) {
            let is_own = glue.has_operator || glue.num_commas > 0 || glue.has_sign || glue.num_words > 0;
            return (is_own && glue.num_commas <= 1 && !is_followed(text, value.end))
                .then(|| (value, glue.link(text, name)));
        }
        cursor.at = start;
        if !glue.skip(&mut cursor) {
            return None;
        }
    }
    None
}

/// The literal after `value:` or `default:` that follows a quoted name: `option('password', value: '…')`.
fn valued(text: &[u8], name: &Name) -> Option<Range<usize>> {
    const KEYS: [&[u8]; 4] = [b"value:", b"value=", b"default:", b"default="];
    let rest = &text[name.span.end..text.len().min(name.span.end + REACH)];
    let rest = &rest[..rest.iter().position(|byte| matches!(byte, b'\n' | b';')).unwrap_or(rest.len())];
    if !matches!(rest, [b'"' | b'\'', b',', ..]) {
        return None;
    }
    let find = |key: &[u8]| rest.windows(key.len()).position(|window| window == key).map(|at| at + key.len());
    let start = name.span.end + KEYS.iter().filter_map(|key| find(key)).min()?;
    let mut cursor = Cursor { text: &text[..text.len().min(start + LONGEST)], at: start };
    cursor.skip_spaces();
    cursor.literal(Style::Literal).map(|(_, value)| value)
}

/// Whether a directive of an assembler begins here: `.asciz`.
fn is_directive(rest: &[u8]) -> bool {
    [b".asc".as_slice(), b".string", b".byte"].iter().any(|known| rest.starts_with(known))
}

/// The value without blanks around it.
fn trimmed(text: &[u8], value: Range<usize>) -> Range<usize> {
    let bytes = &text[value.clone()];
    let before = bytes.len() - bytes.trim_ascii_start().len();
    value.start + before..value.start + before + bytes.trim_ascii().len()
}

/// Whether the literal is a key or the left side of an operator.
fn is_followed(text: &[u8], end: usize) -> bool {
    let rest = &text[end..text.len().min(end + 8)];
    let rest = rest.trim_ascii_start();
    matches!(rest, [b'"' | b'\'' | b'`', b':', ..] | [b'"' | b'\'' | b'`', b' ', b'=' | b':', ..])
}

/// The text between a name and a literal.
struct Glue {
    num_words: usize,
    num_unknown: usize,
    num_breaks: usize,
    has_operator: bool,
    num_commas: usize,
    has_sign: bool,
    is_key: bool,
    has_blank: bool,
}

impl Glue {
    /// Skips one special character or word. Returns false if the text cannot be between a name and its value.
    fn skip(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let rest = &cursor.text[cursor.at.min(cursor.text.len())..];
        let Some(first) = rest.first() else { return false };
        if self.excludes(rest, cursor) {
            return false;
        }
        let length = match first {
            b' ' | b'\t' => {
                self.has_blank = true;
                1
            }
            b'\r' | b'\n' => {
                self.num_breaks += usize::from(*first == b'\n');
                1
            }
            b'=' | b':' | b'<' | b'>' | b'|' | b'/' | b'-' => {
                self.has_operator = true;
                1
            }
            b',' => {
                self.num_commas += 1;
                1
            }
            sign if b".()[]{}*@#&+$~^".contains(sign) => {
                self.has_sign = true;
                1
            }
            0xE2 => {
                self.has_operator = true;
                3
            }
            byte if byte.is_ascii_alphanumeric() || *byte == b'_' => self.word(rest),
            _ => return false,
        };
        cursor.at += length;
        let may_break = self.num_breaks == 0 || (self.num_breaks == 1 && self.has_operator);
        let is_declared = self.num_breaks == 0 || self.num_unknown == 0;
        may_break && is_declared && self.num_words <= MOST_WORDS && self.num_unknown <= MOST_UNKNOWN
    }

    /// Whether the first character of `rest`, judged by the characters next to it, cannot be between a name
    /// and its value.
    fn excludes(&self, rest: &[u8], cursor: &Cursor<'_>) -> bool {
        match rest {
            [b':', b':', next, ..] => next.is_ascii_alphanumeric(),
            [b')' | b'}', b'"' | b'\'' | b'`', ..] => true,
            [b'<', ..] => !matches!(rest.get(1), Some(b'-' | b'<')) && cursor.text[cursor.at - 1] != b'<',
            [b'>', ..] => !b"-=>".contains(&cursor.text[cursor.at - 1]),
            [b'.', next, ..] => *next != b' ' && *next != b'.' && !is_directive(rest),
            [b'+', ..] => self.is_key || self.has_blank,
            _ => false,
        }
    }

    fn word(&mut self, rest: &[u8]) -> usize {
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let word = &rest[..length];
        let is_type = word.len() > 6 && word[word.len() - 6..].eq_ignore_ascii_case(b"string");
        let is_known = is_type || WORDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
        self.num_words += 1;
        self.num_unknown += usize::from(!is_known && !word.iter().all(u8::is_ascii_digit));
        length
    }

    /// How certainly the literal is the value of the name.
    fn link(&self, text: &[u8], name: &Name) -> Link {
        let opening = line_before(text, name.span.start).trim_ascii_end().last().copied();
        let in_tuple = matches!(opening, Some(b'{' | b'[')) || (self.is_key && opening == Some(b'('));
        let in_pair = in_tuple
            || defines(line_before(text, name.span.start))
            || matches!(opening, Some(b':' | b'\''))
            || self.is_key;
        if self.num_unknown > 0 || (self.num_commas > 0 && !in_pair) { Link::Loose } else { Link::Certain }
    }
}

/// Whether the line ends with the opening bracket of a call that assigns a value to a name: `define(`,
/// `props.put(`.
fn defines(line: &[u8]) -> bool {
    const VERBS: [&str; 12] =
        ["define", "set", "put", "add", "store", "env", "export", "insert", "append", "bind", "property", "option"];
    let Some(call) = line.trim_ascii_end().strip_suffix(b"(") else { return false };
    let callee = call.rsplit(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').next().unwrap_or_default();
    VERBS.iter().any(|verb| shape::starts_with_ignoring_case(callee, verb.as_bytes()))
}

/// The literal before the name: `MOVE '…' TO PASSWORD`, `setObject:@"…" forKey:@"password"`.
fn before(text: &[u8], name: &Name) -> Option<Range<usize>> {
    const LINKS: [&[u8]; 6] = [b" to ", b" into ", b" forKey:@\"", b" forKey:\"", b" forKey: \"", b" -> "];
    let line = line_before(text, name.span.start);
    let is_link = |link: &&[u8]| line.len() >= link.len() && line[line.len() - link.len()..].eq_ignore_ascii_case(link);
    let link = LINKS.into_iter().find(is_link)?;
    let close = name.span.start.checked_sub(link.len() + 1)?;
    let quote = *text.get(close)?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let floor = name.span.start - line.len();
    // A quote inside the value is doubled or follows a backslash.
    let mut open = close;
    while open > floor {
        open -= 1;
        let is_inner = open > floor && matches!(text[open - 1], b'\\') || text[open + 1] == quote && open + 1 < close;
        let is_doubled = open > floor && text[open - 1] == quote;
        if text[open] == quote && !is_inner && !is_doubled {
            return (open + 1 < close).then_some(open + 1..close);
        }
    }
    None
}

/// The value for a name in a list of variables: `my ($user, $password) = ('bob', '…')`.
fn in_list(text: &[u8], name: &Name) -> Option<Range<usize>> {
    let line = line_before(text, name.span.start);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"$@%_, ".contains(byte);
    let list = line.iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    let place = line[list..].iter().filter(|byte| **byte == b',').count();
    let rest = &text[name.span.end..text.len().min(name.span.end + REACH)];
    let length = rest.iter().position(|byte| !is_part(byte) && *byte != b')')?;
    let is_pair = place > 0 || rest[..length].contains(&b',');
    let sign = if rest[length..].starts_with(b":=") { 2 } else { usize::from(rest[length] == b'=') };
    if !is_pair || sign == 0 {
        return None;
    }
    let start = name.span.end + length + sign;
    let end = text.len().min(start + 2 * LONGEST);
    let mut cursor = Cursor { text: &text[..end], at: start };
    cursor.skip_spaces();
    if let Some(words) = delimited::literal(cursor.text, cursor.at) {
        let word = text[words.clone()].split(|byte| *byte == b' ').filter(|word| !word.is_empty()).nth(place)?;
        let at = text[words.clone()].windows(word.len()).rposition(|window| window == word)?;
        return Some(words.start + at..words.start + at + word.len());
    }
    cursor.at += usize::from(matches!(cursor.peek(), b'(' | b'['));
    for _ in 0..place {
        cursor.literal(Style::Literal)?;
        cursor.skip_quote();
        cursor.skip_spaces();
        cursor.at += usize::from(cursor.peek() == b',');
        cursor.skip_spaces();
    }
    cursor.literal(Style::Literal).map(|(_, value)| value)
}

/// The unquoted value after the separator of a list of definitions, if the value fills the rest of its line.
fn defined(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    const SEPARATORS: [&str; 11] = [":::: ", "::: ", ":: ", ";; ", "— ", "– ", "-- ", "=> ", "==> ", ":- ", "| "];
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || b" \t*_-+#|=^;:.'`\"".contains(byte);
    if !line_before(text, name.start).iter().all(is_label) {
        return None;
    }
    let line = line_after(text, name.end, judge::LONGEST)?;
    let signs = line.iter().take_while(|byte| b" \t*_'`\"".contains(byte)).count();
    let separator = SEPARATORS.iter().find(|separator| line[signs..].starts_with(separator.as_bytes()))?;
    let start = signs + separator.len();
    let start = start + line[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let value = line[start..].trim_ascii_end();
    let is_word = !value.is_empty() && !value.iter().any(|byte| *byte <= 32);
    is_word.then(|| name.end + start..name.end + start + value.len())
}

/// The last word of a line, if the line ends with a name, at most three other words and a generated password:
/// `username bob password 0 …`.
fn last_word(text: &[u8], name: &Name) -> Option<Range<usize>> {
    if name.promise != Promise::Password || text.get(name.span.end) != Some(&b' ') {
        return None;
    }
    let line = line_after(text, name.span.end, judge::LONGEST)?.trim_ascii_end();
    let start = line.iter().rposition(|byte| *byte == b' ')? + 1;
    let is_word =
        |word: &[u8]| word.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'=');
    let words: Vec<&[u8]> = line[..start].split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
    let value = &line[start..];
    let is_value = words.len() <= 2
        && words.iter().all(|word| is_word(word))
        && (Shape::of(value).digits > 0 || shape::is_bare_noise(value))
        && is_generated(value)
        && data::is_written(value, name.promise, true);
    is_value.then(|| name.span.end + start..name.span.end + line.len())
}
