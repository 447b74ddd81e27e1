//! Which embedding model a cluster uses.

use std::sync::Arc;

use cairn_domain::ModelId;
use cairn_embedding_http::{EmbeddingHttpConfig, HttpEmbedder, Share};
use cairn_local_embedding::LocalEmbedder;
use cairn_ports::Embedder;
use serde::Deserialize;

/// The model is the same for all services of a cluster.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum EmbeddingConfig {
    /// The model that ships with Cairn: no key, no quota, any number of replicas.
    #[default]
    Local,
    /// A provider over HTTP.
    Http { provider: Box<EmbeddingHttpConfig> },
}

impl EmbeddingConfig {
    pub fn model_id(&self) -> anyhow::Result<ModelId> {
        Ok(match self {
            EmbeddingConfig::Local => LocalEmbedder::shipped()?.model().clone(),
            EmbeddingConfig::Http { provider } => provider.model_id(),
        })
    }
}

/// `share` says what part of the provider's quota this process may use.
pub fn embedder(config: &EmbeddingConfig, share: Share) -> anyhow::Result<Arc<dyn Embedder>> {
    Ok(match config {
        EmbeddingConfig::Local => Arc::new(LocalEmbedder::shipped()?),
        EmbeddingConfig::Http { provider } => Arc::new(HttpEmbedder::new(provider.as_ref().clone(), share)?),
    })
}
