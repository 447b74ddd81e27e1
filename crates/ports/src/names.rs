//! Names of symbols and files, looked up exactly, by prefix and approximately.

use async_trait::async_trait;
use cairn_domain::{RepoPath, RepositoryId, RunId, Scope, SymbolEntry, Tenant, View};

use crate::error::port_error;
use crate::{Generations, Page};

port_error!(
    /// An error of the name index.
    NamesError,
    "names"
);

/// A generation's change of the names: for each path that changed, all its names (none if it is gone).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StagedNames {
    /// Paths whose former names end with this generation. Sorted.
    pub replaced: Vec<RepoPath>,
    pub symbols: Vec<SymbolEntry>,
    pub files: Vec<RepoPath>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameMatch {
    /// As written.
    Exact,
    /// Apart from case.
    CaseInsensitive,
    /// Apart from case, `_` and `-`: `get_user`, `getUser`, `GetUser`.
    StyleInsensitive,
    Prefix,
    Contains,
    /// Within edit distance 2.
    Fuzzy,
}

/// How the name of a file is meant. Always as it is written: `[`, `*` and `?` are characters of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileMatch {
    /// The very path.
    Path,
    /// A path, a base name, or a part of a path.
    Name,
    /// Such a name, or one near it.
    Similar,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolHit {
    pub repository: RepositoryId,
    pub symbol: SymbolEntry,
    pub matched: NameMatch,
    /// In percent, 100 for exact.
    pub score: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileHit {
    pub repository: RepositoryId,
    pub path: RepoPath,
    /// Exact 100, base name 90, prefix 80, contains 60, fuzzy up to 50.
    pub score: u32,
}

#[async_trait]
pub trait Names: Generations {
    /// Stages a generation's change. Running it again changes nothing.
    async fn stage(&self, tenant: &Tenant, run: RunId, staged: StagedNames) -> Result<(), NamesError>;

    /// Symbols whose name or qualified name (`Class.method`, also the end of it) matches in one of the ways, best first, then
    /// repository, path, line.
    async fn symbols(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        ways: &[NameMatch],
        limit: usize,
    ) -> Result<Vec<SymbolHit>, NamesError>;

    /// Files whose path or base name matches, best first, then repository, path.
    async fn files(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        matching: FileMatch,
        limit: usize,
    ) -> Result<Vec<FileHit>, NamesError>;

    /// All visible symbols of a repository, by pages; `from` is 0 or the last page's `next`.
    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<SymbolEntry>, NamesError>;
}
