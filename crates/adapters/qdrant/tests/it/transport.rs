//! Servers that are not there, do not answer, or break off: every request ends, with the right kind of error.

use std::time::{Duration, Instant};

use anyhow::Result;
use cairn_ports::{ErrorKind, VectorStoreError};
use cairn_qdrant::{QdrantConfig, QdrantStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::space::model;

async fn ask(address: std::net::SocketAddr) -> VectorStoreError {
    let config = QdrantConfig {
        timeout_ms: 400,
        connect_timeout_ms: 300,
        api_key: "very-secret".into(),
        ..QdrantConfig::new(format!("http://{address}"))
    };
    let store = QdrantStore::new(config, model(4)).expect("valid settings");
    let start = Instant::now();
    let error = store.prepare().await.expect_err("nobody answers");
    assert!(start.elapsed() < Duration::from_secs(60), "the deadline does not hold");
    assert!(!format!("{error:?}").contains("very-secret"));
    error
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    drop(listener);
    let error = ask(address).await;
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error:?}");
    Ok(())
}

/// What a request gets whose connection is treated so.
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
    let error = ask(address).await;
    server.abort();
    Ok(error)
}

async fn stay_silent(mut stream: TcpStream) {
    let mut bytes = [0; 1024];
    while stream.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
}

/// Waits for the request, so that the connection breaks under it.
async fn break_off(mut stream: TcpStream) {
    let mut bytes = [0; 1024];
    if stream.read(&mut bytes).await.is_ok_and(|count| count > 0) {
        stream.shutdown().await.ok();
    }
}

#[tokio::test]
async fn a_server_that_is_silent_times_out() -> Result<()> {
    let error = with_server(stay_silent).await?;
    assert_eq!(error.kind, ErrorKind::Timeout, "{error:?}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_breaks_off_is_a_lost_connection() -> Result<()> {
    let error = with_server(break_off).await?;
    assert_eq!(error.kind, ErrorKind::ConnectionLost, "{error:?}");
    Ok(())
}
