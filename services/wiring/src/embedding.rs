//! Which embedding model a cluster uses.

use std::sync::Arc;

use cairn_domain::ModelId;
use cairn_embedding_http::{EmbeddingHttpConfig, HttpEmbedder, ProviderKind, Share};
use cairn_local_embedding::LocalEmbedder;
use cairn_ports::Embedder;
use serde::Deserialize;

use crate::Key;

/// The model is the same for all services of a cluster.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum EmbeddingConfig {
    /// The model that ships with Cairn: no key, no quota, any number of replicas.
    #[default]
    Local,
    /// A provider over HTTP.
    Http {
        provider: Box<EmbeddingHttpConfig>,
        /// One of `rabbitmq.topology.owned_keys`: of all embedders, the owner of the key calls the provider. Not set, all of
        /// them do; only TEI, which has no quota, allows that.
        key_name: Option<String>,
    },
}

impl EmbeddingConfig {
    pub fn model_id(&self) -> anyhow::Result<ModelId> {
        Ok(match self {
            EmbeddingConfig::Local => LocalEmbedder::shipped()?.model().clone(),
            EmbeddingConfig::Http { provider, .. } => provider.model_id(),
        })
    }

    /// `owned_keys` are those of the broker's topology, if it is known.
    pub(crate) fn faults(&self, owned_keys: Option<&[String]>) -> Vec<String> {
        let EmbeddingConfig::Http { provider, key_name } = self else { return Vec::new() };
        let mut faults = provider.validate(Share::Passages).err().map_or_else(Vec::new, |invalid| invalid.faults);
        match (key_name, owned_keys) {
            (None, _) if provider.provider != ProviderKind::Tei => {
                faults.push("`key_name` is missing: the provider's quota needs one owner of its key".to_owned());
            }
            (Some(name), Some(owned)) if !owned.contains(name) => {
                faults.push(format!("`key_name` `{name}` is not among `rabbitmq.topology.owned_keys`"));
            }
            _ => {}
        }
        faults
    }
}

/// `share` says what part of the provider's quota this process may use.
pub fn embedder(config: &EmbeddingConfig, share: Share) -> anyhow::Result<Arc<dyn Embedder>> {
    Ok(match config {
        EmbeddingConfig::Local => Arc::new(LocalEmbedder::shipped()?),
        EmbeddingConfig::Http { provider, .. } => Arc::new(HttpEmbedder::new(provider.as_ref().clone(), share)?),
    })
}

/// What embeds passages, and the key that must be owned for it.
pub fn passages(config: &EmbeddingConfig) -> anyhow::Result<(Arc<dyn Embedder>, Option<Key>)> {
    let EmbeddingConfig::Http { provider, key_name: Some(name) } = config else {
        return Ok((embedder(config, Share::Passages)?, None));
    };
    let embedder = Arc::new(HttpEmbedder::new(provider.as_ref().clone(), Share::Passages)?);
    Ok((embedder.clone(), Some(Key { name: name.clone(), embedder })))
}
