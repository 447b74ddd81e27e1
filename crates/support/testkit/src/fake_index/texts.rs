//! The text index of a fake index. It finds every file, because the port may return files without matches.

use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RunId, Scope, Tenant, View};
use cairn_exact::GramQuery;
use cairn_ports::{ErrorKind, StagedTexts, TextFile, Texts, TextsError};

use super::{FakeContent, FakeIndex};

/// The files of the content. The pack contains the texts of these files in the order of the paths.
pub(super) fn files(content: &FakeContent, pack: &Arc<cairn_domain::ArtifactRef>) -> Vec<TextFile> {
    let texts = content.texts.iter().zip(0..);
    let file = |((path, (language, _)), slot): ((&cairn_domain::RepoPath, &(String, String)), u32)| TextFile {
        path: path.clone(),
        language: Arc::from(language.as_str()),
        pack: Arc::clone(pack),
        slot,
    };
    texts.map(file).collect()
}

#[async_trait]
impl Texts for FakeIndex {
    async fn stage(&self, _: &Tenant, run: RunId, _: StagedTexts) -> Result<(), TextsError> {
        Err(TextsError::new(ErrorKind::Forbidden, "stage", run.to_string()))
    }

    async fn candidates(
        &self,
        _: &View,
        scope: &Scope,
        repository: RepositoryId,
        _: &GramQuery,
    ) -> Result<Vec<TextFile>, TextsError> {
        let found = self.within(scope).find(|known| known.record.id == repository && known.published.is_some());
        Ok(found.map(|known| known.texts.clone()).unwrap_or_default())
    }
}
