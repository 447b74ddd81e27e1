//! Reads string literals and unquoted values from a position in the text.

use std::ops::Range;

use crate::judge::Style;

/// A position in the text, with functions that read the text from there.
pub(crate) struct Cursor<'text> {
    pub(crate) text: &'text [u8],
    pub(crate) at: usize,
}

impl Cursor<'_> {
    /// The byte at the position, or 0 at the end of the text.
    pub(crate) fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    pub(crate) fn at_word(&self, word: &[u8]) -> bool {
        let from = &self.text[self.at.min(self.text.len())..];
        let from = from.strip_prefix(b"\\").unwrap_or(from);
        from.len() >= word.len() && from[..word.len()].eq_ignore_ascii_case(word)
    }

    /// Skips spaces and tabs. Returns the number of skipped bytes.
    pub(crate) fn skip_spaces(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
        self.at - start
    }

    /// Skips spaces, and one line break if a quote follows, because a long literal often begins on a separate
    /// line.
    pub(crate) fn skip_blanks(&mut self) {
        self.skip_spaces();
        let start = self.at;
        self.skip_lines();
        if self.quote().is_none() {
            self.at = start;
        }
    }

    /// Skips white space, including escapes for white space (`\n`) inside a string of JSON or of a program.
    pub(crate) fn skip_lines(&mut self) {
        loop {
            match self.text.get(self.at..).unwrap_or_default() {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => self.at += 1,
                [b'\\', b'n' | b'r' | b't', ..] => self.at += 2,
                _ => return,
            }
        }
    }

    /// Whether a line break follows, either a real one or an escape.
    pub(crate) fn at_line_end(&self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        matches!(rest, [] | [b'\r' | b'\n', ..] | [b'\\', b'n' | b'r', ..])
    }

    /// Skips the `**`, `*` or `__` that ends the Markdown emphasis of a name, before or after a colon.
    pub(crate) fn skip_emphasis(&mut self) {
        if self.at_word(b"**") || self.at_word(b"__:") || self.at_word(b"__ ") {
            self.at += 2;
        } else if self.at_word(b"*:") {
            self.at += 1;
        }
    }

    /// Skips a quote and the backslashes before it. Returns whether a quote was found.
    pub(crate) fn skip_quote(&mut self) -> bool {
        self.quote().is_some_and(|quote| {
            self.at += quote.length;
            true
        })
    }

    fn quote(&self) -> Option<Quote> {
        let rest = &self.text[self.at..];
        if rest.starts_with(b"&quot;") {
            return Some(Quote { sign: b'&', slashes: 0, length: 6 });
        }
        let slashes = rest.iter().take(4).take_while(|byte| **byte == b'\\').count();
        match rest.get(slashes) {
            Some(sign @ (b'"' | b'\'' | b'`')) => Some(Quote { sign: *sign, slashes, length: slashes + 1 }),
            _ => None,
        }
    }

    /// Reads a string literal, which may have a prefix such as `r`, `b` or `@`. The range does not include
    /// the quotes.
    pub(crate) fn literal(&mut self, style: Style) -> Option<(Style, Range<usize>)> {
        let is_prefix = |byte: &u8| b"rRbBfFuULNE@$&".contains(byte);
        let prefix = self.text[self.at..].iter().take(2).take_while(|byte| is_prefix(byte)).count();
        let start = self.at;
        if self.quote().is_none() {
            self.at += prefix;
        }
        let Some(quote) = self.quote() else {
            self.at = start;
            return None;
        };
        let first = self.at + quote.length;
        let rest = &self.text[first..];
        let triple = [quote.sign; 3];
        if quote.slashes == 0 && rest.starts_with(&triple[1..]) {
            // Only the first line of a text between triple quotes is read.
            let line = &rest[2..rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())];
            let length = line.windows(3).position(|window| window == triple)?;
            self.at = first + 2 + length;
            return (length > 0).then(|| (style, first + 2..first + 2 + length));
        }
        let length = closing(rest, &quote)?;
        self.at = first + length;
        // The literal is a code span with a quoted text, in a document inside a program: `` `\"name\"` ``.
        if quote.sign == b'`' && length > 4 && rest.starts_with(b"\\\"") && rest[..length].ends_with(b"\\\"") {
            return Some((style, first + 2..first + length - 2));
        }
        (length > 0).then(|| (style, first..first + length))
    }

    /// Reads the literal after `"name",`. In `"name": "X", "value": "…"`, this is the literal after the
    /// second key.
    pub(crate) fn literal_or_named_value(&mut self) -> Option<(Style, Range<usize>)> {
        let comma = self.at;
        self.skip_lines();
        self.skip_quote();
        if self.at_word(b"value") {
            return self.after_value_word();
        }
        self.at = comma;
        self.skip_spaces();
        let found = self.literal(Style::Literal)?;
        // If a colon follows, the literal is the next key of a map. In that case, the name was the value of
        // the previous key.
        self.skip_quote();
        self.skip_spaces();
        if matches!(self.peek(), b':' | b'=') { None } else { Some(found) }
    }

    /// Reads the value in `value="…"`. Here, `value` is an attribute or a key next to `name="password"`.
    pub(crate) fn after_value_word(&mut self) -> Option<(Style, Range<usize>)> {
        self.at += b"value".len();
        self.skip_quote();
        self.skip_spaces();
        if !matches!(self.peek(), b'=' | b':') {
            return None;
        }
        self.at += 1;
        self.skip_blanks();
        self.literal(Style::Literal).or_else(|| self.bare().map(|span| (Style::Line, span)))
    }

    /// Reads an unquoted sequence. It ends before a blank, a quote, a backslash, or a character that ends an
    /// argument or a pair.
    pub(crate) fn bare(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let rest = &self.text[start..];
        let is_end = |byte: &u8| {
            matches!(byte, 0..=32 | 127 | b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'&' | b'<' | b'>' | b'|')
        };
        let mut length = rest.iter().position(is_end).unwrap_or(rest.len());
        while length > 0
            && matches!(rest[length - 1], b')' | b']' | b'}' | b'.' | b':' | b'?')
            && !rest[..length].contains(&b'(')
        {
            length -= 1;
        }
        self.at = start + length;
        (length > 0).then(|| start..start + length)
    }
}

