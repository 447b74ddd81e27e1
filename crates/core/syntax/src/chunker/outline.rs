//! Divides a file into consecutive pieces. Together, the pieces contain every row of the file.
//!
//! The structure is read from the spans of symbols and not from their `parent`, because the parent can end
//! before the symbol begins: for example, a type in Rust ends before the methods in its `impl` block, and a
//! type in Go ends before its methods. A definition that is too large for a chunk is opened: its head becomes
//! a piece, and its members are laid out in the same way. A large definition without members is divided into
//! parts.

use cairn_domain::{ChunkKind, Symbol, SymbolKind};

use super::group::{Group, kind_of};
use super::lines::{Lines, Rows};
use super::sizes::{LONG_TOKENS, MEDIUM_FILE_TOKENS, TARGET_TOKENS, TINY_TOKENS, WHOLE_CLASS_TOKENS, WHOLE_TOKENS};
use super::split::split_rows;

/// Definitions that are nested deeper than this are not opened, that is, not divided into a head and members.
const DEEPEST: usize = 32;

/// The role of a piece in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// A complete definition.
    Unit,
    /// The beginning of a definition whose members are separate pieces.
    Head,
    /// A part of a divided definition or of divided loose lines.
    Part,
    /// Lines outside of definitions, or definitions that are too small to be pieces.
    Loose,
}

#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) rows: Rows,
    pub(super) role: Role,
    /// The symbol whose definition is in the piece.
    pub(super) symbol: Option<u32>,
    /// The innermost opened definition around the piece. For a head, this is the definition to which the head
    /// belongs.
    pub(super) container: Option<u32>,
    pub(super) part: Option<(u16, u16)>,
    pub(super) is_test: bool,
}

/// A symbol with its rows and its nesting.
struct Node {
    rows: Rows,
    symbol: u32,
    /// The index of the first later node that is not inside this node.
    after: usize,
}

/// The nodes of all symbols, in order of position. An outer symbol comes before the symbols inside it.
fn nodes(lines: &Lines<'_>, symbols: &[Symbol]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(symbols.len());
    for (index, symbol) in symbols.iter().enumerate() {
        let rows = Rows::of(symbol.span, lines.num_rows());
        if !rows.is_empty() {
            nodes.push(Node { rows, symbol: index as u32, after: 0 });
        }
    }
    nodes.sort_by_key(|node| (node.rows.start, std::cmp::Reverse(node.rows.end)));
    let mut open: Vec<usize> = Vec::new();
    for index in 0..nodes.len() {
        let rows = nodes[index].rows;
        while let Some(outer) = open.pop_if(|&mut outer| !nodes[outer].rows.contains(rows)) {
            nodes[outer].after = index;
        }
        open.push(index);
    }
    let end = nodes.len();
    for outer in open {
        nodes[outer].after = end;
    }
    nodes
}

/// The only chunk of a small file. The chunk has a symbol if the file defines exactly one symbol.
pub(super) fn whole_file(lines: &Lines<'_>, symbols: &[Symbol]) -> Group {
    let nodes = nodes(lines, symbols);
    let mut outermost = Vec::new();
    let mut index = 0;
    while index < nodes.len() {
        if symbols[nodes[index].symbol as usize].kind != SymbolKind::Field {
            outermost.push(nodes[index].symbol);
        }
        index = nodes[index].after;
    }
    let is_test = !outermost.is_empty() && outermost.iter().all(|&symbol| symbols[symbol as usize].is_test);
    let (kind, symbol) = match outermost[..] {
        [only] => (kind_of(symbols[only as usize].kind), Some(only)),
        _ => (ChunkKind::Group, None),
    };
    Group { rows: lines.all(), kind, symbol, enclosing: None, members: Vec::new(), part: None, is_test }
}

/// The pieces of a file, in order and without gaps.
pub(super) fn lay_out(lines: &Lines<'_>, symbols: &[Symbol]) -> Vec<Piece> {
    let all = lines.all();
    let nodes = nodes(lines, symbols);
    let is_medium = lines.tokens(all) <= MEDIUM_FILE_TOKENS;
    let mut layout = Layout { lines, symbols, nodes: &nodes, is_medium, pieces: Vec::new() };
    layout.open(all, 0, nodes.len(), Surroundings { container: None, is_test: false, depth: 0 });
    layout.pieces
}

