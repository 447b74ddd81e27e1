//! Tests the proxy with a server that echoes its input.

use std::io::ErrorKind;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cairn_servers::{Direction, FaultProxy, Flow, Rules};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::waiting::until;

/// If the proxy forwards a reply of the echo server, the reply arrives within this time. If no reply has
/// arrived after this time, the proxy is withholding the reply.
const SILENCE: Duration = Duration::from_millis(300);

/// The time limit for replies that must arrive.
const DEADLINE: Duration = Duration::from_secs(30);

struct Bench {
    proxy: FaultProxy,
    /// The number of bytes that the server has received.
    num_received: Arc<AtomicU64>,
}

impl Bench {
    async fn new() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let server = listener.local_addr()?.to_string();
        let num_received = Arc::new(AtomicU64::new(0));
        tokio::spawn(echo(listener, Arc::clone(&num_received)));
        Ok(Self { proxy: FaultProxy::start(&server).await?, num_received })
    }

    async fn connect(&self) -> Result<TcpStream> {
        Ok(TcpStream::connect(self.proxy.address()).await?)
    }

    async fn until_received(&self, num_bytes: u64) -> Result<()> {
        until("the server has the bytes", async || self.num_received.load(Ordering::SeqCst) == num_bytes).await
    }
}

async fn echo(listener: TcpListener, num_received: Arc<AtomicU64>) {
    while let Ok((mut connection, _)) = listener.accept().await {
        let num_received = Arc::clone(&num_received);
        tokio::spawn(async move {
            let mut buffer = vec![0; 4096];
            while let Ok(num_read) = connection.read(&mut buffer).await {
                num_received.fetch_add(num_read as u64, Ordering::SeqCst);
                if num_read == 0 || connection.write_all(&buffer[..num_read]).await.is_err() {
                    return;
                }
            }
        });
    }
}

async fn exchange(connection: &mut TcpStream, request: &[u8]) -> std::io::Result<Vec<u8>> {
    connection.write_all(request).await?;
    let mut reply = vec![0; request.len()];
    connection.read_exact(&mut reply).await?;
    Ok(reply)
}

async fn is_silent(connection: &mut TcpStream) -> bool {
    timeout(SILENCE, connection.read_u8()).await.is_err()
}

#[tokio::test]
async fn everything_passes_in_order_without_rules() -> Result<()> {
    let bench = Bench::new().await?;
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
    let (mut reads, mut writes) = bench.connect().await?.into_split();
    let sent = bytes.clone();
    let sender = tokio::spawn(async move {
        writes.write_all(&sent).await?;
        writes.shutdown().await
    });
    let mut received = Vec::new();
    reads.read_to_end(&mut received).await?;
    sender.await??;
    assert!(received == bytes, "the server returned other bytes");
    assert_eq!(bench.proxy.num_connections(), 1);
    Ok(())
}

#[tokio::test]
async fn hang_holds_both_directions_without_loss() -> Result<()> {
    let bench = Bench::new().await?;
    let mut connection = bench.connect().await?;
    assert_eq!(exchange(&mut connection, b"one").await?, b"one");
    bench.proxy.set(Rules::HANG);
    connection.write_all(b"two").await?;
    assert!(is_silent(&mut connection).await);
    assert_eq!(bench.num_received.load(Ordering::SeqCst), 3);
    let mut late = bench.connect().await?;
    late.write_all(b"new").await?;
    assert!(is_silent(&mut late).await, "a connection that begins while the rule is set also hangs");
    bench.proxy.set(Rules::PASS);
    let mut reply = [0; 3];
    connection.read_exact(&mut reply).await?;
    assert_eq!(&reply, b"two");
    late.read_exact(&mut reply).await?;
    assert_eq!(&reply, b"new");
    Ok(())
}

#[tokio::test]
async fn hang_hides_the_end_of_the_client() -> Result<()> {
    let bench = Bench::new().await?;
    let mut connection = bench.connect().await?;
    exchange(&mut connection, b"one").await?;
    bench.proxy.set(Rules::HANG);
    drop(connection);
    let mut other = bench.connect().await?;
    assert!(is_silent(&mut other).await);
    Ok(())
}

#[tokio::test]
async fn dropped_response_leaves_the_request_executed() -> Result<()> {
    let bench = Bench::new().await?;
    let mut connection = bench.connect().await?;
    exchange(&mut connection, b"one").await?;
    bench.proxy.set(Rules::DROP_RESPONSES);
    connection.write_all(b"apply").await?;
    bench.until_received(8).await?;
    assert!(is_silent(&mut connection).await);
    bench.proxy.set(Rules::PASS);
    let read = timeout(DEADLINE, connection.read_u8()).await.context("the connection hangs")?;
    let error = read.expect_err("a stream with a gap must not continue");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let mut next = bench.connect().await?;
    assert_eq!(exchange(&mut next, b"again").await?, b"again");
    Ok(())
}

