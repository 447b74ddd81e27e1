//! The text index. The index finds the files that may contain a given text or a match of an expression.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{ArtifactRef, RepoPath, RepositoryId, RunId, Scope, Slot, Tenant, View};
use cairn_exact::GramQuery;

use crate::Generations;
use crate::error::port_error;

port_error!(
    /// An error of the text index.
    TextsError,
    "texts"
);

/// A part of the change that a generation makes in the text index. A generation may stage several parts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StagedTexts {
    /// Paths whose earlier texts are no longer valid from this generation on.
    pub replaced: Vec<RepoPath>,
    pub texts: Vec<StagedText>,
}

/// The redacted text of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StagedText {
    pub path: RepoPath,
    pub language: String,
    /// The place of the text in a source pack. The index does not store texts.
    pub slot: Slot,
    pub text: String,
}

/// A file whose text may match the query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextFile {
    pub path: RepoPath,
    pub language: Arc<str>,
    pub pack: Arc<ArtifactRef>,
    /// The slot of the text in the pack.
    pub slot: u32,
}

#[async_trait]
pub trait Texts: Generations {
    /// Stages a part of the change that a generation makes. A repeated call changes nothing.
    async fn stage(&self, tenant: &Tenant, run: RunId, staged: StagedTexts) -> Result<(), TextsError>;

    /// Returns those visible files of a repository whose trigrams satisfy the query, sorted by path. The
    /// result contains every file whose text satisfies the query, and may also contain other files.
    async fn candidates(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        query: &GramQuery,
    ) -> Result<Vec<TextFile>, TextsError>;
}
