//! Divides a text into items by its lines, without a grammar.
//!
//! An item begins at a line with the least indentation. The previous line must be blank, or must end an item
//! or begin the surrounding block. So a declaration over several lines is not divided.

use std::ops::Range;

/// A line of a text. `code` is the line without white space at both ends.
struct Line<'t> {
    start: usize,
    end: usize,
    indentation: usize,
    code: &'t str,
}

/// The items of a file.
pub(super) fn top_items(text: &str) -> Vec<Range<usize>> {
    let lines = lines(text, &(0..text.len()));
    items(&lines, 0, text.len())
}

/// The items inside an outer item. The inner items consist of the lines that are indented further than the
/// first line of the outer item. The list is empty if there are no such lines.
pub(super) fn inner_items(text: &str, item: &Range<usize>) -> Vec<Range<usize>> {
    let lines = lines(text, item);
    let Some(first) = lines.iter().find(|line| !line.code.is_empty() && !is_comment(line.code)) else {
        return Vec::new();
    };
    let is_inner = |line: &&Line<'_>| line.start > first.start && line.indentation > first.indentation;
    let Some(indentation) =
        lines.iter().filter(|line| !line.code.is_empty()).filter(is_inner).map(|line| line.indentation).min()
    else {
        return Vec::new();
    };
    let is_inside = |line: &Line<'_>| line.start > first.start && line.indentation >= indentation;
    let Some(begin) = lines.iter().position(|line| !line.code.is_empty() && is_inside(line)) else {
        return Vec::new();
    };
    // The block ends before the first line with less indentation, such as the closing bracket of the block.
    let after = lines[begin..].iter().position(|line| !line.code.is_empty() && !is_inside(line));
    let block = &lines[begin..after.map_or(lines.len(), |after| begin + after)];
    let end = block.iter().rev().find(|line| !line.code.is_empty()).map_or(item.end, |line| line.end);
    items(block, indentation, end)
}

/// Divides the lines at each line that begins an item. The first item begins at the first line.
fn items(lines: &[Line<'_>], indentation: usize, end: usize) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut before: Option<&str> = None;
    for line in lines {
        let may_begin = !line.code.is_empty() && line.indentation == indentation && !continues(line.code);
        if may_begin && before.is_none_or(ends_item) {
            starts.push(line.start);
        }
        before = Some(line.code);
    }
    if let (Some(first), Some(line)) = (starts.first_mut(), lines.first()) {
        *first = line.start;
    }
    let ends = starts.iter().skip(1).copied().chain([end]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Whether a line continues the previous line.
fn continues(code: &str) -> bool {
    code.starts_with(['{', '}', ')', ']']) || code == "end" || code.starts_with("end ") || code.starts_with("else")
}

fn ends_item(code: &str) -> bool {
    code.is_empty() || code.ends_with([';', '}']) || code == "end"
}

fn is_comment(code: &str) -> bool {
    ["//", "/*", "*", "#", "--"].iter().any(|mark| code.starts_with(mark))
}

fn lines<'t>(text: &'t str, range: &Range<usize>) -> Vec<Line<'t>> {
    let mut start = range.start;
    let of_line = |line: &'t str| {
        let code = line.trim();
        let indentation = line.len() - line.trim_start().len();
        let found = Line { start, end: start + line.len(), indentation, code };
        start += line.len();
        found
    };
    text[range.clone()].split_inclusive('\n').map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, top: &[&str], inner_of_first: &[&str]) {
        let found = top_items(text);
        let texts = |ranges: &[Range<usize>]| {
            ranges.iter().map(|range| text[range.clone()].trim().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&found), top, "{text}");
        let inner = found.first().map(|first| inner_items(text, first)).unwrap_or_default();
        assert_eq!(texts(&inner), inner_of_first, "{text}");
    }

    #[test]
    fn items_begin_at_lines_with_the_least_indentation() {
        check(
            "class A {\n  fun a() {\n  }\n  fun b() {\n  }\n}\nclass B\n",
            &["class A {\n  fun a() {\n  }\n  fun b() {\n  }\n}", "class B"],
            &["fun a() {\n  }", "fun b() {\n  }"],
        );
        check(
            "static int\nf(void)\n{\n  return 1;\n}\nint g;\n",
            &["static int\nf(void)\n{\n  return 1;\n}", "int g;"],
            &["return 1;"],
        );
        check(
            "@a\ndef f():\n    pass\n\ndef g():\n    pass\n",
            &["@a\ndef f():\n    pass", "def g():\n    pass"],
            &["pass"],
        );
        check("", &[], &[]);
        check("\n\n", &[], &[]);
    }
}
