//! Bare values of data: the text after a name up to a blank, quote or separator, with all signs that it
//! contains, as in `password: k3(x9}Q$z` in settings, comments, headers, commands and connection strings.
//!
//! The other readers stop at signs that end an expression in some language. Here a value is read as a whole,
//! and is accepted only if no program could contain it.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::expression::is_expression;
use crate::judge::{self, Style};
use crate::name::{Name, Naming, Promise, name_end};
use crate::shape::Shape;
use crate::{entropy, marker};

/// Longer values are not passwords.
const LONGEST: usize = 160;

/// How far back a line is read, in bytes.
const REACH: usize = 240;

/// Items of one list of secrets.
const MOST_ITEMS: usize = 64;

/// The bare values that are assigned to the name around a keyword, if they are secrets.
pub(crate) fn secrets(text: &[u8], hit: &Range<usize>, naming: Naming) -> Vec<Range<usize>> {
    if naming == Naming::Auth {
        return Vec::new();
    }
    let Some((separator, start)) = separated(text, hit.end) else { return Vec::new() };
    let Some(name) = Name::around(text, hit.clone(), naming) else { return Vec::new() };
    if name.promise == Promise::Weak || text[..name.span.start].ends_with(b"${") {
        return Vec::new();
    }
    let is_secret =
        |value: &Range<usize>, is_line: bool| is_written(&text[value.clone()], naming, name.promise, is_line);
    let mut found = Vec::new();
    match separator {
        Separator::Block => found.extend(next_line(text, start)),
        Separator::List => {
            found.extend(items(text, &name, start));
            if found.is_empty() {
                found.extend(next_line(text, start));
            }
        }
        Separator::Array => {
            found.extend(literals(text, &name, start));
            found.retain(|value| judge::is_secret(naming, name.promise, Style::Literal, &text[value.clone()]));
            return found;
        }
        Separator::Sign | Separator::Words | Separator::Blank => {
            let before = Before::of(text, name.span.start);
            let is_command = before.is_command || text[name.span.clone()].starts_with(b"-");
            if separator == Separator::Blank && !is_command {
                return found;
            }
            let Some(value) = run(text, start, &before) else { return found };
            let is_line = before.is_start && ends_line(text, value.end);
            if is_secret(&value, is_line) {
                found.push(value);
            }
            return found;
        }
    }
    found.retain(|value| is_secret(value, true));
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// `=`, `:`, `:=`, `->` and their like.
    Sign,
    /// `is`, `was`.
    Words,
    /// Only blanks, as after `--password` and `ENV PASSWORD`.
    Blank,
    /// A block scalar of YAML begins: `|`, `>-`.
    Block,
    /// The line ends after a colon, and a list begins.
    List,
    /// `[` and literals.
    Array,
}

