//! Tests behaviour that requires a real socket: lost connections, endless replies and redirects. Also checks
//! that the key is sent only to the configured address.

use std::net::SocketAddr;

use anyhow::Result;
use cairn_config::SecretReference;
use cairn_domain::InputType;
use cairn_embedding_http::{EmbeddingHttpConfig, HttpEmbedder, Share};
use cairn_fake_provider::{FakeServer, Fault, Provider, Settings, Shape};
use cairn_ports::{Embedder, ErrorKind};
use std::io::Write as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::virtual_time::config;

const KEY: &str = "sk-very-secret";

/// Creates an embedder for an address. The key of the embedder is in a temporary file.
fn embedder(address: SocketAddr, change: impl FnOnce(&mut EmbeddingHttpConfig)) -> Result<HttpEmbedder> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(KEY.as_bytes())?;
    let mut settings = config(Shape::Openai);
    settings.url = Some(format!("http://{address}/v1/embeddings"));
    settings.api_key = Some(SecretReference::File(file.path().to_owned()));
    change(&mut settings);
    Ok(HttpEmbedder::new(settings, Share::Whole)?)
}

async fn fake(settings: Settings) -> Result<FakeServer> {
    FakeServer::start("127.0.0.1:0".parse()?, Provider::new(settings)).await
}

/// Starts a server that sends the same bytes on every connection, and then waits until the client closes the
/// connection.
async fn raw(answer: impl Into<Vec<u8>>) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let answer = answer.into();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut request = vec![0; 64 * 1024];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(&answer).await;
                while stream.read(&mut request).await.is_ok_and(|length| length > 0) {}
            });
        }
    });
    Ok(address)
}

async fn error_of(embedder: &HttpEmbedder) -> (ErrorKind, String) {
    let error = embedder.embed(InputType::Passage, &["text"]).await.expect_err("an error");
    (error.kind, format!("{:#}", anyhow::Error::from(error)))
}

#[tokio::test]
async fn lost_connections_are_retried() -> Result<()> {
    let server = fake(Settings::new(Shape::Openai)).await?;
    server.provider().script([Fault::HangUp, Fault::None, Fault::TruncatedJson]);
    let embedder = embedder(server.address, |_| {})?;
    for text in ["one", "two"] {
        embedder.embed(InputType::Passage, &[text]).await?;
    }
    assert_eq!((embedder.counters().num_failed, embedder.counters().num_retries), (2, 2));
    Ok(())
}

#[tokio::test]
async fn key_is_sent_only_to_the_provider() -> Result<()> {
    let server = fake(Settings { keys: vec![KEY.to_owned()], ..Settings::new(Shape::Openai) }).await?;
    embedder(server.address, |_| {})?.check().await?;
    assert_eq!(server.provider().calls()[0].key, KEY);
    // The reply of this server contains the key that it refuses, as the replies of some providers do.
    let other = fake(Settings { keys: vec!["other".to_owned()], ..Settings::new(Shape::Openai) }).await?;
    let (kind, message) = error_of(&embedder(other.address, |_| {})?).await;
    assert_eq!(kind, ErrorKind::Unavailable);
    assert!(message.contains("401") && !message.contains("secret"), "{message}");
    Ok(())
}

#[tokio::test]
async fn redirects_are_not_followed() -> Result<()> {
    let target = fake(Settings::new(Shape::Openai)).await?;
    let answer = format!("HTTP/1.1 307 Moved\r\nlocation: {}/v1/embeddings\r\ncontent-length: 0\r\n\r\n", target.url());
    let (kind, message) = error_of(&embedder(raw(answer).await?, |_| {})?).await;
    assert_eq!((kind, target.provider().calls().len()), (ErrorKind::Unavailable, 0), "{message}");
    Ok(())
}

#[tokio::test]
async fn endless_replies_are_rejected() -> Result<()> {
    let mut answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000000\r\n\r\n".to_vec();
    answer.extend(std::iter::repeat_n(b' ', 1 << 20));
    let (kind, message) = error_of(&embedder(raw(answer).await?, |_| {})?).await;
    assert_eq!(kind, ErrorKind::Invalid, "{message}");
    assert!(message.contains("longer than"), "{message}");
    Ok(())
}

#[tokio::test]
async fn silent_provider_times_out() -> Result<()> {
    let address = raw("").await?;
    for (call_ms, read_ms) in [(200, 30_000), (30_000, 200)] {
        let embedder = embedder(address, |settings| {
            settings.call_timeout_ms = call_ms;
            settings.read_timeout_ms = read_ms;
        })?;
        let (kind, message) = error_of(&embedder).await;
        assert_eq!(kind, ErrorKind::Timeout, "{message}");
    }
    Ok(())
}

#[tokio::test]
async fn unreachable_provider_is_unavailable() -> Result<()> {
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        listener.local_addr()?
    };
    let (kind, message) = error_of(&embedder(address, |_| {})?).await;
    assert_eq!(kind, ErrorKind::Unavailable, "{message}");
    assert!(!message.contains(&address.to_string()), "{message}");
    Ok(())
}
