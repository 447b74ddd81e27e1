//! Implements the ports of the text index with layers in a blob store.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cairn_domain::{RepositoryId, RunId, Scope, Tenant, View};
use cairn_exact::GramQuery;
use cairn_faults::fail_point;
use cairn_layered::{Layer as _, LayerStore, damaged, keys};
use cairn_ports::{BlobStore, ErrorKind, StagedTexts, TextFile, Texts, TextsError};

use crate::encode::staged_layer;
use crate::layer::Layer;
use crate::texts::RepositoryTexts;

/// An index of the trigrams of texts. A blob store contains the layers of the index. Cloning is cheap, and
/// clones share the cache.
#[derive(Clone)]
pub struct TextIndex {
    pub(crate) store: LayerStore<Layer>,
}

impl TextIndex {
    pub fn new(blobs: Arc<dyn BlobStore>) -> Self {
        Self { store: LayerStore::new(blobs) }
    }

    /// The texts of a repository. `None` if the repository is not visible in the view, or belongs to another
    /// tenant.
    async fn texts_of(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
    ) -> Result<Option<RepositoryTexts>, TextsError> {
        if !scope.contains(repository) {
            return Ok(None);
        }
        let layers = self.store.visible(view, &scope.tenant, repository).await?;
        Ok(layers.map(|layers| RepositoryTexts { layers }))
    }

    /// Writes a layer and returns its key.
    pub(crate) async fn write(
        &self,
        repository: RepositoryId,
        key: String,
        bytes: Vec<u8>,
    ) -> Result<String, TextsError> {
        fail_point!("texts::before_write", |message: String| Err(
            TextsError::new(ErrorKind::Io, "write", &key).because(message)
        ));
        self.store.put(&key, Bytes::from(bytes), "write").await?;
        fail_point!("texts::after_write", |message: String| Err(
            TextsError::new(ErrorKind::Io, "write", &key).because(message)
        ));
        self.store.forget_keys(repository);
        Ok(key)
    }
}

#[async_trait]
impl Texts for TextIndex {
    async fn stage(&self, tenant: &Tenant, run: RunId, staged: StagedTexts) -> Result<(), TextsError> {
        if staged.replaced.is_empty() && staged.texts.is_empty() {
            return Ok(());
        }
        let (tenant, repository) = (tenant.clone(), run.repository);
        let bytes = LayerStore::<Layer>::blocking("stage", move || staged_layer(&tenant, run, staged)).await?;
        let bytes = bytes.map_err(|error| {
            TextsError::new(ErrorKind::Invalid, "encode", keys::prefix(Layer::FOLDER, repository)).because(error)
        })?;
        let key = keys::staged(Layer::FOLDER, repository, run.generation, &bytes);
        self.write(repository, key, bytes).await.map(drop)
    }

    async fn candidates(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        query: &GramQuery,
    ) -> Result<Vec<TextFile>, TextsError> {
        let Some(texts) = self.texts_of(view, scope, repository).await? else { return Ok(Vec::new()) };
        let (view, query) = (view.clone(), query.clone());
        let found = LayerStore::<Layer>::blocking("read", move || texts.candidates(&view, &query)).await?;
        found.map_err(|damage| damaged::<Layer>(damage, &keys::prefix(Layer::FOLDER, repository)))
    }
}
