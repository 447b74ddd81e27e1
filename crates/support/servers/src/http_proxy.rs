//! A proxy that knows where an HTTP request ends: it answers some in the server's place, loses answers, lets others come first.
//!
//! Every request has a connection of its own on both sides (`Connection: close`), so an answer is whatever comes until the
//! end, and the proxy need not understand it. What is signed of a request passes as it came.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use url::Url;

use crate::loopback;

/// What becomes of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Treatment {
    Pass,
    /// The server never sees it.
    Refuse(Refusal),
    /// The server does it, and the client is told otherwise.
    Lose(Refusal),
    /// Somebody else has asked for the same a moment before: the client gets the answer to the second of two.
    Second,
}

/// An answer of the proxy's own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub status: u16,
    pub body: String,
}

/// The head of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpRequest {
    pub method: String,
    /// With the query.
    pub path: String,
    /// Names in small letters.
    headers: Vec<(String, String)>,
}

impl HttpRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// What the server answered to a request, whatever the client was told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchange {
    pub request: HttpRequest,
    pub status: u16,
}

type Rule = dyn Fn(&HttpRequest) -> Treatment + Send + Sync;

/// Ends with all its connections when it is dropped.
pub struct HttpProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

struct Shared {
    /// `HOST:PORT`
    server: String,
    rule: Mutex<Arc<Rule>>,
    exchanges: Mutex<Vec<Exchange>>,
}

impl HttpProxy {
    /// Listens on a free port for the server at `http://HOST:PORT`. Everything passes until `set` says otherwise.
    pub async fn start(server: &str) -> Result<Self> {
        let url = Url::parse(server).with_context(|| format!("{server} is no address"))?;
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

    /// The address of the server with the proxy in its place.
    pub fn url(&self, server: &str) -> Result<String> {
        loopback::moved(server, self.address.port())
    }

    /// For all requests that come from now on.
    pub fn set(&self, rule: impl Fn(&HttpRequest) -> Treatment + Send + Sync + 'static) {
        *lock(&self.shared.rule) = Arc::new(rule);
    }

    /// What the server has answered so far.
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
                    // A connection that breaks is an answer as well.
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
        let answer = match rule(&request) {
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
        client.write_all(&answer).await?;
        client.shutdown().await
    }

    async fn forward(&self, request: &HttpRequest, message: &[u8]) -> io::Result<Vec<u8>> {
        let mut server = TcpStream::connect(&self.server).await?;
        // A server that refuses by the head answers and resets, whether or not it has got all of the body.
        let written = server.write_all(message).await;
        let mut answer = Vec::new();
        let read = server.read_to_end(&mut answer).await;
        if answer.is_empty() {
            written.and(read.map(drop))?;
        }
        let status = status_of(&answer).ok_or_else(|| io::Error::other("no HTTP answer"))?;
        lock(&self.exchanges).push(Exchange { request: request.clone(), status });
        Ok(answer)
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

/// A request, and its bytes as the server is to get them.
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
    let request = parse(&lines).ok_or_else(|| io::Error::other("no HTTP request"))?;
    if request.header("transfer-encoding").is_some() {
        return Err(io::Error::other("the length of the body is not announced"));
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

fn status_of(answer: &[u8]) -> Option<u16> {
    let first = answer.split(|byte| *byte == b'\r').next()?;
    std::str::from_utf8(first).ok()?.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::send;

    /// Answers with the number of the request and its body, over connections that it would keep open.
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
    async fn the_server_sees_what_the_rule_lets_through() -> Result<()> {
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
            let answer = send(&proxy.url(&server)?, "PUT", "/key", "text").await?;
            assert_eq!((answer.status, answer.body.as_str()), (status, body), "{treatment:?}");
        }
        assert_eq!(send(&proxy.url(&server)?, "GET", "/key", "").await?.body, "5 ");
        let seen = proxy.exchanges();
        assert_eq!(seen.len(), 5);
        assert!(seen.iter().all(|exchange| exchange.status == 200 && exchange.request.path == "/key"), "{seen:?}");
        assert_eq!(seen[0].request.header("content-length"), Some("4"));
        Ok(())
    }
}
