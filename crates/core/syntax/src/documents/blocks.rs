//! Turns the blocks of a text into chunks, in the same way for every format. A block is a key, a section or a
//! statement.
//!
//! Blocks form a tree and are in order of position. A block that is small enough becomes a chunk. A larger
//! block is opened: its inner blocks are turned into chunks in the same way. If it has no inner blocks, it is
//! divided into parts. Small neighbouring blocks with the same parent share a chunk. Rows between blocks
//! belong to the next block.

use cairn_domain::{ChunkFacts, ChunkKind, Symbol, SymbolKind};

use crate::chunker::{Lines, Rows, plain_chunk, split_rows};

/// Scanners ignore blocks that are nested more deeply than this, so this is also the maximum recursion depth
/// in this module.
pub(super) const DEEPEST: u8 = 8;

/// A block of a text. The inner blocks come directly after their outer block and have a greater depth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Block {
    pub(super) rows: Rows,
    pub(super) depth: u8,
    pub(super) name: String,
    pub(super) symbol: Option<u32>,
}

impl Block {
    pub(super) fn new(start: usize, end: usize, depth: u8, name: impl Into<String>) -> Self {
        Self { rows: Rows::new(start, end), depth, name: name.into(), symbol: None }
    }
}

/// How the blocks of a format are turned into chunks.
#[derive(Clone, Copy)]
pub(super) struct Style<'s> {
    pub(super) kind: ChunkKind,
    /// The separator between the names in the path of a block.
    pub(super) separator: &'s str,
    /// A block up to this size is one chunk. Groups of small blocks are not larger than this.
    pub(super) whole_tokens: u32,
    /// Blocks that are smaller than this are grouped with their neighbours.
    pub(super) small_tokens: u32,
    /// Whether every block that has text outside its inner blocks is a separate chunk, regardless of its
    /// size. If so, only a block without such text is joined to its first inner block.
    pub(super) keeps_apart: bool,
    /// The first line of every header.
    pub(super) title: Option<&'s str>,
}

pub(super) const CONFIG: Style<'static> = Style { kind: ChunkKind::Config, separator: ".", small_tokens: 100, ..CODE };

pub(super) const CODE: Style<'static> = Style {
    kind: ChunkKind::Group,
    separator: " ",
    whole_tokens: 500,
    small_tokens: 120,
    keeps_apart: false,
    title: None,
};

/// Rows between blocks are joined to a block if they have fewer tokens than this. A piece with fewer tokens
/// than this is joined to a neighbour if possible.
const TINY_TOKENS: u32 = 24;
/// The maximum number of names in the heading of a group.
const MOST_NAMES: usize = 8;

/// Rows that become a chunk, alone or together with small neighbours.
struct Piece {
    rows: Rows,
    /// The path of the block that contains the rows.
    parent: String,
    names: Vec<String>,
    symbols: Vec<u32>,
    part: Option<(u16, u16)>,
}

/// Returns the chunks of a text that consists of these blocks.
pub(super) fn chunks(lines: &Lines<'_>, blocks: Vec<Block>, style: Style<'_>, symbols: &[Symbol]) -> Vec<ChunkFacts> {
    if blocks.is_empty() {
        let kind = if style.kind == ChunkKind::Config { ChunkKind::Config } else { ChunkKind::Text };
        return crate::chunker::window_rows(lines, lines.all())
            .into_iter()
            .map(|rows| plain_chunk(lines, rows, kind))
            .collect();
    }
    let blocks = with_ends(blocks);
    let mut layout = Layout { lines, style, blocks: &blocks, pieces: Vec::new() };
    layout.open(lines.all(), 0, blocks.len(), &[]);
    let pieces = join_tiny(lines, group_small(lines, layout.pieces, style), style);
    pieces.iter().map(|piece| chunk(lines, piece, style, symbols)).collect()
}

/// Adds to each block the index of the first later block that is not inside the block.
fn with_ends(blocks: Vec<Block>) -> Vec<(Block, usize)> {
    let mut ends = vec![blocks.len(); blocks.len()];
    let mut open: Vec<usize> = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        while let Some(outer) = open.pop_if(|&mut outer| blocks[outer].depth >= block.depth) {
            ends[outer] = index;
        }
        open.push(index);
    }
    blocks.into_iter().zip(ends).collect()
}

