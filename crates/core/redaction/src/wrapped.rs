//! Finds secrets of base64 or hexadecimal digits that are divided into several lines after a name: in one
//! literal, in a list, in a block of markup, or in statements that append to the name. The lines together are
//! one secret.

use std::ops::Range;

use crate::name::{Name, Naming, Promise, name_end};
use crate::shape::Shape;
use crate::{append, block, entropy, reference, shape};

/// Minimum length of the first line, in bytes.
const SHORTEST_LINE: usize = 40;

/// Maximum distance between the name and the first line, in bytes.
const REACH: usize = 100;

/// Number of lines that are examined to decide whether a secret is random.
const NUM_JUDGED: usize = 3;

/// Maximum distance between two lines, in bytes.
const BETWEEN: usize = 160;

/// Maximum length of one secret, in bytes.
const LONGEST: usize = 64 * 1024;

/// The lines of the secret whose name contains a keyword. The result is empty if there are fewer than two
/// lines.
pub(crate) fn lines(text: &[u8], hit: &Range<usize>, naming: Naming) -> Vec<Range<usize>> {
    let whole = name_end(text, hit.end);
    let Some(first) = first_line(text, whole) else { return Vec::new() };
    let end = append::target_end(text, hit.end, whole);
    let Some(name) = Name::around(&text[..end], hit.clone(), naming) else { return Vec::new() };
    if name.promise == Promise::Weak && naming != Naming::Key {
        return Vec::new();
    }
    let target = append::target(&text[name.span]);
    let width = first.len();
    let end = text.len().min(first.end + LONGEST);
    let mut num_digits = first.len();
    let mut lines = vec![first];
    while let Some(line) = next_line(&text[..end], lines[lines.len() - 1].end, (width, num_digits), target) {
        num_digits += line.len();
        let is_last = line.len() < width || text[line.end - 1] == b'=';
        lines.push(line);
        // Each statement that appends contains the keyword, so each of these statements starts a new search.
        // This early check keeps the total time linear.
        if lines.len() == NUM_JUDGED && !is_made(text, &lines) {
            return Vec::new();
        }
        if is_last {
            break;
        }
    }
    if lines.len() < 2 || !is_made(text, &lines) {
        return Vec::new();
    }
    lines
}

/// The first sequence of base64 or hexadecimal digits after the separator that follows the name. The function
/// is fast if no such sequence follows.
fn first_line(text: &[u8], name_end: usize) -> Option<Range<usize>> {
    if let Some(line) = block::start(text, name_end).map(|start| run(text, start))
        && line.len() >= SHORTEST_LINE
        && ends_line(&text[line.end..])
    {
        return Some(line);
    }
    let end = text.len().min(name_end + REACH);
    let mut at = separator(text, name_end, end)?;
    let mut num_breaks = 0;
    while at < end {
        if text[at..].starts_with(b"-----") {
            return None;
        }
        if !is_digit(text[at]) {
            num_breaks += usize::from(text[at] == b'\n');
            if num_breaks > 4 {
                return None;
            }
            at += 1;
            continue;
        }
        let line = run(text, at);
        if line.len() >= SHORTEST_LINE {
            return Some(line);
        }
        // A short sequence is a word such as `String` or `EOF`, or the letter of an escape in a JSON string.
        if line.len() > 16 {
            return None;
        }
        at = line.end;
    }
    None
}

/// The position of the separator after a name, or of the first digit in a literal that follows without a
/// separator.
fn separator(text: &[u8], name_end: usize, end: usize) -> Option<usize> {
    let is_filler = |byte: &u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b'`' | b'*');
    let separator = name_end + text[name_end..end].iter().take(6).position(|byte| !is_filler(byte))?;
    let is_sign = matches!(text[separator], b'=' | b':' | b'>' | b'(' | b',' | b'<' | b'[' | b'{');
    // The name and a literal may be arguments without a separator: `set(NAME "…")`.
    let is_literal = is_digit(text[separator]) && matches!(text[separator - 1], b'"' | b'\'');
    (is_sign || is_literal || text[separator..].starts_with(b"+=")).then_some(separator)
}

/// The sequence of base64 digits on the next line, if the line contains nothing else.
fn next_line(text: &[u8], end: usize, (width, num_digits): (usize, usize), target: &[u8]) -> Option<Range<usize>> {
    let start = between(text, end, target)?;
    let line = run(text, start);
    // A sequence of fewer than four digits is part of the secret only if it completes the last group of four
    // digits.
    let is_long = line.len() >= 4
        || (!line.is_empty() && !num_digits.is_multiple_of(4) && (num_digits + line.len()).is_multiple_of(4));
    (is_long && line.len() <= width && ends_line(&text[line.end..])).then_some(line)
}

/// The start of the next sequence of digits. Only these texts may precede the sequence: a line break,
/// characters that join literals, comment characters, and a statement that appends to the target. If the
/// current literal is closed, another literal must follow.
fn between(text: &[u8], end: usize, target: &[u8]) -> Option<usize> {
    let mut gap = Gap { num_quotes: 0, breaks: false, breaks_line: false, escape_end: end };
    let mut at = end;
    while at - end < BETWEEN {
        match gap.length(&text[at.min(text.len())..], at, target) {
            0 => break,
            length => at += length,
        }
    }
    // Characters such as `+` and `/` directly before the sequence may be its first base64 digits.
    let signs = text[gap.escape_end..at].iter().rposition(|byte| !is_digit(*byte)).map_or(0, |last| last + 1);
    let start = gap.escape_end + signs;
    (gap.breaks && gap.num_quotes.is_multiple_of(2) && start > end).then_some(start)
}

