//! Provides the files of a working tree that differ from the published generation.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{RepoPath, SymbolEntry};
use cairn_ports::RepositoryRecord;

/// A file that is new, or that changed after it was indexed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedFile {
    pub path: RepoPath,
    pub language: String,
    /// The redacted text of the file.
    pub text: String,
    pub num_lines: u32,
    /// The definitions in the file. The index contains no chunks of these definitions.
    pub symbols: Vec<SymbolEntry>,
}

/// The changed files of a repository.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChangedTree {
    /// The files that were read, sorted by path.
    pub files: Vec<ChangedFile>,
    /// The paths of the changed files that were not read, because their number or size exceeds a limit.
    pub left_out: Vec<RepoPath>,
    /// Whether the source could not be read, or was not read in time. If so, both lists are empty.
    pub is_unread: bool,
}

/// Reads and parses files that changed after the published generation was indexed. Only local mode can read
/// working trees.
#[async_trait]
pub trait ChangedFiles: Send + Sync {
    /// The changed files of a repository. A repository whose source is a remote has no changed files, so the
    /// question is answered only from the index.
    async fn changed_files(&self, repository: &RepositoryRecord) -> Arc<ChangedTree>;
}