struct Layout<'a> {
    lines: &'a Lines<'a>,
    style: Style<'a>,
    blocks: &'a [(Block, usize)],
    pieces: Vec<Piece>,
}

impl Layout<'_> {
    fn open(&mut self, rows: Rows, first: usize, last: usize, path: &[&str]) {
        let mut at = rows.start;
        let mut index = first;
        while index < last {
            let (block, after) = &self.blocks[index];
            let unit = Rows::new(block.rows.start.max(at), block.rows.end.min(rows.end));
            if !unit.is_empty() {
                let gap = Rows::new(at, unit.start);
                let is_own = at == rows.start && !path.is_empty() || self.lines.tokens(gap) > TINY_TOKENS * 2;
                if is_own && !gap.is_empty() {
                    self.push(gap, path, None);
                    at = unit.start;
                }
                self.place(index, Rows::new(at, unit.end), path);
                at = unit.end;
            }
            index = *after;
        }
        self.tail(Rows::new(at, rows.end), path);
    }

    fn place(&mut self, index: usize, rows: Rows, path: &[&str]) {
        let (block, after) = &self.blocks[index];
        let path = [path, &[block.name.as_str()]].concat();
        let is_large = self.style.keeps_apart || self.lines.tokens(rows) > self.style.whole_tokens;
        if is_large && index + 1 < *after {
            self.open(rows, index + 1, *after, &path);
        } else {
            self.push(rows, &path, block.symbol);
        }
    }

    fn tail(&mut self, rows: Rows, path: &[&str]) {
        match self.pieces.last_mut() {
            _ if rows.is_empty() => {}
            Some(last) if last.rows.end == rows.start && self.lines.tokens(rows) <= TINY_TOKENS => {
                last.rows.end = rows.end;
            }
            _ => self.push(rows, path, None),
        }
    }

    fn push(&mut self, rows: Rows, path: &[&str], symbol: Option<u32>) {
        let (names, parents) =
            path.split_last().map_or((Vec::new(), path), |(name, parents)| (vec![(*name).to_owned()], parents));
        let parent = parents.join(self.style.separator);
        let parts = split_rows(self.lines, rows);
        let count = u16::try_from(parts.len()).unwrap_or(u16::MAX);
        for (index, rows) in parts.into_iter().enumerate() {
            let part = (count > 1).then(|| (u16::try_from(index + 1).unwrap_or(u16::MAX), count));
            let symbols = symbol.into_iter().collect();
            self.pieces.push(Piece { rows, parent: parent.clone(), names: names.clone(), symbols, part });
        }
    }
}

/// Joins consecutive small pieces with the same parent.
fn group_small(lines: &Lines<'_>, pieces: Vec<Piece>, style: Style<'_>) -> Vec<Piece> {
    let mut groups: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut is_open = false;
    let mut pieces = pieces.into_iter().peekable();
    while let Some(piece) = pieces.next() {
        let is_head = pieces.peek().is_some_and(|next| next.is_within(&piece, style.separator));
        let is_small = !is_head && piece.part.is_none() && lines.tokens(piece.rows) < style.small_tokens;
        match groups.last_mut() {
            Some(group)
                if is_open
                    && is_small
                    && group.parent == piece.parent
                    && lines.tokens(Rows::new(group.rows.start, piece.rows.end)) <= style.whole_tokens =>
            {
                group.rows.end = piece.rows.end;
                group.names.extend(piece.names);
                group.symbols.extend(piece.symbols);
            }
            _ => {
                is_open = is_small;
                groups.push(piece);
            }
        }
    }
    groups
}

