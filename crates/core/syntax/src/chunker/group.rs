//! A group: the rows and symbols that will become one chunk.

use cairn_domain::{ChunkKind, SymbolKind};

use super::lines::Rows;

/// The rows and symbols that will become one chunk.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) rows: Rows,
    pub(super) kind: ChunkKind,
    pub(super) symbol: Option<u32>,
    /// The definition that encloses the group. The header uses it if `symbol` is a different definition.
    pub(super) enclosing: Option<u32>,
    /// If the group is the head of a class: the members of the class that are in other chunks.
    pub(super) members: Vec<u32>,
    pub(super) part: Option<(u16, u16)>,
    pub(super) is_test: bool,
}

/// The kind of a chunk that contains one definition.
pub(super) fn kind_of(kind: SymbolKind) -> ChunkKind {
    match kind {
        SymbolKind::Function | SymbolKind::Macro => ChunkKind::Function,
        SymbolKind::Method => ChunkKind::Method,
        SymbolKind::Module | SymbolKind::Constant | SymbolKind::Variable | SymbolKind::Field => ChunkKind::Group,
        _ => ChunkKind::Class,
    }
}
