//! The embedder turns texts into vectors of integers.

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

    /// Returns one vector for each text, in the same order. Each vector has the model's dimensions and at
    /// least one component that is not zero. If a provider returns vectors without these properties, the call
    /// fails with `Invalid`.
    async fn embed(&self, input_type: InputType, texts: &[&str]) -> Result<Vec<DenseVector>, EmbedderError>;
}
