//! Chunks as records of a repository: facts of a blob, placed at a path.

use crate::{ChunkKey, ChunkKind, ContentHash, Digest, Digester, LineSpan, RepoPath, RepositoryId, SymbolKind};

/// A chunk as stores hold it and readers see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChunkRecord {
    pub key: ChunkKey,
    pub repository: RepositoryId,
    pub path: RepoPath,
    pub language: String,
    pub kind: ChunkKind,
    pub span: LineSpan,
    /// Qualified name of the symbol that it shows.
    pub symbol: Option<String>,
    pub symbol_kind: Option<SymbolKind>,
    /// Heading path of a document section.
    pub heading: Option<String>,
    /// Context header: file, class, signature, imports used.
    pub header: String,
    /// Redacted text: the lines of the span, or the synthetic text of a summary or pattern.
    pub text: String,
    pub content_hash: ContentHash,
    /// `fisio.imports.aws`; empty where the language has no module paths.
    pub module_path: String,
    pub is_test: bool,
    pub exported: bool,
    pub documented: bool,
    pub has_secrets: bool,
    /// Weight in ranking, in percent: 100 is ordinary, 150 navigation, less for generated files that are kept.
    pub weight_percent: u16,
    pub tags: Vec<String>,
    /// Last change of the file by history, seconds since 1970.
    pub changed_at: Option<i64>,
}

impl ChunkRecord {
    /// All that a reader can see. The text, and whether secrets were redacted from it, stand for themselves by
    /// `content_hash`, so that no text is needed to compare.
    pub fn digest(&self) -> Digest {
        Digester::new("chunk-record")
            .key_of(self.key.0)
            .text(self.path.as_str())
            .text(&self.language)
            .text(self.kind.as_str())
            .number(u64::from(self.span.start))
            .number(u64::from(self.span.end))
            .option(self.symbol.as_deref(), Digester::text)
            .option(self.symbol_kind, |digester, kind| digester.text(kind.as_str()))
            .option(self.heading.as_deref(), Digester::text)
            .text(&self.header)
            .bytes(&self.content_hash.0)
            .text(&self.module_path)
            .flag(self.is_test)
            .flag(self.exported)
            .flag(self.documented)
            .number(u64::from(self.weight_percent))
            .list(&self.tags, |digester, tag| digester.text(tag))
            .option(self.changed_at, |digester, at| digester.number(at as u64))
            .digest()
    }
}

/// A dense vector of integers: `clamp(round(scale · v), ±127)`. Sums of products stay exact below 2^24.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DenseVector(pub Vec<i8>);

/// Weighted terms, sorted by term, without duplicates. Terms are hashes of 32 bits; weights are integers from 1 to 255.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SparseVector(pub Vec<(u32, u8)>);

/// A chunk with what it is found by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    pub chunk: ChunkRecord,
    pub dense: DenseVector,
    pub sparse: SparseVector,
}

impl Point {
    /// Digest of the dense vector and the weighted terms: what stores report of vectors that readers do not see whole.
    pub fn vector_digest(&self) -> Digest {
        let dense: Vec<u8> = self.dense.0.iter().map(|value| *value as u8).collect();
        let mut sparse = Vec::with_capacity(5 * self.sparse.0.len());
        for (term, weight) in &self.sparse.0 {
            sparse.extend(term.to_le_bytes());
            sparse.push(*weight);
        }
        Digester::new("vectors").bytes(&dense).bytes(&sparse).digest()
    }
}

/// The embedding model that an index is pinned to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModelId {
    /// Name and version, e.g. `cairn-static-1`; a digest of the weights stands in it, so that other weights are
    /// another model.
    pub name: String,
    pub dimensions: u16,
}

/// Whether a text is embedded as a question or as a passage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum InputType {
    Query,
    Passage,
}

/// Key of the vector cache.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VectorKey {
    pub model: ModelId,
    pub content: ContentHash,
}
