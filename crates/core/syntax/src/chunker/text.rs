//! The text of a chunk: the text that is shown and the text that is embedded.

use std::borrow::Cow;

use cairn_domain::{ChunkFacts, LineSpan};

/// The byte offsets of the lines of a text. Compute the offsets once per file, and pass them to
/// [`chunk_text`] and [`embedded_text`]. Then reading all chunks of a file takes linear time.
pub fn line_starts(text: &str) -> Vec<u32> {
    let mut starts = Vec::with_capacity(text.len() / 32 + 1);
    let mut start = 0;
    while start < text.len() {
        starts.push(start as u32);
        start = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |at| start + at + 1);
    }
    starts
}

/// The lines of the span, including their line ends. `line_starts` must belong to the text. Lines after the
/// end of the text are omitted.
pub fn chunk_text<'t>(text: &'t str, line_starts: &[u32], span: LineSpan) -> &'t str {
    let offset = |line: u32| line_starts.get(line as usize).map_or(text.len(), |&start| start as usize);
    let start = offset(span.start.saturating_sub(1));
    text.get(start..offset(span.end)).unwrap_or("")
}

/// The embedded text of a chunk. The hash of this text is the `content_hash` of the chunk. If the
/// chunk has synthetic text, the result is the synthetic text. Otherwise, the result is the lines of its
/// span, without blank lines at the start and at the end. The result depends neither on the header nor on the
/// position of the lines in the file.
pub fn embedded_text<'t>(text: &'t str, line_starts: &[u32], chunk: &'t ChunkFacts) -> Cow<'t, str> {
    match &chunk.synthetic_text {
        Some(synthetic) => Cow::Borrowed(synthetic),
        None => Cow::Borrowed(without_blank_edges(chunk_text(text, line_starts, chunk.span))),
    }
}

/// The shown text of a chunk. If the chunk has synthetic text, the result is the synthetic text.
/// Otherwise, the result is the lines of its span, without white space at the end.
pub fn shown_text<'t>(text: &'t str, line_starts: &[u32], chunk: &'t ChunkFacts) -> Cow<'t, str> {
    match &chunk.synthetic_text {
        Some(synthetic) => Cow::Borrowed(synthetic),
        None => Cow::Borrowed(chunk_text(text, line_starts, chunk.span).trim_ascii_end()),
    }
}

/// The text without blank lines at the beginning and without white space at the end. The first line keeps its
/// indentation.
pub fn without_blank_edges(text: &str) -> &str {
    let text = text.trim_ascii_end();
    let first = text.len() - text.trim_ascii_start().len();
    let start = memchr::memrchr(b'\n', &text.as_bytes()[..first]).map_or(0, |at| at + 1);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_sliced_exactly() {
        let text = "one\ntwo\r\n\nfour";
        let starts = line_starts(text);
        let check = |start, end, expect| assert_eq!(chunk_text(text, &starts, LineSpan::new(start, end)), expect);
        check(1, 1, "one\n");
        check(2, 3, "two\r\n\n");
        check(1, 4, text);
        check(4, 9, "four");
        check(7, 9, "");
        check(3, 1, "");
        check(0, 0, "");
    }

    #[test]
    fn blank_edges_are_removed_and_indentation_stays() {
        let check = |text, expect| assert_eq!(without_blank_edges(text), expect);
        check("\n  \n    a\n  b\n\n", "    a\n  b");
        check("a", "a");
        check(" \n\n", "");
        check("", "");
    }
}
