//! Tests servers that are unreachable, do not respond, or disconnect. Every request must fail with the right
//! kind of error.

use std::time::{Duration, Instant};

use anyhow::Result;
use cairn_ports::{ErrorKind, VectorStoreError};
use cairn_qdrant::{QdrantConfig, QdrantStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::space::model;

async fn request_error(address: std::net::SocketAddr) -> VectorStoreError {
    let config = QdrantConfig {
        timeout_ms: 400,
        connect_timeout_ms: 300,
        api_key: "very-secret".into(),
        ..QdrantConfig::new(format!("http://{address}"))
    };
    let store = QdrantStore::new(config, model(4)).expect("valid settings");
    let start = Instant::now();
    let error = store.prepare().await.expect_err("no response");
    assert!(start.elapsed() < Duration::from_secs(60), "the deadline had no effect");
    assert!(!format!("{error:?}").contains("very-secret"));
    error
}

#[tokio::test]
async fn unreachable_server_is_unavailable() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    drop(listener);
    let error = request_error(address).await;
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error:?}");
    Ok(())
}

/// Returns the error of a request whose connection is handled by `serve`.
async fn with_server<F>(serve: fn(TcpStream) -> F) -> Result<VectorStoreError>
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    let error = request_error(address).await;
    server.abort();
    Ok(error)
}

async fn stay_silent(mut stream: TcpStream) {
    let mut bytes = [0; 1024];
    while stream.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
}

/// Waits for the request, so that the connection breaks while the request is in progress.
async fn disconnect(mut stream: TcpStream) {
    let mut bytes = [0; 1024];
    if stream.read(&mut bytes).await.is_ok_and(|count| count > 0) {
        stream.shutdown().await.ok();
    }
}

#[tokio::test]
async fn silent_server_times_out() -> Result<()> {
    let error = with_server(stay_silent).await?;
    assert_eq!(error.kind, ErrorKind::Timeout, "{error:?}");
    Ok(())
}

#[tokio::test]
async fn disconnecting_server_is_a_lost_connection() -> Result<()> {
    let error = with_server(disconnect).await?;
    assert_eq!(error.kind, ErrorKind::ConnectionLost, "{error:?}");
    Ok(())
}
