//! Finds a value that is alone on a line below its name: in a here document, in a string of several lines, in
//! a fenced block of Markdown, or in a definition.

use std::ops::Range;

use crate::before::{line_after, line_before};
use crate::judge;

/// Maximum length of the text between the name and the end of its line, in bytes.
const REACH: usize = 80;

/// Maximum length of the line of a value, in bytes. A longer line is not read: if only its start were
/// redacted, a part of the secret would remain visible.
const LONGEST: usize = judge::LONGEST;

/// Characters of markup that surround a name.
const MARKUP: &[u8] = b" \t*_`'\"#-+=>:";

/// The value on the first line of a multi-line text. The opening delimiter of this text is on the line of the
/// name.
pub(crate) fn opened(text: &[u8], name_end: usize) -> Option<Range<usize>> {
    if !text.get(name_end).is_some_and(|first| b" \t=:\"'])".contains(first)) {
        return None;
    }
    let rest = &text[name_end..text.len().min(name_end + REACH)];
    let length = rest.iter().position(|byte| *byte == b'\n')?;
    if opens_text(rest[..length].trim_ascii()) { word_of(text, name_end + length + 1) } else { None }
}

/// The value on a line below the name.
pub(crate) fn value(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let rest = &text[name.end..text.len().min(name.end + REACH)];
    let length = rest.iter().position(|byte| *byte == b'\n')?;
    let own = rest[..length].trim_ascii();
    let next = name.end + length + 1;
    let label = own.trim_ascii_end();
    let label = label.strip_suffix(b"**").unwrap_or(label);
    if label.ends_with(b":") && is_sentence(label) {
        return in_block(text, next, indentation(text, name.start));
    }
    let is_alone = own.iter().all(|byte| MARKUP.contains(byte));
    let begins = line_before(text, name.start).iter().all(|byte| MARKUP.contains(byte));
    (is_alone && begins).then(|| definition(text, next, indentation(text, name.start))).flatten()
}