/// The separator between the name and its value, and the start of the value.
fn separated(text: &[u8], word_end: usize) -> Option<(Separator, usize)> {
    let mut at = name_end(text, word_end);
    let name_at = at;
    let peek = |at: usize| text.get(at).copied().unwrap_or(0);
    while matches!(peek(at), b'"' | b'\'' | b']' | b'`' | b'*' | b'\\') && at - name_at < 4 {
        at += 1;
    }
    let blanks = skip_blanks(text, at);
    if let Some(value) = named_value(text, blanks) {
        return Some((Separator::Sign, value));
    }
    let rest = &text[blanks.min(text.len())..text.len().min(blanks + 8)];
    let (separator, length) = match rest {
        [b'=' | b'!' | b'<' | b'>', b'=', ..] | [b':', b':', ..] => return None,
        [b'=', b'~', b' ' | b'/' | b'm' | b's', ..] => return None,
        [b'=', b'>', b' ', ..] | [b':' | b'?' | b'+', b'=', ..] => (Separator::Sign, 2),
        [b'-', b'>', b' ', ..] => (Separator::Sign, 3),
        [0xE2, 0x86, 0x92, ..] | [0xEF, 0xBC, 0x9A, ..] => (Separator::Sign, 3),
        [b'=' | b':', ..] => (Separator::Sign, 1),
        [b'i', b's', b' ', ..] if blanks > at => (Separator::Words, 3),
        [b'i', b's', b':', b' ', ..] if blanks > at => (Separator::Words, 4),
        [b'w', b'a', b's', b' ', ..] if blanks > at => (Separator::Words, 4),
        [_, ..] if blanks > at && at == name_at => (Separator::Blank, 0),
        _ => return None,
    };
    let is_colon = rest.first() == Some(&b':');
    let mut value = blanks + length;
    if separator == Separator::Sign {
        while peek(value) == b'*' && peek(value + 1) == b'*' {
            value += 2;
        }
        value = skip_blanks(text, value);
        if value < text.len() && is_colon && matches!(peek(value), b'|' | b'>') && begins_block(text, value) {
            return Some((Separator::Block, value));
        }
        if peek(value) == b'[' && matches!(peek(value + 1), b'"' | b'\'' | b' ' | b'\n') {
            return Some((Separator::Array, value + 1));
        }
        if is_colon && matches!(peek(value), b'\n' | b'\r') {
            return Some((Separator::List, value));
        }
    }
    let is_quote = matches!(peek(value), b'"' | b'\'' | b'`')
        || (peek(value) == b'\\' && matches!(peek(value + 1), b'"' | b'\''))
        || text[value.min(text.len())..].starts_with(b"&quot;");
    // The prefix of a literal: `b"…"`.
    let prefix = text[value.min(text.len())..].iter().take(2).take_while(|byte| b"rRbBfFuUL@".contains(byte)).count();
    let is_quote = is_quote || (prefix > 0 && matches!(peek(value + prefix), b'"' | b'\'' | b'`'));
    (!is_quote && peek(value) > 32).then_some((separator, value))
}

/// `name: DB_PASSWORD` and on the next line `value: …`.
fn named_value(text: &[u8], end: usize) -> Option<usize> {
    let rest = &text[end.min(text.len())..];
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n")?;
    let line = text.len() - rest.len();
    let at = skip_blanks(text, line);
    let value = text[at..].strip_prefix(b"value:").map(|_| skip_blanks(text, at + b"value:".len()))?;
    let is_bare = !matches!(text.get(value).copied().unwrap_or(0), 0..=32 | b'"' | b'\'' | b'`' | b'|' | b'>');
    is_bare.then_some(value)
}

fn skip_blanks(text: &[u8], from: usize) -> usize {
    from + text[from.min(text.len())..].iter().take(24).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// `|`, `>-`, `|2` and the end of the line.
fn begins_block(text: &[u8], at: usize) -> bool {
    let rest = &text[at + 1..text.len().min(at + 6)];
    let length = rest.iter().take_while(|byte| matches!(byte, b'-' | b'+' | b'0'..=b'9' | b' ')).count();
    matches!(rest.get(length), Some(b'\n' | b'\r'))
}

/// The part of the line before the name.
struct Before {
    /// The quote that is open there, and whether a backslash is before it.
    quote: Option<(u8, bool)>,
    /// More brackets are opened than closed.
    opens: Vec<u8>,
    /// This sign separates the neighbouring pairs, as in connection strings and queries.
    separator: Option<u8>,
    /// Only indentation and the signs of comments, lists and exports.
    is_start: bool,
    /// The line ends with a word after which only blanks separate name and value.
    is_command: bool,
}

impl Before {
    fn of(text: &[u8], start: usize) -> Self {
        let floor = start.saturating_sub(REACH);
        let line = text[floor..start].iter().rposition(|byte| *byte == b'\n').map_or(floor, |at| floor + at + 1);
        let line = &text[line..start];
        let mut quote: Option<(u8, bool)> = None;
        let mut opens = Vec::new();
        for (at, byte) in line.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| line[at]);
            match (*byte, quote) {
                (b'"' | b'`' | b'\'', Some((open, escaped))) if open == *byte && (before == Some(b'\\')) == escaped => {
                    quote = None;
                }
                (b'"' | b'`', None) => quote = Some((*byte, before == Some(b'\\'))),
                (b'\'', None) if !before.is_some_and(|byte| byte.is_ascii_alphanumeric()) => {
                    quote = Some((*byte, before == Some(b'\\')));
                }
                (b'(' | b'[' | b'{', _) if opens.len() < 16 => opens.push(*byte),
                (b')' | b']' | b'}', _) => {
                    opens.pop();
                }
                _ => {}
            }
        }
        Self { quote, opens, separator: separator_of(line), is_start: is_start(line), is_command: is_command(line) }
    }
}

