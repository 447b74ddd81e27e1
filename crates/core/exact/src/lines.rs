//! Finds matches and the lines that contain them.
//!
//! A hit is a line with at least one match. If matches may contain line feeds, a hit consists of the lines of
//! one match. Matches that share a line belong to the same hit.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use regex_automata::Input;

use crate::pattern::{Manner, Pattern};

/// The lines of a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hit {
    /// One-based number of the first line.
    pub first_line: u32,
    pub num_lines: u32,
    /// The bytes of the lines, including the line feed at their end if there is one.
    pub bytes: Range<usize>,
}

/// The hits in a text, in order.
pub struct Hits<'a> {
    pattern: &'a Pattern,
    text: &'a str,
    position: usize,
    /// The position up to which line feeds were counted, and the number of these line feeds.
    counted: usize,
    num_line_feeds: u32,
    /// The next match across lines. It was found during the search for further matches that belong to the
    /// previous hit.
    next_match: Option<Range<usize>>,
    /// The end of the last match across lines.
    last_end: Option<usize>,
    is_finished: bool,
}

impl<'a> Hits<'a> {
    pub(crate) fn new(pattern: &'a Pattern, text: &'a str) -> Self {
        Self {
            pattern,
            text,
            position: 0,
            counted: 0,
            num_line_feeds: 0,
            next_match: None,
            last_end: None,
            is_finished: false,
        }
    }

    /// The matches within a hit, as ranges of bytes in the text.
    pub fn matches_in(&self, hit: &Hit) -> Vec<Range<usize>> {
        self.pattern.matches_in(self.text, hit)
    }

    fn next_within_lines(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        if self.position == bytes.len() {
            return None;
        }
        let found = self.pattern.regex.find(Input::new(bytes).range(self.position..))?;
        let line = lines_around(bytes, found.start()..found.end())?;
        self.position = line.end;
        Some(line)
    }

    fn next_line_by_line(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        while self.position < bytes.len() {
            let rest = &bytes[self.position..];
            let end = self.position + memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let line = self.position..end;
            self.position = end;
            if self.pattern.regex.is_match(without_line_feed(bytes, &line)) {
                return Some(line);
            }
        }
        None
    }

    fn next_across_lines(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let first = self.next_match.take().or_else(|| self.find())?;
        let mut lines = lines_around(bytes, first)?;
        while let Some(found) = self.find() {
            match lines_around(bytes, found.clone()) {
                Some(of_next) if of_next.start < lines.end => lines.end = lines.end.max(of_next.end),
                _ => {
                    self.next_match = Some(found);
                    break;
                }
            }
        }
        Some(lines)
    }

    /// The next match. As in every search of a whole text, an empty match cannot start at the end of the
    /// previous match.
    fn find(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        if self.is_finished {
            return None;
        }
        let mut from = self.position;
        while from <= bytes.len() {
            let Some(found) = self.pattern.regex.find(Input::new(bytes).range(from..)) else { break };
            if found.is_empty() && self.last_end == Some(found.start()) {
                from = found.start() + 1;
                continue;
            }
            self.position = found.end();
            self.last_end = Some(found.end());
            return Some(found.start()..found.end());
        }
        self.is_finished = true;
        None
    }

    fn hit(&mut self, bytes: Range<usize>) -> Hit {
        let text = self.text.as_bytes();
        self.num_line_feeds += memchr_iter(b'\n', &text[self.counted..bytes.start]).count() as u32;
        let first_line = self.num_line_feeds + 1;
        let last = without_line_feed(text, &bytes);
        let num_lines = 1 + memchr_iter(b'\n', last).count() as u32;
        self.counted = bytes.start;
        Hit { first_line, num_lines, bytes }
    }
}

impl Iterator for Hits<'_> {
    type Item = Hit;

    fn next(&mut self) -> Option<Hit> {
        let lines = match self.pattern.manner {
            Manner::WithinLines => self.next_within_lines(),
            Manner::LineByLine => self.next_line_by_line(),
            Manner::AcrossLines => self.next_across_lines(),
        };
        lines.map(|lines| self.hit(lines))
    }
}

impl Pattern {
    /// The matches in a text, in order.
    pub fn hits<'a>(&'a self, text: &'a str) -> Hits<'a> {
        Hits::new(self, text)
    }

    /// The matches within a hit, as ranges of bytes in the text.
    pub fn matches_in(&self, text: &str, hit: &Hit) -> Vec<Range<usize>> {
        let (bytes, start) = (text.as_bytes(), hit.bytes.start);
        let end = start + without_line_feed(bytes, &hit.bytes).len();
        let (searched, offset) = match self.manner {
            // The input contains the text before `start`, because the expression may examine the bytes before
            // a match.
            Manner::WithinLines => (Input::new(&bytes[..end]).range(start..), 0),
            Manner::LineByLine => (Input::new(&bytes[start..end]), start),
            Manner::AcrossLines => (Input::new(bytes).range(start..), 0),
        };
        let found = self.regex.find_iter(searched).map(|found| found.start() + offset..found.end() + offset);
        found.take_while(|found| found.start < hit.bytes.end || (found.start == end && end == hit.bytes.end)).collect()
    }
}

