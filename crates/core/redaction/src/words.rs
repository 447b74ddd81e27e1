//! Divides a command line into words in the same way as a shell. The command line may be inside a string
//! literal of a program.

use std::ops::Range;

use crate::before::Before;
use crate::cursor::Cursor;
use crate::judge::Style;

/// Maximum length of a command line, in bytes.
const REACH: usize = 400;

/// A word of a command line.
pub(crate) struct Word {
    /// The range of the word, including its quotes.
    pub(crate) whole: Range<usize>,
    /// The range of the word without surrounding quotes.
    pub(crate) value: Range<usize>,
}

impl Word {
    /// The range without surrounding quotes.
    pub(crate) fn inner(text: &[u8], range: Range<usize>) -> Range<usize> {
        let bytes = &text[range.clone()];
        let length = usize::from(bytes.starts_with(b"\\")) + 1;
        let is_quote = matches!(bytes, [b'"' | b'\'', ..] | [b'\\', b'"' | b'\'', ..]);
        if !is_quote || bytes.len() < 2 * length {
            return range;
        }
        let (quote, rest) = bytes.split_at(length);
        if rest.ends_with(quote) {
            return range.start + length..range.end - length;
        }
        // The closing quote may be followed by a tag or a bracket that belongs to the text around the
        // command.
        if length == 1
            && let Some(end) = quoted_length(rest, quote[0])
            && rest.get(end).is_some_and(|next| b"<),:]}".contains(next))
        {
            return range.start + 1..range.start + end;
        }
        // An opening quote that is never closed is not part of the value.
        if rest.windows(length).any(|window| window == quote) { range } else { range.start + length..range.end }
    }
}

/// The words of an argument list, without the name of the command: `["mysql", "-u", "root"]`.
pub(crate) fn list_words(text: &[u8], name_end: usize, budget: &mut usize) -> Vec<Word> {
    *budget = budget.saturating_sub(REACH);
    let mut cursor = Cursor { text: &text[..text.len().min(name_end + REACH)], at: name_end };
    let mut words = Vec::new();
    cursor.skip_quote();
    while cursor.peek() == b',' {
        cursor.at += 1;
        cursor.skip_lines();
        let Some((_, literal)) = cursor.literal(Style::Literal) else { break };
        words.push(Word { whole: literal.clone(), value: literal });
        cursor.skip_quote();
        cursor.skip_lines();
    }
    words
}

/// The words of one command. The command ends at the end of the line, at a pipe, `;` or `&`, or at the end of
/// the string that contains the command.
pub(crate) struct Words<'text> {
    text: &'text [u8],
    at: usize,
    /// The quote of the string around the command, and whether a backslash precedes the quote.
    quote: Option<(u8, bool)>,
    /// Whether a bracket is open before the command.
    is_nested: bool,
    is_over: bool,
    /// For `'` and for `"`: whether such a quote on the rest of the line is never closed. If so, the line is
    /// not searched again for the closing quote.
    unclosed: [bool; 2],
}

impl<'text> Words<'text> {
    /// Reads the words of the command that begins at `start`. The search for the first word starts at `from`.
    pub(crate) fn of_command(text: &'text [u8], start: usize, from: usize, budget: &mut usize) -> Self {
        *budget = budget.saturating_sub(REACH + crate::before::REACH);
        let text = &text[..text.len().min(from + REACH)];
        let before = Before::of(text, start);
        let inner = before.inner_quote.map(|quote| (quote, true));
        Self {
            text,
            at: from,
            quote: inner.or(before.quote),
            is_nested: before.is_nested(),
            is_over: false,
            unclosed: [false; 2],
        }
    }

