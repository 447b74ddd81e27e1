//! Chunks as records of a repository. A record contains the facts of a chunk, and the data that depends on
//! its path.

use crate::{ChunkKey, ChunkKind, ContentHash, Digest, Digester, LineSpan, RepoPath, RepositoryId, SymbolKind, Tags};

/// A chunk as a record in a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChunkRecord {
    pub key: ChunkKey,
    pub repository: RepositoryId,
    pub path: RepoPath,
    pub language: String,
    pub kind: ChunkKind,
    pub span: LineSpan,
    /// Qualified name of the symbol whose code the chunk contains.
    pub symbol: Option<String>,
    pub symbol_kind: Option<SymbolKind>,
    /// Heading path of a document section.
    pub heading: Option<String>,
    /// Context header: the file, the class, the signature, and the imports that the chunk uses.
    pub header: String,
    /// Redacted text: the lines of the span, or the synthetic text of a summary or pattern.
    pub text: String,
    pub content_hash: ContentHash,
    /// Module path, e.g. `fisio.imports.aws`; empty in languages without module paths.
    pub module_path: String,
    pub is_test: bool,
    pub exported: bool,
    pub documented: bool,
    pub has_secrets: bool,
    /// Weight in ranking, in percent. The normal weight is 100. Navigation documents have a weight of 150,
    /// and generated files have a weight below 100.
    pub weight_percent: u16,
    pub tags: Tags,
    /// Time of the file's last change in the history, in seconds since 1970.
    pub changed_at: Option<i64>,
}

impl ChunkRecord {
    /// Digest of all fields that a reader can see. The digest includes `content_hash` instead of the text and
    /// its redactions, so a comparison does not need the text.
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

/// A dense vector of integers: `clamp(round(scale · v), ±127)`. The dot product of two vectors is below 2^24,
/// so a 32-bit float represents it exactly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DenseVector(pub Vec<i8>);

/// Weighted terms, sorted by term, without duplicates. Terms are 32-bit hashes, and weights are integers from
/// 1 to 255.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SparseVector(pub Vec<(u32, u8)>);

/// A chunk with its vector and terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    pub chunk: ChunkRecord,
    pub dense: DenseVector,
    pub sparse: SparseVector,
}

impl Point {
    /// Digest of the dense vector and the weighted terms. Stores return this digest, because readers do not
    /// get whole vectors.
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

/// The embedding model of an index.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModelId {
    /// Name and version, e.g. `cairn-static-1`. The name contains a digest of the weights, so a model with
    /// different weights has a different id.
    pub name: String,
    pub dimensions: u16,
}

/// Whether a text is embedded as a query or as a passage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum InputType {
    Query,
    Passage,
}

/// Key of a vector in the vector cache.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VectorKey {
    pub model: ModelId,
    pub content: ContentHash,
}