struct Quote {
    sign: u8,
    slashes: usize,
    length: usize,
}

/// The length of quotes at the start of `rest` that are part of a literal: doubled quotes as in SQL and YAML,
/// or `'\''` as in a shell. The length is 0 if the first quote closes the literal.
fn inner_quotes(rest: &[u8], quote: &Quote) -> usize {
    if quote.slashes > 0 {
        return 0;
    }
    for inner in [b"'\\''".as_slice(), b"'\"'\"'"] {
        if quote.sign == b'\'' && rest.starts_with(inner) {
            return inner.len();
        }
    }
    let num_quotes = rest.iter().take_while(|byte| **byte == quote.sign).count();
    match rest.get(num_quotes) {
        _ if num_quotes >= 3 && num_quotes % 2 == 1 => num_quotes - 1,
        Some(next) if num_quotes == 2 && *next > 32 && !b",;)]}>+:".contains(next) => 2,
        _ => 0,
    }
}

/// The length of the literal up to its closing quote. The closing quote must be the same character after the
/// same number of backslashes, and on the same line.
fn closing(rest: &[u8], quote: &Quote) -> Option<usize> {
    let mut slashes = 0;
    let mut inner_until = 0;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'\n' => return None,
            b'\\' => slashes += 1,
            byte if *byte == quote.sign => {
                let closes = if quote.slashes == 0 { slashes % 2 == 0 } else { slashes <= quote.slashes };
                if closes && at >= inner_until {
                    inner_until = at + inner_quotes(&rest[at..], quote);
                    if inner_until == at {
                        return Some(at - slashes.min(quote.slashes));
                    }
                }
                slashes = 0;
            }
            _ => slashes = 0,
        }
    }
    None
}
