//! A minimal HTTP server with scripted replies. The server contains no logic of S3.

use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use cairn_s3::S3Config;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request such as `GET /bucket/key HTTP/1.1`. Header names are in lower case; the body is not stored.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// The raw bytes of a reply. After an incomplete reply the server closes the connection.
pub(crate) struct RawReply {
    head: String,
    body: Vec<u8>,
    is_whole: bool,
}

pub(crate) fn reply(status: u16, headers: &str, body: &str) -> RawReply {
    let head = format!("HTTP/1.1 {status} Status\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    RawReply { head, body: body.into(), is_whole: true }
}

/// Returns an error in the format of S3.
pub(crate) fn refusal(status: u16, code: &str) -> RawReply {
    reply(
        status,
        "Content-Type: application/xml\r\n",
        &format!("<Error><Code>{code}</Code><Message>no</Message></Error>"),
    )
}

/// Returns a reply that announces more bytes than it contains.
pub(crate) fn cut_short(announced: usize, body: &str) -> RawReply {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {announced}\r\n\r\n");
    RawReply { head, body: body.into(), is_whole: false }
}

pub(crate) struct FakeServer {
    address: String,
    requests: Arc<Mutex<Vec<Request>>>,
    server: JoinHandle<()>,
}

impl FakeServer {
    /// Starts a server. `script` receives the number of each request and the request, and returns the reply.
    pub async fn start(script: impl Fn(usize, &Request) -> RawReply + Send + Sync + 'static) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://key:secret@{}", listener.local_addr()?);
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (script, seen) = (Arc::new(script), Arc::clone(&requests));
        let server = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                tokio::spawn(async move { serve(connection, &*script, &seen).await });
            }
        });
        Ok(Self { address, requests, server })
    }

    pub fn config(&self) -> S3Config {
        S3Config::at(&self.address, "bucket")
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no test panics while it holds the lock").clone()
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(
    connection: TcpStream,
    script: &(impl Fn(usize, &Request) -> RawReply + ?Sized),
    seen: &Mutex<Vec<Request>>,
) -> Result<()> {
    let mut connection = BufReader::new(connection);
    loop {
        let request = read(&mut connection).await?;
        let number = {
            let mut seen = seen.lock().expect("no test panics while it holds the lock");
            seen.push(request.clone());
            seen.len() - 1
        };
        let reply = script(number, &request);
        connection.write_all(reply.head.as_bytes()).await?;
        if request.method != "HEAD" {
            connection.write_all(&reply.body).await?;
        }
        connection.flush().await?;
        if !reply.is_whole {
            return Ok(connection.shutdown().await?);
        }
    }
}

async fn read(connection: &mut BufReader<TcpStream>) -> Result<Request> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).await?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let (first, headers) = lines.split_first().context("the connection ended before a request arrived")?;
    let mut words = first.split(' ').map(ToOwned::to_owned);
    let headers = headers.iter().filter_map(|line| line.split_once(": "));
    let request = Request {
        method: words.next().context("a method")?,
        path: words.next().context("a path")?,
        headers: headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect(),
    };
    let length = request.header("content-length").map_or(Ok(0), str::parse)?;
    connection.read_exact(&mut vec![0; length]).await?;
    Ok(request)
}
