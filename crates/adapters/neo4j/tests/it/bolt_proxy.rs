//! A proxy that reads the requests of a client and can cut a connection at a commit.

use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Requests of Bolt 4.4, identified by their signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    Begin,
    Run,
    Commit,
    Rollback,
    Reset,
    Other(u8),
}

/// The moment at which the proxy cuts the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// The server never receives the commit.
    BeforeCommit,
    /// The server has committed, but the client never receives the reply.
    AfterCommit,
}

struct Shared {
    server: String,
    /// Requests of each connection, in the order of their arrival.
    seen: Mutex<Vec<Vec<Request>>>,
    cuts: Mutex<Vec<Cut>>,
}

pub struct BoltProxy {
    pub url: String,
    shared: Arc<Shared>,
}

impl BoltProxy {
    pub async fn start(server_url: &str) -> Result<Self> {
        let server = server_url.strip_prefix("bolt://").context("a bolt URL")?.trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("bolt://{}", listener.local_addr()?);
        let shared = Arc::new(Shared { server, seen: Mutex::default(), cuts: Mutex::default() });
        let accepting = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, Arc::clone(&accepting)));
            }
        });
        Ok(Self { url, shared })
    }

    /// Cuts the connection at the next commits: there is one cut for each entry. The last entry is used
    /// first.
    pub fn cut(&self, cuts: &[Cut]) {
        self.shared.cuts.lock().expect("cuts").extend_from_slice(cuts);
    }

    pub fn cuts_left(&self) -> usize {
        self.shared.cuts.lock().expect("cuts").len()
    }

    pub fn seen(&self) -> Vec<Vec<Request>> {
        self.shared.seen.lock().expect("seen").clone()
    }
}

async fn carry(mut client: TcpStream, shared: Arc<Shared>) -> Result<()> {
    let mut server = TcpStream::connect(&shared.server).await?;
    let number = shared.add_connection();
    let mut requests = Requests::default();
    let (mut up, mut down) = (vec![0; 65536], vec![0; 65536]);
    loop {
        tokio::select! {
            num_bytes = client.read(&mut up) => {
                let Some(bytes) = num_bytes.ok().filter(|num| *num > 0).map(|num| &up[..num]) else { return Ok(()) };
                let cut = shared.note(number, requests.feed(bytes));
                if cut == Some(Cut::BeforeCommit) {
                    return Ok(());
                }
                server.write_all(bytes).await?;
                if cut == Some(Cut::AfterCommit) {
                    // The reply shows that the commit has happened. The proxy does not forward the reply.
                    server.read_u8().await?;
                    return Ok(());
                }
            }
            num_bytes = server.read(&mut down) => {
                let Some(bytes) = num_bytes.ok().filter(|num| *num > 0).map(|num| &down[..num]) else { return Ok(()) };
                client.write_all(bytes).await?;
            }
        }
    }
}

impl Shared {
    fn add_connection(&self) -> usize {
        let mut seen = self.seen.lock().expect("seen");
        seen.push(Vec::new());
        seen.len() - 1
    }

    /// Records the requests. If the requests contain a commit, returns the next cut, if there is one.
    fn note(&self, number: usize, requests: Vec<Request>) -> Option<Cut> {
        let has_commit = requests.contains(&Request::Commit);
        self.seen.lock().expect("seen")[number].extend(requests);
        if has_commit { self.cuts.lock().expect("cuts").pop() } else { None }
    }
}

/// Parses the bytes of a client. A client sends 20 bytes of handshake, and then messages in chunks. An empty
/// chunk ends each message.
#[derive(Default)]
struct Requests {
    has_greeted: bool,
    pending: Vec<u8>,
    /// The first bytes of the message that is being received.
    head: Vec<u8>,
}

impl Requests {
    fn feed(&mut self, bytes: &[u8]) -> Vec<Request> {
        self.pending.extend_from_slice(bytes);
        let mut requests = Vec::new();
        if !self.has_greeted && self.pending.len() >= 20 {
            self.pending.drain(..20);
            self.has_greeted = true;
        }
        while self.has_greeted && self.pending.len() >= 2 {
            let length = usize::from(u16::from_be_bytes([self.pending[0], self.pending[1]]));
            if self.pending.len() < 2 + length {
                break;
            }
            let chunk: Vec<u8> = self.pending.drain(..2 + length).skip(2).collect();
            self.head.extend(chunk.iter().take(2));
            if length == 0 {
                requests.extend(self.head.get(1).map(|signature| request(*signature)));
                self.head.clear();
            }
        }
        requests
    }
}

fn request(signature: u8) -> Request {
    match signature {
        0x0F => Request::Reset,
        0x10 => Request::Run,
        0x11 => Request::Begin,
        0x12 => Request::Commit,
        0x13 => Request::Rollback,
        other => Request::Other(other),
    }
}
