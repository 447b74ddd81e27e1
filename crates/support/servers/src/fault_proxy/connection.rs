//! Transfers the bytes of one connection of the proxy in both directions until the connection ends.

use tokio::net::TcpStream;
use tokio::sync::watch;

use super::pump::{End, Pump};
use super::rules::Rules;

pub(crate) async fn carry(mut client: TcpStream, mut server: TcpStream, rules: watch::Receiver<Rules>) {
    // Nagle's algorithm is turned off, so that only the rules delay small pieces.
    let _ = client.set_nodelay(true);
    let _ = server.set_nodelay(true);
    let end = until_end(&mut client, &mut server, rules).await;
    if end == End::Reset {
        reset(&client);
        reset(&server);
    }
}

async fn until_end(client: &mut TcpStream, server: &mut TcpStream, rules: watch::Receiver<Rules>) -> End {
    let (client_reads, client_writes) = client.split();
    let (server_reads, server_writes) = server.split();
    let mut resets = rules.clone();
    let pump = |from, to, side| Pump { from, to, rules: rules.clone(), side, num_passed: 0, has_hole: false };
    let requests = pump(client_reads, server_writes, |rules| rules.requests);
    let responses = pump(server_reads, client_writes, |rules| rules.responses);
    tokio::select! {
        end = both(requests.run(), responses.run()) => end,
        _ = resets.wait_for(|rules| rules.reset) => End::Reset,
    }
}

/// If one direction breaks, both directions end. If one direction finishes normally, the other direction
/// continues until it ends.
async fn both(requests: impl Future<Output = End>, responses: impl Future<Output = End>) -> End {
    tokio::pin!(requests, responses);
    tokio::select! {
        end = &mut requests => if end == End::Finished { responses.await } else { end },
        end = &mut responses => if end == End::Finished { requests.await } else { end },
    }
}

/// From now on, dropping the connection sends a reset to the peer.
pub(crate) fn reset(connection: &TcpStream) {
    // This call fails only if the connection is already closed.
    let _ = connection.set_zero_linger();
}
