//! Checks that the shipped model fulfils the contract of embedders.

use anyhow::Result;
use cairn_conformance::{embedder, suite};
use cairn_local_embedding::LocalEmbedder;
use cairn_ports::Embedder;

#[tokio::test]
async fn shipped_model_passes_suite_and_planted_faults_are_caught() -> Result<()> {
    let open = async || Ok(Box::new(LocalEmbedder::shipped()?) as Box<dyn Embedder>);
    suite::passes(&embedder::checks(), open).await?;
    suite::catches(&embedder::checks(), &embedder::faults(), open).await
}