/// Joins tiny pieces to neighbours. Loose lines are joined to the next piece, whose name does not change. A
/// piece that is only the head of the next piece, such as a heading without text or `services:`, is also
/// joined to the next piece. Any other tiny piece is joined to the previous piece with the same parent,
/// unless the style keeps named pieces apart.
fn join_tiny(lines: &Lines<'_>, pieces: Vec<Piece>, style: Style<'_>) -> Vec<Piece> {
    let is_tiny = |piece: &Piece| match style.keeps_apart && !piece.names.is_empty() {
        true => num_text_rows(lines, piece.rows) <= 1,
        false => piece.part.is_none() && lines.tokens(piece.rows) < TINY_TOKENS,
    };
    let is_title = |piece: &Piece| {
        piece.parent.is_empty() && matches!(&piece.names[..], [name] if Some(name.as_str()) == style.title)
    };
    let fits = |start, end| lines.tokens(Rows::new(start, end)) <= style.whole_tokens + 4 * TINY_TOKENS;
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut pieces = pieces.into_iter().peekable();
    while let Some(mut piece) = pieces.next() {
        let is_head = |last: &Piece| last.names.is_empty() || is_title(last) || piece.is_within(last, style.separator);
        if let Some(head) =
            joined.pop_if(|last| is_tiny(last) && is_head(last) && fits(last.rows.start, piece.rows.end))
        {
            piece.rows.start = head.rows.start;
            piece.symbols.splice(..0, head.symbols);
        }
        match joined.last_mut() {
            Some(last)
                if is_tiny(&piece)
                    && (piece.names.is_empty() || !style.keeps_apart)
                    && !pieces.peek().is_some_and(|next| next.is_within(&piece, style.separator))
                    && (piece.names.is_empty() || (last.parent == piece.parent && last.part.is_none()))
                    && fits(last.rows.start, piece.rows.end) =>
            {
                last.rows.end = piece.rows.end;
                last.names.extend(piece.names);
                last.symbols.extend(piece.symbols);
            }
            _ => joined.push(piece),
        }
    }
    joined
}

/// The number of rows that contain a letter or digit. So the underline of a heading is not counted.
fn num_text_rows(lines: &Lines<'_>, rows: Rows) -> usize {
    (rows.start..rows.end).filter(|row| lines.row(*row).contains(char::is_alphanumeric)).count()
}

impl Piece {
    /// Whether `other` is the head of a block that contains this piece.
    fn is_within(&self, other: &Piece, separator: &str) -> bool {
        let [name] = &other.names[..] else { return false };
        let inner = self.parent.strip_prefix(other.parent.as_str());
        let inner =
            inner.map(|rest| if other.parent.is_empty() { rest } else { rest.strip_prefix(separator).unwrap_or(rest) });
        inner.is_some_and(|rest| {
            rest.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
        })
    }
}

fn chunk(lines: &Lines<'_>, piece: &Piece, style: Style<'_>, symbols: &[Symbol]) -> ChunkFacts {
    let heading = heading(piece, style);
    let symbol = match piece.symbols[..] {
        [only] => Some(only),
        _ => None,
    };
    let mut header: Vec<&str> = style.title.into_iter().filter(|&title| heading.as_deref() != Some(title)).collect();
    header.extend(heading.as_deref());
    let part = piece.part.map(|(number, count)| format!("part {number} of {count}"));
    header.extend(part.as_deref());
    let header = header.join("\n");
    let kind = symbol.map_or(style.kind, |symbol| kind_of(symbols[symbol as usize].kind));
    ChunkFacts { symbol, heading, header, part: piece.part, ..plain_chunk(lines, piece.rows, kind) }
}

/// The path of a block. For a group of blocks, the path of the parent and the names of the first members.
fn heading(piece: &Piece, style: Style<'_>) -> Option<String> {
    let mut names: Vec<&str> = piece.names.iter().map(String::as_str).collect();
    names.dedup();
    if names.len() > MOST_NAMES {
        names.truncate(MOST_NAMES);
        names.push("…");
    }
    let names = names.join(", ");
    let parts: Vec<&str> = [piece.parent.as_str(), &names].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(style.separator))
}

fn kind_of(kind: SymbolKind) -> ChunkKind {
    match kind {
        SymbolKind::Function => ChunkKind::Function,
        SymbolKind::Struct | SymbolKind::Type => ChunkKind::Class,
        _ => ChunkKind::Group,
    }
}
