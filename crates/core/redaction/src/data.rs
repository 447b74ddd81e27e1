//! Finds unquoted values in data: `password: k3(x9}Q$z` in settings, comments, headers, commands and
//! connection strings.
//!
//! In other modules, a value ends at the first character that ends an expression in some language. This
//! module reads a value with all its special characters, up to a blank, a quote or a separator, and accepts
//! it only if it cannot be part of a program.

use std::ops::Range;

use crate::before::{Before, ends_line, line_before, run, skip_blanks};
use crate::context::is_netrc;
use crate::cursor::Cursor;
use crate::judge::{self, Style};
use crate::markup::{tag_length, tagged};
use crate::name::{Name, Naming, Promise, name_end};
use crate::shape::{self, Shape};
use crate::{delimited, entropy, expression, list, machine, marker, phrase, prose};

/// Maximum length of a value, in bytes, if quotes surround the whole pair of name and value.
const LONGEST_PAIR: usize = 80;

/// The unquoted values that are assigned to the name around a keyword, if they are secrets.
pub(crate) fn secrets(text: &[u8], hit: &Range<usize>, naming: Naming) -> Vec<Range<usize>> {
    if naming == Naming::Auth {
        return Vec::new();
    }
    let Some((separator, start)) = separated(text, hit.end) else { return Vec::new() };
    let Some(name) = Name::around(text, hit.clone(), naming) else { return Vec::new() };
    if name.promise == Promise::Weak || text[..name.span.start].ends_with(b"${") {
        return Vec::new();
    }
    let is_secret = |value: &Range<usize>, is_line: bool| is_written(&text[value.clone()], name.promise, is_line);
    let mut found = Vec::new();
    match separator {
        Separator::Block => found.extend(list::block_line(text, start)),
        Separator::List => {
            found.extend(list::items(text, &name.span, start));
            if found.is_empty() {
                found.extend(list::block_line(text, start));
            }
        }
        Separator::Array => {
            found.extend(list::literals(text, &name.span, start));
            found.retain(|value| judge::is_secret(naming, name.promise, Style::Literal, &text[value.clone()]));
            return found;
        }
        Separator::Sign | Separator::Words | Separator::Blank => {
            let value = single(text, &name, separator, start);
            return value
                .into_iter()
                .filter(|(value, is_line)| is_secret(value, *is_line))
                .map(|(value, _)| value)
                .collect();
        }
    }
    found.retain(|value| is_secret(value, true));
    found
}

/// The value after an operator, a verb or blanks, and whether the text before it shows that only a value can
/// follow.
fn single(text: &[u8], name: &Name, separator: Separator, start: usize) -> Option<(Range<usize>, bool)> {
    let before = Before::of(text, name.span.start);
    let is_netrc = separator == Separator::Blank && is_netrc(text, name.span.start);
    let is_command = before.is_command || text[name.span.clone()].starts_with(b"-");
    let line = line_before(text, name.span.start);
    let value = run(text, start, &before)?;
    let fills_line = (before.is_start || is_directive(line)) && ends_line(text, value.end);
    let is_introduced = name.promise == Promise::Password && prose::introduces(line);
    if separator == Separator::Blank && !is_command && !is_netrc && !fills_line && !is_introduced {
        return None;
    }
    let is_stated = separator == Separator::Words && matches!(text.get(value.end), None | Some(b'\n' | b'\r'));
    let is_line = (fills_line && (separator == Separator::Blank || before.is_start))
        || is_stated
        || is_netrc
        || before.is_option()
        || is_switch(line)
        || (text[name.span.clone()].starts_with(b"--") && !before.is_nested());
    match quoted_pair(text, name, &before, start).or_else(|| tagged(text, start)) {
        Some(whole) if whole.end >= value.end => Some((whole, true)),
        _ => Some((value, is_line)),
    }
}

/// Whether the part of the line before the name consists of a server directive and a blank: `proxy_set_header
/// `.
fn is_directive(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let word = line.strip_suffix(b" ").unwrap_or_default().trim_ascii_end();
    word.contains(&b'_') && word.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
}

/// Whether the name is a command-line switch of Windows: `/pass:…`.
fn is_switch(line: &[u8]) -> bool {
    matches!(line, [.., b' ', b'/'])
}

