//! Reads the part of a line before a name or a command, and finds the end of an unquoted value after the
//! name.

use std::ops::Range;

/// Maximum length of an unquoted value, in bytes.
pub(crate) const LONGEST: usize = 160;

/// Maximum number of bytes that are read before the name.
pub(crate) const REACH: usize = 240;

/// The state of a line at the start of the name of a secret.
pub(crate) struct Before {
    /// The quote that is still open before the name, and whether a backslash precedes the quote.
    pub(crate) quote: Option<(u8, bool)>,
    /// The escaped quote that is still open inside `quote`.
    pub(crate) inner_quote: Option<u8>,
    /// The brackets that are still open before the name.
    opens: Vec<u8>,
    /// The character that separates the pairs of a connection string, a query or mount options.
    separator: Option<u8>,
    /// Whether only indentation, `export`, and characters that begin comments or list items precede the name.
    pub(crate) is_start: bool,
    /// Whether the part before the name ends with a command or a similar word. After such a word, blanks are
    /// enough to separate a name from its value.
    pub(crate) is_command: bool,
}

impl Before {
    pub(crate) fn of(text: &[u8], start: usize) -> Self {
        let line = line_before(text, start);
        let mut quote: Option<(u8, bool)> = None;
        let mut inner_quote = None;
        let mut opens = Vec::new();
        for (at, byte) in line.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| line[at]);
            // In a wiki, three quotes mark bold text.
            if *byte == b'\''
                && line[at.saturating_sub(2)..line.len().min(at + 3)].windows(3).any(|run| run == b"\'\'\'")
            {
                continue;
            }
            match (*byte, quote) {
                (b'"' | b'`' | b'\'', Some((open, escaped))) if open == *byte && (before == Some(b'\\')) == escaped => {
                    (quote, inner_quote) = (None, None);
                }
                (b'"' | b'\'', Some((_, false))) if before == Some(b'\\') => {
                    inner_quote = if inner_quote == Some(*byte) { None } else { Some(*byte) };
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
        Self {
            quote,
            inner_quote,
            opens,
            separator: separator_of(line),
            is_start: is_start(line),
            is_command: is_command(line),
        }
    }

    /// Whether a bracket is open before the name.
    pub(crate) fn is_nested(&self) -> bool {
        !self.opens.is_empty()
    }

    /// Whether the name and its value are one of several mount options: `username=u,password=…,uid=1`.
    pub(crate) fn is_option(&self) -> bool {
        self.separator == Some(b',')
    }
}

/// The part of the line before the position `start`.
pub(crate) fn line_before(text: &[u8], start: usize) -> &[u8] {
    let floor = start.saturating_sub(REACH);
    let line = text[floor..start].iter().rposition(|byte| *byte == b'\n').map_or(floor, |at| floor + at + 1);
    &text[line..start]
}

/// The rest of the line at the position `start`, without its line break. `None` if it has more than `longest`
/// bytes.
pub(crate) fn line_after(text: &[u8], start: usize, longest: usize) -> Option<&[u8]> {
    let rest = text.get(start..text.len().min(start + longest + 1))?;
    let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    (length <= longest).then(|| &rest[..length])
}

/// The character that separates the pairs on the line: `;` in a connection string, `&` in a query, `,` in
/// mount options.
fn separator_of(line: &[u8]) -> Option<u8> {
    let last = *line.iter().rev().find(|byte| **byte != b' ')?;
    let has_pair = line.contains(&b'=');
    match last {
        b';' if has_pair => Some(b';'),
        b'?' | b'&' => Some(b'&'),
        b',' if is_options(line) => Some(b','),
        _ => None,
    }
}

/// Whether the part before the name ends with mount options, such as `name=value,`, and not with code.
fn is_options(line: &[u8]) -> bool {
    let word = line.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.,=/:\\@".contains(byte);
    let is_pair = |option: &[u8]| option.iter().position(|byte| *byte == b'=').is_some_and(|at| at > 0);
    word.iter().all(is_part) && word.split(|byte| *byte == b',').any(is_pair)
}

fn is_start(line: &[u8]) -> bool {
    let mut line = line.trim_ascii();
    for word in [b"export".as_slice(), b"ENV", b"ARG", b"set", b"SET", b"setx", b"env", b"REM"] {
        line = line.strip_suffix(word).unwrap_or(line);
    }
    line.iter().all(|byte| b" \t-+#/*>\"'`$;:<!|%".contains(byte))
}

fn is_command(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    [b"ENV".as_slice(), b"--", b"-"].iter().any(|word| line.ends_with(word))
}

/// Whether the value is at the end of its line or comment, or directly before a comment.
pub(crate) fn ends_line(text: &[u8], end: usize) -> bool {
    let at = skip_blanks(text, end);
    let rest = &text[at.min(text.len())..];
    rest.is_empty()
        || matches!(rest[0], b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b'|' | b'<')
        || [b"#".as_slice(), b"//", b"--", b"*/", b";"].iter().any(|sign| rest.starts_with(sign))
}

/// The value from `start` to the first character that ends it. The characters that end the value depend on
/// the text before the name.
pub(crate) fn run(text: &[u8], start: usize, before: &Before) -> Option<Range<usize>> {
    let rest = &text[start..text.len().min(start + LONGEST + 1)];
    let mut length = rest.len();
    for (at, byte) in rest.iter().enumerate() {
        let ends = match *byte {
            b' ' if at > 0 && rest[at - 1] == b'\\' && before.quote.is_none() => false,
            0..=32 | 127 => true,
            b'\\' => match (before.quote, rest.get(at + 1)) {
                (Some((quote, true)), Some(next)) if quote == *next => true,
                (Some(_), Some(b'n' | b'r' | b't' | b'"')) => true,
                _ => false,
            },
            b'&' if rest[at..].starts_with(b"&quot;") && before.quote.is_none() => true,
            // A `;` that ends an XML entity is not a separator.
            b';' if before.separator == Some(b';') => !ends_entity(&rest[..at]),
            b'&' | b',' => before.separator == Some(*byte),
            b'<' => is_tag(&rest[at..]),
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

/// Whether a tag begins here: `<br>`, `<br />` or a closing tag. Other tags are not recognised, because a
/// password may contain `<` before a letter.
fn is_tag(rest: &[u8]) -> bool {
    if let Some(after) = rest.strip_prefix(b"<br") {
        return matches!(after.first(), Some(b'>' | b'/' | b' '));
    }
    let Some(name) = rest.strip_prefix(b"</") else { return false };
    let length = name.iter().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || b":-_.".contains(byte)).count();
    length > 0 && name.get(length) == Some(&b'>')
}

/// Whether the value ends with an XML entity such as `&amp` or `&#38`.
fn ends_entity(value: &[u8]) -> bool {
    let tail = &value[value.len().saturating_sub(6)..];
    tail.iter().rposition(|byte| *byte == b'&').is_some_and(|at| {
        let name = &tail[at + 1..];
        name.len() >= 2 && (name[0] == b'#' || [b"amp".as_slice(), b"lt", b"gt", b"quot", b"apos"].contains(&name))
    })
}

/// The length of the value without trailing separators, and without trailing brackets that close a bracket
/// before the name.
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

/// The first position at or after `from` that is not a blank. At most 24 blanks are skipped.
pub(crate) fn skip_blanks(text: &[u8], from: usize) -> usize {
    from + text[from.min(text.len())..].iter().take(24).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
