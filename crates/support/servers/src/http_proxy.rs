//! A proxy that parses HTTP requests. The proxy can refuse a request, lose the response, or send the request
//! twice.
//!
//! Each request uses a separate connection on both sides (`Connection: close`). A response ends when its
//! connection ends, so the proxy does not need to parse the response. The signed parts of a request are
//! forwarded unchanged.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use url::Url;

use crate::loopback;

/// How a request is treated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Treatment {
    Pass,
    /// The server never receives the request; the client receives the refusal.
    Refuse(Refusal),
    /// The server executes the request, but the client receives the refusal.
    Lose(Refusal),
    /// The request is sent twice, as if another client had sent it shortly before. The client receives the
    /// second response.
    Second,
}

/// A reply that the proxy sends instead of the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub status: u16,
    pub body: String,
}

/// The head of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpRequest {
    pub method: String,
    /// The path, including the query.
    pub path: String,
    /// The headers, with names in lower case.
    headers: Vec<(String, String)>,
}

impl HttpRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// A request, and the response of the server. The client may not have received this response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchange {
    pub request: HttpRequest,
    pub status: u16,
}

type Rule = dyn Fn(&HttpRequest) -> Treatment + Send + Sync;

/// When the proxy is dropped, the proxy and all its connections end.
pub struct HttpProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

struct Shared {
    /// The address of the server, as `HOST:PORT`.
    server: String,
    rule: Mutex<Arc<Rule>>,
    exchanges: Mutex<Vec<Exchange>>,
}

impl HttpProxy {
    /// Starts a proxy on a free port for the server at `http://HOST:PORT`. All requests pass until `set` is
    /// called.
    pub async fn start(server: &str) -> Result<Self> {
        let url = Url::parse(server).with_context(|| format!("{server} is not an address"))?;
        let host = url.host_str().context("the address has no host")?;
        let server = format!("{host}:{}", url.port_or_known_default().context("the address has no port")?);
        let [port] = loopback::free_ports()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
        let rule: Arc<Rule> = Arc::new(|_| Treatment::Pass);
        let shared = Arc::new(Shared { server, rule: Mutex::new(rule), exchanges: Mutex::default() });
        let acceptor = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, acceptor })
    }

    /// The address of the server, with the host and port of the proxy.
    pub fn url(&self, server: &str) -> Result<String> {
        loopback::moved(server, self.address.port())
    }

    /// Sets the rule for all later requests.
    pub fn set(&self, rule: impl Fn(&HttpRequest) -> Treatment + Send + Sync + 'static) {
        *lock(&self.shared.rule) = Arc::new(rule);
    }

    /// All exchanges with the server so far.
    pub fn exchanges(&self) -> Vec<Exchange> {
        lock(&self.shared.exchanges).clone()
    }
}

impl Drop for HttpProxy {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((client, _)) = accepted {
                    let shared = Arc::clone(&shared);
                    // A broken connection is also a possible reply, so errors are ignored.
                    connections.spawn(async move { shared.serve(client).await.unwrap_or_default() });
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

impl Shared {
    async fn serve(&self, client: TcpStream) -> io::Result<()> {
        let mut client = BufReader::new(client);
        let (request, message) = read(&mut client).await?;
        let rule = Arc::clone(&lock(&self.rule));
        let reply = match rule(&request) {
            Treatment::Pass => self.forward(&request, &message).await?,
            Treatment::Refuse(refusal) => refusal.bytes(),
            Treatment::Lose(refusal) => {
                self.forward(&request, &message).await?;
                refusal.bytes()
            }
            Treatment::Second => {
                self.forward(&request, &message).await?;
                self.forward(&request, &message).await?
            }
        };
        client.write_all(&reply).await?;
        client.shutdown().await
    }

