//! The embedder's contract, with the model that ships.

use anyhow::Result;
use cairn_conformance::{embedder, suite};
use cairn_local_embedding::LocalEmbedder;
use cairn_ports::Embedder;

#[tokio::test]
async fn the_shipped_model_keeps_the_contract_and_the_suite_catches_planted_faults() -> Result<()> {
    let open = async || Ok(Box::new(LocalEmbedder::shipped()?) as Box<dyn Embedder>);
    suite::passes(&embedder::checks(), open).await?;
    suite::catches(&embedder::checks(), &embedder::faults(), open).await
}
