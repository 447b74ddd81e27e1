//! Connections of callers: bounded in number, in the size and time of their heads, and drained at the end.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use cairn_telemetry::metrics::CONNECTIONS;
use cairn_wiring::{Health, QueryConfig, Stop};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutStream;

use crate::counting::Counted;

/// Somebody who sends the head of a request this slowly means no good.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Somebody who takes nothing of an answer for so long holds a place that others wait for.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The least that the HTTP library takes.
const LEAST_BUFFER_BYTES: usize = 8 << 10;
/// How long callers are still taken after the process was told to stop: whoever sends them here learns only from
/// readiness that they should not come.
const LINGER: Duration = Duration::from_secs(5);
/// How long requests in hand may take after the process was told to stop.
const DRAIN: Duration = Duration::from_secs(60);
/// No file descriptors are left, or the like: others end meanwhile.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Answers until the process is asked to stop. Then it says that it is not ready, still takes what comes while that gets
/// about, and finishes what it has in hand.
pub async fn serve(config: &QueryConfig, app: Router, health: &Health, mut stop: Stop) -> anyhow::Result<()> {
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("cannot listen on {} for questions ([query] listen)", config.listen))?;
    tracing::info!(address = %listener.local_addr()?, "questions");
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
        // Answers are small: waiting for more to send with them only makes them late.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(app.clone());
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(WRITE_TIMEOUT));
        let connection = graceful.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        let open = Counted::new(&CONNECTIONS);
        tokio::spawn(async move {
            // A caller that goes away or speaks no HTTP is no fault of ours.
            let _ = connection.await;
            drop((place, open));
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("not all requests ended within {} s", DRAIN.as_secs());
    }
    Ok(())
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
