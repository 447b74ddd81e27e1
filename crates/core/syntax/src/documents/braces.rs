//! Finds blocks that are enclosed in braces: rules in CSS, messages in Protocol Buffers, types in GraphQL,
//! resources in HCL.

use super::blocks::Block;
use super::inline::{fold, shortened};
use crate::chunker::Lines;

const LONGEST_NAME: usize = 100;
const DEEPEST_BLOCK: usize = 4;

/// The differences between the formats.
#[derive(Clone, Copy)]
pub(super) struct Syntax {
    line_comment: Option<&'static [u8]>,
    has_block_comments: bool,
    has_block_strings: bool,
}

pub(super) const CSS: Syntax =
    Syntax { line_comment: Some(b" //"), has_block_comments: true, has_block_strings: false };
pub(super) const PROTOBUF: Syntax =
    Syntax { line_comment: Some(b"//"), has_block_comments: true, has_block_strings: false };
pub(super) const GRAPHQL: Syntax =
    Syntax { line_comment: Some(b"#"), has_block_comments: false, has_block_strings: true };
pub(super) const HCL: Syntax = Syntax { line_comment: Some(b"#"), has_block_comments: true, has_block_strings: false };

/// Creates a block for each pair of braces. The name of the block is the text before the opening brace.
pub(super) fn blocks(lines: &Lines<'_>, text: &str, syntax: Syntax) -> Vec<Block> {
    let bytes = text.as_bytes();
    let mut scanner =
        Scanner { lines, text, blocks: Vec::new(), open: Vec::new(), depth: 0, name_start: 0, row_start: None };
    let mut at = 0;
    while at < bytes.len() {
        at = match skipped(bytes, at, syntax) {
            Some(end) => end,
            None => {
                scanner.byte(at, bytes[at]);
                at + 1
            }
        };
    }
    scanner.finish()
}

/// The end of the comment or string that begins at this position. `None` if no comment or string begins at
/// this position.
fn skipped(bytes: &[u8], at: usize, syntax: Syntax) -> Option<usize> {
    let rest = &bytes[at..];
    let end_of = |mark: &[u8], from: usize| {
        memchr::memmem::find(&rest[from..], mark).map_or(bytes.len(), |end| at + from + end + mark.len())
    };
    match rest[0] {
        b'/' if syntax.has_block_comments && rest.starts_with(b"/*") => Some(end_of(b"*/", 2)),
        b'"' if syntax.has_block_strings && rest.starts_with(b"\"\"\"") => Some(end_of(b"\"\"\"", 3)),
        quote @ (b'"' | b'\'') => Some(at + string_length(rest, quote)),
        _ if is_line_comment(bytes, at, syntax) => {
            Some(memchr::memchr(b'\n', rest).map_or(bytes.len(), |end| at + end))
        }
        _ => None,
    }
}

/// Whether a line comment begins at this position. If the comment mark of the syntax begins with a blank,
/// white space must precede the comment: in CSS, `//` without white space before it can be part of a URL.
fn is_line_comment(bytes: &[u8], at: usize, syntax: Syntax) -> bool {
    let Some(mark) = syntax.line_comment else { return false };
    match mark.strip_prefix(b" ") {
        Some(mark) => bytes[at..].starts_with(mark) && (at == 0 || bytes[at - 1].is_ascii_whitespace()),
        None => bytes[at..].starts_with(mark),
    }
}

/// The length of a string that ends in the row in which it begins. A quote without a closing quote in the
/// same row is a plain character.
fn string_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(found) = memchr::memchr3(quote, b'\\', b'\n', &rest[at..]) {
        at += found + 1;
        match rest[at - 1] {
            b'\n' => return 1,
            b'\\' => at = (at + 1).min(rest.len()),
            _ => return at,
        }
    }
    1
}

struct Scanner<'a> {
    lines: &'a Lines<'a>,
    text: &'a str,
    blocks: Vec<Block>,
    open: Vec<usize>,
    depth: usize,
    /// The start of the text that is the name of the next block.
    name_start: usize,
    /// The start of the last non-empty row. `None` if a brace or semicolon follows this row.
    row_start: Option<usize>,
}

impl Scanner<'_> {
    fn byte(&mut self, at: usize, byte: u8) {
        match byte {
            b'{' => self.begin(at),
            b'}' => self.end(at),
            b';' => self.forget(at),
            b'\n' => self.end_row(at),
            _ => {}
        }
    }

    /// Ends a row. If the row ends with a comma, its text is the beginning of the next block's name.
    /// Otherwise, its text is a name only if the opening brace follows directly.
    fn end_row(&mut self, at: usize) {
        let pending = &self.text[self.name_start..at];
        let text = pending.trim_ascii_start();
        let start = at - text.len();
        if text.trim_ascii_end().ends_with(',') {
            self.name_start = start;
        } else {
            self.row_start = if text.is_empty() { self.row_start } else { Some(start) };
            self.name_start = at + 1;
        }
    }

    fn begin(&mut self, at: usize) {
        let own = self.text[self.name_start..at].trim_ascii();
        let start = if own.is_empty() { self.row_start.unwrap_or(self.name_start) } else { self.name_start };
        if self.depth < DEEPEST_BLOCK {
            let before = &self.text[start..at];
            let first = start + (before.len() - before.trim_ascii_start().len());
            let row = self.lines.row_at(first.min(at));
            let near = before.trim_ascii().trim_end_matches(['=', ':', ' ']);
            let name = shortened(&fold(near.get(..near.floor_char_boundary(400)).unwrap_or(near)), LONGEST_NAME);
            self.open.push(self.blocks.len());
            self.blocks.push(Block::new(row, row + 1, self.depth as u8, name));
        }
        self.depth += 1;
        self.forget(at);
    }

    fn end(&mut self, at: usize) {
        if self.depth > 0
            && self.depth <= DEEPEST_BLOCK
            && let Some(block) = self.open.pop()
        {
            self.blocks[block].rows.end = self.lines.row_at(at) + 1;
        }
        self.depth = self.depth.saturating_sub(1);
        self.forget(at);
    }

    fn forget(&mut self, at: usize) {
        self.name_start = at + 1;
        self.row_start = None;
    }

    fn finish(mut self) -> Vec<Block> {
        for block in self.open {
            self.blocks[block].rows.end = self.lines.num_rows();
        }
        self.blocks
    }
}
