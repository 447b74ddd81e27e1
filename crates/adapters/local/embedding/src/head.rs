//! Finds the head of a passage, which is its signature. The words of the head are more informative than the
//! words of the body.
//!
//! The rules for the head apply to every language. Nothing is parsed, because the embedder receives only
//! text. The training data was created with the same rules (`training/cairn_training/words.py`), so the rules
//! may change only together with the model.

use std::ops::Range;

/// Maximum number of bytes at the start of the text that can contain the head.
const HEAD_BYTES: usize = 320;
/// A line that begins with one of these strings is a comment, decorator, attribute or docstring.
const NOT_HEAD: [&[u8]; 8] = [b"//", b"/*", b"*", b"#", b"@", b"--", b"\"\"\"", b"'''"];
const ENDS_AT_LINE: [&[u8]; 3] = [b"def", b"class", b"module"];

/// Returns the byte range of the head. The head starts at the first line that is not a comment, decorator or
/// attribute. It ends at the first `{` or `=>`, or at the first end of a line outside of parentheses. A line
/// without any parenthesis (`static int`) does not end the head, unless it ends with a colon or begins with
/// `def`, `class` or `module`.
pub(crate) fn head(text: &[u8]) -> Range<usize> {
    let limit = text.len().min(HEAD_BYTES);
    let text = &text[..limit];
    let start = first_line_of_code(text);
    let ends_at_line = begins_with(trim_start(&text[start..]), &ENDS_AT_LINE);
    let (mut depth, mut has_parenthesis) = (0_i32, false);
    for position in start..limit {
        match text[position] {
            b'(' | b'[' => {
                depth += 1;
                has_parenthesis |= text[position] == b'(';
            }
            b')' | b']' => depth -= 1,
            b'{' => return start..position,
            b'>' if position > start && text[position - 1] == b'=' => return start..position,
            b'\n' if depth <= 0 => {
                let line = trim_end(&text[start..position]);
                if has_parenthesis || ends_at_line || line.ends_with(b":") {
                    return start..position;
                }
            }
            _ => {}
        }
    }
    start..limit
}

fn first_line_of_code(text: &[u8]) -> usize {
    let mut start = 0;
    while start < text.len() {
        let end = text[start..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |length| start + length);
        let line = trim_end(trim_start(&text[start..end]));
        if !line.is_empty() && !begins_with(line, &NOT_HEAD) {
            return start;
        }
        start = end + 1;
    }
    text.len()
}

fn begins_with(text: &[u8], prefixes: &[&[u8]]) -> bool {
    prefixes.iter().any(|prefix| text.starts_with(prefix))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

fn trim_start(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    &text[blanks..]
}

fn trim_end(text: &[u8]) -> &[u8] {
    let blanks = text.iter().rev().take_while(|byte| is_blank(**byte)).count();
    &text[..text.len() - blanks]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(&text[head(text.as_bytes())], expect, "{text}");
    }

    #[test]
    fn heads_are_found_in_many_languages() {
        check("def parse(text):\n    return 1", "def parse(text):");
        check("@cache\n# why\ndef parse(text,\n          base):\n    return 1", "def parse(text,\n          base):");
        check("class Parser:\n    x = 1", "class Parser:");
        check(
            "/// Parses.\n#[inline]\npub fn parse<T>(text: &str) -> T\nwhere\n    T: From {",
            "pub fn parse<T>(text: &str) -> T",
        );
        check(
            "func (p *Parser) Parse(text string) error {\n\treturn nil }",
            "func (p *Parser) Parse(text string) error ",
        );
        check("const parse = (text) => text.trim()", "const parse = (text) =");
        check("static int\nparse(char *text)\n{\n", "static int\nparse(char *text)");
        check("module Parser\n  def x", "module Parser");
        check("  def parse\n    x", "  def parse");
        check("", "");
        check("// only a comment", "");
        check("\n\n\n", "");
        check("fn )))\nx", "fn )))\nx");
    }

    #[test]
    fn long_texts_are_cut() {
        let text = "word ".repeat(100);
        assert_eq!(head(text.as_bytes()), 0..HEAD_BYTES);
    }

    proptest! {
        #[test]
        fn head_of_any_text_lies_within_it(text in "[a-c(){}=>:#@\n\t é]{0,400}") {
            let found = head(text.as_bytes());
            prop_assert!(found.start <= found.end && found.end <= text.len().min(HEAD_BYTES));
        }
    }
}