    async fn forward(&self, request: &HttpRequest, message: &[u8]) -> io::Result<Vec<u8>> {
        let mut server = TcpStream::connect(&self.server).await?;
        // If a server refuses a request after reading the head, it may reply and reset the connection before
        // it has received the whole body. So an error of this write is not final.
        let written = server.write_all(message).await;
        let mut response = Vec::new();
        let read = server.read_to_end(&mut response).await;
        if response.is_empty() {
            written.and(read.map(drop))?;
        }
        let status = status_of(&response).ok_or_else(|| io::Error::other("the response is not HTTP"))?;
        lock(&self.exchanges).push(Exchange { request: request.clone(), status });
        Ok(response)
    }
}

impl Refusal {
    fn bytes(&self) -> Vec<u8> {
        let Self { status, body } = self;
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} Refused\r\nContent-Type: application/xml\r\nContent-Length: {length}\r\n");
        format!("{head}Connection: close\r\n\r\n{body}").into_bytes()
    }
}

/// Reads a request. Returns the request, and the bytes to forward to the server.
async fn read(client: &mut BufReader<TcpStream>) -> io::Result<(HttpRequest, Vec<u8>)> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        client.read_line(&mut line).await?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let request = parse(&lines).ok_or_else(|| io::Error::other("the request is not HTTP"))?;
    if request.header("transfer-encoding").is_some() {
        return Err(io::Error::other("the proxy does not support the header `transfer-encoding`"));
    }
    let length = request.header("content-length").map_or(Ok(0), str::parse).map_err(io::Error::other)?;
    lines.retain(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let mut message = format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n")).into_bytes();
    let head_bytes = message.len();
    message.resize(head_bytes + length, 0);
    client.read_exact(&mut message[head_bytes..]).await?;
    Ok((request, message))
}

fn parse(lines: &[String]) -> Option<HttpRequest> {
    let (first, headers) = lines.split_first()?;
    let mut words = first.split(' ').map(str::to_owned);
    let headers = headers.iter().filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
    Some(HttpRequest { method: words.next()?, path: words.next()?, headers: headers.collect() })
}

fn status_of(response: &[u8]) -> Option<u16> {
    let first = response.split(|byte| *byte == b'\r').next()?;
    std::str::from_utf8(first).ok()?.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::send;

    /// A server that replies with the number and the body of each request. The server never closes a
    /// connection itself.
    async fn counting() -> Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        tokio::spawn(async move {
            for number in 1.. {
                let Ok((client, _)) = listener.accept().await else { return };
                let mut client = BufReader::new(client);
                let Ok((_, message)) = read(&mut client).await else { continue };
                let body = String::from_utf8_lossy(&message).split("\r\n\r\n").nth(1).unwrap_or_default().to_owned();
                let _ = client.write_all(format!("HTTP/1.1 200 OK\r\n\r\n{number} {body}").as_bytes()).await;
                let _ = client.shutdown().await;
            }
        });
        Ok(url)
    }

    #[tokio::test]
    async fn rule_decides_what_the_server_receives() -> Result<()> {
        let server = counting().await?;
        let proxy = HttpProxy::start(&server).await?;
        let refusal = || Refusal { status: 503, body: "no".to_owned() };
        let expected = [
            (Treatment::Pass, 200, "1 text"),
            (Treatment::Refuse(refusal()), 503, "no"),
            (Treatment::Lose(refusal()), 503, "no"),
            (Treatment::Second, 200, "4 text"),
        ];
        for (treatment, status, body) in expected {
            let of_put = treatment.clone();
            proxy.set(move |request| if request.method == "PUT" { of_put.clone() } else { Treatment::Pass });
            let response = send(&proxy.url(&server)?, "PUT", "/key", "text").await?;
            assert_eq!((response.status, response.body.as_str()), (status, body), "{treatment:?}");
        }
        assert_eq!(send(&proxy.url(&server)?, "GET", "/key", "").await?.body, "5 ");
        let seen = proxy.exchanges();
        assert_eq!(seen.len(), 5);
        assert!(seen.iter().all(|exchange| exchange.status == 200 && exchange.request.path == "/key"), "{seen:?}");
        assert_eq!(seen[0].request.header("content-length"), Some("4"));
        Ok(())
    }
}
