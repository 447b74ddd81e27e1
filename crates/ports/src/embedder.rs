//! Embedding: texts to vectors of integers.

use async_trait::async_trait;
use cairn_domain::{DenseVector, InputType, ModelId};

use crate::error::port_error;

port_error!(
    /// An error of the embedding provider.
    EmbedderError,
    "embedder"
);

#[async_trait]
pub trait Embedder: Send + Sync {
    fn model(&self) -> &ModelId;

    /// One vector for each text, in the same order, each with the model's dimensions and not all zero. Any
    /// other answer of a provider is `Invalid` and is never returned.
    async fn embed(&self, input_type: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError>;
}
