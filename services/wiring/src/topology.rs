//! Waits until the broker has what jobs need: nothing is consumed before, so nothing can be dropped on its way.

use std::time::Duration;

use cairn_rabbitmq::RabbitMqBroker;
use tokio::sync::watch;
use tokio::time::sleep;

const EVERY: Duration = Duration::from_secs(1);
/// A connection that is on its way is there soon.
const CONNECTING: Duration = Duration::from_millis(50);

/// What the broker lacks, as readiness tells it; empty once it was complete.
#[derive(Clone)]
pub(crate) struct Lacking(watch::Sender<Vec<String>>);

impl Lacking {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(vec!["RabbitMQ: its topology was not checked yet".to_owned()]))
    }

    pub(crate) fn reasons(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// Returns when nothing is missing. Says once what is.
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
                // The connection tells by itself what is wrong with it.
                Err(_) => sleep(CONNECTING).await,
            }
        }
        self.0.send_replace(Vec::new());
    }
}