/// The value before the quote that closes the whole pair: `'password=…'`.
fn quoted_pair(text: &[u8], name: &Name, before: &Before, start: usize) -> Option<Range<usize>> {
    let (quote, false) = before.quote? else { return None };
    let open = name.span.start.checked_sub(1)?;
    if text[open] != quote || quote == b'`' {
        return None;
    }
    let mut cursor = Cursor { text: &text[..text.len().min(start + LONGEST_PAIR)], at: open };
    let (_, literal) = cursor.literal(Style::Literal)?;
    let value = text.get(start..literal.end)?;
    let escape = value.windows(2).position(|pair| matches!(pair, [b'\\', b'n' | b'r' | b't']));
    Some(start..start + escape.unwrap_or(value.len()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// An operator: `=`, `:`, `:=`, `->` and similar.
    Sign,
    /// A verb: `is`, `was`, `set to`.
    Words,
    /// Only blanks, as after `--password` and `ENV PASSWORD`.
    Blank,
    /// The start of a YAML block scalar: `|`, `>-`.
    Block,
    /// A colon at the end of the line, followed by a list.
    List,
    /// A `[` before string literals.
    Array,
}

/// The separator after the name, and the position at which the value starts.
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
    let (separator, value) = sign(text, at, blanks, at == name_at)?;
    let is_colon = text[blanks] == b':';
    match separator {
        Separator::Sign => after_sign(text, value, is_colon),
        _ => bare_start(text, separator, value),
    }
}

/// The kind of separator (an operator or a word) between the name and the value, and the position after the
/// separator. The name ends at `end`.
fn sign(text: &[u8], end: usize, at: usize, is_plain: bool) -> Option<(Separator, usize)> {
    let has_blanks = at > end;
    let (separator, length) = match &text[at.min(text.len())..text.len().min(at + 8)] {
        [b'=' | b'!' | b'<' | b'>', b'=', ..] | [b':', b':', ..] => return None,
        [b'=', b'~', b' ' | b'/' | b'm' | b's', ..] => return None,
        [b'=', b'>', b' ', ..] | [b':' | b'?' | b'+', b'=', ..] => (Separator::Sign, 2),
        [b'-', b'>', b' ', ..] => (Separator::Sign, 3),
        [0xE2, 0x86, 0x92, ..] | [0xEF, 0xBC, 0x9A, ..] => (Separator::Sign, 3),
        [b'=' | b':', ..] => (Separator::Sign, 1),
        [b'-', b' ', ..] if has_blanks && is_plain => (Separator::Words, 2),
        [b'?', next, ..] if !has_blanks || *next <= 32 => (Separator::Words, prose::answer(&text[at..])?),
        [_, ..] if has_blanks => match prose::after_verb(text, at) {
            Some(value) => (Separator::Words, value - at),
            None if is_plain => (Separator::Blank, 0),
            None => return None,
        },
        _ => return None,
    };
    Some((separator, at + length))
}

/// The separator and the start of the value after an operator.
fn after_sign(text: &[u8], mut value: usize, is_colon: bool) -> Option<(Separator, usize)> {
    while text[value.min(text.len())..].starts_with(b"**") {
        value += 2;
    }
    value = skip_blanks(text, value);
    if is_colon {
        value = skip_properties(text, value);
        value = skip_blanks(text, value + tag_length(text, value, true));
        value += tag_length(text, value, false);
    }
    match &text[value.min(text.len())..] {
        [b'|' | b'>', ..] if is_colon && begins_block(text, value) => Some((Separator::Block, value)),
        [b'[', b'"' | b'\'' | b' ' | b'\n', ..] => Some((Separator::Array, value + 1)),
        [b'\n' | b'\r', ..] if is_colon => Some((Separator::List, value)),
        _ => bare_start(text, Separator::Sign, value),
    }
}

/// The start of an unquoted value. `None` if a string literal begins there.
fn bare_start(text: &[u8], separator: Separator, value: usize) -> Option<(Separator, usize)> {
    let is_bare = !begins_literal(text, value)
        && delimited::literal(text, value).is_none()
        && text.get(value).is_some_and(|byte| *byte > 32);
    is_bare.then_some((separator, value))
}

/// Whether a string literal begins here: a quote, with an optional backslash or prefix before it, as in
/// `b"…"`.
fn begins_literal(text: &[u8], at: usize) -> bool {
    let rest = &text[at.min(text.len())..];
    let prefix = rest.iter().take(2).take_while(|byte| b"rRbBfFuULNE@".contains(byte)).count();
    matches!(rest.first(), Some(b'"' | b'\'' | b'`'))
        || matches!(rest, [b'\\', b'"' | b'\'', ..])
        || rest.starts_with(b"&quot;")
        || (prefix > 0 && matches!(rest.get(prefix), Some(b'"' | b'\'' | b'`')))
}

/// Skips an anchor and a standard tag of YAML: `&name`, `!!str`. Other tags are not skipped, because they
/// name functions and references.
fn skip_properties(text: &[u8], from: usize) -> usize {
    let mut at = from;
    for _ in 0..2 {
        let rest = &text[at.min(text.len())..];
        let sign = if rest.starts_with(b"!!") { 2 } else { usize::from(rest.starts_with(b"&")) };
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let name = rest[sign.min(rest.len())..].iter().take(64).take_while(is_part).count();
        let end = at + sign + name;
        let next = skip_blanks(text, end);
        if sign == 0 || name == 0 || next == end {
            break;
        }
        at = next;
    }
    at
}

/// The start of the value in `value: …` on the line after `name: DB_PASSWORD`.
fn named_value(text: &[u8], end: usize) -> Option<usize> {
    let rest = &text[end.min(text.len())..];
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n")?;
    let line = text.len() - rest.len();
    let at = skip_blanks(text, line);
    let value = text[at..].strip_prefix(b"value:").map(|_| skip_blanks(text, at + b"value:".len()))?;
    let is_bare = !matches!(text.get(value).copied().unwrap_or(0), 0..=32 | b'"' | b'\'' | b'`' | b'|' | b'>');
    is_bare.then_some(value)
}

/// Whether a block scalar begins here: `|`, `>-` or `|2` at the end of the line.
fn begins_block(text: &[u8], at: usize) -> bool {
    let rest = &text[at + 1..text.len().min(at + 6)];
    let length = rest.iter().take_while(|byte| matches!(byte, b'-' | b'+' | b'0'..=b'9' | b' ')).count();
    matches!(rest.get(length), Some(b'\n' | b'\r'))
}

/// The value after a word that means "password" in a language other than English.
pub(crate) fn translated(text: &[u8], hit: &Range<usize>) -> Option<Range<usize>> {
    let mut cursor = Cursor { text: &text[..text.len().min(hit.end + 240)], at: hit.end };
    cursor.skip_quote();
    while cursor.peek() == b'*' {
        cursor.at += 1;
    }
    cursor.skip_spaces();
    const SIGNS: [&[u8]; 7] = [b":", b"=", "：".as_bytes(), b"ist ", b"lautet ", b"es ", b"est "];
    cursor.at += SIGNS.iter().find(|sign| text[cursor.at..].starts_with(sign))?.len();
    while cursor.peek() == b'*' {
        cursor.at += 1;
    }
    cursor.skip_spaces();
    if let Some((_, literal)) = cursor.literal(Style::Literal) {
        return is_strong_choice(&text[literal.clone()]).then_some(literal);
    }
    let before = Before::of(text, hit.start);
    let value = run(text, cursor.at, &before)?;
    let is_line = before.is_start && ends_line(text, value.end);
    let bytes = &text[value.clone()];
    (is_written(bytes, Promise::Password, is_line) || is_strong_choice(bytes)).then_some(value)
}

/// Whether a person may have chosen the value as a password, and it contains a digit or a special character.
pub(crate) fn is_strong_choice(value: &[u8]) -> bool {
    judge::is_chosen(value) && !judge::is_code(value) && judge::is_more_than_a_word(value)
}

/// Whether the value is a password or a generated secret without quotes. `is_line` is true if only a value
/// can follow the name.
pub(crate) fn is_written(value: &[u8], promise: Promise, is_line: bool) -> bool {
    let plain = unescaped(value);
    let value = plain.as_deref().unwrap_or(value);
    let shape = Shape::of(value);
    let num_signs = shape.signs + shape.joiners;
    if shape.blanks > 0 {
        let is_phrase =
            phrase::is_signed_phrase(value) || (promise == Promise::Password && phrase::is_passphrase(value));
        return (is_line || plain.is_some()) && is_phrase;
    }
    if value.len() < 6
        || value.len() > 128
        || entropy::num_distinct(value) < 5
        || marker::is_in(value)
        || judge::is_never_a_password(value)
    {
        return false;
    }
    if promise == Promise::Explicit {
        return machine::is_machine_made(value) || (is_line && machine::is_random_word(value));
    }
    let is_noise = shape.digits == 0 && shape::is_bare_noise(value);
    if expression::is_expression(value) && !(is_line && is_noise) {
        return false;
    }
    let has_letters = shape.letters() >= 2 || !value.is_ascii();
    let num_classes = [shape.lower, shape.upper, shape.digits, num_signs].iter().filter(|count| **count > 0).count();
    if is_noise && (is_line || value.len() >= 12) {
        return true;
    }
    if !has_letters || (shape.digits == 0 && num_classes < 3) {
        return false;
    }
    if is_line { num_classes >= 3 || !value.is_ascii() } else { num_classes == 4 || !shape.is_wordy() }
}

/// The value without the backslashes of a shell, if backslashes precede blanks or at least two special
/// characters.
fn unescaped(value: &[u8]) -> Option<Vec<u8>> {
    let escapes = || value.windows(2).filter(|pair| pair[0] == b'\\');
    let has_blank = escapes().any(|pair| pair[1] == b' ');
    let is_sign = |pair: &[u8]| pair[1].is_ascii_punctuation();
    if value.contains(&b'\\') && (has_blank || escapes().filter(|pair| is_sign(pair)).count() >= 2) {
        let mut plain = value.to_vec();
        let mut at = 0;
        while at < plain.len() {
            if plain[at] == b'\\' {
                plain.remove(at);
            }
            at += 1;
        }
        return Some(plain);
    }
    None
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
    fn whole_value_is_found() {
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
    fn code_is_not_redacted() {
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
