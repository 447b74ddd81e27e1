//! Finds the keys of YAML by indentation. Indentation is sufficient to find and name blocks, so values are
//! not parsed.

use super::blocks::Block;
use super::inline::shortened;
use crate::chunker::Lines;

const LONGEST_NAME: usize = 80;
/// Keys and items that are nested deeper than this do not become blocks. Such a key or item is part of the
/// block around it.
const DEEPEST_KEY: usize = 6;

/// Creates blocks for keys and list items. If a file contains several documents, the documents are the
/// outermost blocks.
pub(super) fn blocks(lines: &Lines<'_>) -> Vec<Block> {
    let mut scanner = Scanner { is_stream: is_stream(lines), ..Scanner::default() };
    for row in 0..lines.num_rows() {
        scanner.row(row, lines.row(row));
    }
    scanner.close_document();
    scanner.blocks
}

/// Whether the file contains a document separator after some content.
fn is_stream(lines: &Lines<'_>) -> bool {
    let has_content =
        |row: usize| !matches!(lines.row(row).trim_ascii_start().as_bytes().first(), None | Some(b'#' | b'%'));
    let mut rows = (0..lines.num_rows()).skip_while(|&row| !has_content(row) || is_separator(lines.row(row)));
    rows.any(|row| is_separator(lines.row(row)))
}

fn is_separator(row: &str) -> bool {
    row.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\r', '\n', '\t']))
}

/// A key or list item that may continue in the next rows.
struct Open {
    column: usize,
    is_item: bool,
    block: usize,
    num_items: usize,
}

#[derive(Default)]
struct Scanner {
    is_stream: bool,
    blocks: Vec<Block>,
    open: Vec<Open>,
    /// The row after the last row with content. Comments after this row belong to the next block.
    end: usize,
    /// The column of the key of a block scalar. Rows that are indented deeper are the text of the scalar and
    /// contain no keys.
    scalar: Option<usize>,
    document: Option<usize>,
    num_documents: usize,
    num_root_items: usize,
}

impl Scanner {
    fn row(&mut self, row: usize, text: &str) {
        let trimmed = text.trim_ascii();
        let column = text.bytes().take_while(|&byte| byte == b' ').count();
        if trimmed.is_empty() {
            return;
        }
        if self.scalar.is_some_and(|outer| column > outer) {
            self.end = row + 1;
            return;
        }
        self.scalar = None;
        if trimmed.starts_with(['#', '%']) && column == 0 || trimmed.starts_with("# ") {
            return;
        }
        if is_separator(text) {
            self.begin_document(row);
        } else {
            if self.is_stream && self.document.is_none() {
                self.begin_document(row);
            }
            self.content(row, column, trimmed);
        }
        self.end = row + 1;
    }

    fn begin_document(&mut self, row: usize) {
        self.close_document();
        self.num_root_items = 0;
        if self.is_stream {
            self.num_documents += 1;
            self.document = Some(self.blocks.len());
            self.blocks.push(Block::new(row, row + 1, 0, format!("document {}", self.num_documents)));
        }
    }

    fn close_document(&mut self) {
        self.close(|_| true);
        if let Some(document) = self.document.take() {
            self.blocks[document].rows.end = self.end;
        }
    }

    /// Ends the innermost open blocks for which `is_over` is true.
    fn close(&mut self, is_over: impl Fn(&Open) -> bool) {
        while let Some(open) = self.open.pop_if(|open| is_over(open)) {
            self.blocks[open.block].rows.end = self.end;
        }
    }

    /// Reads a row with content: the dashes of list items, followed by an optional key.
    fn content(&mut self, row: usize, column: usize, text: &str) {
        let (mut column, mut text) = (column, text);
        // Dashes nested deeper than the limit create no items. Searching for a name after each dash would
        // take quadratic time.
        while let Some(rest) = item(text).filter(|_| self.open.len() < DEEPEST_KEY) {
            // The dashes of a list may be in the same column as the key that contains the list.
            self.close(|open| open.column > column || (open.column == column && open.is_item));
            self.push_item(row, column, rest);
            let value = rest.trim_ascii_start();
            column += text.len() - value.len();
            text = value;
        }
        let value = match key(text) {
            Some((key, value)) => {
                self.close(|open| open.column >= column);
                self.push(row, column, false, key);
                self.name_document(column, key, value);
                value
            }
            None => text,
        };
        if value.starts_with(['|', '>']) && value.len() <= 4 {
            self.scalar = Some(column.saturating_sub(usize::from(key(text).is_none()) * 2));
        }
    }

    fn push_item(&mut self, row: usize, column: usize, value: &str) {
        let count = self.open.last_mut().map_or(&mut self.num_root_items, |open| &mut open.num_items);
        let number = *count;
        *count += 1;
        match item_name(value) {
            Some(name) => self.push(row, column, true, name),
            None => self.push(row, column, true, &format!("[{number}]")),
        }
    }

    fn push(&mut self, row: usize, column: usize, is_item: bool, name: &str) {
        if self.open.len() < DEEPEST_KEY {
            let depth = self.open.len() + usize::from(self.document.is_some());
            self.open.push(Open { column, is_item, block: self.blocks.len(), num_items: 0 });
            self.blocks.push(Block::new(row, row + 1, depth as u8, shortened(name, LONGEST_NAME)));
        }
    }

    /// Names a document of a stream by `kind` and `metadata.name`, as in Kubernetes.
    fn name_document(&mut self, column: usize, key: &str, value: &str) {
        let Some(document) = self.document else { return };
        let is_metadata = self.open.len() == 2 && self.blocks[self.open[0].block].name == "metadata";
        let name = &mut self.blocks[document].name;
        if column == 0 && key == "kind" && name.starts_with("document ") {
            *name = shortened(value, LONGEST_NAME);
        } else if is_metadata && key == "name" && !name.contains('/') {
            *name = format!("{name}/{}", shortened(value, LONGEST_NAME));
        }
    }
}

/// The text after the dash of a list item.
fn item(text: &str) -> Option<&str> {
    text.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The value of a key such as `name` or `id` at the beginning of a list item.
fn item_name(text: &str) -> Option<&str> {
    let (key, value) = key(text.trim_ascii_start())?;
    let is_name = matches!(key, "name" | "id" | "key" | "title" | "job_name" | "alert" | "uses" | "repo");
    (is_name && !value.is_empty()).then(|| value.trim_matches(['"', '\'']))
}

/// A key and its value at the beginning of the text: `key: value`, `"key": value`, `key:`.
fn key(text: &str) -> Option<(&str, &str)> {
    let first = *text.as_bytes().first()?;
    let (key, rest) = match first {
        b'"' | b'\'' => {
            let (key, rest) = text[1..].split_once(char::from(first))?;
            (key, rest.strip_prefix(':')?)
        }
        b'{' | b'[' | b'&' | b'*' | b'!' | b'|' | b'>' | b'#' => return None,
        _ => text.split_once(": ").or_else(|| Some((text.strip_suffix(':')?, "")))?,
    };
    let is_key = !key.is_empty() && !key.contains(" #");
    is_key.then(|| (key.trim_end(), rest.trim_ascii()))
}
