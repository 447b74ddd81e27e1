//! Decides from the context of an unquoted value whether the value is data. The value is data if it fills its
//! line, belongs to a connection string or sets an environment variable. Any other unquoted value is probably
//! an expression.

use std::ops::Range;

use crate::judge::Style;
use crate::prose::is_stated;

/// The style of an unquoted value, according to its context. The value may fill its line, as in YAML, or be
/// part of a connection string.
pub(crate) fn bare_style(text: &[u8], name: &Range<usize>, value: &Range<usize>, style: Style) -> Style {
    if is_in_connection_string(text, name, value) {
        return Style::Connection;
    }
    let between = &text[name.end..value.start];
    let flag = (between.iter().all(|byte| *byte == b' ') || between == b"=") && text[name.clone()].starts_with(b"--");
    let tight = (between.ends_with(b"=") || between.contains(&b':')) && !between.windows(2).any(|pair| pair == b" =");
    let command = style == Style::Spaced && (is_after_env(text, name.start) || is_below_login(text, name.start));
    let begins = flag
        || ((tight || command) && begins_line(text, name.start))
        || is_stated(between)
        || (style == Style::Loose && is_in_section(text, name.start));
    if begins && ends_line(text, value.end)
        || is_variable(text, name, value)
        || (flag && is_free(text, value.end))
        || (is_stated(between) && is_end_of_clause(text, value.end))
        || (style == Style::Spaced && is_set(text, name.start, value.end))
        || (style == Style::Loose && tight && is_noted(text, name.start, value.end))
        || (style == Style::Loose && is_pair_of_data(text, name.start, between, value.end))
    {
        return Style::Line;
    }
    if flag { Style::Loose } else { style }
}

/// Whether the argument of a command ends at position `end`.
fn is_free(text: &[u8], end: usize) -> bool {
    matches!(text.get(end), None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b')' | b'<'))
}

/// Whether a clause of a sentence ends at position `end`.
fn is_end_of_clause(text: &[u8], end: usize) -> bool {
    matches!(
        &text[end..text.len().min(end + 2)],
        [] | [b' ' | b'\n' | b'\r', ..]
            | [b'.' | b',' | b';' | b')' | b'*']
            | [b'.' | b',' | b';' | b')', b' ' | b'\n' | b'\r' | b'"' | b'\\']
    )
}

/// Whether the value is in `set(PASSWORD value)` of CMake.
fn is_set(text: &[u8], start: usize, end: usize) -> bool {
    text[..start].ends_with(b"set(") && text.get(end) == Some(&b')')
}

/// Whether `login user` precedes the name on the same line or is on the line above, as in `.netrc`.
pub(crate) fn is_netrc(text: &[u8], start: usize) -> bool {
    let line = line_before(text, start);
    let mut words = line.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    (words.next().is_some() && words.next() == Some(b"login")) || is_below_login(text, start)
}

/// Whether the line above the name is `login user`.
fn is_below_login(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(160)..start];
    let Some((own, above)) =
        before.iter().rposition(|byte| *byte == b'\n').map(|at| (&before[at + 1..], &before[..at]))
    else {
        return false;
    };
    let above = above.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    own.trim_ascii().is_empty() && above.trim_ascii_start().starts_with(b"login ")
}

/// The part of the line before the position `at`.
fn line_before(text: &[u8], at: usize) -> &[u8] {
    let floor = at.saturating_sub(200);
    let line = text[floor..at].iter().rposition(|byte| *byte == b'\n').map_or(floor, |before| floor + before + 1);
    &text[line..at]
}

/// Whether the name and the value are in a comment or in a log line. If so, the value is not an expression.
fn is_noted(text: &[u8], start: usize, end: usize) -> bool {
    let before = line_before(text, start);
    let trimmed = before.trim_ascii_start();
    let comments = [b"#".as_slice(), b"//", b"/*", b"* ", b"--", b"<!--", b"%", b";", b"- ", b"REM "];
    let later = [b" # ".as_slice(), b" // ", b" -- ", b" /* "];
    let is_comment = comments.iter().any(|sign| trimmed.starts_with(sign))
        || later.iter().any(|sign| before.windows(sign.len()).any(|window| window == *sign));
    let ends = matches!(text.get(end), None | Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b'.' | b';' | b')' | b'*'));
    (is_comment || is_after_pair(before)) && ends && !has_call(before)
}

