//! The stores of chunks, vectors, names and texts, for the services that use them.

use std::sync::Arc;

use anyhow::Context;
use cairn_domain::ModelId;
use cairn_names::NameIndex;
use cairn_ports::{Generations, Names, Texts, VectorCache, VectorStore};
use cairn_qdrant::{QdrantStore, QdrantVectorCache};
use cairn_texts::TextIndex;
use cairn_vectors::DurableVectorCache;

use crate::{Cluster, ClusterConfig};

/// The stores in Qdrant, and the stores of names and texts, which use artifacts.
pub struct Stores {
    pub vectors: Arc<QdrantStore>,
    pub cache: Arc<dyn VectorCache>,
    pub names: Arc<NameIndex>,
    pub texts: Arc<TextIndex>,
}

impl Stores {
    /// Opens the stores for the vectors of a model. Creates missing collections.
    pub async fn connect(cluster: &Cluster, model: &ModelId) -> anyhow::Result<Self> {
        let (vectors, cache) = collections(&cluster.config, model).await?;
        let vectors = Arc::new(vectors);
        let asked = Arc::clone(&vectors);
        cluster.probes.watch("Qdrant (chunks and vectors)", move || {
            let vectors = Arc::clone(&asked);
            async move { vectors.version().await.map(drop).map_err(|error| error.kind) }
        });
        Ok(Self {
            vectors,
            cache: Arc::new(DurableVectorCache::new(Arc::clone(&cluster.blobs), Arc::new(cache))),
            names: Arc::new(NameIndex::new(Arc::clone(&cluster.blobs))),
            texts: Arc::new(TextIndex::new(Arc::clone(&cluster.blobs))),
        })
    }

    /// All stores that contain generations.
    pub fn generations(&self, cluster: &Cluster) -> Vec<Arc<dyn Generations>> {
        vec![cluster.graph.clone(), self.vectors.clone(), self.names.clone(), self.texts.clone()]
    }

    pub fn vector_store(&self) -> Arc<dyn VectorStore> {
        self.vectors.clone()
    }

    pub fn name_store(&self) -> Arc<dyn Names> {
        self.names.clone()
    }

    pub fn text_store(&self) -> Arc<dyn Texts> {
        self.texts.clone()
    }
}

async fn collections(config: &ClusterConfig, model: &ModelId) -> anyhow::Result<(QdrantStore, QdrantVectorCache)> {
    let config = config.qdrant.clone().context("the settings have no section [qdrant]")?;
    let vectors = QdrantStore::new(config.clone(), model.clone())?;
    vectors.prepare().await?;
    let cache = QdrantVectorCache::new(config, model.clone())?;
    cache.prepare().await?;
    Ok((vectors, cache))
}
