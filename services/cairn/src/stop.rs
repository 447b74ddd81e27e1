//! Stop signals: Ctrl-C, or SIGTERM from a supervisor.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for stop signals from the moment it is created, so that a signal that arrives before `asked` is
/// called is not lost.
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    /// Waits until a stop signal arrives.
    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
