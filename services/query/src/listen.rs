//! Accepts the connections of callers. The number of connections is limited. The size of a request head and
//! the time to receive it are also limited. When the service stops, the connections are drained.

use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use cairn_telemetry::metrics::CONNECTIONS;
use cairn_wiring::{Health, QueryConfig, Stop};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;
use tokio_io_timeout::TimeoutStream;

use crate::counting::Counted;

/// The time limit for receiving the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for a write without progress. This limit is needed because a caller that does not read its
/// answer occupies a connection that other callers need.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit for a whole answer. This limit is longer than the time for which `cairn --server` waits for
/// an answer. The limit is needed because `WRITE_TIMEOUT` does not stop a caller that reads one byte from
/// time to time.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// The minimum buffer size that the HTTP library accepts.
const LEAST_BUFFER_BYTES: usize = 8 << 10;
/// New connections are accepted for this time after the stop signal. During this time, a load balancer
/// notices that the replica is not ready.
const LINGER: Duration = Duration::from_secs(5);
/// The time limit for requests in progress after the stop signal.
const DRAIN: Duration = Duration::from_secs(60);
/// The pause after a failed accept, for example when no file descriptors are free.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Answers requests until the stop signal arrives. After the signal, the service reports that it is not
/// ready, accepts connections for `LINGER`, and finishes the requests in progress.
pub async fn serve(config: &QueryConfig, app: Router, health: &Health, mut stop: Stop) -> anyhow::Result<()> {
    let listener = bind(config).await?;
    let http = protocol(config);
    let (connections, graceful) = (Arc::new(Semaphore::new(config.max_connections)), GracefulShutdown::new());
    let mut end = pin!(async {
        stop.asked().await;
        tracing::info!("draining");
        health.drain();
        tokio::time::sleep(LINGER).await;
    });
    loop {
        let (stream, place) = tokio::select! {
            accepted = accept(&listener, &connections) => accepted?,
            () = &mut end => break,
        };
        // Answers are small. If the system waited for more data before it sends an answer, the answer would
        // only be delayed.
        let _ = stream.set_nodelay(true);
        let (service, overdue) = timed(app.clone());
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(WRITE_TIMEOUT));
        let connection = graceful.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        let open = Counted::new(&CONNECTIONS);
        tokio::spawn(async move {
            tokio::select! {
                // An error is ignored, because it is caused by the caller, who disconnected or does not use
                // HTTP.
                _ = connection => {}
                () = overdue => {}
            }
            drop((place, open));
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("not all requests ended within {} s", DRAIN.as_secs());
    }
    Ok(())
}

async fn bind(config: &QueryConfig) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("cannot listen on {} for questions ([query] listen)", config.listen))?;
    tracing::info!(address = %listener.local_addr()?, "listening for questions");
    Ok(listener)
}

/// Returns the service of one connection, and a future that ends if the caller does not read an answer in
/// time. An answer counts as read when the next request arrives, because the end of an answer cannot be
/// observed. Idle connections are closed by `HEAD_TIMEOUT`.
fn timed(
    app: Router,
) -> (impl Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>, impl Future<Output = ()>)
{
    let app = TowerToHyperService::new(app);
    let (begun, begun_at) = watch::channel(None);
    let service = service_fn(move |question| {
        begun.send_replace(None);
        let (begun, answer) = (begun.clone(), app.call(question));
        async move {
            let answer = answer.await;
            begun.send_replace(Some(Instant::now()));
            answer
        }
    });
    (service, overdue(begun_at))
}

async fn overdue(mut begun_at: watch::Receiver<Option<Instant>>) {
    loop {
        let begun = *begun_at.borrow_and_update();
        let passes = async {
            match begun {
                Some(begun) => tokio::time::sleep_until(begun + ANSWER_TIMEOUT).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = passes => return,
            changed = begun_at.changed() => if changed.is_err() { pending().await },
        }
    }
}

fn protocol(config: &QueryConfig) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size((2 * config.gateway.header_limit_bytes).max(LEAST_BUFFER_BYTES));
    http
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> anyhow::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(connections).acquire_owned().await?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Ok((stream, place)),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::task::JoinHandle;

    use super::*;

    const QUESTION: &[u8] = b"GET / HTTP/1.1\r\nhost: cairn.test\r\n\r\n";

    /// Opens a connection whose answers have this size. The task returns how long the connection lasted.
    fn connect(answer_bytes: usize) -> (DuplexStream, JoinHandle<Duration>) {
        let (caller, stream) = duplex(1 << 10);
        let app = Router::new().route("/", get(move || async move { vec![b'x'; answer_bytes] }));
        let (service, overdue) = timed(app);
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let lasted = tokio::spawn(async move {
            let opened = Instant::now();
            tokio::select! {
                _ = connection => {}
                () = overdue => {}
            }
            opened.elapsed()
        });
        (caller, lasted)
    }

    #[tokio::test(start_paused = true)]
    async fn slow_reader_is_disconnected() {
        let (mut caller, lasted) = connect(1 << 20);
        caller.write_all(QUESTION).await.expect("sent");
        while caller.read_u8().await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let lasted = lasted.await.expect("an end");
        assert!((ANSWER_TIMEOUT..ANSWER_TIMEOUT + Duration::from_secs(1)).contains(&lasted), "{lasted:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn connection_stays_open_for_further_requests() {
        let (mut caller, lasted) = connect(1);
        for _ in 0..5 {
            caller.write_all(QUESTION).await.expect("sent");
            let mut answer = Vec::new();
            while !answer.ends_with(b"\r\n\r\nx") {
                answer.push(caller.read_u8().await.expect("an answer"));
            }
            tokio::time::sleep(ANSWER_TIMEOUT / 2).await;
        }
        assert!(!lasted.is_finished());
        drop(caller);
        lasted.await.expect("an end");
    }
}
