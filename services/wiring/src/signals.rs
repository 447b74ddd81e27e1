//! The signals within a stopping process.

use tokio::sync::watch;

/// The signals to a stopping process: first to take no more jobs, then to stop at once.
pub struct Signals {
    pub draining: watch::Receiver<bool>,
    pub leaving: watch::Receiver<bool>,
}
