//! Finds other occurrences of the values that the rules found. No name is needed near these occurrences.

use std::ops::Range;

use aho_corasick::{AhoCorasickBuilder, MatchKind};

use crate::engine::{Span, is_free_on_the_left};
use crate::judge;

/// Minimum length, in bytes, of a value whose other occurrences are searched for.
const SHORTEST_REPEATED: usize = 8;

/// Maximum number of values in one text whose other occurrences are searched for.
const MOST_REPEATED: usize = 256;

/// The other occurrences of the found values, for example in output, in quotes or in a comment.
pub(crate) fn repeats(text: &str, spans: &[Span]) -> Vec<Span> {
    let bytes = text.as_bytes();
    let values = repeated_values(text, spans);
    if values.is_empty() {
        return Vec::new();
    }
    let finder = AhoCorasickBuilder::new()
        .match_kind(MatchKind::LeftmostLongest)
        .build(values.iter().map(|(value, _)| *value))
        .expect("a few hundred values fit into an automaton");
    let next_secret = spans.iter().map(|span| span.secret + 1).max().unwrap_or(0);
    let is_alone = |start: usize, end: usize| {
        !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) && is_free_on_the_left(bytes, start)
    };
    let mut known: Vec<Range<usize>> = spans.iter().map(|span| span.start..span.end).collect();
    known.sort_by_key(|span| span.start);
    let is_known = |start: usize| {
        let before = known.partition_point(|span| span.start <= start);
        known[..before].last().is_some_and(|span| start < span.end)
    };
    finder
        .find_iter(text)
        .filter(|found| is_alone(found.start(), found.end()) && !is_known(found.start()))
        .enumerate()
        .map(|(number, found)| Span {
            start: found.start(),
            end: found.end(),
            rule: values[found.pattern().as_usize()].1.rule,
            secret: next_secret + number,
        })
        .collect()
}

/// The different values whose other occurrences are searched for, each with the first span that contains it.
fn repeated_values<'a>(text: &'a str, spans: &'a [Span]) -> Vec<(&'a str, &'a Span)> {
    let mut values: Vec<(&str, &Span)> = Vec::new();
    for span in spans {
        let value = &text[span.start..span.end];
        let is_new = values.iter().all(|(known, _)| *known != value);
        if is_new && judge::is_worth_repeating(value.as_bytes()) && value.len() >= SHORTEST_REPEATED {
            values.push((value, span));
        }
        if values.len() == MOST_REPEATED {
            break;
        }
    }
    values
}
