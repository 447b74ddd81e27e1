//! Reads inline markup: the plain text of headings and paragraphs, and the positions of code spans.

/// The text of a heading or paragraph on one line. White space is folded, and emphasis, code marks, tags and
/// link targets are removed. The time is linear: every byte is examined a fixed number of times.
pub(super) fn plain(markup: &str) -> String {
    let mut text = String::with_capacity(markup.len().min(1024));
    let mut rest = markup;
    while let Some(at) = rest.find(['[', ']', '`', '*', '<', '!', '\\']) {
        text.push_str(&rest[..at]);
        let (mark, after) = (rest.as_bytes()[at], &rest[at + 1..]);
        rest = match mark {
            b']' => after_target(after),
            b'<' => after_tag(after).unwrap_or_else(|| keep(&mut text, "<", after)),
            b'!' if !after.starts_with('[') => keep(&mut text, "!", after),
            b'\\' if !after.starts_with(|next: char| next.is_ascii_punctuation()) => keep(&mut text, "\\", after),
            b'*' if text.ends_with(' ') && after.starts_with(' ') => keep(&mut text, "*", after),
            _ => after,
        };
    }
    text.push_str(rest);
    fold(&text)
}

fn keep<'t>(text: &mut String, mark: &str, after: &'t str) -> &'t str {
    text.push_str(mark);
    after
}

/// The text after the target of a link. `rest` begins directly after the text of the link.
fn after_target(rest: &str) -> &str {
    let close = match rest.as_bytes().first() {
        Some(b'(') => ')',
        Some(b'[') => ']',
        _ => return rest,
    };
    // Targets are short. The limit ensures linear time for a text with many opening marks.
    let end = rest.char_indices().take(400).find(|&(_, found)| found == close);
    end.map_or(rest, |(at, _)| &rest[at + 1..])
}

/// The text after a tag. `rest` begins directly after the `<`. None if this is not a tag.
fn after_tag(rest: &str) -> Option<&str> {
    if !rest.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/' || first == '!') {
        return None;
    }
    let end = rest.char_indices().take(400).find(|&(_, found)| found == '>')?;
    Some(&rest[end.0 + 1..])
}

/// Replaces each run of white space with a single blank.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len().min(1024));
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

/// The first `most` characters, followed by an ellipsis if the text is longer.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// The contents of the code spans in a row. A code span is the text between two runs of backticks of equal
/// length.
pub(super) fn code_spans(row: &str) -> Vec<&str> {
    let runs = backtick_runs(row);
    let mut spans = Vec::new();
    let mut index = 0;
    while index < runs.len() {
        let (start, length) = runs[index];
        // The next run of the same length closes a run. In real documents, the closing run is one of the next
        // few runs, so only these runs are checked.
        let close = runs[index + 1..].iter().take(16).position(|&(_, other)| other == length);
        match close {
            Some(offset) => {
                spans.push(row[start + length..runs[index + 1 + offset].0].trim());
                index += offset + 2;
            }
            None => index += 1,
        }
    }
    spans
}

/// The offset and length of each run of backticks.
fn backtick_runs(row: &str) -> Vec<(usize, usize)> {
    let bytes = row.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'`', &bytes[at..]) {
        let start = at + found;
        let length = bytes[start..].iter().take_while(|&&byte| byte == b'`').count();
        runs.push((start, length));
        at = start + length;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_markup_is_removed() {
        let check = |markup, expect: &str| assert_eq!(plain(markup), expect);
        check("Plain", "Plain");
        check("**Bold** `code_span` *it*", "Bold code_span it");
        check("See [the docs](https://example.com/a) now", "See the docs now");
        check("![logo](a.png) Title <br/>", "logo Title");
        check("a < b and x * y", "a < b and x * y");
        check("two\n  lines\\_here", "two lines_here");
        check("[unclosed", "unclosed");
        check("[a]: [b](", "a: b(");
    }

    #[test]
    fn code_spans_are_found() {
        let check = |row, expect: &[&str]| assert_eq!(code_spans(row), expect, "{row}");
        check("use `a` and ``b`c`` or `d", &["a", "b`c"]);
        check("no spans", &[]);
        check("```", &[]);
        check(":func:`x.y` and ``z``", &["x.y", "z"]);
    }
}
