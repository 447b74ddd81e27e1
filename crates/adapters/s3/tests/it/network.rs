//! Tests MinIO behind a faulty network.

use std::net::TcpListener;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use cairn_ports::{BlobStore, ErrorKind, Put};
use cairn_s3::{S3BlobStore, S3Config};
use cairn_servers::{Direction, FaultProxy, Rules, given};
use tokio::net::TcpStream;

use crate::bucket;

const HALF: u64 = 500_000;

struct Bench {
    proxy: FaultProxy,
    direct: S3BlobStore,
    config: S3Config,
    bucket: S3Config,
}

impl Bench {
    async fn new() -> Result<Option<Self>> {
        let Some(bucket) = bucket::new().await? else { return Ok(None) };
        let url = given::s3_url().context("the variable was set before")?;
        let proxy = FaultProxy::start(&url).await?;
        let config = S3Config { operation_timeout_ms: 1500, ..S3Config::at(&proxy.url(&url)?, &bucket.bucket) };
        Ok(Some(Self { proxy, direct: S3BlobStore::open(&bucket)?, config, bucket }))
    }

    fn store(&self) -> Result<S3BlobStore> {
        Ok(S3BlobStore::open(&self.config)?)
    }
}

fn large() -> Bytes {
    (0..1_000_000_u32).map(|number| (number % 251) as u8).collect()
}

#[tokio::test]
async fn silent_server_ends_in_a_timeout() -> Result<()> {
    let Some(bench) = Bench::new().await? else { return Ok(()) };
    for key in ["a", "c"] {
        bench.direct.put(key, large()).await?;
    }
    let store = bench.store()?;
    bench.proxy.set(Rules::HANG);
    assert_eq!(store.get("a").await.expect_err("a hang").kind, ErrorKind::Timeout);
    assert_eq!(store.put("b", large()).await.expect_err("a hang").kind, ErrorKind::Timeout);
    assert_eq!(store.list("").await.expect_err("a hang").kind, ErrorKind::Timeout);
    assert_eq!(store.delete("a").await.expect_err("a hang").kind, ErrorKind::Timeout);
    bench.proxy.set(Rules::PASS);
    // The test does not read `a`, because the unconfirmed deletion of `a` may still happen.
    assert_eq!(store.get("c").await?, large());
    bucket::empty(&bench.bucket).await
}

/// The head of the response arrives at once, but the body arrives at only 100 kB per second.
#[tokio::test]
async fn slow_body_ends_in_a_timeout() -> Result<()> {
    let Some(bench) = Bench::new().await? else { return Ok(()) };
    bench.direct.put("a", large()).await?;
    let slow = Direction { bytes_per_second: std::num::NonZeroU64::new(100_000), ..Direction::PASS };
    bench.proxy.set(Rules { responses: slow, ..Rules::PASS });
    assert_eq!(bench.store()?.get("a").await.expect_err("ten seconds").kind, ErrorKind::Timeout);
    bench.proxy.set(Rules { requests: slow, ..Rules::PASS });
    assert_eq!(bench.store()?.put("b", large()).await.expect_err("ten seconds").kind, ErrorKind::Timeout);
    bucket::empty(&bench.bucket).await
}

#[tokio::test]
async fn cut_body_is_read_again_and_never_returned() -> Result<()> {
    let Some(bench) = Bench::new().await? else { return Ok(()) };
    bench.direct.put("a", large()).await?;
    bench.proxy.set(Rules { responses: Direction::cut_after(HALF), ..Rules::PASS });
    let error = bench.store()?.get("a").await.expect_err("every connection is cut");
    assert!(matches!(error.kind, ErrorKind::ConnectionLost | ErrorKind::Timeout), "{error:?}");
    assert!(bench.proxy.num_connections() > 1, "the request was not repeated");
    bench.proxy.set(Rules::PASS);
    assert_eq!(bench.store()?.get("a").await?, large());
    bucket::empty(&bench.bucket).await
}

#[tokio::test]
async fn interrupted_write_leaves_all_or_nothing() -> Result<()> {
    let Some(bench) = Bench::new().await? else { return Ok(()) };
    bench.proxy.set(Rules { requests: Direction::cut_after(HALF), ..Rules::PASS });
    assert!(bench.store()?.put("a", large()).await.is_err());
    assert_eq!(bench.direct.get("a").await.expect_err("half a write").kind, ErrorKind::NotFound);
    bench.proxy.set(Rules::PASS);
    assert_eq!(bench.store()?.put("a", large()).await?, Put::Created);
    assert_eq!(bench.direct.get("a").await?, large());
    bucket::empty(&bench.bucket).await
}

/// The server executed the write, but the client did not receive the response.
#[tokio::test]
async fn write_with_a_lost_response_can_be_repeated() -> Result<()> {
    let Some(bench) = Bench::new().await? else { return Ok(()) };
    let store = bench.store()?;
    bench.proxy.set(Rules::DROP_RESPONSES);
    assert_eq!(store.put("a", large()).await.expect_err("no response").kind, ErrorKind::Timeout);
    bench.proxy.set(Rules::PASS);
    assert_eq!(bench.direct.get("a").await?, large());
    assert_eq!(store.put("a", large()).await?, Put::AlreadyThere);
    store.delete("a").await?;
    bucket::empty(&bench.bucket).await
}

#[tokio::test]
async fn broken_idle_connections_are_replaced() -> Result<()> {
    let Some(bench) = Bench::new().await? else { return Ok(()) };
    let store = bench.store()?;
    store.put("a", Bytes::from_static(b"x")).await?;
    for _ in 0..5 {
        bench.proxy.set(Rules::RESET);
        bench.proxy.set(Rules::PASS);
        assert_eq!(store.get("a").await?, "x");
    }
    bucket::empty(&bench.bucket).await
}

#[tokio::test]
async fn unreachable_server_is_unavailable() -> Result<()> {
    let Some(bench) = Bench::new().await? else { return Ok(()) };
    bench.proxy.set(Rules::REFUSE);
    let store = bench.store()?;
    until_refused(&bench).await;
    assert_eq!(store.get("a").await.expect_err("refused").kind, ErrorKind::Unavailable);
    let nowhere = S3Config { endpoint: Some("http://no-such-host.invalid".to_owned()), ..bench.config.clone() };
    let nowhere = S3Config { operation_timeout_ms: 20_000, ..nowhere };
    assert_eq!(S3BlobStore::open(&nowhere)?.get("a").await.expect_err("no such host").kind, ErrorKind::Unavailable);
    Ok(())
}

async fn until_refused(bench: &Bench) {
    while TcpStream::connect(bench.proxy.address()).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

/// A listener with a full queue neither accepts nor refuses further connections.
#[tokio::test]
async fn server_with_a_full_queue_is_unavailable() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let mut queue = Vec::new();
    while let Ok(Ok(connection)) = tokio::time::timeout(Duration::from_millis(500), TcpStream::connect(address)).await {
        queue.push(connection);
    }
    let config =
        S3Config { connect_timeout_ms: 100, ..S3Config::at(&format!("http://key:secret@{address}"), "bucket") };
    let error = S3BlobStore::open(&config)?.get("a").await.expect_err("no connection");
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error:?}");
    Ok(())
}
