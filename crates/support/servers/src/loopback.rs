//! Chooses free ports on 127.0.0.1.
//!
//! If a program binds port 0, the kernel chooses a port from the range that it also uses for outgoing
//! connections. When a server restarts, a client could be using the server's port. Even a client of this
//! server could be using the port, because a client that tries to connect to a free port of that range can
//! connect to itself. Therefore ports are chosen below that range, and checked by binding.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use rand::RngExt;
use tokio::net::TcpStream;
use url::Url;

const LOWEST: u16 = 12_000;
/// The default start of the range for outgoing connections on Linux.
const USUAL_END: u16 = 32_768;
const DRAWS: usize = 1000;

/// Returns ports on which no process listens, and which no other test on this machine has reserved. The ports
/// stay reserved until this process ends.
pub fn free_ports<const N: usize>() -> Result<[u16; N]> {
    let mut ports = [0; N];
    for port in &mut ports {
        *port = free_port()?;
    }
    Ok(ports)
}

fn free_port() -> Result<u16> {
    static HELD: Mutex<Vec<File>> = Mutex::new(Vec::new());
    let end = first_outgoing_port().filter(|end| *end > LOWEST + 1000).unwrap_or(USUAL_END);
    let folder = env::temp_dir().join("cairn-test-ports");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..DRAWS {
        let port = rand::rng().random_range(LOWEST..end);
        let lock = File::create(folder.join(port.to_string())).context("cannot create the lock of a port")?;
        // The lock ends with the process, even if the process is killed. A second lock in the same process is
        // also refused.
        if lock.try_lock().is_ok() && is_free(port) {
            held.push(lock);
            return Ok(port);
        }
    }
    bail!("no port is free on 127.0.0.1")
}

fn first_outgoing_port() -> Option<u16> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    range.split_whitespace().next()?.parse().ok()
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// The address of a server, with `127.0.0.1` as host and with the given port; all other parts are unchanged.
pub(crate) fn moved(server: &str, port: u16) -> Result<String> {
    let mut url = Url::parse(server).with_context(|| format!("{server} is not an address"))?;
    url.set_host(Some("127.0.0.1"))?;
    url.set_port(Some(port)).map_err(|()| anyhow::anyhow!("{server} has no port"))?;
    let url = String::from(url);
    Ok(if server.ends_with('/') { url } else { url.trim_end_matches('/').to_owned() })
}

/// Whether the port accepts connections.
pub(crate) async fn accepts(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ports_are_free_and_returned_once() -> Result<()> {
        let ports: [u16; 300] = free_ports()?;
        assert_eq!(ports.iter().collect::<HashSet<_>>().len(), 300);
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, ports[0]))?;
        assert!(!is_free(ports[0]));
        assert!(is_free(ports[1]));
        Ok(())
    }
}
