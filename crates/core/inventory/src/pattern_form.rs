//! Reads the lines of rule files, in the syntax of `.gitignore`, and decides how each pattern is matched.

use crate::wildmatch::SPECIAL;

/// A pattern of a rule file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GitPattern {
    /// The pattern as it is written in the file.
    pub text: String,
    /// The line of the pattern, counted from 1.
    pub line: usize,
    /// Whether the pattern begins with `!`.
    pub is_negative: bool,
    pub(crate) only_directories: bool,
}

/// Splits the line with this number into the pattern and the glob for the whole path. `None` for a comment
/// and an empty line.
pub(crate) fn parse(line: usize, text: &str) -> Option<(GitPattern, String)> {
    let text = without_trailing_spaces(text);
    if text.starts_with('#') {
        return None;
    }
    let (rest, is_negative) = text.strip_prefix('!').map_or((text, false), |rest| (rest, true));
    let (rest, only_directories) = rest.strip_suffix('/').map_or((rest, false), |rest| (rest, true));
    let is_anywhere = !rest.contains('/');
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    if rest.is_empty() {
        return None;
    }
    let glob = if is_anywhere { format!("**/{rest}") } else { rest.to_owned() };
    Some((GitPattern { text: text.to_owned(), line, is_negative, only_directories }, glob))
}

/// Removes the spaces at the end of a line, except a space after a backslash.
fn without_trailing_spaces(line: &str) -> &str {
    let bytes = line.as_bytes();
    let (mut position, mut end) = (0, 0);
    while let Some(byte) = bytes.get(position) {
        position += if *byte == b'\\' { 2 } else { 1 };
        if *byte != b' ' {
            end = position;
        }
    }
    // A backslash at the end has no byte after it. A character after a backslash may have several bytes, but
    // the later bytes of this character are not spaces.
    line.get(..end).unwrap_or(line)
}

/// The form of a glob. The form decides how the glob is matched.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Form<'g> {
    Name(&'g str),
    Path(&'g str),
    Extension(&'g str),
    /// Matches if the glob matches the name.
    NameExpression(&'g str),
    PathExpression(&'g str),
}

impl<'g> Form<'g> {
    pub(crate) fn of(glob: &'g str) -> Self {
        let is_plain = |text: &str| !text.is_empty() && !text.contains(SPECIAL);
        let Some(name) = glob.strip_prefix("**/").filter(|name| !name.is_empty() && !name.contains('/')) else {
            return if is_plain(glob) { Self::Path(glob) } else { Self::PathExpression(glob) };
        };
        match name.strip_prefix("*.").filter(|extension| !extension.contains('.')) {
            Some(extension) if is_plain(extension) => Self::Extension(extension),
            _ if is_plain(name) => Self::Name(name),
            _ => Self::NameExpression(name),
        }
    }

    /// Whether the pattern is found by a table, so that it needs no automaton.
    pub(crate) fn is_found_by_table(&self) -> bool {
        matches!(self, Self::Name(_) | Self::Path(_) | Self::Extension(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_spaces_at_the_end_are_removed() {
        let check = |line: &str, expect: &str| assert_eq!(without_trailing_spaces(line), expect, "{line:?}");
        for (line, expect) in [
            ("a", "a"),
            ("a  ", "a"),
            ("a b ", "a b"),
            (r"a\ ", r"a\ "),
            (r"a\   ", r"a\ "),
            (r"a\\ ", r"a\\"),
            (r"a\", r"a\"),
            ("a\t", "a\t"),
            ("größe\u{a0} ", "größe\u{a0}"),
            (r"\é ", r"\é"),
            ("  ", ""),
        ] {
            check(line, expect);
        }
    }
}
