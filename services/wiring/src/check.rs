//! Asks a running service for its health, for containers whose images contain no HTTP client.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use cairn_ports::plain;
use clap::ValueEnum;

use crate::ClusterConfig;

/// The time limit for the connection, and for each read and write.
const PATIENCE: Duration = Duration::from_secs(3);
/// Maximum number of bytes that are read from a reply.
const MAX_REPLY_BYTES: u64 = 64 << 10;

/// The endpoint that a check requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Endpoint {
    /// Requests `/healthz`, which reports faults that only a restart of the service can repair.
    Live,
    /// Requests `/readyz`, which reports why the service cannot work now.
    Ready,
}

impl Endpoint {
    fn path(self) -> &'static str {
        match self {
            Self::Live => "/healthz",
            Self::Ready => "/readyz",
        }
    }
}

/// Succeeds if the service that runs with the same settings reports no fault. Otherwise prints the faults.
pub(crate) fn check(file: Option<&Path>, endpoint: Endpoint) -> ExitCode {
    match ClusterConfig::load(file).and_then(|config| request(config.http.listen, endpoint)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", plain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn request(listen: SocketAddr, endpoint: Endpoint) -> anyhow::Result<()> {
    let (address, path) = (own_address(listen), endpoint.path());
    let reply = reply(address, path).with_context(|| format!("the service does not reply on {address}"))?;
    let (head, body) = reply.split_once("\r\n\r\n").with_context(|| format!("the reply on {address} is not HTTP"))?;
    ensure!(head.split(' ').nth(1) == Some("200"), "{path}: {}", body.trim());
    Ok(())
}

/// The reply to one request. With HTTP/1.0, the reply ends when the service closes the connection.
fn reply(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut connection = TcpStream::connect_timeout(&address, PATIENCE)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.set_write_timeout(Some(PATIENCE))?;
    write!(connection, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut reply = String::new();
    connection.take(MAX_REPLY_BYTES).read_to_string(&mut reply)?;
    Ok(reply)
}

/// The address at which a process on the same machine reaches the service. A service that listens on all
/// addresses is reached over the loopback address.
fn own_address(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Health;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn faults_of_the_requested_endpoint_are_reported() {
        let faults = |list: &'static [&'static str]| {
            Arc::new(move || list.iter().map(ToString::to_string).collect()) as crate::Check
        };
        let health = Health::new(faults(&[]), faults(&["Neo4j does not answer", "draining"]));
        let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.expect("a port");
        let listen = listener.local_addr().expect("an address");
        tokio::spawn(async move { axum::serve(listener, health.router()).await });
        let ask = |endpoint| tokio::task::spawn_blocking(move || request(listen, endpoint));
        assert!(ask(Endpoint::Live).await.expect("no panic").is_ok());
        let error = ask(Endpoint::Ready).await.expect("no panic").expect_err("not ready");
        assert_eq!(error.to_string(), "/readyz: Neo4j does not answer\ndraining");
    }

    #[test]
    fn service_that_does_not_listen_is_reported() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let listen = listener.local_addr().expect("an address");
        drop(listener);
        let error = request(listen, Endpoint::Live).expect_err("no service").to_string();
        assert_eq!(error, format!("the service does not reply on {listen}"));
    }

    #[test]
    fn unspecified_addresses_become_loopback() {
        let check = |listen: &str, expect: &str| {
            let listen: SocketAddr = listen.parse().expect("an address");
            assert_eq!(own_address(listen).to_string(), expect);
        };
        check("0.0.0.0:9090", "127.0.0.1:9090");
        check("[::]:9090", "[::1]:9090");
        check("10.0.0.1:9090", "10.0.0.1:9090");
    }
}
