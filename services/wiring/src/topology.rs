//! Waits until the broker has the complete topology. No job is consumed before the topology is complete, so
//! no message can be lost because a queue or exchange is missing.

use std::time::Duration;

use cairn_rabbitmq::RabbitMqBroker;
use tokio::sync::watch;
use tokio::time::sleep;

const EVERY: Duration = Duration::from_secs(1);
/// The pause before the next check while the connection is being opened.
const CONNECTING: Duration = Duration::from_millis(50);

/// The missing parts of the topology, which `/readyz` reports. After the topology was complete for the first
/// time, the list is always empty.
#[derive(Clone)]
pub(crate) struct TopologyGate(watch::Sender<Vec<String>>);

impl TopologyGate {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(vec!["RabbitMQ: the topology has not been checked yet".to_owned()]))
    }

    pub(crate) fn reasons(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// Returns when nothing is missing. Logs the missing parts each time they change.
    pub(crate) async fn until_complete(&self, broker: &RabbitMqBroker) {
        loop {
            match broker.missing().await {
                Ok(missing) if missing.is_empty() => break,
                Ok(missing) => {
                    let reason = format!("RabbitMQ lacks {}: run `cairn topology apply`", missing.join(", "));
                    if self.0.borrow().first() != Some(&reason) {
                        tracing::warn!("{reason}");
                    }
                    self.0.send_replace(vec![reason]);
                    sleep(EVERY).await;
                }
                // The error is not reported here, because the connection itself reports this fault.
                Err(_) => sleep(CONNECTING).await,
            }
        }
        self.0.send_replace(Vec::new());
    }
}
