//! Creates the chunks of Jupyter notebooks from their cells. The text of a chunk is the decoded source of its
//! cells. The span of a chunk is a range of lines in the stored JSON.
//!
//! A chunk is one cell, a part of a long cell, or several small cells. Outputs and metadata are in the span
//! of the cell before them, but not in its text. A file that is not a notebook is divided into windows.

use cairn_domain::{ChunkFacts, ChunkKind, ContentHash};

use super::inline::{plain, shortened};
use super::json::{Token, decoded, tokens};
use crate::chunker::{Lines, Rows, estimate_tokens, plain_chunk, split_rows, window_rows};

const WHOLE_TOKENS: u32 = 500;
const SMALL_TOKENS: u32 = 120;

/// A cell, a part of a cell, or a group of cells.
struct Cell {
    rows: Rows,
    is_code: bool,
    source: String,
    part: Option<(u16, u16)>,
    heading: Option<String>,
}

pub(super) fn chunks(lines: &Lines<'_>, text: &str) -> Vec<ChunkFacts> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut headings = Headings::default();
    for raw in raw_cells(lines, text) {
        let heading = headings.at(&raw);
        split_cell(&raw, heading.as_deref(), &mut cells);
    }
    let mut cells = grouped(cells);
    let Some(last) = cells.last_mut() else {
        return window_rows(lines, lines.all())
            .into_iter()
            .map(|rows| plain_chunk(lines, rows, ChunkKind::Text))
            .collect();
    };
    last.rows.end = lines.num_rows();
    let mut at = 0;
    for cell in &mut cells {
        // The spans of the cells are consecutive. The spans overlap only in minified notebooks, where one row
        // contains many cells.
        cell.rows.start = cell.rows.start.min(at);
        at = cell.rows.end;
    }
    cells.into_iter().map(chunk).collect()
}

fn chunk(cell: Cell) -> ChunkFacts {
    let part = cell.part.map(|(number, count)| format!("part {number} of {count}"));
    let header: Vec<&str> = cell.heading.as_deref().into_iter().chain(part.as_deref()).collect();
    ChunkFacts {
        kind: if cell.is_code { ChunkKind::Group } else { ChunkKind::Section },
        span: cell.rows.span(),
        symbol: None,
        header: header.join("\n"),
        heading: cell.heading,
        content_hash: ContentHash::of(&cell.source),
        synthetic_text: Some(cell.source),
        part: cell.part,
        is_test: false,
    }
}

/// A cell in the text of the JSON file.
struct RawCell {
    rows: Rows,
    is_code: bool,
    source: String,
    /// For each row of the source, the row of the JSON text in which the source row begins.
    source_rows: Vec<usize>,
}

/// The cells in the array `cells` of the outermost object, in order.
fn raw_cells(lines: &Lines<'_>, text: &str) -> Vec<RawCell> {
    let mut cells = Vec::new();
    let mut depth = 0_usize;
    let mut keys: [&str; 4] = [""; 4];
    let mut last_string = "";
    let mut cell: Option<RawCell> = None;
    for (at, token) in tokens(text) {
        match token {
            Token::Open(_) => {
                if depth == 2 && keys[1] == "cells" {
                    keys[3] = "";
                    cell = Some(RawCell::begin(lines.row_at(at)));
                }
                depth += 1;
            }
            Token::Close => {
                depth = depth.saturating_sub(1);
                if depth == 2
                    && let Some(mut ended) = cell.take()
                {
                    ended.rows.end = lines.row_at(at) + 1;
                    cells.push(ended);
                }
            }
            Token::Colon if depth < keys.len() => keys[depth] = last_string,
            Token::Comma if depth < keys.len() => keys[depth] = "",
            Token::String(raw) => {
                last_string = raw;
                if let Some(cell) = &mut cell {
                    cell.string(depth, keys[3], raw, lines.row_at(at));
                }
            }
            _ => {}
        }
    }
    cells
}

impl RawCell {
    /// A cell that begins in this row and contains no source yet.
    fn begin(row: usize) -> Self {
        Self { rows: Rows::new(row, row + 1), is_code: false, source: String::new(), source_rows: Vec::new() }
    }