/// The lines that contain the bytes of a match. `None` for the empty match after the last line feed of a
/// text, because no line starts there.
fn lines_around(bytes: &[u8], found: Range<usize>) -> Option<Range<usize>> {
    let start = memrchr(b'\n', &bytes[..found.start]).map_or(0, |at| at + 1);
    let ends_line = found.end > start && bytes[found.end - 1] == b'\n';
    let rest = &bytes[found.end..];
    let end = if ends_line { found.end } else { found.end + memchr(b'\n', rest).map_or(rest.len(), |at| at + 1) };
    (start < end).then_some(start..end)
}

fn without_line_feed<'a>(bytes: &'a [u8], line: &Range<usize>) -> &'a [u8] {
    let line = &bytes[line.clone()];
    line.strip_suffix(b"\n").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use crate::{Pattern, PatternRequest};

    /// The lines with matches: the number of the first line, and the matches.
    fn found(request: &PatternRequest, text: &str) -> Vec<(u32, Vec<String>)> {
        let pattern = Pattern::compile(request).expect("a valid pattern");
        let hits: Vec<_> = pattern.hits(text).collect();
        let matches = |hit: &crate::Hit| {
            let found = pattern.matches_in(text, hit).into_iter();
            found.map(|found| String::from_utf8_lossy(&text.as_bytes()[found]).into_owned()).collect()
        };
        hits.iter().map(|hit| (hit.first_line, matches(hit))).collect()
    }

    fn check(request: &PatternRequest, text: &str, expect: &[(u32, &[&str])]) {
        let expect: Vec<(u32, Vec<String>)> = expect
            .iter()
            .map(|(line, found)| (*line, found.iter().map(|found| (*found).to_owned()).collect()))
            .collect();
        assert_eq!(found(request, text), expect, "{request:?} in {text:?}");
    }

    fn regex(text: &str) -> PatternRequest {
        PatternRequest { text: text.to_owned(), is_regex: true, ..PatternRequest::default() }
    }

    fn literal(text: &str) -> PatternRequest {
        PatternRequest { text: text.to_owned(), ..PatternRequest::default() }
    }

    #[test]
    fn lines_are_found_once_with_all_matches() {
        check(&literal("a.b"), "a.b axb\nxx\na.ba.b", &[(1, &["a.b"]), (3, &["a.b", "a.b"])]);
        check(&regex("a.b"), "a.b axb\nxx\n", &[(1, &["a.b", "axb"])]);
        check(&regex("^x*$"), "\na\nxx", &[(1, &[""]), (3, &["xx"])]);
        check(&regex("x*"), "ax\nb\n", &[(1, &["", "x"]), (2, &["", ""])]);
        check(&regex("$"), "a\n", &[(1, &[""])]);
        check(&regex("a$"), "a\r\na\n", &[(2, &["a"])]);
        check(&regex(r"a\s*b"), "a b\na\nb\n", &[(1, &["a b"])]);
        check(&regex(r"[^x]+"), "a\nb\n", &[(1, &["a"]), (2, &["b"])]);
        check(&regex(r"\Ab"), "a\nb\n", &[(2, &["b"])]);
        check(&regex(r"a\z"), "ba\na\n", &[(1, &["a"]), (2, &["a"])]);
        check(&regex("a"), "", &[]);
    }

    #[test]
    fn flags_change_case_and_boundaries() {
        let ignores_case = PatternRequest { ignores_case: true, ..literal("Straße") };
        check(&ignores_case, "STRAßE strasse", &[(1, &["STRAßE"])]);
        let whole_words = PatternRequest { whole_words: true, ..literal("get") };
        check(&whole_words, "get getter\nget_x\n(get)", &[(1, &["get"]), (3, &["get"])]);
        let whole_words = PatternRequest { whole_words: true, ..literal("-x") };
        check(&whole_words, "a -x\na-xy", &[(1, &["-x"])]);
    }

    #[test]
    fn matches_across_lines_share_their_lines() {
        let across = |text: &str| PatternRequest { across_lines: true, ..regex(text) };
        check(&across(r"a\nb"), "xa\nby\na\nb", &[(1, &["a\nb"]), (3, &["a\nb"])]);
        check(&across(r"a\s+b|c"), "a\nb c\nc", &[(1, &["a\nb", "c"]), (3, &["c"])]);
        check(&across("^$"), "a\n\nb\n", &[(2, &[""])]);
        check(&across(r"(?s)a.*b"), "a\n1\nb\nc", &[(1, &["a\n1\nb"])]);
        check(&across(r"a\n"), "a\na\n", &[(1, &["a\n"]), (2, &["a\n"])]);
        check(&literal("a\nb"), "a\nb\n", &[(1, &["a\nb"])]);
        check(&across("x*"), "a\nx", &[(1, &["", ""]), (2, &["x"])]);
    }

    #[test]
    fn last_line_needs_no_line_feed() {
        let pattern = Pattern::compile(&regex(r"b\nc")).err();
        assert!(pattern.is_some());
        let pattern = Pattern::compile(&PatternRequest { across_lines: true, ..regex(r"b\nc") }).expect("valid");
        let hits: Vec<_> = pattern.hits("a\nb\nc").collect();
        assert_eq!((hits[0].first_line, hits[0].num_lines, hits[0].bytes.clone()), (2, 2, 2..5));
    }
}
