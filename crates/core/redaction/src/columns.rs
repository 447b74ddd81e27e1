//! Divides the lines of a table into cells.

use std::ops::Range;

use crate::cell::{LONGEST_NAME, promised, trimmed, trimmed_once};

/// A way to divide lines into cells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Pipes,
    /// Cells are separated by `,`, `;` or a tab, without blanks around the separator.
    Separator(u8),
    /// Columns of text are separated by blanks. A row may begin with a row number.
    Blanks,
}

impl Cut {
    /// Selects the way to divide a table, from its head and the two lines below the head.
    pub(crate) fn of(
        text: &[u8],
        head: &Range<usize>,
        second: &Range<usize>,
        third: Option<&Range<usize>>,
    ) -> Option<Self> {
        let (head_text, second_text) = (&text[head.clone()], &text[second.clone()]);
        if head_text.contains(&b'|') {
            return is_ruler(second_text).then_some(Self::Pipes);
        }
        for separator in [b',', b';', b'\t'] {
            let cut = Self::Separator(separator);
            let num = cut.cells(text, head).len();
            if num >= 2 {
                let named = cut.cells(text, head).iter().all(|cell| is_plain_name(&text[cell.clone()]));
                return (named && cut.cells(text, second).len() == num).then_some(cut);
            }
        }
        let heads = Self::Blanks.cells(text, head);
        let has_ruler = is_ruler(second_text);
        let first = Self::Blanks.cells(text, if has_ruler { third? } else { second });
        let named = heads.len() >= 2 && heads.iter().all(|cell| is_plain_name(&text[cell.clone()]));
        let numbered = first.len() == heads.len() + 1 && text[first[0].clone()].iter().all(u8::is_ascii_digit);
        let is_table = first.len() == heads.len() && (has_ruler || are_columns(text, &heads));
        (named && (numbered || is_table)).then_some(Self::Blanks)
    }

    /// A row may have at most this many more cells than the head.
    pub(crate) fn most_shift(self) -> usize {
        usize::from(self == Self::Blanks)
    }

    pub(crate) fn is_border(self, line: &[u8]) -> bool {
        self != Self::Separator(b',') && is_ruler(line)
    }

    pub(crate) fn cells(self, text: &[u8], line: &Range<usize>) -> Vec<Range<usize>> {
        match self {
            Self::Pipes => {
                let line = trimmed(text, line, b" \t\r\",>#/*");
                let line = trimmed_once(text, &line, b'|');
                split(text, &line, b'|')
            }
            Self::Separator(separator) => split(text, &trimmed(text, line, b"\r"), separator),
            Self::Blanks => words(text, line),
        }
    }
}

/// The words of a line. Quotes around the whole line are removed, because they belong to a list of strings.
fn words(text: &[u8], line: &Range<usize>) -> Vec<Range<usize>> {
    let plain = trimmed(text, line, b" \t\r");
    let line = if text[plain.clone()].starts_with(b"\"") { trimmed(text, &plain, b"\", ") } else { plain };
    let mut cells = Vec::new();
    let mut at = line.start;
    for word in text[line].split(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        if !word.is_empty() {
            cells.push(at..at + word.len());
        }
        at += word.len() + 1;
    }
    cells
}

/// Whether the line is the line of dashes between the head of a table and its rows.
fn is_ruler(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.windows(2).any(|pair| pair == b"--" || pair == b"==" || pair == b":-" || pair == b"-:")
        && line.iter().all(|byte| b"-=:|+ \t\"'>#/*,".contains(byte))
}

fn is_plain_name(cell: &[u8]) -> bool {
    let cell = cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")).unwrap_or(cell);
    cell.len() <= LONGEST_NAME
        && cell.first().is_none_or(u8::is_ascii_alphabetic)
        && cell.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte))
        && cell.last() != Some(&b' ')
}

/// Whether each word names a secret or a column that is usual in a table of accounts. A line with other words
/// is not treated as a table head if no line of dashes follows, because it may be a sentence.
fn are_columns(text: &[u8], heads: &[Range<usize>]) -> bool {
    #[rustfmt::skip]
    const COLUMNS: [&str; 34] = [
        "user", "username", "user_name", "userid", "uid", "login", "account", "host", "hostname", "server", "machine",
        "ip", "address", "port", "url", "domain", "database", "dbname", "db", "schema", "name", "email", "mail",
        "role", "group", "id", "service", "system", "environment", "env", "type", "comment", "note", "notes",
    ];
    let is_column = |name: &[u8]| COLUMNS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    let num_columns = heads.iter().filter(|cell| is_column(&text[(*cell).clone()])).count();
    num_columns > 0
        && heads.iter().all(|cell| is_column(&text[cell.clone()]) || promised(&text[cell.clone()]).is_some())
}

/// The parts between separators. A separator after a backslash or between double quotes does not divide the
/// line.
fn split(text: &[u8], line: &Range<usize>, separator: u8) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = line.start;
    let mut at = line.start;
    let mut may_be_quoted = separator != b'|';
    while at < line.end {
        if at == start && may_be_quoted && text[at] == b'"' {
            match closing_quote(text, at + 1..line.end, separator) {
                Some(end) => at = end,
                None => may_be_quoted = false,
            }
        } else if text[at] == separator && (at == 0 || text[at - 1] != b'\\') {
            cells.push(start..at);
            start = at + 1;
        }
        at += 1;
    }
    cells.push(start..line.end);
    cells
}

/// The position of the double quote that closes a cell. A separator or the end of the line follows this
/// quote.
fn closing_quote(text: &[u8], cell: Range<usize>, separator: u8) -> Option<usize> {
    let end = cell.end;
    cell.into_iter().find(|at| text[*at] == b'"' && (at + 1 == end || text[at + 1] == separator))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, cut: Cut, expect: &[&str]) {
        let cells = cut.cells(line.as_bytes(), &(0..line.len()));
        assert_eq!(cells.into_iter().map(|cell| &line[cell]).collect::<Vec<_>>(), expect, "{line}");
    }

    #[test]
    fn lines_are_cut_into_cells() {
        check("a,\"b,\"\"c\",d", Cut::Separator(b','), &["a", "\"b,\"\"c\"", "d"]);
        check("a\tb\"c\td", Cut::Separator(b'\t'), &["a", "b\"c", "d"]);
        check("a,\"b,c", Cut::Separator(b','), &["a", "\"b", "c"]);
        check("| a | b\\|c |", Cut::Pipes, &[" a ", " b\\|c "]);
        check("  a  b\"c  d", Cut::Blanks, &["a", "b\"c", "d"]);
    }

    #[test]
    fn head_without_ruler_has_only_known_columns() {
        let cut = |text: &str| {
            let head = text.find('\n').expect("two lines");
            Cut::of(text.as_bytes(), &(0..head), &(head + 1..text.len()), None)
        };
        assert!(cut("user password host\nbob x1 db") == Some(Cut::Blanks));
        assert!(cut("the password host\nbob x1 db").is_none() && cut("user password host\nbob x1").is_none());
    }
}
