//! Implements the port `Embedder`.

use async_trait::async_trait;
use cairn_domain::{DenseVector, InputType, ModelId};
use cairn_ports::{Embedder, EmbedderError};

use crate::LocalEmbedder;

/// Number of texts that are embedded before other tasks may run. Embedding this number of texts takes well
/// under a millisecond.
const TEXTS_AT_ONCE: usize = 64;

#[async_trait]
impl Embedder for LocalEmbedder {
    fn model(&self) -> &ModelId {
        self.model_id()
    }

    async fn embed(&self, input_type: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for some in texts.chunks(TEXTS_AT_ONCE) {
            match input_type {
                InputType::Passage => vectors.extend(self.embed_passages(some)),
                InputType::Query => vectors.extend(some.iter().map(|text| self.embed_query(text))),
            }
            tokio::task::yield_now().await;
        }
        Ok(vectors)
    }
}