#[tokio::test]
async fn reset_ends_existing_and_new_connections() -> Result<()> {
    let bench = Bench::new().await?;
    let mut connection = bench.connect().await?;
    exchange(&mut connection, b"one").await?;
    bench.proxy.set(Rules::RESET);
    let read = timeout(DEADLINE, connection.read_u8()).await.context("the connection hangs")?;
    let error = read.expect_err("a reset");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let mut next = bench.connect().await?;
    assert!(exchange(&mut next, b"two").await.is_err());
    bench.proxy.set(Rules::PASS);
    assert_eq!(exchange(&mut bench.connect().await?, b"three").await?, b"three");
    Ok(())
}

#[tokio::test]
async fn refusal_affects_only_new_connections() -> Result<()> {
    let bench = Bench::new().await?;
    let mut connection = bench.connect().await?;
    exchange(&mut connection, b"one").await?;
    bench.proxy.set(Rules::REFUSE);
    let address = bench.proxy.address();
    until("the proxy refuses", async || {
        TcpStream::connect(address).await.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    })
    .await?;
    assert_eq!(exchange(&mut connection, b"two").await?, b"two");
    bench.proxy.set(Rules::PASS);
    until("the proxy accepts", async || TcpStream::connect(address).await.is_ok()).await?;
    assert_eq!(exchange(&mut bench.connect().await?, b"three").await?, b"three");
    Ok(())
}

#[tokio::test]
async fn cut_passes_exactly_the_given_number_of_bytes() -> Result<()> {
    for (rules, num_at_server, num_at_client) in [
        (Rules { requests: Direction::cut_after(1000), ..Rules::PASS }, 1000, 1000),
        (Rules { responses: Direction::cut_after(500), ..Rules::PASS }, 5000, 500),
    ] {
        let bench = Bench::new().await?;
        bench.proxy.set(rules);
        let mut connection = bench.connect().await?;
        connection.write_all(&[7; 5000]).await?;
        bench.until_received(num_at_server).await?;
        let mut received = Vec::new();
        // If the server has unread bytes when it closes the connection, the client may receive a reset
        // instead of the end. So an error is ignored, and only the received bytes are checked.
        let _ = connection.read_to_end(&mut received).await;
        assert!(received.len() <= num_at_client, "{} bytes passed: {rules:?}", received.len());
        assert!(rules.requests != Direction::PASS || received.len() == num_at_client, "only {} bytes", received.len());
    }
    Ok(())
}

#[tokio::test]
async fn latency_and_bandwidth_rules_delay_bytes() -> Result<()> {
    let slow = Direction { bytes_per_second: NonZeroU64::new(100_000), ..Direction::PASS };
    let late = Direction::delayed_by(Duration::from_millis(200));
    for (rules, num_bytes, at_least_ms) in [
        (Rules { requests: late, responses: late, ..Rules::PASS }, 10, 400),
        (Rules { responses: slow, ..Rules::PASS }, 30_000, 300),
    ] {
        let bench = Bench::new().await?;
        bench.proxy.set(rules);
        let mut connection = bench.connect().await?;
        let began = Instant::now();
        exchange(&mut connection, &vec![7; num_bytes]).await?;
        // Only a lower bound is checked, so that load on the machine cannot make the test fail.
        assert!(began.elapsed() >= Duration::from_millis(at_least_ms), "{rules:?} took {:?}", began.elapsed());
    }
    Ok(())
}

#[tokio::test]
async fn one_connection_can_have_its_own_rules() -> Result<()> {
    let bench = Bench::new().await?;
    let (mut first, mut second) = (bench.connect().await?, bench.connect().await?);
    exchange(&mut first, b"a").await?;
    exchange(&mut second, b"b").await?;
    bench
        .proxy
        .set_connection(0, Rules { responses: Direction { flow: Flow::Hang, ..Direction::PASS }, ..Rules::PASS });
    first.write_all(b"x").await?;
    assert!(is_silent(&mut first).await);
    assert_eq!(exchange(&mut second, b"y").await?, b"y");
    bench.proxy.set(Rules::PASS);
    assert_eq!(first.read_u8().await?, b'x');
    Ok(())
}

#[tokio::test]
async fn proxy_keeps_url_parts_and_resets_connection_if_server_is_down() -> Result<()> {
    let proxy = FaultProxy::start("amqp://guest:guest@127.0.0.1:1/%2f").await?;
    let mut connection = TcpStream::connect(proxy.address()).await?;
    assert!(connection.read_u8().await.is_err());
    let port = proxy.address().port();
    let check = |url: &str, expect: String| assert_eq!(proxy.url(url).expect("an address"), expect);
    check("amqp://guest:guest@127.0.0.1:1/%2f", format!("amqp://guest:guest@127.0.0.1:{port}/%2f"));
    check("http://key:secret@host:9000", format!("http://key:secret@127.0.0.1:{port}"));
    check("bolt://host:7687", format!("bolt://127.0.0.1:{port}"));
    Ok(())
}
