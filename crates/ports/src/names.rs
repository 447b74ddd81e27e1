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

/// The change of the names in a generation: for each changed path, all its names (none if the path was
/// removed).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StagedNames {
    /// Paths whose earlier names end with this generation. Sorted.
    pub replaced: Vec<RepoPath>,
    pub symbols: Vec<SymbolEntry>,
    pub files: Vec<RepoPath>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameMatch {
    /// As written.
    Exact,
    /// Ignoring case.
    CaseInsensitive,
    /// Ignoring case, `_` and `-`: `get_user`, `getUser`, `GetUser`.
    StyleInsensitive,
    Prefix,
    Contains,
    /// Within edit distance 2.
    Fuzzy,
}

/// The way in which a file name is matched. It is always literal: `[`, `*` and `?` are ordinary characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileMatch {
    /// The exact path.
    Path,
    /// A path, a base name, or a part of a path.
    Name,
    /// Such a name, or a similar one.
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

    /// Symbols whose name, or qualified name (`Class.method`, also its end), matches in one of the ways. Best
    /// first, then by repository, path and line.
    async fn symbols(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        ways: &[NameMatch],
        limit: usize,
    ) -> Result<Vec<SymbolHit>, NamesError>;

    /// Files whose path or base name matches. Best first, then by repository and path.
    async fn files(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        matching: FileMatch,
        limit: usize,
    ) -> Result<Vec<FileHit>, NamesError>;

    /// All visible symbols of a repository, by pages. `from` is 0, or `next` of the last page.
    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<SymbolEntry>, NamesError>;
}
