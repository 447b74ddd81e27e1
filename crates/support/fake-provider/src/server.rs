//! Serves the provider on a socket.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::StreamBody;
use http_body_util::combinators::BoxBody;
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use crate::faults::Fault;
use crate::provider::{Provider, Reply, Request};

type Body = BoxBody<Bytes, std::io::Error>;

/// A server that listens until it is dropped. `POST /fake/script` appends a list of faults. `GET
/// /fake/report` and `GET /fake/calls` return the recorded calls, and `POST /fake/reset` removes them.
#[derive(Debug)]
pub struct FakeServer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    listening: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    provider: Mutex<Provider>,
    started: Instant,
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl FakeServer {
    /// Starts the server. If the port is 0, a free port is chosen.
    pub async fn start(address: SocketAddr, provider: Provider) -> Result<Self> {
        let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen at {address}"))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { provider: Mutex::new(provider), started: Instant::now() });
        let listening = tokio::spawn(listen(listener, Arc::clone(&shared))).abort_handle();
        Ok(Self { address, shared, listening })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn provider(&self) -> MutexGuard<'_, Provider> {
        self.shared.provider()
    }

    /// The time on the clock that the recorded calls use.
    pub fn now(&self) -> Duration {
        self.shared.started.elapsed()
    }
}

impl Shared {
    fn provider(&self) -> MutexGuard<'_, Provider> {
        self.provider.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(serve(stream, Arc::clone(&shared)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Ignores the errors of a connection, because the client or the script causes them.
async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| respond(Arc::clone(&shared), request));
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// An error that ends a connection without a reply.
#[derive(Debug)]
struct HungUp;

impl std::fmt::Display for HungUp {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("hung up")
    }
}

impl std::error::Error for HungUp {}

async fn respond(shared: Arc<Shared>, request: hyper::Request<Incoming>) -> Result<Response<Body>, HungUp> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| HungUp)?.to_bytes();
    let path = head.uri.path();
    if let Some(command) = path.strip_prefix("/fake/") {
        return Ok(shared.command(&head.method, command, &body));
    }
    let key = head.headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let reply = shared.provider().handle(shared.started.elapsed(), Request { path, key, body: &body });
    match reply {
        Reply::HangUp => Err(HungUp),
        Reply::Response { status, headers, body, after, is_cut } => {
            tokio::time::sleep(after).await;
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            response.body(if is_cut { cut(body) } else { whole(body) }).map_err(|_| HungUp)
        }
    }
}

impl Shared {
    fn command(&self, method: &Method, command: &str, body: &[u8]) -> Response<Body> {
        let mut provider = self.provider();
        let answer = match (method.as_str(), command) {
            ("POST", "script") => match serde_json::from_slice::<Vec<Fault>>(body) {
                Ok(faults) => {
                    provider.script(faults);
                    Some("{}".to_owned())
                }
                Err(error) => Some(format!("{{\"error\":{:?}}}", error.to_string())),
            },
            ("POST", "reset") => {
                provider.reset();
                Some("{}".to_owned())
            }
            ("GET", "report") => serde_json::to_string(&provider.report()).ok(),
            ("GET", "calls") => serde_json::to_string(provider.calls()).ok(),
            _ => None,
        };
        let status = if answer.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
        let mut response = Response::new(whole(answer.unwrap_or_default().into_bytes()));
        *response.status_mut() = status;
        response
    }
}

fn whole(body: Vec<u8>) -> Body {
    http_body_util::Full::new(Bytes::from(body)).map_err(|never: Infallible| match never {}).boxed()
}

/// A body that ends with an error after these bytes, so that the connection is closed before the body is
/// complete.
fn cut(body: Vec<u8>) -> Body {
    let frames = [Ok(Frame::data(Bytes::from(body))), Err(std::io::Error::other("cut"))];
    BodyExt::boxed(StreamBody::new(futures::stream::iter(frames)))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::{Report, Settings, Shape};

    async fn request(server: &FakeServer, method: &str, path: &str, body: &str) -> Result<String> {
        let mut stream = TcpStream::connect(server.address).await?;
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: fake\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }

    #[tokio::test]
    async fn other_processes_can_script_and_read_reports() -> Result<()> {
        let server = FakeServer::start("127.0.0.1:0".parse()?, Provider::new(Settings::new(Shape::Tei))).await?;
        let script =
            r#"["none", {"throttle": {"retry_after": "7"}}, {"status": 500}, "hang_up", {"outage": {"ms": 5}}]"#;
        assert!(request(&server, "POST", "/fake/script", script).await?.contains("200 OK"));
        for expect in ["200 OK", "retry-after: 7", "500 Internal"] {
            let answer = request(&server, "POST", "/embed", r#"{"inputs":["text"]}"#).await?;
            assert!(answer.contains(expect), "{expect}: {answer}");
        }
        assert_eq!(request(&server, "POST", "/embed", r#"{"inputs":["text"]}"#).await?, "");
        let report = request(&server, "GET", "/fake/report", "").await?;
        let body = report.split("\r\n\r\n").nth(1).context("a body")?;
        let report: Report = serde_json::from_str(body)?;
        assert_eq!((report.num_calls, report.num_early, report.statuses[&0]), (4, 2, 1));
        assert!(request(&server, "GET", "/fake/calls", "").await?.contains("\"is_early\":true"));
        assert!(request(&server, "POST", "/fake/script", "[\"typo\"]").await?.contains("typo"));
        request(&server, "POST", "/fake/reset", "").await?;
        assert_eq!(server.provider().report().num_calls, 0);
        assert!(request(&server, "GET", "/fake/other", "").await?.contains("404"));
        Ok(())
    }
}
