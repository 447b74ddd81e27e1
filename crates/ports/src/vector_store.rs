//! The vector store. Chunks with their vectors and terms are staged and are published with their generation.
//! Searches find chunks by dense and sparse scores.

use std::collections::BTreeSet;

use async_trait::async_trait;
use cairn_domain::{
    ChunkKey, ChunkKind, ChunkRecord, DenseVector, Digest, LineSpan, Point, RepoPath, RepositoryId, Scope, View,
};

use crate::error::port_error;
use crate::{Generations, Staging};

port_error!(
    /// An error of the vector store.
    VectorStoreError,
    "vector store"
);

/// The change that a part of a run makes in the store. The store applies either the whole change or nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StagedPoints {
    /// New versions. A version is inserted if no record with its key and generation exists.
    pub points: Vec<Point>,
    /// Keys of the chunks whose current version is retired by this generation.
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

/// Restricts the hits. A hit must match every field. A hit matches a field if it matches at least one value
/// of the field (for `tags`: all values). An empty list restricts nothing.
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
    /// A chunk must have all of these tags.
    pub tags: Vec<String>,
    /// The last change of a chunk must be at or after this time, in seconds since 1970. Chunks without a
    /// known time always match. The store treats such a chunk as new; the caller leaves out repositories
    /// whose generation is older than this time.
    pub since: Option<i64>,
}

/// Returns the path that a value of `ChunkFilter::paths` matches literally, if the value has no wildcards. A
/// special character is escaped with brackets (`[*]`).
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

/// A chunk that was found. Hits have a total order: score (highest first), repository, path, line, key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hit {
    pub repository: RepositoryId,
    pub key: ChunkKey,
    /// The score is a sum of products of integers, so it is the same in every store.
    pub score: i64,
}

/// The lists that one search returns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ListsRequest<'a> {
    /// The vector whose nearest chunks are listed, and the maximum length of the list. `None` selects an
    /// empty list.
    pub dense: Option<(&'a DenseVector, usize)>,
    /// Each term with its weight in the query, sorted by term, and the maximum length of the list.
    pub sparse: (&'a [(u32, u32)], usize),
    /// The number of first hits in each list whose records are returned.
    pub num_records: usize,
}

/// The lists of one search.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HitLists {
    pub dense: Vec<Hit>,
    pub sparse: Vec<Hit>,
    /// The records of the first hits of both lists. The records contain no texts. Each record is listed once.
    /// Records are sorted by repository and key. The record of a chunk that was deleted during the search is
    /// omitted.
    pub records: Vec<ChunkRecord>,
}

impl HitLists {
    /// The chunks among the first hits of the lists, sorted by repository and key.
    pub fn first_hits(&self, number: usize) -> Vec<(RepositoryId, ChunkKey)> {
        let first = self.dense.iter().take(number).chain(self.sparse.iter().take(number));
        first.map(|hit| (hit.repository, hit.key)).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// One page of all visible chunks of a repository.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChunkPage {
    /// Each chunk with the digest of its vectors.
    pub chunks: Vec<(ChunkRecord, Digest)>,
    /// The position at which the next page starts; `None` on the last page.
    pub next: Option<u64>,
}

/// The file and the lines of a chunk. Places are sorted by repository, path, lines and key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChunkPlace {
    pub repository: RepositoryId,
    pub path: RepoPath,
    pub span: LineSpan,
    pub key: ChunkKey,
}

/// Finds chunks by their files.
#[async_trait]
pub trait ChunkPlaces: Send + Sync {
    /// Returns the sorted places of all visible chunks that match the filter. The filter must restrict the
    /// files, because the number of results is not limited.
    async fn places(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
    ) -> Result<Vec<ChunkPlace>, VectorStoreError>;
}

#[async_trait]
pub trait VectorStore: Generations + ChunkPlaces {
    /// Stages the points of a part of a run. The points are durable when the call returns. A repeated call
    /// with the same part changes nothing.
    async fn stage(&self, staging: &Staging, staged: StagedPoints) -> Result<(), VectorStoreError>;

    /// Returns the best visible chunks that match the filter, in two lists:
    ///
    /// - `dense`: the chunks whose dot product with the vector is highest. Chunks with a negative product are
    ///   included.
    /// - `sparse`: the chunks with the highest score. The score is the sum, over all query terms, of the
    ///   weight of the term in the query times its weight in the chunk. A chunk must have at least one of the
    ///   terms.
    async fn search(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        lists: ListsRequest<'_>,
    ) -> Result<HitLists, VectorStoreError>;

    /// Returns only the dense list of `search`.
    async fn search_dense(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        vector: &DenseVector,
        limit: usize,
    ) -> Result<Vec<Hit>, VectorStoreError> {
        let lists = ListsRequest { dense: Some((vector, limit)), sparse: (&[], 0), num_records: 0 };
        Ok(self.search(view, scope, filter, lists).await?.dense)
    }

    /// Returns only the sparse list of `search`.
    async fn search_sparse(
        &self,
        view: &View,
        scope: &Scope,
        filter: &ChunkFilter,
        terms: &[(u32, u32)],
        limit: usize,
    ) -> Result<Vec<Hit>, VectorStoreError> {
        let lists = ListsRequest { dense: None, sparse: (terms, limit), num_records: 0 };
        Ok(self.search(view, scope, filter, lists).await?.sparse)
    }

    /// Returns the visible chunks with these keys, in the same order. Chunks that are not visible are left
    /// out. `text` is empty unless `with_text` is set.
    async fn fetch(
        &self,
        view: &View,
        scope: &Scope,
        keys: &[(RepositoryId, ChunkKey)],
        with_text: bool,
    ) -> Result<Vec<ChunkRecord>, VectorStoreError>;

    /// Returns one page of all visible chunks of a repository. `from` is 0 for the first page. For each later
    /// page, `from` is `next` of the previous page.
    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<ChunkPage, VectorStoreError>;

    /// Returns the number of visible chunks that match the filter.
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
