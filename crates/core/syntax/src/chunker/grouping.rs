//! Groups small neighbouring pieces of a file, so that each chunk contains enough text to be found and
//! understood without its neighbours.

use cairn_domain::{ChunkKind, Symbol};

use super::group::{Group, kind_of};
use super::lines::{Lines, Rows};
use super::outline::{Piece, Role};
use super::sizes::{LONG_TOKENS, TARGET_TOKENS, TINY_TOKENS, WHOLE_TOKENS};

/// Consecutive small pieces that will form one chunk.
struct Bundle {
    rows: Rows,
    pieces: Vec<Piece>,
    /// The type that owns the methods in the bundle.
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
    join_tiny_pieces(lines, symbols, &mut groups);
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
            && self.fits(symbols, piece)
    }

    /// Whether the piece may join the bundle. Functions are bundled with functions. Methods are bundled with
    /// methods of the same type, or with the type itself.
    fn fits(&self, symbols: &[Symbol], piece: &Piece) -> bool {
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
        // Loose lines with little text, such as a comment next to a definition, do not change the kind of the
        // chunk. If loose lines make up more than half of the chunk, its kind is `Group`.
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

/// Whether a piece is small enough to be grouped. A part of a definition is never grouped.
fn is_small(lines: &Lines<'_>, piece: &Piece) -> bool {
    piece.role != Role::Part && lines.tokens(piece.rows) < LONG_TOKENS
}

/// Joins each tiny group, such as a few loose lines, to the group after it; if this is not possible, to the
/// group before it. The head of a class stays separate, because searches for the class must find it.
fn join_tiny_pieces(lines: &Lines<'_>, symbols: &[Symbol], groups: &mut Vec<Group>) {
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

/// Lists, in the first chunk of each class, the members of the class that are in other chunks. Because of
/// this, a search for the names of these members also finds the class.
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
