//! Tests each server separately: it is started, frozen, killed, restarted with its data, and ended with its
//! handle.

use std::time::Duration;

use anyhow::{Context, Result};
use cairn_servers::{MinIo, Neo4j, QdrantServer, RabbitMq, ServerProcess, Vhost, given};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

use crate::waiting::{accepts, until};

/// A running server would send the first byte of a reply within this time.
const SILENCE: Duration = Duration::from_secs(2);

/// The tests that apply to every server. `hello` is a request to which the server replies.
async fn survives_faults(server: &mut ServerProcess, url: &str, hello: &[u8]) -> Result<()> {
    assert!(replies(url, hello).await?);
    server.pause().await?;
    assert!(!replies(url, hello).await?, "a frozen server replies");
    server.resume()?;
    assert!(replies(url, hello).await?);
    server.kill().await?;
    assert!(!accepts(url).await, "a killed server accepts connections");
    server.restart().await?;
    assert!(replies(url, hello).await?);
    server.stop().await?;
    assert!(!accepts(url).await, "a stopped server accepts connections");
    server.restart().await?;
    assert!(replies(url, hello).await?);
    Ok(())
}

async fn replies(url: &str, hello: &[u8]) -> Result<bool> {
    let url = Url::parse(url)?;
    let mut connection = TcpStream::connect((url.host_str().context("a host")?, url.port().context("a port")?)).await?;
    connection.write_all(hello).await?;
    Ok(matches!(timeout(SILENCE, connection.read_u8()).await, Ok(Ok(_))))
}

async fn ends_with_its_handle<T>(server: T, urls: &[String]) -> Result<()> {
    drop(server);
    for url in urls {
        until(&format!("{url} is closed"), async || !accepts(url).await).await?;
    }
    Ok(())
}

#[tokio::test]
async fn rabbitmq_restarts_with_its_vhosts() -> Result<()> {
    if given::is_left_out("a test of RabbitMQ") {
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let mut server = RabbitMq::start_with(directory.path(), "consumer_timeout = 10000").await?;
    let (url, management_url) = (server.url(), server.management_url());
    let (first, second) = tokio::try_join!(Vhost::create(&url, &management_url), Vhost::create(&url, &management_url))?;
    assert_ne!(first.name(), second.name());
    assert_eq!(first.url(), url.replace("%2f", first.name()));
    survives_faults(&mut server, &url, b"AMQP\0\0\x09\x01").await?;
    let vhosts = server.rabbitmqctl(&["list_vhosts", "--silent"]).await?;
    assert!(vhosts.contains(first.name()), "{vhosts}");
    first.delete().await?;
    let vhosts = second.request("GET", "/api/vhosts?columns=name", "").await?;
    assert!(vhosts.contains(second.name()), "{vhosts}");
    assert_eq!(vhosts.matches("\"name\"").count(), 2, "{vhosts}");
    let settings = server.rabbitmqctl(&["eval", "application:get_env(rabbit, consumer_timeout)."]).await?;
    assert!(settings.contains("10000"), "{settings}");
    let metrics_url = server.metrics_url();
    ends_with_its_handle(server, &[url, management_url, metrics_url]).await
}

#[tokio::test]
async fn minio_restarts() -> Result<()> {
    if given::is_left_out("a test of MinIO") {
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let mut server = MinIo::start(directory.path()).await?;
    let url = server.url().to_owned();
    survives_faults(&mut server, &url, b"GET /minio/health/live HTTP/1.0\r\n\r\n").await?;
    ends_with_its_handle(server, &[url]).await
}

#[tokio::test]
async fn neo4j_restarts_with_its_password() -> Result<()> {
    if given::is_left_out("a test of Neo4j") {
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let mut server = Neo4j::start_with_password(directory.path(), "cairn-secret").await?;
    let url = server.url().to_owned();
    assert!(url.starts_with("bolt://neo4j:cairn-secret@127.0.0.1:"), "{url}");
    survives_faults(&mut server, &url, &BOLT_4_4).await?;
    assert_eq!(log_on(&url, "cairn-secret").await?, BOLT_SUCCESS);
    assert_eq!(log_on(&url, "wrong").await?, BOLT_FAILURE);
    ends_with_its_handle(server, &[url]).await
}

#[tokio::test]
async fn qdrant_test_server_restarts() -> Result<()> {
    if given::is_left_out("a test of the Qdrant test server") {
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let mut server = QdrantServer::start(directory.path()).await?;
    let url = server.url().to_owned();
    // The preface of HTTP/2 and an empty SETTINGS frame. A server replies with its own SETTINGS frame.
    survives_faults(&mut server, &url, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await?;
    ends_with_its_handle(server, &[url]).await
}

const BOLT_4_4: [u8; 20] = [0x60, 0x60, 0xB0, 0x17, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const BOLT_SUCCESS: u8 = 0x70;
const BOLT_FAILURE: u8 = 0x7F;

/// Sends a HELLO message of Bolt, and returns the signature of the reply.
async fn log_on(url: &str, password: &str) -> Result<u8> {
    let text = |text: &str| [&[0x80 + text.len() as u8][..], text.as_bytes()].concat();
    let login = [("user_agent", "cairn/1"), ("scheme", "basic"), ("principal", "neo4j"), ("credentials", password)];
    let mut hello = vec![0xB1, 0x01, 0xA0 + login.len() as u8];
    hello.extend(login.iter().flat_map(|(key, value)| [text(key), text(value)].concat()));
    let url = Url::parse(url)?;
    let mut connection = TcpStream::connect(("127.0.0.1", url.port().context("a port")?)).await?;
    connection.write_all(&BOLT_4_4).await?;
    connection.read_u32().await?;
    connection.write_all(&[&[0, hello.len() as u8], &hello[..], &[0, 0]].concat()).await?;
    let mut reply = [0; 4];
    connection.read_exact(&mut reply).await?;
    Ok(reply[3])
}
