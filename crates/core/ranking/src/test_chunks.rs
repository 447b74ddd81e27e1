//! Builds chunks and candidates for the tests of this crate.

use std::sync::Arc;

use cairn_domain::{
    ChunkKey, ChunkKind, ChunkRecord, ContentHash, LineSpan, RepoPath, RepositoryId, RepositoryName, Tenant,
};

use crate::{Candidate, Listed, RankedHit};

/// A chunk of one line without a symbol.
pub(crate) fn chunk(path: &str, line: u32, text: &str) -> ChunkRecord {
    let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("test"));
    let path = RepoPath::parse(path).expect("a valid path");
    let content_hash = ContentHash::of(text);
    ChunkRecord {
        key: ChunkKey::derive(repository, &path, content_hash, line),
        repository,
        path,
        language: "rust".into(),
        kind: ChunkKind::Function,
        span: LineSpan::new(line, line),
        symbol: None,
        symbol_kind: None,
        heading: None,
        header: String::new(),
        text: text.into(),
        content_hash,
        module_path: String::new(),
        is_test: false,
        exported: false,
        documented: false,
        has_secrets: false,
        weight_percent: 100,
        tags: Arc::default(),
        changed_at: None,
    }
}

/// A chunk with the code of a symbol.
pub(crate) fn chunk_of(symbol: &str) -> ChunkRecord {
    ChunkRecord { symbol: Some(symbol.to_owned()), ..chunk("src/a.rs", 1, symbol) }
}

/// A candidate that is only in the list of vectors.
pub(crate) fn candidate(path: &str, line: u32, text: &str, score: i64) -> Candidate {
    let dense = Some(Listed { rank: None, score });
    Candidate {
        chunk: chunk(path, line, text),
        dense,
        dense_score: Some(score),
        terms: None,
        name_rank: None,
        relation_rank: None,
        via: Vec::new(),
        pattern_rank: None,
        named: None,
        definition: None,
    }
}

/// A hit with the code of a symbol and no points.
pub(crate) fn hit(symbol: &str, text: &str) -> RankedHit {
    RankedHit::new(ChunkRecord { symbol: Some(symbol.to_owned()), ..chunk("src/a.rs", 1, text) })
}
