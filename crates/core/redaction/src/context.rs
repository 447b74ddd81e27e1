//! What stands around a bare value tells whether it is one: it fills its line, belongs to a connection string, or sets a
//! variable of the environment. Elsewhere it is most likely an expression.

use std::ops::Range;

use crate::judge::Style;

/// Whether a bare value fills its line, as in YAML, or stands in a connection string.
pub(crate) fn bare_style(text: &[u8], name: &Range<usize>, value: &Range<usize>, style: Style) -> Style {
    if is_in_connection_string(text, name, value) {
        return Style::Connection;
    }
    let between = &text[name.end..value.start];
    let flag = between.iter().all(|byte| *byte == b' ') && text[name.clone()].starts_with(b"--");
    let tight = (between.ends_with(b"=") || between.contains(&b':')) && !between.windows(2).any(|pair| pair == b" =");
    let command = style == Style::Spaced && is_after_env(text, name.start);
    let begins = flag || ((tight || command) && begins_line(text, name.start)) || is_told(between);
    if begins && ends_line(text, value.end) || is_variable(text, name, value) {
        return Style::Line;
    }
    if flag { Style::Loose } else { style }
}

/// `password is …`.
fn is_told(between: &[u8]) -> bool {
    matches!(between.trim_ascii(), b"is" | b"was")
}

/// `PGPASSWORD=… psql`, `docker run -e DB_PASSWORD=… image`: a variable of the environment for one command.
fn is_variable(text: &[u8], name: &Range<usize>, value: &Range<usize>) -> bool {
    let capitals =
        text[name.clone()].iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    capitals
        && &text[name.end..value.start] == b"="
        && matches!(text.get(value.end), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
}

/// `ENV NAME value` of container files.
fn is_after_env(text: &[u8], start: usize) -> bool {
    text[..start].trim_ascii_end().ends_with(b"ENV")
}

/// Only signs of lists, comments and exports stand before the name on its line, or it begins a comment, a string or a
/// cell of a table.
fn begins_line(text: &[u8], start: usize) -> bool {
    let floor = start.saturating_sub(64);
    let line = text[floor..start].iter().rposition(|byte| *byte == b'\n').map_or(floor, |at| floor + at + 1);
    let mut before = text[line..start].trim_ascii();
    let border = [b"\\n".as_slice(), b"\"", b"'", b"`", b"|", b"//", b"#"];
    if border.iter().any(|border| before.ends_with(border)) {
        return true;
    }
    for word in [b"export".as_slice(), b"ENV", b"ARG", b"set", b"SET", b"setx", b"env"] {
        before = before.strip_suffix(word).unwrap_or(before);
    }
    before
        .iter()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'-' | b'#' | b'/' | b'*' | b'>' | b'"' | b'\'' | b'`' | b'$' | b';'))
}

/// After the value comes the end of its line, of the string that holds the line, or a comment.
fn ends_line(text: &[u8], end: usize) -> bool {
    let rest = &text[end..text.len().min(end + 8)];
    let rest = &rest[rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()..];
    matches!(rest, [] | [b'\n' | b'\r' | b'#' | b'"' | b'\'' | b'`' | b'\\' | b'|', ..])
}

/// Names beside a password in connection strings.
const BESIDE: [&str; 14] = [
    "server",
    "data source",
    "host",
    "hostname",
    "uid",
    "user id",
    "userid",
    "driver",
    "database",
    "initial catalog",
    "accountname",
    "dbname",
    "username",
    "user",
];

/// Other pairs of a connection string stand beside: `Server=…;Password=…;` or `host=… password=…`.
fn is_in_connection_string(text: &[u8], name: &Range<usize>, value: &Range<usize>) -> bool {
    if text.get(name.end) != Some(&b'=') || value.start != name.end + 1 {
        return false;
    }
    let floor = name.start.saturating_sub(200);
    let before = &text[floor..name.start];
    let before = &before[before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)..];
    let after = &text[value.end..text.len().min(value.end + 160)];
    let after = &after[..after.iter().position(|byte| *byte == b'\n').unwrap_or(after.len())];
    let url = crate::shape::contains_ignoring_case(before, b"jdbc:")
        || crate::shape::contains_ignoring_case(before, b"sql://");
    let joined = match before.last() {
        Some(b';' | b'"' | b'\'') => true,
        Some(b'&' | b'?') => url,
        Some(b' ') => {
            !matches!(before.trim_ascii_end().last(), Some(b',' | b'('))
                && matches!(after.first(), None | Some(b' ' | b';' | b'"' | b'\''))
        }
        _ => after.first() == Some(&b';'),
    };
    joined && [before, after].iter().any(|part| has_pair(part))
}

/// One of the names stands before some `=`.
fn has_pair(part: &[u8]) -> bool {
    part.iter().enumerate().filter(|(_, byte)| **byte == b'=').any(|(at, _)| {
        BESIDE.iter().any(|name| at >= name.len() && part[at - name.len()..at].eq_ignore_ascii_case(name.as_bytes()))
    })
}
