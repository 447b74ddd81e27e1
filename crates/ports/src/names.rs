//! The name index. The name index finds symbols and files by exact name, by prefix, and by similar names.

use async_trait::async_trait;
use cairn_domain::{ChunkKey, NodeKey, RepoPath, RepositoryId, RunId, Scope, SymbolEntry, Tenant, View};
pub use cairn_name_match::LearnedAbbreviation;
use cairn_name_match::Reasons;

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
    /// Paths whose earlier names are no longer valid from this generation on. Sorted.
    pub replaced: Vec<RepoPath>,
    pub symbols: Vec<SymbolEntry>,
    pub files: Vec<RepoPath>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameMatch {
    /// The name is identical to the requested name.
    Exact,
    /// The name is equal to the requested name if upper and lower case are ignored.
    CaseInsensitive,
    /// The name is equal to the requested name if upper and lower case, `_` and `-` are ignored: `get_user`,
    /// `getUser`, `GetUser`.
    StyleInsensitive,
    Prefix,
    Contains,
    /// The edit distance is at most 2.
    Fuzzy,
}

/// The way in which a file name is matched. Except for globs, the name is always literal: `[`, `*` and `?`
/// are ordinary characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileMatch {
    /// The exact path.
    Path,
    /// A path, a base name, or a part of a path.
    Name,
    /// Matches like `Name`, and also matches similar names.
    Similar,
    /// Matches like `Name` or `Similar`, but only the last part of a path may match.
    BaseName { similar: bool },
    /// Matches like `Name` or `Similar`, but finds directories instead of files.
    Directory { similar: bool },
    /// A glob. A glob without `/` matches the last part of a path. `*` does not match `/`. Upper and lower
    /// case are ignored.
    Glob,
    /// Matches like `Glob`, but finds directories instead of files.
    DirectoryGlob,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolHit {
    pub repository: RepositoryId,
    pub symbol: SymbolEntry,
    pub matched: NameMatch,
    /// The score in percent: 100 for an exact match.
    pub score: u32,
}

/// The way in which a requested name was resolved. A tier is used only if the earlier tiers found nothing in
/// the whole scope.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NameTier {
    /// The name is identical to the requested name.
    Exact,
    /// The name is equal to the requested name if upper and lower case are ignored.
    Case,
    /// The name is equal to the requested name if upper and lower case, spaces, `_` and `-` are ignored.
    Style,
    /// The name differs from the requested name, but contains similar letters or words.
    Near,
}

/// A definition to which a requested name was resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResolvedSymbol {
    pub repository: RepositoryId,
    pub symbol: SymbolEntry,
    pub tier: NameTier,
    /// The score in thousandths: 1000 for an exact match, and less for all other matches.
    pub score: u32,
    /// The names of the tier `Near` are sorted by rank, nearest first. Unlike the score, the rank also
    /// depends on how many letters are equal.
    pub rank: u32,
    /// The differences between the requested name and this name. Empty for all tiers except `Near`, and for a
    /// default export, whose name is the name of its file.
    pub reasons: Reasons,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileHit {
    pub repository: RepositoryId,
    pub path: RepoPath,
    /// The score: 100 for the exact path or a glob, 90 for the base name, 80 for a prefix, 60 for another
    /// part of the path, at most 50 for a similar name.
    pub score: u32,
    /// Hits with the same score are sorted by this value, nearest name first.
    pub rank: u32,
}

/// Maximum number of definitions of one name that [`Names::resolve`] returns.
pub const MAX_DEFINITIONS: usize = 1_000;

/// A symbol of the graph. The entry of this symbol in the name index is looked up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolNode {
    pub repository: RepositoryId,
    /// The short name of the symbol.
    pub name: String,
    pub node: NodeKey,
}

#[async_trait]
pub trait Names: Generations {
    /// Stages the change of a generation. A repeated call changes nothing.
    async fn stage(&self, tenant: &Tenant, run: RunId, staged: StagedNames) -> Result<(), NamesError>;

    /// Returns the symbols whose name or qualified name (`Class.method`, or its last part) matches in one of
    /// the given `ways`. The symbols are sorted by score (best first), then by repository, path and line.
    async fn symbols(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        ways: &[NameMatch],
        limit: usize,
    ) -> Result<Vec<SymbolHit>, NamesError>;

    /// Resolves a name to the definitions of the first tier that finds a definition. The nearest names come
    /// first, and the definitions of a name are sorted by repository, path and line. At most `limit`
    /// different names are returned, and at most [`MAX_DEFINITIONS`] definitions of each. A near name may
    /// contain the full word instead of a learned abbreviation, or the abbreviation instead of the word.
    async fn resolve(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        learned: &[LearnedAbbreviation],
        limit: usize,
    ) -> Result<Vec<ResolvedSymbol>, NamesError>;

    /// Returns the visible symbols of these nodes, in the order of the nodes. Nodes without a visible symbol
    /// are omitted.
    async fn symbols_of(
        &self,
        view: &View,
        scope: &Scope,
        nodes: &[SymbolNode],
    ) -> Result<Vec<SymbolEntry>, NamesError>;

    /// Returns the visible symbols whose entries contain the key of one of these chunks: the definitions that
    /// the chunks show. The symbols come in the order of the chunks, and the symbols of one chunk are sorted
    /// by line and node. A repeated chunk is ignored.
    async fn symbols_in(
        &self,
        view: &View,
        scope: &Scope,
        chunks: &[(RepositoryId, ChunkKey)],
    ) -> Result<Vec<SymbolEntry>, NamesError>;

    /// Returns the files or directories whose path or base name matches. The hits are sorted by score and
    /// rank (best first), then by repository and path. An invalid glob matches nothing.
    async fn files(
        &self,
        view: &View,
        scope: &Scope,
        name: &str,
        matching: FileMatch,
        limit: usize,
    ) -> Result<Vec<FileHit>, NamesError>;

    /// Returns one page of all visible symbols of a repository. `from` is 0 for the first page. For each
    /// later page, `from` is `next` of the previous page.
    async fn scroll(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        from: u64,
    ) -> Result<Page<SymbolEntry>, NamesError>;
}