/// The text between two lines of a secret.
struct Gap {
    num_quotes: usize,
    /// Whether the text ends a line or a literal of a list.
    breaks: bool,
    /// Whether the text contains a line feed.
    breaks_line: bool,
    /// The end of the last escape. The letter of an escape is not a digit of the secret.
    escape_end: usize,
}

impl Gap {
    /// The length of the character, escape or statement with which `rest` begins. The result is 0 if this
    /// text cannot be between two lines. `at` is the position of `rest` in the text.
    fn length(&mut self, rest: &[u8], at: usize, target: &[u8]) -> usize {
        match rest {
            // An escape inside a string literal.
            [b'\\', b'n' | b'r', ..] => {
                (self.breaks, self.escape_end) = (true, at + 2);
                2
            }
            [b'\\', b'\\', b'n' | b'r', ..] => {
                (self.breaks, self.escape_end) = (true, at + 3);
                3
            }
            [b'\n', ..] => {
                (self.breaks, self.breaks_line) = (true, true);
                1
            }
            [b'"' | b'\'' | b'`', ..] => {
                self.num_quotes += 1;
                1
            }
            // The prefix of a string literal.
            [b'b' | b'B' | b'r' | b'R' | b'u' | b'U' | b'L' | b'f' | b'@', b'"' | b'\'', ..]
                if self.num_quotes % 2 == 1 =>
            {
                1
            }
            // The next literal of a list on the same line.
            [b',', ..] if self.num_quotes == 1 => {
                self.breaks = true;
                1
            }
            [byte, ..] if b" \t\r+.,\\&|_~;)".contains(byte) => 1,
            [byte, ..] if self.breaks_line && b"#*/>-!".contains(byte) => 1,
            rest if self.breaks_line => append::length(rest, target),
            _ => 0,
        }
    }
}

/// Whether the line ends at this position. Characters that close a literal, an element or a JSON pair may
/// precede the end.
fn ends_line(rest: &[u8]) -> bool {
    let length = rest.iter().take(12).take_while(|byte| b" \"'`+.,;)]}\r&|_~".contains(byte)).count();
    closes_literal(rest) || matches!(rest.get(length), None | Some(b'\n' | b'\\' | b'<'))
}

/// Whether a literal ends here and is followed by the end of its list or argument, or by another literal.
fn closes_literal(rest: &[u8]) -> bool {
    let [b'"' | b'\'', rest @ ..] = rest else { return false };
    let rest = &rest[rest.iter().take(4).take_while(|byte| **byte == b' ').count()..];
    match rest {
        [b']' | b')' | b'}', ..] => true,
        [b',', rest @ ..] => matches!(rest[..rest.len().min(8)].trim_ascii_start(), [b'"' | b'\'', ..]),
        _ => false,
    }
}

fn run(text: &[u8], start: usize) -> Range<usize> {
    let rest = &text[start..];
    let length = rest.iter().take(4096).position(|byte| !is_digit(*byte)).unwrap_or(rest.len().min(4096));
    let padding = rest[length..].iter().take(2).take_while(|byte| **byte == b'=').count();
    start..start + length + padding
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Whether the lines contain random digits and not a public key.
fn is_made(text: &[u8], lines: &[Range<usize>]) -> bool {
    let first = &text[lines[0].clone()];
    let digits: Vec<u8> = lines.iter().take(NUM_JUDGED).flat_map(|line| &text[line.clone()]).copied().collect();
    let shape = Shape::of(&digits);
    let is_base64 = shape.upper >= 4 && shape.lower >= 4 && shape.digits >= 1 && shape.in_words * 2 <= shape.letters();
    let is_hex = shape::is_hex(first) && shape.digits >= 8 && shape.letters() >= 4;
    !reference::is_public_key(first) && (is_hex || (is_base64 && entropy::centibits(&digits) >= 420))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: usize) {
        let start = text.to_lowercase().find("secret").expect("a keyword");
        let found = lines(text.as_bytes(), &(start..start + 6), Naming::Secret);
        assert_eq!(found.len(), expect, "{text}");
    }

    #[test]
    fn all_lines_are_found() {
        let line = "k3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6uE0aSdF2gk3J9xQ7wZ2pLm8Nc5Vb1TgR4";
        for (before, open, close) in [
            ("secret: |\n", "  ", "\n"),
            ("SECRET = (\n", "  \"", "\"\n"),
            ("\"secret\": \"", "", "\\n"),
            ("# secret:\n", "# ", "\n"),
            ("secret=", "", "\\\n"),
        ] {
            let text = format!("{before}{open}{line}{close}{open}{line}{close}{open}k3J9xQ=={close}x: y\n");
            check(&text, 3);
        }
    }

    #[test]
    fn words_and_single_lines_are_not_redacted() {
        let line = "k3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6uE0aSdF2gk3J9xQ7wZ2pLm8Nc5Vb1TgR4";
        check(&format!("secret: {line}\nother: {line}\n"), 0);
        check(&format!("the secret\n{line}\n{line}\n"), 0);
        let words = "internationalizationOfApplicationConfigurationSettings2";
        check(&format!("secret: |\n  {words}\n  {words}\n"), 0);
    }
}
