//! The signals that a stopping process sends to its tasks.

use tokio::sync::watch;

/// The signals of a stopping process. The first signal is to take no more jobs; the second signal is to stop
/// at once.
pub struct Signals {
    pub draining: watch::Receiver<bool>,
    pub leaving: watch::Receiver<bool>,
}
