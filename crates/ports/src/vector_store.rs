//! Chunks with their vectors and terms: staged, published with their generation, and found by dense and
//! sparse scores.

use async_trait::async_trait;
use cairn_domain::{ChunkKey, ChunkKind, ChunkRecord, DenseVector, Digest, Point, RepositoryId, Scope, View};

use crate::error::port_error;
use crate::{Generations, Staging};

port_error!(
    /// An error of the vector store.
    VectorStoreError,
    "vector store"
);

/// The change that a part of a run makes in the store. It is applied as a whole or not at all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StagedPoints {
    /// New versions. A version is inserted if no record with its key and generation exists.
    pub points: Vec<Point>,
    /// Keys whose visible version ends with this generation.
    pub retired: Vec<ChunkKey>,
}

/// Whether test code is included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IncludeTests {
    #[default]
    Include,
    Exclude,
    Only,
}

/// Restricts the hits. An empty list restricts nothing. The fields are combined with *and*, the values of a
/// field with *or*.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChunkFilter {
    pub languages: Vec<String>,
    pub kinds: Vec<ChunkKind>,
    /// Globs on the repository-relative path in the syntax of `globset` (`*` does not match `/`). A glob
    /// without `/` also matches the base name.
    pub paths: Vec<String>,
    /// Module paths. A chunk of `a.b` or `a.b.c` matches `a.b`; a chunk of `a.bc` does not.
    pub module_prefixes: Vec<String>,
    pub include_tests: IncludeTests,
    /// A chunk must have all of them.
    pub tags: Vec<String>,
    /// Last change at or after this time, in seconds since 1970. Chunks of unknown time match: they are as
    /// new as their generation, and the caller leaves out repositories with an older generation.
    pub since: Option<i64>,
}

/// The path that a value of `ChunkFilter::paths` spells, if it has no wildcards. Special characters are in
/// brackets (`[*]`), as escaping writes them.
pub fn literal_path(pattern: &str) -> Option<String> {
    let mut literal = String::with_capacity(pattern.len());
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        match character {
            '[' => {
                let (sign, end) = (rest.next()?, rest.next()?);
                if end != ']' || matches!(sign, '!' | '^' | ']') {
                    return None;
                }
                literal.push(sign);
            }
            '*' | '?' | '{' | '}' | ']' | '\\' | ',' | '!' => return None,
            _ => literal.push(character),
        }
    }
    Some(literal)
}

/// A chunk that was found. Hits have a total order: score (high first), repository, path, line, key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hit {
    pub repository: RepositoryId,
    pub key: ChunkKey,
    /// A sum of products of integers: equal in every store.
    pub score: i64,
}

/// One page of all visible chunks of a repository.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChunkPage {
    /// Each chunk with the digest of its vectors.
    pub chunks: Vec<(ChunkRecord, Digest)>,
    /// The start of the next page; none after the last.
    pub next: Option<u64>,
}

#[async_trait]
pub trait VectorStore: Generations {
    /// Stages the points of a part of a run. Durable when it returns. Running it again with the same part
    /// changes nothing.
    async fn stage(&self, staging: &Staging, staged: StagedPoints) -> Result<(), VectorStoreError>;

    /// The `limit` visible chunks with the highest dot product with the vector (also negative ones).
    async fn search_dense(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        vector: &DenseVector,
        limit: usize,
    ) -> Result<Vec<Hit>, VectorStoreError>;

    /// The `limit` visible chunks with the highest sum of weights over the terms; a chunk must have one of
    /// the terms. `terms` are sorted and have the weights of the query.
    async fn search_sparse(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        terms: &[(u32, u32)],
        limit: usize,
    ) -> Result<Vec<Hit>, VectorStoreError>;

    /// The visible chunks of the keys, in the same order, without chunks that are not visible. `text` is
    /// empty unless it is requested.
    async fn fetch(
        &self,
        view: &View,
        scope: &Scope,
        keys: &[(RepositoryId, ChunkKey)],
        with_text: bool,
    ) -> Result<Vec<ChunkRecord>, VectorStoreError>;

    /// All visible chunks of a repository, by pages. `from` is 0, or `next` of the last page.
    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<ChunkPage, VectorStoreError>;

    /// Number of visible chunks that the filter lets through.
    async fn count(&self, view: &View, scope: &Scope, filter: &ChunkFilter) -> Result<u64, VectorStoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_patterns_without_wildcards_are_paths() {
        let check =
            |pattern: &str, expect: Option<&str>| assert_eq!(literal_path(pattern).as_deref(), expect, "{pattern}");
        check("src/main.rs", Some("src/main.rs"));
        check("a[*]b[[]c", Some("a*b[c"));
        for wild in ["*.rs", "a?", "{a,b}", "[ab]", "[!a]", "a[", "a\\b"] {
            check(wild, None);
        }
    }
}