/// Whether the rest of a line ends with an operator and the opening delimiter of a multi-line text.
fn opens_text(rest: &[u8]) -> bool {
    const OPENERS: [&[u8]; 11] =
        [b"\"\"\"", b"'''", b"''", b"```", b"@'", b"@\"", b"|||", b"R\"(", b"[[", b"`", b"\"\"\"\\"];
    let ends_operator =
        |part: &[u8]| matches!(part.trim_ascii_end().last(), Some(b'=' | b':' | b'>' | b'(' | b',' | b'-'));
    let here = rest.windows(2).position(|pair| pair == b"<<");
    let is_here = here.is_some_and(|at| {
        let mark = rest[at..].iter().skip_while(|byte| b"<-~'\" ".contains(byte)).take(2);
        mark.filter(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count() == 2
    });
    is_here || OPENERS.iter().any(|opener| rest.strip_suffix(*opener).is_some_and(ends_operator))
}

/// The start of the first line of the block below a name. The name ends at `name_end`. Words and a colon may
/// follow the name, or the name ends a heading.
pub(crate) fn start(text: &[u8], name_end: usize) -> Option<usize> {
    if !text.get(name_end).is_some_and(|first| b" :*_`(\r\n".contains(first)) {
        return None;
    }
    let rest = &text[name_end..text.len().min(name_end + REACH)];
    let length = rest.iter().position(|byte| *byte == b'\n')?;
    let own = rest[..length].trim_ascii();
    let is_heading = own.iter().all(|byte| b"*_`".contains(byte));
    let is_label = own.strip_suffix(b"**").unwrap_or(own).ends_with(b":") && is_sentence(own);
    if !is_heading && !is_label {
        return None;
    }
    let next = name_end + length + 1;
    let below = skip_empty(text, next);
    let at = below + fence_length(&text[below..]).unwrap_or(0);
    let blanks = text[at..].iter().take(16).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (at > below || (below > next && blanks >= 2)).then_some(at + blanks)
}

/// Whether the text between a name and a colon consists of words: ` for the host is:`, ` (base64):`.
fn is_sentence(label: &[u8]) -> bool {
    let num = |sign: u8| label.iter().filter(|byte| **byte == sign).count();
    num(b'(') == num(b')')
        && label.iter().all(|byte| byte.is_ascii_alphanumeric() || b" :*_().,`'-".contains(byte) || !byte.is_ascii())
}

/// The value in a fenced block or in an indented block. At most two empty lines may precede the block.
fn in_block(text: &[u8], next: usize, outer: usize) -> Option<Range<usize>> {
    let mut at = skip_empty(text, next);
    let fence = fence_length(&text[at..]);
    if let Some(length) = fence {
        at += length;
    }
    let value = word_of(text, at)?;
    (fence.is_some() || indentation(text, value.start) >= outer + 2).then_some(value)
}

/// The position after at most two empty lines.
pub(crate) fn skip_empty(text: &[u8], from: usize) -> usize {
    let mut at = from;
    for _ in 0..2 {
        let rest = &text[at.min(text.len())..];
        let blanks = rest.iter().take(16).take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        if rest.get(blanks) != Some(&b'\n') {
            break;
        }
        at += blanks + 1;
    }
    at
}

/// The length of the line that begins a block of markup, with its line break.
pub(crate) fn fence_length(text: &[u8]) -> Option<usize> {
    const FENCES: [&[u8]; 12] = [
        b"```",
        b"~~~",
        b"----\n",
        b"....\n",
        b"+\n",
        b"#+begin_",
        b"<pre",
        b"bc. ",
        b"\\begin{",
        b"{code",
        b"{noformat",
        b"::\n",
    ];
    let blanks = text.iter().take(16).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let line = &text[blanks..];
    let fence = FENCES.iter().find(|fence| crate::shape::starts_with_ignoring_case(line, fence))?;
    if *fence == b"bc. " {
        return Some(blanks + fence.len());
    }
    let length = line.iter().take(48).position(|byte| *byte == b'\n')? + 1;
    let rest = fence_length_once(&line[length..]).unwrap_or(0);
    Some(blanks + length + if *fence == b"+\n" { rest } else { 0 })
}

/// The length of the line of hyphens or dots after the `+` of AsciiDoc.
fn fence_length_once(line: &[u8]) -> Option<usize> {
    [b"----\n", b"....\n"].iter().find(|fence| line.starts_with(fence.as_slice())).map(|fence| fence.len())
}

/// The value in a list of definitions: on the next line after a colon, or indented.
fn definition(text: &[u8], next: usize, outer: usize) -> Option<Range<usize>> {
    let rest = &text[next.min(text.len())..];
    let at = match rest {
        [b':', b' ' | b'\t', ..] => next + 1,
        [b' ' | b'\t', ..] => next,
        _ => return None,
    };
    let value = word_of(text, at)?;
    (at > next || indentation(text, value.start) > outer).then_some(value)
}

/// The word on the line at `at`, if the rest of this line contains nothing else.
fn word_of(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = line_after(text, at, LONGEST)?;
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &rest[blanks..];
    let length = rest.iter().position(|byte| *byte <= 32).unwrap_or(rest.len());
    let is_end = rest[length..].iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
    (length > 0 && is_end).then(|| at + blanks..at + blanks + length)
}

/// The number of blanks at the start of the line around `at`.
fn indentation(text: &[u8], at: usize) -> usize {
    line_before(text, at).iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_below_the_name_are_found() {
        for (text, expect) in [
            ("pass = <<~EOS.chomp\n  k3J9!x\nEOS\n", Some("k3J9!x")),
            ("pass = '''\nk3J9!x\n'''\n", Some("k3J9!x")),
            ("'pass' => <<<'EOT'\nk3J9!x\nEOT,\n", Some("k3J9!x")),
            ("pass:\n\n```text\nk3J9!x\n```\n", Some("k3J9!x")),
            ("The pass of bob is:\n\n    k3J9!x\n", Some("k3J9!x")),
            ("pass\n    k3J9!x\n", Some("k3J9!x")),
            ("Pass\n: k3J9!x\n", Some("k3J9!x")),
            ("pass\nk3J9!x\n", None),
            ("pass:\nk3J9!x\n", None),
            ("pass = x\n  k3J9!x\n", None),
            ("pass\n    k3J9!x y\n", None),
        ] {
            let at = text.to_lowercase().find("pass").expect("a keyword");
            let found = opened(text.as_bytes(), at + 4).or_else(|| value(text.as_bytes(), &(at..at + 4)));
            assert_eq!(found.map(|value| &text[value]), expect, "{text}");
        }
    }
}
