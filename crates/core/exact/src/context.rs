//! Adds the lines around hits.

use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::lines::Hit;

/// A line that the answer shows: a line of a hit, or a line near a hit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownLine {
    /// One-based number of the line.
    pub number: u32,
    /// The bytes of the line without its line feed.
    pub bytes: Range<usize>,
    /// Whether the line belongs to a hit.
    pub is_hit: bool,
}

/// The lines of the hits, with `before` lines before and `after` lines after each hit. Each line is returned
/// once. `hits` must be sorted by position.
pub fn with_context(text: &str, hits: &[Hit], before: usize, after: usize) -> Vec<ShownLine> {
    let bytes = text.as_bytes();
    let mut shown: Vec<ShownLine> = Vec::new();
    for (index, hit) in hits.iter().enumerate() {
        let shown_to = shown.last().map_or(0, |line| (line.bytes.end + 1).min(bytes.len()));
        let mut start = hit.bytes.start;
        let mut number = hit.first_line;
        for _ in 0..before {
            if start <= shown_to {
                break;
            }
            start = memrchr(b'\n', &bytes[..start - 1]).map_or(0, |at| at + 1);
            number -= 1;
        }
        let next_hit = hits.get(index + 1).map_or(bytes.len(), |next| next.bytes.start);
        let mut num_after = 0;
        while start < bytes.len() {
            let is_hit = hit.bytes.contains(&start);
            if start >= hit.bytes.end {
                num_after += 1;
                if num_after > after || start >= next_hit {
                    break;
                }
            }
            let end = start + memchr(b'\n', &bytes[start..]).unwrap_or(bytes.len() - start);
            if start >= shown_to || shown.is_empty() {
                shown.push(ShownLine { number, bytes: start..end, is_hit });
            }
            (start, number) = (end + 1, number + 1);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, PatternRequest};

    #[test]
    fn context_repeats_no_line() {
        let check = |text: &str, before, after, expect: &str| {
            let request = PatternRequest { text: "x".to_owned(), ..PatternRequest::default() };
            let pattern = Pattern::compile(&request).expect("valid");
            let hits: Vec<Hit> = pattern.hits(text).collect();
            let lines = with_context(text, &hits, before, after).into_iter();
            let lines = lines
                .map(|line| format!("{}{}{}", line.number, if line.is_hit { ":" } else { "-" }, &text[line.bytes]));
            assert_eq!(lines.collect::<Vec<_>>().join(" "), expect, "{text:?}");
        };
        check("a\nx\nb\n", 0, 0, "2:x");
        check("a\nx\nb\n", 1, 1, "1-a 2:x 3-b");
        check("a\nx\nb\n", 9, 9, "1-a 2:x 3-b");
        check("x\nx\nb\nc\nx", 1, 1, "1:x 2:x 3-b 4-c 5:x");
        check("x\na\nb\nc\nx", 1, 1, "1:x 2-a 4-c 5:x");
        check("x\na\nx", 1, 1, "1:x 2-a 3:x");
        check("\nx\n\n", 1, 1, "1- 2:x 3-");
    }
}
