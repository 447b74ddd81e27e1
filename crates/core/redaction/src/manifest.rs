//! Finds the secrets of Kubernetes: the values under `data` and `stringData` in a manifest of kind `Secret`,
//! in YAML or JSON.

use std::ops::Range;

use crate::{entropy, marker, random, template};

/// Maximum distance between the `kind` of a manifest and its other parts, in bytes.
const REACH: usize = 64 * 1024;

pub(crate) static KEYWORDS: &[&str] =
    &["kind: secret", "kind: \"secret", "kind: 'secret", "\"kind\":\"secret", "\"kind\": \"secret"];

/// The document around a keyword. The document does not begin before `floor`.
pub(crate) fn document(text: &[u8], hit: &Range<usize>, floor: usize) -> Range<usize> {
    let floor = floor.max(hit.start.saturating_sub(REACH)).min(hit.start);
    let is_border = |window: &[u8]| window == b"\n---";
    let start = text[floor..hit.start].windows(4).rposition(is_border).map_or(floor, |at| floor + at + 1);
    let end = text.len().min(hit.end + REACH);
    let end = text[hit.end..end].windows(4).position(is_border).map_or(end, |at| hit.end + at + 1);
    start..end
}

/// The values of the manifest whose `kind` is at `hit`. The result is empty if the kind is a longer word that
/// begins with `Secret`.
pub(crate) fn values(text: &[u8], document: &Range<usize>, hit: &Range<usize>) -> Vec<Range<usize>> {
    if text.get(hit.end).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return Vec::new();
    }
    let found = match &text[hit.end..] {
        _ if text[hit.clone()].starts_with(b"\"") => of_json(text, document),
        [b'\\', b'n', ..] => of_yaml(text, document, b"\\n"),
        _ => of_yaml(text, document, b"\n"),
    };
    found.into_iter().filter(|value| is_value(&text[value.clone()])).collect()
}

fn is_value(value: &[u8]) -> bool {
    value.len() > 4
        && entropy::num_distinct(value) > 2
        && !template::is_template(value)
        && !is_stand_in(value)
        && !marker::is_in(value)
        && std::str::from_utf8(value).is_ok()
}

/// Whether the value is a placeholder that consists only of lower-case words.
fn is_stand_in(value: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_');
    value.iter().all(is_word) && random::is_placeholder(value)
}

/// The values on lines that are indented more than `data:` or `stringData:`. In a manifest inside a JSON
/// string, the line breaks are escapes.
fn of_yaml(text: &[u8], document: &Range<usize>, line_break: &[u8]) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    let mut section: Option<usize> = None;
    let mut block: Option<usize> = None;
    for line in lines(text, document, line_break) {
        let indent = text[line.clone()].iter().take_while(|byte| **byte == b' ').count();
        let content = line.start + indent..line.end;
        if content.is_empty() {
            continue;
        }
        if block.is_some_and(|key| indent > key) {
            values.push(content);
            continue;
        }
        block = None;
        section = section.filter(|section| indent > *section);
        let bytes = &text[content.clone()];
        match section {
            None if is_section(bytes) => section = Some(indent),
            None => {}
            Some(_) => match after_key(text, &content) {
                Some(value) if matches!(text[value.start], b'|' | b'>') => block = Some(indent),
                Some(value) => values.push(unquoted(text, value)),
                None => {}
            },
        }
    }
    values
}

/// Whether the line is `data:` or `stringData:`. If the manifest is inside a JSON string, the line may
/// contain the opening quote before the key.
fn is_section(line: &[u8]) -> bool {
    let before = line.strip_suffix(b"stringData:").or_else(|| line.strip_suffix(b"data:"));
    before.is_some_and(|before| !before.last().is_some_and(u8::is_ascii_alphanumeric))
}

/// The lines of a document, without white space at their ends.
fn lines<'a>(
    text: &'a [u8],
    document: &Range<usize>,
    line_break: &'a [u8],
) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let (mut at, end) = (document.start, document.end);
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let rest = &text[at..end];
        let length = rest.windows(line_break.len()).position(|window| window == line_break).unwrap_or(rest.len());
        let line = at..at + rest[..length].trim_ascii_end().len();
        at += length + line_break.len();
        Some(line)
    })
}

