//! Creates chunks, views and points for the tests of this crate.

use std::collections::BTreeSet;

use cairn_domain::{
    ChunkKey, ChunkKind, ChunkRecord, ContentHash, DenseVector, GenerationId, LineSpan, PartId, Point, PublishedSeq,
    RepoPath, RepositoryId, RepositoryName, RunId, Scope, SparseVector, StageName, SymbolKind, Tenant, View,
};

pub(crate) fn repository(name: &str) -> RepositoryId {
    RepositoryId::derive(&Tenant::local(), &RepositoryName::new(name))
}

pub(crate) fn everything() -> Scope {
    Scope::all(Tenant::local())
}

/// A view of the generations below `next`, except the hidden generations.
pub(crate) fn view(next: u64, hidden: &[u64]) -> View {
    View {
        seq: PublishedSeq(next),
        next_gen: next,
        hidden: hidden.iter().map(|generation| GenerationId(*generation)).collect(),
        hidden_repositories: BTreeSet::new(),
    }
}

pub(crate) fn run(repository: RepositoryId, generation: u64) -> RunId {
    RunId { repository, generation: GenerationId(generation) }
}

pub(crate) fn part(number: u32) -> PartId {
    PartId { stage: StageName::Embed, number }
}

/// A chunk whose fields are derived from its path, line and text.
pub(crate) fn chunk(repository: RepositoryId, path: &str, line: u32, text: &str) -> ChunkRecord {
    let path = RepoPath::parse(path).expect("a valid path");
    let content_hash = ContentHash::of(text);
    ChunkRecord {
        key: ChunkKey::derive(repository, &path, content_hash, line),
        repository,
        language: path.extension(),
        kind: ChunkKind::ALL[line as usize % ChunkKind::ALL.len()],
        span: LineSpan::new(line, line + 3),
        symbol: line.is_multiple_of(2).then(|| format!("symbol_{line}")),
        symbol_kind: line.is_multiple_of(2).then_some(SymbolKind::Function),
        heading: line.is_multiple_of(3).then(|| "One > Two".to_owned()),
        header: format!("file {path}"),
        text: text.to_owned(),
        content_hash,
        module_path: path.directory().replace('/', "."),
        is_test: path.as_str().contains("test"),
        exported: line.is_multiple_of(2),
        documented: line.is_multiple_of(5),
        has_secrets: line.is_multiple_of(7),
        weight_percent: 100,
        tags: if line.is_multiple_of(2) { ["even".to_owned()].into() } else { [].into() },
        changed_at: Some(i64::from(line)),
        path,
    }
}

/// A point with the given vectors.
pub(crate) fn point(chunk: ChunkRecord, dense: &[i8], sparse: &[(u32, u8)]) -> Point {
    Point { chunk, dense: DenseVector(dense.to_vec()), sparse: SparseVector(sparse.to_vec()) }
}
