//! The signals that a stopping process sends to its tasks.

use tokio::sync::watch;

/// The signals of a stopping process. After the first signal, the tasks take no more jobs; after the second
/// signal, the tasks stop at once.
pub struct Signals {
    pub draining: watch::Receiver<bool>,
    pub leaving: watch::Receiver<bool>,
}
