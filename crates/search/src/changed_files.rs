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

/// Reads and parses files that changed after the published generation was indexed. Only local mode can read
/// working trees.
#[async_trait]
pub trait ChangedFiles: Send + Sync {
    /// The changed files of a repository, sorted by path. The list is empty if the source of the repository
    /// is a remote, or if the source cannot be read now; the question is then answered only from the index.
    /// The number and the size of the files are limited, so some files may be missing.
    async fn changed_files(&self, repository: &RepositoryRecord) -> Arc<[ChangedFile]>;
}
