//! Runs the conformance suite of the port over sockets, with the API of each kind of provider.

use anyhow::Result;
use cairn_conformance::{embedder, suite};
use cairn_embedding_http::{HttpEmbedder, Share};
use cairn_fake_provider::{FakeServer, Provider, Settings, Shape};
use cairn_ports::Embedder;

use crate::virtual_time::config;

async fn passes_the_suite(shape: Shape) -> Result<()> {
    let server = FakeServer::start("127.0.0.1:0".parse()?, Provider::new(Settings::new(shape))).await?;
    let open = async || {
        let mut config = config(shape);
        config.url = config.url.map(|url| url.replace("http://127.0.0.1:1", &server.url()));
        Ok(Box::new(HttpEmbedder::new(config, Share::Whole)?) as Box<dyn Embedder>)
    };
    suite::passes(&embedder::checks(), open).await?;
    suite::catches(&embedder::checks(), &embedder::faults(), open).await
}

#[tokio::test]
async fn voyage_passes_the_suite() -> Result<()> {
    passes_the_suite(Shape::Voyage).await
}

#[tokio::test]
async fn openai_compatible_passes_the_suite() -> Result<()> {
    passes_the_suite(Shape::Openai).await
}

#[tokio::test]
async fn text_embeddings_inference_passes_the_suite() -> Result<()> {
    passes_the_suite(Shape::Tei).await
}
