//! One supervised connection. The connection is opened, watched, and opened again after each loss, as often
//! as necessary.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cairn_ports::plain;
use futures::StreamExt;
use lapin::uri::AMQPUri;
use lapin::{Connection, ConnectionProperties, Event};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::backoff::Backoff;
use crate::config::RabbitMqConfig;
use crate::health::{HealthBook, Kind};
use crate::secret_url::SecretUrl;
use crate::statistics::Counters;

/// The state of a connection is checked at this interval and after each event of the connection.
const TICK: Duration = Duration::from_secs(1);

/// A connection that was open at the last check.
#[derive(Clone)]
pub(crate) struct Up {
    pub(crate) connection: Arc<Connection>,
    /// Number of the connection. Each connection has a different number.
    pub(crate) epoch: u64,
}

pub(crate) struct Link {
    name: &'static str,
    config: Arc<RabbitMqConfig>,
    state: watch::Sender<Option<Up>>,
    health: Arc<HealthBook>,
    counters: Arc<Counters>,
    /// Counts the attempts to connect. The counter selects the node to try next.
    next_url: AtomicUsize,
}

impl Link {
    pub(crate) fn new(
        name: &'static str,
        config: Arc<RabbitMqConfig>,
        health: Arc<HealthBook>,
        counters: Arc<Counters>,
    ) -> Self {
        health.down(name, Kind::Connection, "not connected yet");
        let (state, _) = watch::channel(None);
        Self { name, config, state, health, counters, next_url: AtomicUsize::new(0) }
    }

    /// Waits until the connection is open, and returns it.
    pub(crate) async fn up(&self) -> Up {
        let mut state = self.state.subscribe();
        loop {
            if let Some(up) = state.borrow_and_update().clone() {
                return up;
            }
            // The result is ignored: `self` owns the sender, so the sender still exists.
            let _ = state.changed().await;
        }
    }

    pub(crate) fn current(&self) -> Option<Up> {
        self.state.borrow().clone()
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.current().is_some_and(|up| up.connection.status().blocked())
    }

    /// Opens the connection, and opens it again after each loss. Never returns.
    pub(crate) async fn run(&self) {
        let mut backoff = Backoff::new(
            Duration::from_millis(self.config.backoff_min_ms),
            Duration::from_millis(self.config.backoff_max_ms),
        );
        for epoch in 1.. {
            let connection = self.connect(&mut backoff).await;
            self.counters.connected.add(1);
            self.health.up(self.name, Kind::Connection);
            tracing::info!(connection = self.name, epoch, "connected to RabbitMQ");
            self.state.send_replace(Some(Up { connection: Arc::clone(&connection), epoch }));
            let fault = self.watch_until_lost(&connection).await;
            self.state.send_replace(None);
            tracing::warn!(connection = self.name, epoch, "the connection to RabbitMQ was lost: {fault}");
            self.health.down(self.name, Kind::Connection, fault);
            sleep(backoff.next()).await;
        }
    }

    async fn connect(&self, backoff: &mut Backoff) -> Arc<Connection> {
        loop {
            self.health.tick(self.name);
            let at = self.next_url.fetch_add(1, Ordering::Relaxed) % self.config.urls.len().max(1);
            let Some(url) = self.config.urls.get(at) else { return std::future::pending().await };
            match connect(&self.config, url, self.name).await {
                Ok(connection) => {
                    backoff.reset();
                    return Arc::new(connection);
                }
                Err(fault) => {
                    tracing::warn!(connection = self.name, "cannot connect to RabbitMQ: {fault}");
                    self.health.down(self.name, Kind::Connection, fault);
                }
            }
            sleep(backoff.next()).await;
        }
    }

    async fn watch_until_lost(&self, connection: &Connection) -> String {
        let mut events = pin!(connection.events_listener());
        let mut fault = "closed".to_owned();
        loop {
            self.health.tick(self.name);
            if let Ok(Some(Event::Error(error))) = timeout(TICK, events.next()).await {
                fault = plain(&error);
            }
            // Events report a loss at once, but some losses cause no event, and errors of single channels
            // cause events too. Therefore the status is checked after each event and each `TICK`.
            if !connection.status().connected() {
                return fault;
            }
        }
    }
}

/// Tries to connect to each node once. The error contains the fault of each node.
pub(crate) async fn connect_once(config: &RabbitMqConfig, name: &str) -> Result<Connection, String> {
    let mut faults = Vec::new();
    for url in &config.urls {
        match connect(config, url, name).await {
            Ok(connection) => return Ok(connection),
            Err(fault) => faults.push(fault),
        }
    }
    Err(faults.join("; "))
}

async fn connect(config: &RabbitMqConfig, url: &SecretUrl, name: &str) -> Result<Connection, String> {
    let mut uri: AMQPUri = url.expose().parse().map_err(|_| format!("{url} is not an address of RabbitMQ"))?;
    // lapin closes a connection that was silent for twice the announced time. The check runs at intervals of
    // half the announced time, so lapin may notice the silence only after 2.5 times the announced time. If
    // 4/5 of the setting is announced, lapin notices the silence within twice the setting.
    let announced = (u32::from(config.heartbeat_seconds) * 4 / 5).max(1);
    uri.query.heartbeat = Some(u16::try_from(announced).unwrap_or(u16::MAX));
    uri.query.connection_timeout = Some(config.connect_timeout_ms);
    // The automatic recovery of lapin stays disabled, which is the default. That recovery does not restore
    // everything, and it would run at the same time as the recovery of this adapter.
    let properties = ConnectionProperties::default().with_connection_name(format!("cairn {name}").into());
    let deadline = Duration::from_millis(config.connect_timeout_ms);
    let connecting = async {
        is_listening(&uri).await.map_err(|error| plain(&error))?;
        Connection::connect_uri(uri, properties).await.map_err(|error| plain(&error))
    };
    match timeout(deadline, connecting).await {
        Ok(connected) => connected.map_err(|fault| format!("{url}: {fault}")),
        Err(_) => Err(format!("{url}: no reply within {deadline:?}")),
    }
}

/// Checks that the port accepts connections. lapin leaks a task each time it fails to open a socket; during a
/// long outage these tasks would accumulate.
async fn is_listening(uri: &AMQPUri) -> io::Result<()> {
    let host = uri.authority.host.trim_matches(['[', ']']);
    TcpStream::connect((host, uri.authority.port)).await.map(drop)
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Handle;

    use super::*;

    #[tokio::test]
    async fn failed_attempts_leak_no_task() -> anyhow::Result<()> {
        // The temporary listener is closed at once, so the port refuses connections.
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let urls = vec![format!("amqp://127.0.0.1:{port}").into()];
        let config = RabbitMqConfig { urls, ..RabbitMqConfig::default() };
        let before = Handle::current().metrics().num_alive_tasks();
        for _ in 0..10 {
            let fault = connect_once(&config, "test").await.expect_err("the port refuses connections");
            assert!(fault.contains("refused"), "{fault}");
        }
        tokio::time::timeout(Duration::from_secs(10), async {
            while Handle::current().metrics().num_alive_tasks() > before {
                sleep(Duration::from_millis(10)).await;
            }
        })
        .await?;
        Ok(())
    }
}
