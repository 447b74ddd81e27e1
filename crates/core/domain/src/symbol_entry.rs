//! The entries of the name index: one entry for each symbol.

use crate::{ChunkKey, Digest, Digester, LineSpan, NodeKey, RepoPath, SymbolKind};

/// An entry for a symbol in the name index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolEntry {
    pub name: String,
    pub qualified_name: String,
    pub kind: SymbolKind,
    pub path: RepoPath,
    /// One-based number of the line that contains the name.
    pub line: u32,
    /// The whole definition, with its doc comment and decorators.
    pub span: LineSpan,
    /// The smallest chunk that contains the line of the name. If the definition is split into several chunks,
    /// this is the part that contains the name. `None` if no chunk contains this line.
    pub chunk: Option<ChunkKey>,
    pub node: NodeKey,
    pub language: String,
    pub module_path: String,
    pub exported: bool,
    pub documented: bool,
    pub is_test: bool,
}

impl SymbolEntry {
    /// Digest of everything that a reader can see.
    pub fn digest(&self) -> Digest {
        Digester::new("symbol-entry")
            .key_of(self.node.0)
            .text(&self.name)
            .text(&self.qualified_name)
            .text(self.kind.as_str())
            .text(self.path.as_str())
            .number(u64::from(self.line))
            .number(u64::from(self.span.start))
            .number(u64::from(self.span.end))
            .option(self.chunk, |digester, chunk| digester.key_of(chunk.0))
            .text(&self.language)
            .text(&self.module_path)
            .flag(self.exported)
            .flag(self.documented)
            .flag(self.is_test)
            .digest()
    }
}
