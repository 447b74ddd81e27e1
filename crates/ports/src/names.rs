//! The name index. The name index finds symbols and files by exact name, by prefix, and by similar names.

use async_trait::async_trait;
use cairn_domain::{RepoPath, RepositoryId, RunId, Scope, SymbolEntry, Tenant, View};

use crate::error::port_error;
use crate::{Generations, Page};

port_error!(
    /// An error of the name index.
    NamesError,
    "names"
);

/// The change that a generation makes in the name index. For each changed path, the change contains all names
/// of that path. A removed path has no names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StagedNames {
    /// Paths whose earlier names end with this generation. Sorted.
    pub replaced: Vec<RepoPath>,
    pub symbols: Vec<SymbolEntry>,
    pub files: Vec<RepoPath>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameMatch {
    /// The name is exactly as written.
    Exact,
    /// The name is equal to the requested name if upper and lower case are ignored.
    CaseInsensitive,
    /// The name is equal to the requested name if case, `_` and `-` are ignored: `get_user`, `getUser`,
    /// `GetUser`.
    StyleInsensitive,
    Prefix,
    Contains,
    /// The edit distance is at most 2.
    Fuzzy,
}

/// The way in which a file name is matched. The name is always literal: `[`, `*` and `?` are ordinary
/// characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileMatch {
    /// The exact path.
    Path,
    /// A path, a base name, or a part of a path.
    Name,
    /// Matches like `Name`, and also matches similar names.
    Similar,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolHit {
    pub repository: RepositoryId,
    pub symbol: SymbolEntry,
    pub matched: NameMatch,
    /// In percent; an exact match has 100.
    pub score: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileHit {
    pub repository: RepositoryId,
    pub path: RepoPath,
    /// 100 for the exact path, 90 for the base name, 80 for a prefix, 60 for another part of the path, at
    /// most 50 for a similar name.
    pub score: u32,
}

#[async_trait]
pub trait Names: Generations {
    /// Stages the change of a generation. A repeated call changes nothing.
    async fn stage(&self, tenant: &Tenant, run: RunId, staged: StagedNames) -> Result<(), NamesError>;

    /// Returns the symbols whose name or qualified name (`Class.method`, or the end of it) matches in one of
    /// the ways. The symbols are sorted by score (best first), then by repository, path and line.
    async fn symbols(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        ways: &[NameMatch],
        limit: usize,
    ) -> Result<Vec<SymbolHit>, NamesError>;

    /// Returns the files whose path or base name matches. The files are sorted by score (best first), then by
    /// repository and path.
    async fn files(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        matching: FileMatch,
        limit: usize,
    ) -> Result<Vec<FileHit>, NamesError>;

    /// Returns one page of all visible symbols of a repository. `from` is 0 for the first page, and `next` of
    /// the previous page for each later page.
    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<SymbolEntry>, NamesError>;
}