/// `;` in a connection string, `&` in a query.
fn separator_of(line: &[u8]) -> Option<u8> {
    let last = *line.iter().rev().find(|byte| **byte != b' ')?;
    let has_pair = line.contains(&b'=');
    match last {
        b';' if has_pair => Some(b';'),
        b'?' | b'&' => Some(b'&'),
        _ => None,
    }
}

fn is_start(line: &[u8]) -> bool {
    let mut line = line.trim_ascii();
    for word in [b"export".as_slice(), b"ENV", b"ARG", b"set", b"SET", b"setx", b"env", b"REM"] {
        line = line.strip_suffix(word).unwrap_or(line);
    }
    line.iter().all(|byte| b" \t-#/*>\"'`$;:<!|%".contains(byte))
}

fn is_command(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    [b"ENV".as_slice(), b"--", b"-"].iter().any(|word| line.ends_with(word))
}

/// After the value comes the end of its line, or a sign that begins or ends a comment.
fn ends_line(text: &[u8], end: usize) -> bool {
    let at = skip_blanks(text, end);
    let rest = &text[at.min(text.len())..];
    rest.is_empty()
        || matches!(rest[0], b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b'|' | b'<')
        || [b"#".as_slice(), b"//", b"--", b"*/", b";"].iter().any(|sign| rest.starts_with(sign))
}

/// The value from `start` to the sign that ends it in these surroundings.
fn run(text: &[u8], start: usize, before: &Before) -> Option<Range<usize>> {
    let rest = &text[start..text.len().min(start + LONGEST + 1)];
    let mut length = rest.len();
    for (at, byte) in rest.iter().enumerate() {
        let ends = match *byte {
            0..=32 | 127 => true,
            b'\\' => match (before.quote, rest.get(at + 1)) {
                (Some((quote, true)), Some(next)) if quote == *next => true,
                (Some(_), Some(b'n' | b'r' | b't' | b'"')) => true,
                _ => false,
            },
            b'&' if rest[at..].starts_with(b"&quot;") && before.quote.is_none() => true,
            // The end of an entity of XML is not a separator.
            b';' if before.separator == Some(b';') => !ends_entity(&rest[..at]),
            b'&' => before.separator == Some(b'&'),
            b'<' => {
                rest[at..].starts_with(b"<br")
                    || (rest[at..].starts_with(b"</") && rest.get(at + 2).is_some_and(u8::is_ascii_lowercase))
            }
            b'-' => rest[at..].starts_with(b"-->"),
            b'*' => rest[at..].starts_with(b"*/"),
            quote => before.quote == Some((quote, false)),
        };
        if ends {
            length = at;
            break;
        }
    }
    if length > LONGEST {
        return None;
    }
    let length = without_closers(&rest[..length], before);
    (length > 0).then(|| start..start + length)
}

/// `&amp`, `&#38`.
fn ends_entity(value: &[u8]) -> bool {
    let tail = &value[value.len().saturating_sub(6)..];
    tail.iter().rposition(|byte| *byte == b'&').is_some_and(|at| {
        let name = &tail[at + 1..];
        name.len() >= 2 && (name[0] == b'#' || [b"amp".as_slice(), b"lt", b"gt", b"quot", b"apos"].contains(&name))
    })
}

/// The length without separators at the end, and without brackets whose opening bracket is before the name.
fn without_closers(value: &[u8], before: &Before) -> usize {
    let mut length = value.len();
    let mut opens = before.opens.clone();
    while let Some(last) = value[..length].last() {
        let open = match last {
            b',' | b';' => 0,
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => break,
        };
        if open != 0 && opens.pop() != Some(open) {
            break;
        }
        length -= 1;
    }
    length
}

/// The line after the beginning of a block scalar.
fn next_line(text: &[u8], at: usize) -> Option<Range<usize>> {
    let line = at + text[at..].iter().take(200).position(|byte| *byte == b'\n')? + 1;
    let start = skip_blanks(text, line);
    let rest = &text[start..text.len().min(start + LONGEST)];
    let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    let length = rest[..length].trim_ascii_end().len();
    (start > line && length > 0 && !rest[..length].contains(&b' ')).then(|| start..start + length)
}