/// Whether another pair precedes the name without a comma between the pairs: `user=bob password=…`.
fn is_after_pair(before: &[u8]) -> bool {
    let Some(rest) = before.strip_suffix(b" ") else { return false };
    let word = rest.rsplit(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    word.iter().position(|byte| *byte == b'=').is_some_and(|at| at > 0 && at + 1 < word.len())
        && !matches!(word.last(), Some(b',' | b'('))
}

fn has_call(before: &[u8]) -> bool {
    before.windows(2).any(|pair| pair[1] == b'(' && (pair[0].is_ascii_alphanumeric() || pair[0] == b'_'))
}

/// Whether the pair is one of several pairs in a line of data: `{user: app, password: …, port: 1}` or `user:
/// bob, password: …`.
fn is_pair_of_data(text: &[u8], start: usize, between: &[u8], end: usize) -> bool {
    let before = line_before(text, start);
    let joined = before.ends_with(b", ") || before.ends_with(b"{");
    let has_pair = before.windows(2).any(|pair| pair == b": ");
    let rest = &text[end..text.len().min(end + 40)];
    let ends = match rest {
        [] | [b'\n' | b'\r' | b'"' | b'\\', ..] => true,
        [b'}', after @ ..] => matches!(after, [] | [b'\n' | b'\r' | b'"' | b'\\', ..]),
        [b',', b' ', after @ ..] => {
            let name = after.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            name > 0 && after[name..].starts_with(b": ")
        }
        _ => false,
    };
    between == b": " && joined && has_pair && ends && !before.iter().any(|byte| matches!(byte, b'(' | b'=' | b';'))
}

/// Whether the settings around the name are in a section, as in INI files: the nearest line above that is not
/// a setting is a section header.
fn is_in_section(text: &[u8], start: usize) -> bool {
    let floor = start.saturating_sub(1000);
    let before = &text[floor..start];
    let mut lines = before.rsplit(|byte| *byte == b'\n');
    let own = lines.next().unwrap_or_default();
    own.trim_ascii().is_empty() && lines.map(<[u8]>::trim_ascii).find(|line| !is_setting(line)).is_some_and(is_head)
}

fn is_setting(line: &[u8]) -> bool {
    let sign = line.iter().position(|byte| matches!(byte, b'=' | b':')).unwrap_or(0);
    let name = line[..sign].trim_ascii_end();
    line.is_empty()
        || matches!(line.first(), Some(b'#' | b';'))
        || (!name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte)))
}

fn is_head(line: &[u8]) -> bool {
    line.len() > 2 && line[0] == b'[' && line[line.len() - 1] == b']'
}

/// Whether the pair sets an environment variable for one command: `PGPASSWORD=… psql` or `docker run -e
/// DB_PASSWORD=… image`.
fn is_variable(text: &[u8], name: &Range<usize>, value: &Range<usize>) -> bool {
    let capitals =
        text[name.clone()].iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    let is_argument = matches!(
        name.start.checked_sub(1).map(|before| text[before]),
        None | Some(b' ' | b'\t' | b'\n' | b'"' | b'\'')
    ) && !line_before(text, name.start).ends_with(b", ");
    (capitals || is_argument) && &text[name.end..value.start] == b"=" && is_free(text, value.end)
}

/// Whether the name follows `ENV`, as in `ENV NAME value` of a container file.
fn is_after_env(text: &[u8], start: usize) -> bool {
    text[..start].trim_ascii_end().ends_with(b"ENV")
}

/// Whether the name begins its line, a comment, a string or a table cell. `export` and characters that begin
/// list items or comments may precede the name.
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
    before.iter().all(|byte| b" \t-#/*>\"'`$;:".contains(byte))
}

/// Whether the value is at the end of its line, at the end of the string around the line, or directly before
/// a comment.
fn ends_line(text: &[u8], end: usize) -> bool {
    let rest = &text[end..text.len().min(end + 8)];
    let rest = &rest[rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()..];
    matches!(rest, [] | [b'\n' | b'\r' | b'#' | b'"' | b'\'' | b'`' | b'\\' | b'|', ..])
}

/// Names that occur together with a password in connection strings.
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

/// Whether the line contains other pairs of a connection string: `Server=…;Password=…;` or `host=…
/// password=…`.
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

/// Whether `part` contains a `=` after one of the names in `BESIDE`.
fn has_pair(part: &[u8]) -> bool {
    part.iter().enumerate().filter(|(_, byte)| **byte == b'=').any(|(at, _)| {
        BESIDE.iter().any(|name| at >= name.len() && part[at - name.len()..at].eq_ignore_ascii_case(name.as_bytes()))
    })
}