/// The surroundings of a definition: its container, whether it is inside test code, and its nesting depth.
#[derive(Clone, Copy)]
struct Surroundings {
    container: Option<u32>,
    is_test: bool,
    depth: usize,
}

struct Layout<'a> {
    lines: &'a Lines<'a>,
    symbols: &'a [Symbol],
    nodes: &'a [Node],
    is_medium: bool,
    pieces: Vec<Piece>,
}

impl Layout<'_> {
    /// Divides rows into pieces. The outermost definitions in the rows are the nodes from `first` to `last`.
    fn open(&mut self, rows: Rows, first: usize, last: usize, around: Surroundings) {
        let mut at = rows.start;
        let mut index = first;
        while index < last {
            let node = &self.nodes[index];
            // If two definitions share a row, the row is assigned to the first definition.
            let unit = Rows::new(node.rows.start.max(at), node.rows.end.min(rows.end));
            if !unit.is_empty() && self.is_own_piece(index, unit, around) {
                let start = self.gap(Rows::new(at, unit.start), at == rows.start, around);
                self.add_definition(index, Rows::new(start, unit.end), around);
                at = unit.end;
            }
            index = node.after;
        }
        self.tail(Rows::new(at, rows.end), around);
    }

    /// Whether a definition becomes a separate piece. If not, the definition is treated as part of the loose
    /// lines around it.
    fn is_own_piece(&self, index: usize, unit: Rows, around: Surroundings) -> bool {
        let kind = self.symbols[self.nodes[index].symbol as usize].kind;
        if kind.is_callable() || kind.is_container() {
            return true;
        }
        let least = match around.container {
            None if kind != SymbolKind::Field => TINY_TOKENS,
            _ => LONG_TOKENS,
        };
        self.lines.tokens(unit) >= least
    }

    /// Adds a definition as one piece, or opens the definition, or divides the definition into parts.
    fn add_definition(&mut self, index: usize, rows: Rows, around: Surroundings) {
        let (node, lines) = (&self.nodes[index], self.lines);
        let symbol = &self.symbols[node.symbol as usize];
        let is_test = around.is_test || symbol.is_test;
        let shows = Some(node.symbol);
        if lines.tokens(rows) <= self.whole_limit(symbol.kind) {
            let piece =
                Piece { rows, role: Role::Unit, symbol: shows, container: around.container, part: None, is_test };
            self.pieces.push(piece);
        } else if around.depth < DEEPEST && self.is_worth_opening(index, rows) {
            let inner = Surroundings { container: shows, is_test, depth: around.depth + 1 };
            self.open(rows, index + 1, node.after, inner);
        } else {
            self.parts(rows, shows, Surroundings { is_test, ..around });
        }
    }

    fn whole_limit(&self, kind: SymbolKind) -> u32 {
        match kind {
            SymbolKind::Module => TARGET_TOKENS,
            kind if kind.is_container() && self.is_medium => WHOLE_CLASS_TOKENS,
            kind if kind.is_container() => TARGET_TOKENS,
            _ => WHOLE_TOKENS,
        }
    }

    /// Whether a definition should be opened, that is, divided into a head and members. A container is opened
    /// if one of its members becomes a separate piece. Any other definition is opened only if it consists
    /// mostly of other definitions, for example a function that acts as a module.
    fn is_worth_opening(&self, index: usize, rows: Rows) -> bool {
        let node = &self.nodes[index];
        let around = Surroundings { container: Some(node.symbol), is_test: false, depth: 0 };
        let mut inner_weight = 0;
        let mut inner = index + 1;
        while inner < node.after {
            let unit = self.nodes[inner].rows;
            if self.is_own_piece(inner, unit, around) {
                inner_weight += self.lines.weight(unit);
            }
            inner = self.nodes[inner].after;
        }
        let kind = self.symbols[node.symbol as usize].kind;
        if kind.is_container() { inner_weight > 0 } else { inner_weight * 2 > self.lines.weight(rows) }
    }

    /// Adds the rows before a definition as a separate piece. Rows that belong to the piece of the
    /// definition, such as a comment directly above the definition, are not added. Returns the row at which
    /// the piece of the definition begins.
    fn gap(&mut self, gap: Rows, is_first: bool, around: Surroundings) -> usize {
        let is_head = is_first && around.container.is_some();
        if gap.is_empty() {
            return gap.end;
        }
        let start = if is_head { gap.start } else { self.give_closers_back(gap) };
        let comment = self.comment_above(Rows::new(if is_head { start + 1 } else { start }, gap.end));
        let rest = Rows::new(start, comment);
        if is_head {
            self.loose(rest, around.container, around);
            comment
        } else if self.lines.tokens(rest) <= TINY_TOKENS || self.lines.are_blank(rest) {
            start
        } else {
            self.loose(rest, None, around);
            comment
        }
    }

    /// Adds the rows after the last definition as a piece.
    fn tail(&mut self, rows: Rows, around: Surroundings) {
        let start = self.give_closers_back(rows);
        let rest = Rows::new(start, rows.end);
        if rest.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(last) if last.rows.end == start && self.lines.tokens(rest) <= TINY_TOKENS => last.rows.end = rest.end,
            _ => self.loose(rest, None, around),
        }
    }

    /// Adds rows that only close a definition, such as `}`, to the previous piece. Returns the first row
    /// after the closing rows.
    fn give_closers_back(&mut self, rows: Rows) -> usize {
        match self.pieces.last_mut() {
            Some(last) if last.rows.end == rows.start => {
                let closers = (rows.start..rows.end).take_while(|&row| is_closer(self.lines.row(row))).count();
                last.rows.end += closers;
                last.rows.end
            }
            _ => rows.start,
        }
    }

    /// The first row of the comment or annotations at the end of `rows`.
    fn comment_above(&self, rows: Rows) -> usize {
        let mut first = rows.end;
        while first > rows.start
            && is_comment_like(self.lines.row(first - 1))
            && self.lines.tokens(Rows::new(first - 1, rows.end)) <= LONG_TOKENS
        {
            first -= 1;
        }
        first
    }

    fn loose(&mut self, rows: Rows, head_of: Option<u32>, around: Surroundings) {
        if self.lines.tokens(rows) > WHOLE_TOKENS {
            self.parts(rows, head_of, around);
        } else if !rows.is_empty() {
            let role = if head_of.is_some() { Role::Head } else { Role::Loose };
            let Surroundings { container, is_test, .. } = around;
            self.pieces.push(Piece { rows, role, symbol: head_of, container, part: None, is_test });
        }
    }

    fn parts(&mut self, rows: Rows, symbol: Option<u32>, around: Surroundings) {
        let parts = split_rows(self.lines, rows);
        let count = u16::try_from(parts.len()).unwrap_or(u16::MAX);
        for (index, rows) in parts.into_iter().enumerate() {
            let number = u16::try_from(index + 1).unwrap_or(u16::MAX);
            let part = (count > 1).then_some((number, count));
            let Surroundings { container, is_test, .. } = around;
            self.pieces.push(Piece { rows, role: Role::Part, symbol, container, part, is_test });
        }
    }
}

/// Whether the row only closes a block or definition: `}`, `});`, `end`, `#endif`.
fn is_closer(row: &str) -> bool {
    let row = row.trim_ascii();
    matches!(row, "end" | "#endif" | "fi" | "done" | "esac")
        || (!row.is_empty() && row.len() < 16 && row.bytes().all(|byte| b"})];,".contains(&byte)))
}

/// Whether the row looks like a comment, attribute, annotation or decorator of a common language.
fn is_comment_like(row: &str) -> bool {
    let row = row.trim_ascii_start();
    ["//", "#", "/*", "*", "--", "@", "["].iter().any(|marker| row.starts_with(marker)) && !row.starts_with("#include")
}