/// The value after `key:` on a line that is not a comment.
fn after_key(text: &[u8], line: &Range<usize>) -> Option<Range<usize>> {
    let bytes = &text[line.clone()];
    let colon = bytes.windows(2).position(|pair| pair == b": ")?;
    let blanks = bytes[colon + 1..].iter().take_while(|byte| **byte == b' ').count();
    let value = line.start + colon + 1 + blanks..line.end;
    (bytes[0] != b'#' && !value.is_empty()).then_some(value)
}

fn unquoted(text: &[u8], value: Range<usize>) -> Range<usize> {
    let start = value.start + usize::from(text[value.start] == b'\\');
    let Some(quote @ (b'"' | b'\'')) = text[..value.end].get(start).copied() else { return value };
    let inner = &text[start + 1..value.end];
    // Inside a JSON string, a backslash precedes each quote.
    let is_nested = text[value.start] == b'\\';
    let length = if is_nested {
        inner.iter().position(|byte| *byte == quote || *byte == b'\\')
    } else {
        inner.iter().rposition(|byte| *byte == quote)
    };
    start + 1..start + 1 + length.unwrap_or(inner.len())
}

/// The strings after a colon, between the braces that follow `"data"` or `"stringData"`.
fn of_json(text: &[u8], document: &Range<usize>) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    let bytes = &text[document.clone()];
    for key in [b"\"data\"".as_slice(), b"\"stringData\""] {
        let Some(at) = bytes.windows(key.len()).position(|window| window == key) else { continue };
        let after = &bytes[at + key.len()..];
        let Some(open) = after.iter().position(|byte| *byte == b'{') else { continue };
        let body = &after[open + 1..];
        let body = &body[..body.iter().position(|byte| *byte == b'}').unwrap_or(body.len())];
        push_texts(body, document.start + at + key.len() + open + 1, &mut values);
    }
    values
}

fn push_texts(body: &[u8], offset: usize, values: &mut Vec<Range<usize>>) {
    let mut at = 0;
    let mut after_colon = false;
    while at < body.len() {
        if body[at] != b'"' {
            after_colon = body[at] == b':' || (after_colon && body[at].is_ascii_whitespace());
            at += 1;
            continue;
        }
        let length = body[at + 1..].iter().position(|byte| *byte == b'"').unwrap_or(body.len() - at - 1);
        if after_colon {
            values.push(offset + at + 1..offset + at + 1 + length);
        }
        after_colon = false;
        at += length + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let lower = text.to_lowercase();
        let hit = KEYWORDS.iter().find_map(|keyword| lower.find(keyword).map(|at| at..at + keyword.len()));
        let hit = hit.expect("a keyword");
        let found = values(text.as_bytes(), &document(text.as_bytes(), &hit, 0), &hit);
        assert_eq!(found.into_iter().map(|value| &text[value]).collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn values_of_yaml_are_found() {
        let text = "kind: Secret\ntype: Opaque\ndata:\n  a: YWJjZA==\n  # b: cdefg\n  d: \"ZGVmZw==\"\nother: words\n";
        check(text, &["YWJjZA==", "ZGVmZw=="]);
        check(
            "stringData:\n  a: |\n    first\n    second\n  b: c and d\nkind: Secret\n",
            &["first", "second", "c and d"],
        );
        check("a: 1\n---\nkind: Secret\ndata:\n    x: eHl6eg==\n---\ndata:\n  y: other\n", &["eHl6eg=="]);
        check("kind: Secret\ndata:\n  a: YQ==\n  b: xxxxxxxx\n", &[]);
        check("kind: Secret\ndata:\n  a: {{ .Values.a | b64enc }}\n  b: ${B}\n", &[]);
        check("[\"kind: Secret\\ndata:\\n  a: YWJjZA==\\n  b: \\\"ZGVmZw==\\\"\\n\"]", &["YWJjZA==", "ZGVmZw=="]);
        check("kind: SecretStore\ndata:\n  a: YWJjZA==\n", &[]);
        check("kind: Secret\nmetadata:\n  name: prometheus-sa\n  namespace: monitoring\n", &[]);
    }

    #[test]
    fn values_of_json_are_found() {
        check(
            "{\"kind\": \"Secret\", \"data\": {\"a\": \"YWJjZA==\",\n\"b\": \"ZGVmZw==\"}, \"x\": \"other\"}",
            &["YWJjZA==", "ZGVmZw=="],
        );
        check("{\"stringData\":{\"a\":\"words\"},\"kind\":\"Secret\"}", &["words"]);
    }
}
