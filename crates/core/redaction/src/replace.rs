//! Replaces the secrets in a text with markers.

use std::borrow::Cow;

use cairn_domain::SecretFinding;

use crate::engine::{self, Span};
use crate::{marker, repeats};

/// Maximum number of passes. A redaction can change the surrounding text so that another rule finds a secret
/// in it. Real texts need at most one additional pass. The limit matters only for texts that are designed to
/// need many passes.
const MOST_PASSES: usize = 16;

/// A text without secrets, and the findings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Redacted<'text> {
    /// Borrowed if no secret was found. The text has the same number of lines as the original text.
    pub text: Cow<'text, str>,
    /// Sorted by line. The finding for a secret of several lines contains the number of its first line.
    pub findings: Vec<SecretFinding>,
}

/// Replaces the secrets that `find` returns. Then `find` is called again with the redacted text. Both steps
/// are repeated until `find` returns no spans, but at most [`MOST_PASSES`] times.
pub(crate) fn redact<'text>(text: &'text str, find: impl Fn(&str) -> Vec<Span>) -> Redacted<'text> {
    let mut redacted = Redacted { text: Cow::Borrowed(text), findings: Vec::new() };
    for _ in 0..MOST_PASSES {
        let spans = merged(find(&redacted.text));
        if spans.is_empty() {
            break;
        }
        redacted.findings.extend(findings(&redacted.text, &spans));
        redacted.text = Cow::Owned(replaced(&redacted.text, &spans));
    }
    redacted.findings.sort();
    redacted
}

/// All secrets of a text, including further occurrences without a name.
pub(crate) fn find_all(text: &str) -> Vec<Span> {
    let mut spans = engine::scan(text);
    spans.extend(repeats::repeats(text, &spans));
    spans
}

/// The spans in order and without overlaps. Overlapping spans are merged into one span with the lowest rule
/// index.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort();
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                if span.rule < last.rule {
                    last.rule = span.rule;
                    last.secret = span.secret;
                }
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// Returns one finding for each secret, with the first line of the secret.
fn findings(text: &str, spans: &[Span]) -> Vec<SecretFinding> {
    let mut findings = Vec::new();
    let mut line = 1;
    let mut at = 0;
    let mut last_secret = None;
    for span in spans {
        line += num_line_feeds(&text[at..span.start]);
        at = span.start;
        if last_secret != Some(span.secret) {
            findings.push(SecretFinding { line, rule: engine::rule_id(span.rule).to_owned() });
        }
        last_secret = Some(span.secret);
    }
    findings
}

pub(crate) fn num_line_feeds(text: &str) -> u32 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u32
}

/// The text with markers in place of the spans. If a secret has several spans on a line, only the first of
/// these spans gets a marker.
fn replaced(text: &str, spans: &[Span]) -> String {
    let mut out = String::with_capacity(text.len() + spans.len() * 24);
    let mut at = 0;
    let mut last_secret = None;
    for span in spans {
        let between = &text[at..span.start];
        out.push_str(between);
        if last_secret != Some(span.secret) || between.contains('\n') {
            marker::write(&mut out, engine::rule_id(span.rule));
        }
        out.extend(text[span.start..span.end].chars().filter(|character| *character == '\n'));
        at = span.end;
        last_secret = Some(span.secret);
    }
    out.push_str(&text[at..]);
    out
}