    /// The position after the words that were read, or the position of the character that ends the command.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'text [u8] {
        &self.text[self.at.min(self.text.len())..]
    }

    /// Whether the string around the command ends at the start of `rest`.
    fn ends_string(&self, rest: &[u8]) -> bool {
        match (self.quote, rest) {
            (Some((quote, true)), [b'\\', next, ..]) => *next == quote,
            (Some((quote, false)), [byte, ..]) => *byte == quote,
            _ => false,
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.rest() {
                [b' ' | b'\t', ..] => self.at += 1,
                [b'\\', b'\n', ..] => self.at += 2,
                [b'\\', b'\r', b'\n', ..] => self.at += 3,
                _ => return,
            }
        }
    }

    /// If `rest` starts with a part in the same quotes as the string around the command, the length of this
    /// part, otherwise 0. Documents contain such nested quotes.
    fn nested_length(&mut self, rest: &[u8]) -> usize {
        match (self.quote, rest) {
            (Some((quote, false)), [byte, next, ..])
                if *byte == quote && next.is_ascii_graphic() && !b",;)]}+.\"'`".contains(next) =>
            {
                self.closing(&rest[1..], quote).map_or(0, |length| length + 1)
            }
            _ => 0,
        }
    }

    /// Like `quoted_length`. After a quote that is not closed on the line, the rest of the line is not
    /// searched again for the same quote.
    fn closing(&mut self, inner: &[u8], quote: u8) -> Option<usize> {
        let unclosed = &mut self.unclosed[usize::from(quote == b'"')];
        if *unclosed {
            return None;
        }
        let length = quoted_length(inner, quote);
        *unclosed = length.is_none();
        length
    }

    /// The length of the word at the start of `rest`.
    fn word_length(&mut self, rest: &[u8]) -> usize {
        let mut at = self.nested_length(rest);
        while at < rest.len() && !self.ends_string(&rest[at..]) {
            match &rest[at..] {
                [0..=32 | 127, ..] => break,
                [b'\\', b'\n' | b'\r', ..] => break,
                // In a string literal of a program, this escape is a line break.
                [b'\\', b'n' | b'r', ..] if self.quote.is_some_and(|(quote, _)| quote != b'`') => break,
                [b'\\', quote @ (b'"' | b'\''), inner @ ..] if self.quote.is_some_and(|(_, escaped)| !escaped) => {
                    let closing = [b'\\', *quote];
                    at += 2 + inner.windows(2).position(|pair| pair == closing).map_or(0, |length| length + 2);
                }
                [b'\\', _, ..] => at += 2,
                [quote @ (b'"' | b'\''), inner @ ..] => at += 1 + self.closing(inner, *quote).unwrap_or(0),
                _ => at += 1,
            }
        }
        at.min(rest.len())
    }
}

/// The length of a quoted text, including its closing quote. `None` if the quote is not closed on its line.
fn quoted_length(inner: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    while at < inner.len() {
        match inner[at] {
            b'\n' => return None,
            b'\\' if quote == b'"' => at += 1,
            byte if byte == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        self.skip_blanks();
        let rest = self.rest();
        let ends_string = self.ends_string(rest) && self.nested_length(rest) == 0;
        if self.is_over || ends_string || matches!(rest, [] | [b'\n' | b'\r' | b'|' | b';' | b'&', ..]) {
            return None;
        }
        let length = self.word_length(rest);
        let mut end = self.at + length;
        if rest[..length].ends_with(b";") {
            self.is_over = true;
            end -= 1;
        }
        // The bracket closes a `$(…)` around the command.
        if rest[..length].ends_with(b")") && !rest[..length].contains(&b'(') && self.is_nested {
            end -= 1;
        }
        let whole = self.at..end;
        self.at += length;
        (length > 0).then(|| Word { value: Word::inner(self.text, whole.clone()), whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the words of the command that follows `$`.
    fn check(text: &str, expect: &[&str]) {
        let start = text.find('$').expect("a mark") + 1;
        let mut budget = 10_000;
        let words = Words::of_command(text.as_bytes(), start, start, &mut budget);
        assert_eq!(words.map(|word| &text[word.value]).collect::<Vec<_>>(), expect, "{text}");
        assert!(budget < 10_000);
    }

    #[test]
    fn command_line_is_divided_as_in_a_shell() {
        check("$a 'b c' \"d \\\"e\" f\ng", &["a", "b c", "d \\\"e", "f"]);
        check("$a 'it'\\''s' b", &["a", "it'\\''s", "b"]);
        check("$a -p'b c' \\\n  d | e", &["a", "-p'b c'", "d"]);
        check("$a don't b; c", &["a", "don't", "b"]);
        check("x=($a b) c", &["a", "b", "c"]);
    }

    #[test]
    fn string_around_the_command_ends_it() {
        check("f(\"$a b\", c)", &["a", "b"]);
        check("f(\"$a \\\"b c\\\" d\")", &["a", "b c", "d"]);
        check("\"k\": \"\\\"$a b\\\" c\"", &["a", "b"]);
        check("f('$a 'b' c')", &["a", "b", "c"]);
        check("f('$a -p' + b)", &["a", "-p"]);
        check("`$a b` c", &["a", "b"]);
        check("f(\"$a b\\nc\")", &["a", "b"]);
    }

    #[test]
    fn long_lines_are_cut() {
        check(&format!("$a {}", "b".repeat(1000)), &["a", &"b".repeat(REACH - 2)]);
    }
}
