//! A TCP proxy that injects the faults of networks and failing machines: delays, limits, hangs, cuts and
//! losses.
//!
//! The same rules apply to all connections, but a single connection may have rules of its own. Rules may
//! change while bytes are transferred. While the proxy refuses connections, it keeps its address, so that a
//! client that tries again finds the same address.

mod connection;
mod pump;
mod rules;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;
use url::Url;

pub use rules::{Direction, Flow, Rules};

use crate::loopback;

const BIND_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// When the proxy is dropped, the proxy and all its connections end.
pub struct FaultProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: JoinHandle<()>,
}

struct Shared {
    server: String,
    /// The rules that the last `set` has given. New connections get these rules.
    rules: watch::Sender<Rules>,
    /// The rules of each connection, in the order of arrival.
    connections: Mutex<Vec<watch::Sender<Rules>>>,
}

impl FaultProxy {
    /// Starts a proxy on a free port. `server` is `HOST:PORT` or an address with a scheme.
    pub async fn start(server: &str) -> Result<Self> {
        let server = match Url::parse(server).ok().as_ref().and_then(host_and_port) {
            Some(server) => server,
            None => server.to_owned(),
        };
        let [port] = loopback::free_ports()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
        let rules = watch::Sender::new(Rules::PASS);
        let shared = Arc::new(Shared { server, rules, connections: Mutex::default() });
        let acceptor = tokio::spawn(accept(listener, address, Arc::clone(&shared)));
        Ok(Self { address, shared, acceptor })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a server, with the host and port of the proxy; all other parts are unchanged.
    pub fn url(&self, server: &str) -> Result<String> {
        loopback::moved(server, self.address.port())
    }

    /// Sets the rules of all existing and new connections.
    pub fn set(&self, rules: Rules) {
        // Because of this lock, a new connection gets the rules either when it is accepted or in the loop
        // below, but not twice.
        let connections = self.shared.connections();
        self.shared.rules.send_replace(rules);
        for connection in connections.iter() {
            connection.send_replace(rules);
        }
    }

    /// Sets the rules of one connection until the next `set`. `number` is the zero-based number of the
    /// connection, in the order of arrival.
    pub fn set_connection(&self, number: usize, rules: Rules) {
        if let Some(connection) = self.shared.connections().get(number) {
            connection.send_replace(rules);
        }
    }

    /// The number of connections so far, including closed connections.
    pub fn num_connections(&self) -> usize {
        self.shared.connections().len()
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, Vec<watch::Sender<Rules>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_connection(&self) -> watch::Receiver<Rules> {
        let mut connections = self.connections();
        let (sender, receiver) = watch::channel(*self.rules.borrow());
        connections.push(sender);
        receiver
    }
}

fn host_and_port(url: &Url) -> Option<String> {
    Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
}

/// Accepts connections until the task is aborted, which also ends the connections.
async fn accept(mut listener: TcpListener, address: SocketAddr, shared: Arc<Shared>) {
    let mut rules = shared.rules.subscribe();
    let mut connections = JoinSet::new();
    loop {
        if rules.borrow_and_update().refuse {
            drop(listener);
            listener = listen_again(address, &mut rules).await;
        }
        tokio::select! {
            _ = rules.changed() => {}
            accepted = listener.accept() => {
                if let Ok((client, _)) = accepted {
                    connections.spawn(serve(client, Arc::clone(&shared)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Waits until connections may be accepted again, then listens on the same port. A bind fails only while
/// another process uses the port.
async fn listen_again(address: SocketAddr, rules: &mut watch::Receiver<Rules>) -> TcpListener {
    loop {
        // An error means that the proxy was dropped, which also ends this task.
        let _ = rules.wait_for(|rules| !rules.refuse).await;
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(_) => sleep(BIND_AGAIN_AFTER).await,
        }
    }
}

async fn serve(client: TcpStream, shared: Arc<Shared>) {
    let rules = shared.add_connection();
    let Ok(server) = TcpStream::connect(&shared.server).await else {
        return connection::reset(&client);
    };
    connection::carry(client, server, rules).await;
}
