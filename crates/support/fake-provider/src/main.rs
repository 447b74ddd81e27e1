//! `fake-provider` runs the provider as a separate process, for tests that start several processes.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use cairn_fake_provider::{FakeServer, Provider, Settings, Shape};
use clap::Parser;

#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    #[arg(long, value_enum, default_value = "voyage")]
    shape: Shape,
    #[arg(long, default_value = "fake-embedding-1")]
    model: String,
    #[arg(long, default_value_t = 64)]
    dimensions: usize,
    #[arg(long, default_value_t = 60_000)]
    window_ms: u64,
    /// The maximum number of requests of each key in a window.
    #[arg(long)]
    requests: Option<u64>,
    #[arg(long)]
    tokens: Option<u64>,
    #[arg(long, default_value_t = 128)]
    max_texts: usize,
    #[arg(long, default_value_t = 40_000)]
    max_tokens: u64,
    #[arg(long, default_value_t = 8_000)]
    max_text_tokens: u64,
    /// An accepted key. The option may be repeated. If no key is given, all keys are accepted.
    #[arg(long)]
    key: Vec<String>,
    #[arg(long, default_value_t = 50)]
    latency_ms: u64,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let settings = Settings {
        shape: arguments.shape,
        model: arguments.model,
        dimensions: arguments.dimensions,
        window: Duration::from_millis(arguments.window_ms),
        requests: arguments.requests,
        tokens: arguments.tokens,
        max_texts: arguments.max_texts,
        max_tokens: arguments.max_tokens,
        max_text_tokens: arguments.max_text_tokens,
        keys: arguments.key,
        latency: Duration::from_millis(arguments.latency_ms),
    };
    let server = FakeServer::start(arguments.listen, Provider::new(settings)).await?;
    println!("{}", server.url());
    tokio::signal::ctrl_c().await?;
    println!("{}", serde_json::to_string(&server.provider().report())?);
    Ok(())
}
