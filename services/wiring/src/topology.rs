//! Waits until the broker has what jobs need: nothing is consumed before, so nothing can be dropped on its way.

use std::time::Duration;

use cairn_rabbitmq::RabbitMqBroker;
use tokio::sync::watch;
use tokio::time::sleep;

const EVERY: Duration = Duration::from_secs(1);

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

    /// Returns when nothing is missing.
    pub(crate) async fn until_complete(&self, broker: &RabbitMqBroker) {
        while let Some(reason) = reason(broker).await {
            let is_new = self.0.send_if_modified(|said| {
                let is_new = said.first() != Some(&reason);
                *said = vec![reason.clone()];
                is_new
            });
            if is_new {
                tracing::warn!("{reason}");
            }
            sleep(EVERY).await;
        }
        self.0.send_replace(Vec::new());
    }
}

async fn reason(broker: &RabbitMqBroker) -> Option<String> {
    match broker.missing().await {
        Ok(missing) if missing.is_empty() => None,
        Ok(missing) => Some(format!("RabbitMQ lacks {}: run `cairn topology apply`", missing.join(", "))),
        Err(error) => Some(format!("RabbitMQ: its topology cannot be checked ({})", error.kind.code())),
    }
}