    /// Reads a string of the cell: its type, its source, or a row of its source.
    fn string(&mut self, depth: usize, key: &str, raw: &str, row: usize) {
        match (depth, key) {
            (3, "cell_type") => self.is_code = raw == "code",
            (3 | 4, "source") => {
                let text = decoded(raw);
                let num_rows = text.split_inclusive('\n').count();
                self.source_rows.extend(std::iter::repeat_n(row, num_rows));
                self.source.push_str(&text);
            }
            _ => {}
        }
    }
}

/// The heading path of each cell, from the headings in the Markdown cells before it.
#[derive(Default)]
struct Headings(Vec<(usize, String)>);

impl Headings {
    fn at(&mut self, cell: &RawCell) -> Option<String> {
        let mut is_fenced = false;
        for row in cell.source.lines().filter(|_| !cell.is_code) {
            is_fenced ^= row.starts_with("```");
            let level = row.bytes().take(7).take_while(|&byte| byte == b'#').count();
            if !is_fenced && (1..=6).contains(&level) && row[level..].starts_with(' ') {
                while self.0.pop_if(|(outer, _)| *outer >= level).is_some() {}
                self.0.push((level, shortened(&plain(&row[level..]), 160)));
            }
        }
        let path: Vec<&str> = self.0.iter().map(|(_, heading)| heading.as_str()).collect();
        (!path.is_empty()).then(|| path.join(" > "))
    }
}

fn split_cell(raw: &RawCell, heading: Option<&str>, cells: &mut Vec<Cell>) {
    let source = Lines::new(&raw.source);
    let parts = if source.num_rows() == 0 { vec![Rows::new(0, 0)] } else { split_rows(&source, source.all()) };
    let count = u16::try_from(parts.len()).unwrap_or(u16::MAX);
    let mut start = raw.rows.start;
    for (index, part) in parts.iter().enumerate() {
        let next = raw.source_rows.get(part.end).copied().filter(|_| index + 1 < parts.len());
        let end = next.map_or(raw.rows.end, |next| next.max(start + 1));
        cells.push(Cell {
            rows: Rows::new(start, end),
            is_code: raw.is_code,
            source: source.slice(*part).trim_ascii_end().to_owned(),
            part: (count > 1).then(|| (u16::try_from(index + 1).unwrap_or(u16::MAX), count)),
            heading: heading.map(str::to_owned),
        });
        // If the source is a single string, all its rows are in one row of the JSON text.
        start = next.unwrap_or(raw.rows.end).min(raw.rows.end - 1).max(raw.rows.start);
    }
}

/// Joins small cells with the cells after them, so that an explanation stays with the code that it
/// introduces.
fn grouped(cells: Vec<Cell>) -> Vec<Cell> {
    let mut groups: Vec<Cell> = Vec::with_capacity(cells.len());
    let mut group_tokens = 0;
    for cell in cells {
        let tokens = estimate_tokens(&cell.source);
        match groups.last_mut().filter(|group| group.takes(&cell, group_tokens, tokens)) {
            Some(group) => {
                group.join(&cell);
                group_tokens += tokens;
            }
            None => {
                group_tokens = tokens;
                groups.push(cell);
            }
        }
    }
    groups
}

impl Cell {
    fn takes(&self, next: &Cell, own_tokens: u32, next_tokens: u32) -> bool {
        if next.source.is_empty() {
            return true;
        }
        let is_small = own_tokens < SMALL_TOKENS || (next.part.is_none() && next_tokens < SMALL_TOKENS);
        let most = if next.part.is_some() { WHOLE_TOKENS + SMALL_TOKENS } else { WHOLE_TOKENS };
        self.part.is_none()
            && next.part.is_none_or(|(number, _)| number == 1)
            && is_small
            && own_tokens.saturating_add(next_tokens) <= most
            && (next.is_code || self.heading == next.heading)
    }

    fn join(&mut self, next: &Cell) {
        self.rows.end = next.rows.end;
        self.is_code |= next.is_code && !next.source.is_empty();
        self.part = self.part.or(next.part);
        if !self.source.is_empty() && !next.source.is_empty() {
            self.source.push_str("\n\n");
        }
        self.source.push_str(&next.source);
    }
}
