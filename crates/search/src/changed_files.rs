//! Provides the files of a working tree that differ from the published generation.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{ManifestEntry, RepoPath, SymbolEntry};
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

/// Whether a file of the index still has the content that was indexed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileState {
    /// The content is the same, or it is not known whether the content changed.
    Same,
    Changed,
    Removed,
}

/// Reads and parses files that changed after the published generation was indexed. Only local mode can read
/// working trees.
#[async_trait]
pub trait ChangedFiles: Send + Sync {
    /// The changed files of a repository. A repository whose source is a remote has no changed files, so the
    /// question is answered only from the index.
    async fn changed_files(&self, repository: &RepositoryRecord) -> Arc<ChangedTree>;

    /// The state of a file of the index. `indexed_at_ms` is the time at which the index was published, in
    /// milliseconds since 1970.
    async fn file_state(&self, repository: &RepositoryRecord, entry: &ManifestEntry, indexed_at_ms: i64) -> FileState;
}
