//! Groups small neighbours among the pieces of a file, so that a chunk says enough to be found and read on its own.

use cairn_domain::{ChunkKind, Symbol, SymbolKind};

use super::outline::{Piece, Role};
use super::{LONG_TOKENS, Lines, Rows, TARGET_TOKENS, TINY_TOKENS, WHOLE_TOKENS};

/// What becomes a chunk.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) rows: Rows,
    pub(super) kind: ChunkKind,
    pub(super) symbol: Option<u32>,
    /// The definition around it, for the header, where `symbol` does not say it.
    pub(super) enclosing: Option<u32>,
    /// For the head of an opened class: that its members stand elsewhere is told by `members`.
    pub(super) members: Vec<u32>,
    pub(super) part: Option<(u16, u16)>,
    pub(super) is_test: bool,
}

/// The kind of a chunk that shows one definition.
pub(super) fn kind_of(kind: SymbolKind) -> ChunkKind {
    match kind {
        SymbolKind::Function | SymbolKind::Macro => ChunkKind::Function,
        SymbolKind::Method => ChunkKind::Method,
        SymbolKind::Module | SymbolKind::Constant | SymbolKind::Variable | SymbolKind::Field => ChunkKind::Group,
        _ => ChunkKind::Class,
    }
}

/// Pieces that are becoming a chunk.
struct Bundle {
    rows: Rows,
    pieces: Vec<Piece>,
    /// The type whose methods are in it.
    owner: Option<u32>,
}

pub(super) fn group(lines: &Lines<'_>, symbols: &[Symbol], pieces: Vec<Piece>) -> Vec<Group> {
    let mut bundles: Vec<Bundle> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let owner = owner_of(symbols, &piece);
        match bundles.last_mut() {
            Some(bundle) if bundle.takes(lines, symbols, &piece) => {
                bundle.rows.end = piece.rows.end;
                bundle.owner = bundle.owner.or(owner);
                bundle.pieces.push(piece);
            }
            _ => bundles.push(Bundle { rows: piece.rows, owner, pieces: vec![piece] }),
        }
    }
    let mut groups: Vec<Group> = bundles.iter().map(|bundle| bundle.finish(lines, symbols)).collect();
    give_tiny_ones_away(lines, symbols, &mut groups);
    list_members(symbols, &mut groups);
    groups
}

fn owner_of(symbols: &[Symbol], piece: &Piece) -> Option<u32> {
    match piece.role {
        Role::Unit => symbols[piece.symbol? as usize].parent.filter(|&parent| (parent as usize) < symbols.len()),
        _ => None,
    }
}

impl Bundle {
    fn takes(&self, lines: &Lines<'_>, symbols: &[Symbol], piece: &Piece) -> bool {
        let Some(last) = self.pieces.last() else { return false };
        let together = lines.tokens(Rows::new(self.rows.start, piece.rows.end));
        is_small(lines, piece)
            && (last.role == Role::Head || is_small(lines, last))
            && together <= TARGET_TOKENS
            && last.container == piece.container
            && last.is_test == piece.is_test
            && self.is_kin(symbols, piece)
    }

    /// Free functions go with free functions and methods with methods of the same type, or with the type itself.
    fn is_kin(&self, symbols: &[Symbol], piece: &Piece) -> bool {
        if piece.role == Role::Loose {
            return true;
        }
        match owner_of(symbols, piece) {
            None => self.owner.is_none(),
            owner if self.owner.is_some() => owner == self.owner,
            owner => self.pieces.iter().all(|other| other.symbol.is_none() || other.symbol == owner),
        }
    }

    fn finish(&self, lines: &Lines<'_>, symbols: &[Symbol]) -> Group {
        let mut shown = self.pieces.iter().filter(|piece| piece.symbol.is_some());
        let (first, is_alone) = (shown.next(), shown.next().is_none());
        let is_class = first.is_some_and(|first| first.role == Role::Head || first.symbol == self.owner);
        let symbol = first.filter(|_| is_alone || is_class).and_then(|first| first.symbol);
        // A comment beside a definition does not change what the chunk is; as much other code does.
        let loose = self.pieces.iter().filter(|piece| piece.role == Role::Loose);
        let loose_weight: u32 = loose.map(|piece| lines.weight(piece.rows)).sum();
        let kind = match symbol {
            Some(symbol) if is_class || loose_weight * 2 <= lines.weight(self.rows) => {
                kind_of(symbols[symbol as usize].kind)
            }
            _ => ChunkKind::Group,
        };
        Group {
            rows: self.rows,
            kind,
            symbol,
            enclosing: self.owner.or_else(|| self.pieces.first().and_then(|piece| piece.container)),
            members: Vec::new(),
            part: self.pieces.first().and_then(|piece| piece.part),
            is_test: self.pieces.iter().all(|piece| piece.is_test),
        }
    }
}

/// Small pieces are grouped; a part of something is not small, whatever its size.
fn is_small(lines: &Lines<'_>, piece: &Piece) -> bool {
    piece.role != Role::Part && lines.tokens(piece.rows) < LONG_TOKENS
}

/// A few stray lines go to the definition that follows them, or else to the one before. The head of a class stays: it
/// is where the class is found.
fn give_tiny_ones_away(lines: &Lines<'_>, symbols: &[Symbol], groups: &mut Vec<Group>) {
    let mut kept: Vec<Group> = Vec::with_capacity(groups.len());
    let mut waiting: Option<Group> = None;
    for mut group in groups.drain(..) {
        if let Some(tiny) = waiting.take() {
            if can_join(lines, &tiny, &group) {
                group.rows.start = tiny.rows.start;
            } else {
                settle(lines, &mut kept, tiny);
            }
        }
        let is_class = group.symbol.is_some_and(|symbol| kind_of(symbols[symbol as usize].kind) == ChunkKind::Class);
        if !is_class && group.part.is_none() && lines.tokens(group.rows) < TINY_TOKENS {
            waiting = Some(group);
        } else {
            kept.push(group);
        }
    }
    if let Some(tiny) = waiting {
        settle(lines, &mut kept, tiny);
    }
    *groups = kept;
}

fn settle(lines: &Lines<'_>, kept: &mut Vec<Group>, tiny: Group) {
    match kept.last_mut() {
        Some(last) if can_join(lines, last, &tiny) => last.rows.end = tiny.rows.end,
        _ => kept.push(tiny),
    }
}

fn can_join(lines: &Lines<'_>, first: &Group, second: &Group) -> bool {
    first.is_test == second.is_test && lines.tokens(Rows::new(first.rows.start, second.rows.end)) <= WHOLE_TOKENS
}

/// Tells the first chunk of each class which members stand in other chunks, so that the class is found by them.
fn list_members(symbols: &[Symbol], groups: &mut [Group]) {
    let mut first_chunk = vec![u32::MAX; symbols.len()];
    for (index, group) in groups.iter().enumerate().rev() {
        if let (ChunkKind::Class, Some(symbol)) = (group.kind, group.symbol) {
            first_chunk[symbol as usize] = index as u32;
        }
    }
    for (member, symbol) in symbols.iter().enumerate() {
        let Some(&class) = symbol.parent.and_then(|parent| first_chunk.get(parent as usize)) else { continue };
        let Some(group) = groups.get_mut(class as usize) else { continue };
        if symbol.kind.is_callable() && !group.rows.span().contains(symbol.span.start) {
            group.members.push(member as u32);
        }
    }
}
