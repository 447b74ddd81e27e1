//! Whether questions can be answered now: a small read of the catalogue, again and again.

use std::sync::Arc;
use std::time::Duration;

use cairn_catalogue::Runs;
use cairn_ports::Catalogue;
use cairn_wiring::{Check, Health};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, timeout};

const EVERY: Duration = Duration::from_secs(2);
/// A read that takes longer than this would keep callers waiting as well.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the last read said.
pub struct Readiness {
    fault: watch::Receiver<Option<String>>,
}

impl Readiness {
    /// Reads until nobody asks any more.
    pub fn watch(runs: Arc<Runs>) -> Self {
        let (said, fault) = watch::channel(Some("the catalogue was not read yet".to_owned()));
        tokio::spawn(async move {
            let mut turns = interval(EVERY);
            turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
            while !said.is_closed() {
                turns.tick().await;
                said.send_replace(fault_of(&runs).await);
            }
        });
        Self { fault }
    }

    /// A process that can listen is alive: starting it again brings no store back.
    pub fn health(&self) -> Health {
        let fault = self.fault.clone();
        let ready: Check = Arc::new(move || fault.borrow().iter().cloned().collect());
        Health { alive: Arc::new(Vec::new), ready }
    }
}

async fn fault_of(runs: &Runs) -> Option<String> {
    match timeout(PATIENCE, runs.view()).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(format!("the catalogue cannot be read ({})", error.kind.code())),
        Err(_) => Some(format!("the catalogue does not answer within {} s", PATIENCE.as_secs())),
    }
}