/// The items of a list of YAML below the name of several secrets.
fn items(text: &[u8], name: &Name, end_of_line: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text[name.span.clone()].last().is_some_and(|byte| byte.eq_ignore_ascii_case(&b's')) {
        return found;
    }
    let Some(mut at) =
        text[end_of_line..].iter().take(2).position(|byte| *byte == b'\n').map(|at| end_of_line + at + 1)
    else {
        return found;
    };
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

/// The literals of a list in brackets after the name of several secrets.
fn literals(text: &[u8], name: &Name, start: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text[name.span.clone()].last().is_some_and(|byte| byte.eq_ignore_ascii_case(&b's')) {
        return found;
    }
    let mut cursor = Cursor { text: &text[..text.len().min(start + 4096)], at: start };
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

/// A password or a generated secret that is written without quotes.
fn is_written(value: &[u8], naming: Naming, promise: Promise, is_line: bool) -> bool {
    let shape = Shape::of(value);
    let num_signs = shape.signs + shape.joiners;
    if value.len() < 6
        || value.len() > 128
        || shape.blanks > 0
        || entropy::num_distinct(value) < 5
        || marker::is_in(value)
        || judge::is_never_a_password(value)
        || is_expression(value)
    {
        return false;
    }
    if promise == Promise::Explicit {
        let shortest = if naming == Naming::Secret { 8 } else { 12 };
        let is_made = value.len() >= shortest && shape.digits > 0 && num_signs > 0 && !shape.is_wordy();
        return is_line && is_made && naming != Naming::Token && shape.num_classes() == 4;
    }
    let has_letters = shape.letters() >= 2 || !value.is_ascii();
    let num_classes = [shape.lower, shape.upper, shape.digits, num_signs].iter().filter(|count| **count > 0).count();
    if !has_letters || (shape.digits == 0 && num_classes < 3) {
        return false;
    }
    if is_line { num_classes >= 3 || !value.is_ascii() } else { num_classes == 4 || !shape.is_wordy() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let start = text.to_lowercase().find("pass").expect("a keyword");
        let found = secrets(text.as_bytes(), &(start..start + 4), Naming::Password);
        let found: Vec<&str> = found.into_iter().map(|value| &text[value]).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn value_is_taken_as_a_whole() {
        let value = "k3(x9}Q$z<7\"m'P|&w,2";
        for syntax in [
            "password: §\n",
            "password=§",
            "DB_PASSWORD = §\nx = 1",
            "  - password: § # May\n",
            "// password: §\n",
            "/* password: § */",
            "<!-- password: § -->",
            "the password is § on it",
            "ENV PASSWORD §\n",
            "**Password:** §\n",
            "X-Db-Password: §\r\n",
            "passwords:\n  - §\nx: 1",
            "password: |\n    §\nx: 1",
        ] {
            check(&syntax.replace('§', value), &[value]);
        }
        check("\"Server=db;Password=k3(x9}Q$z;Encrypt=1\"", &["k3(x9}Q$z"]);
        check("\"jdbc:x?user=a&password=k3(x9}Q$z&b=1\"", &["k3(x9}Q$z"]);
        check("call(a, password=k3$x9!Qz)", &["k3$x9!Qz"]);
        check("passwords:\n- k3(x9}Q$z\n- 'q8)X2{w!mQ'\nx: 1", &["k3(x9}Q$z", "q8)X2{w!mQ"]);
    }

    #[test]
    fn code_is_left() {
        for text in [
            "password = get_password(user)[0];",
            "password: Option<String>,",
            "password: &'static str",
            "password=${DB_PASS:-}",
            "password: {{ .Values.password }}",
            "password = $this->get($key1)",
            "password == other1!",
            "password =~ /x1$/",
            "password: <your-password-1>",
            "password=%s:%d",
            "if (password.length < 8 && x1!=y2) {",
            "password: /^[A-Za-z0-9!@#$]{8,}$/",
            "password: str | None = None",
            "passwords:\n  - name: bob\n",
            "password is required!",
        ] {
            check(text, &[]);
        }
    }
}
