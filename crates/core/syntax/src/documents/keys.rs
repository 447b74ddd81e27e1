//! Finds the keys of TOML, INI and similar formats, row by row.

use super::blocks::Block;
use super::inline::shortened;
use crate::chunker::Lines;

const LONGEST_NAME: usize = 120;

/// Creates blocks for tables (`[a.b]`, `[[a]]`), for their keys, and for keys before the first table. Rows
/// inside multi-line strings and arrays are ignored.
pub(super) fn toml(lines: &Lines<'_>) -> Vec<Block> {
    let mut builder = Builder::default();
    let mut state = Value::default();
    for row in 0..lines.num_rows() {
        let text = lines.row(row).trim_ascii();
        if state.is_open() {
            state.read(text);
            builder.end = row + 1;
            continue;
        }
        if text.starts_with('[') {
            let name = text.trim_start_matches('[').split(']').next().unwrap_or_default().trim();
            builder.section(row, name);
        } else if let Some((key, value)) = text.split_once('=').filter(|_| !text.starts_with('#')) {
            builder.key(row, key);
            state.read(value);
        }
    }
    builder.finish()
}

/// Creates blocks for the sections and keys of INI, properties and environment files: `key = value`, `key:
/// value`.
pub(super) fn ini(lines: &Lines<'_>) -> Vec<Block> {
    let mut builder = Builder::default();
    for row in 0..lines.num_rows() {
        let text = lines.row(row);
        let trimmed = text.trim_ascii();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';', '!']) {
            continue;
        }
        let is_continuation = text.starts_with([' ', '\t']) && builder.end > 0;
        if trimmed.starts_with('[') && trimmed.ends_with(']') {
            builder.section(row, trimmed.trim_matches(['[', ']']).trim());
        } else if let Some((key, _)) = trimmed.split_once(['=', ':']).filter(|_| !is_continuation) {
            builder.key(row, key.trim_start_matches("export "));
        } else {
            builder.end = row + 1;
        }
    }
    builder.finish()
}

/// Builds the blocks of sections and keys. At this stage, comments above a block belong to no block. A later
/// step adds them to the next block.
#[derive(Default)]
struct Builder {
    blocks: Vec<Block>,
    section: Option<usize>,
    /// The row after the last key or section and its continuation rows.
    end: usize,
}

impl Builder {
    fn section(&mut self, row: usize, name: &str) {
        self.close();
        self.section = Some(self.blocks.len());
        self.blocks.push(Block::new(row, row + 1, 0, shortened(name, LONGEST_NAME)));
        self.end = row + 1;
    }

    fn key(&mut self, row: usize, key: &str) {
        self.close_key();
        let depth = u8::from(self.section.is_some());
        let name = shortened(key.trim().trim_matches(['"', '\'']), LONGEST_NAME);
        self.blocks.push(Block::new(row, row + 1, depth, name));
        self.end = row + 1;
    }

    fn close_key(&mut self) {
        if let Some(last) = self.blocks.last_mut() {
            last.rows.end = last.rows.end.max(self.end);
        }
    }

    fn close(&mut self) {
        self.close_key();
        if let Some(section) = self.section {
            self.blocks[section].rows.end = self.end;
        }
    }

    fn finish(mut self) -> Vec<Block> {
        self.close();
        self.blocks
    }
}

/// Tracks whether a TOML value continues after the end of a row, because a bracket or a multi-line string is
/// open.
#[derive(Default)]
struct Value {
    depth: usize,
    quotes: Option<&'static str>,
}

impl Value {
    fn is_open(&self) -> bool {
        self.depth > 0 || self.quotes.is_some()
    }

    fn read(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(quotes) = self.quotes {
                match rest.split_once(quotes) {
                    Some((_, after)) => {
                        self.quotes = None;
                        rest = after;
                    }
                    None => return,
                }
                continue;
            }
            let Some(at) = rest.find(['"', '\'', '[', ']', '{', '}', '#']) else { return };
            let (mark, after) = (rest.as_bytes()[at], &rest[at + 1..]);
            rest = match mark {
                b'#' => return,
                b'[' | b'{' => {
                    self.depth += 1;
                    after
                }
                b']' | b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    after
                }
                _ => self.string(mark, &rest[at..]),
            };
        }
    }

    /// Reads a string that begins with the first byte of `text`. Returns the text after the string. For a
    /// multi-line string, returns the text after its opening quotes.
    fn string<'t>(&mut self, mark: u8, text: &'t str) -> &'t str {
        let triple = if mark == b'"' { "\"\"\"" } else { "'''" };
        if let Some(after) = text.strip_prefix(triple) {
            self.quotes = Some(triple);
            return after;
        }
        let mut is_escaped = false;
        for (at, byte) in text.bytes().enumerate().skip(1) {
            if byte == mark && !is_escaped {
                return &text[at + 1..];
            }
            is_escaped = mark == b'"' && byte == b'\\' && !is_escaped;
        }
        ""
    }
}
