//! Waits for conditions, with a time limit.

use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};
use url::Url;

const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) async fn until(what: &str, is_true: impl AsyncFn() -> bool) -> Result<()> {
    let deadline = Instant::now() + DEADLINE;
    while !is_true().await {
        ensure!(Instant::now() < deadline, "this condition did not become true in time: {what}");
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Whether the address accepts connections.
pub(crate) async fn accepts(url: &str) -> bool {
    let url = Url::parse(url).expect("an address");
    TcpStream::connect((url.host_str().expect("a host"), url.port().expect("a port"))).await.is_ok()
}
