//! A server for tests that implements Qdrant's gRPC protocol with Qdrant's own embedded engine.
//!
//! No package registry offers a Qdrant server, and a mock would not test the adapter. The engine, the types
//! of the protocol and the service traits are from Qdrant. Only the code that translates between the protocol
//! and the engine belongs to Cairn. The program is never shipped. The server refuses unsupported requests
//! with `UNIMPLEMENTED` and the name of the method.
//!
//! Invariant: a confirmed write is applied, is visible to the next read, and survives SIGKILL.

mod collection;
mod convert;
mod journal;
mod service;
mod settings;
mod store;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use qdrant_client::qdrant::collections_server::CollectionsServer;
use qdrant_client::qdrant::points_server::PointsServer;
use qdrant_client::qdrant::qdrant_server::QdrantServer;

use crate::service::Service;
use crate::store::Store;

const USAGE: &str = "usage: qdrant-server --listen 127.0.0.1:PORT --storage DIRECTORY";

/// When the server is stopped, requests in progress get this time to complete.
const DRAIN: Duration = Duration::from_secs(2);

struct Arguments {
    listen: SocketAddr,
    storage: PathBuf,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let (mut listen, mut storage) = (None, None);
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("`{word}` has no value; {USAGE}"))?;
            match word.as_str() {
                "--listen" => listen = Some(value.parse().with_context(|| format!("`{value}` is not an address"))?),
                "--storage" => storage = Some(PathBuf::from(value)),
                _ => bail!("the option `{word}` does not exist; {USAGE}"),
            }
        }
        Ok(Self { listen: listen.context(USAGE)?, storage: storage.context(USAGE)? })
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let listener = tokio::net::TcpListener::bind(arguments.listen).await.context("cannot listen")?;
    let storage = arguments.storage.clone();
    let store = tokio::task::spawn_blocking(move || Store::open(&storage)).await??;
    let store = Arc::new(store);
    let service = Service::new(Arc::clone(&store));
    println!("listening on {}", listener.local_addr()?);
    let incoming = tonic::transport::server::TcpIncoming::from(listener).with_nodelay(Some(true));
    let serving = tonic::transport::Server::builder()
        .add_service(PointsServer::new(service.clone()).max_decoding_message_size(usize::MAX))
        .add_service(CollectionsServer::new(service.clone()).max_decoding_message_size(usize::MAX))
        .add_service(QdrantServer::new(service))
        .serve_with_incoming_shutdown(incoming, stopped());
    tokio::select! {
        served = serving => served?,
        // After `DRAIN`, the server stops even if clients have left connections open.
        () = async { stopped().await; tokio::time::sleep(DRAIN).await } => {}
    }
    tokio::task::spawn_blocking(move || store.close()).await?;
    Ok(())
}

/// Waits for SIGTERM or SIGINT.
async fn stopped() {
    let terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    let Ok(mut terminate) = terminate else { return };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
