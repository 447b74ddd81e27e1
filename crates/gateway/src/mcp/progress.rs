//! Sends the progress of an index call as notifications to clients that requested them with a token.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::mpsc;

use crate::agent::Agent;
use crate::index_call::WatchIndexing;

/// The origin of a call. Before a call that the caller made is executed, the caller's working tree may be
/// indexed. A trial call of a suggestion changes nothing.
#[derive(Clone)]
pub(super) enum Origin {
    Caller(Arc<dyn WatchIndexing>),
    Suggestion,
}

impl Origin {
    /// The repository that the caller works in.
    pub(super) async fn working_repository(&self, agent: &dyn Agent) -> Option<String> {
        match self {
            Origin::Caller(watch) => agent.working_repository(Arc::clone(watch)).await,
            Origin::Suggestion => agent.default_repository().await,
        }
    }

    pub(super) fn watch(self) -> Arc<dyn WatchIndexing> {
        match self {
            Origin::Caller(watch) => watch,
            Origin::Suggestion => Arc::new(Unwatched),
        }
    }
}

/// Reports no progress.
pub(super) struct Unwatched;

impl WatchIndexing for Unwatched {
    fn files_read(&self, _: u64) {}

    fn parts_ended(&self, _: u32, _: u32) {}
}

/// Converts progress to notifications. The progress is the number of files read plus the number of parts that
/// have ended. It never decreases.
pub(super) struct Notifications {
    token: ProgressToken,
    num_files: AtomicU64,
    sender: mpsc::UnboundedSender<ProgressNotificationParam>,
}

impl Notifications {
    /// Returns the watcher, and the receiver of the notifications to send.
    pub(super) fn new(token: ProgressToken) -> (Self, mpsc::UnboundedReceiver<ProgressNotificationParam>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { token, num_files: AtomicU64::new(0), sender }, receiver)
    }

    fn send(&self, progress: u64, message: String) {
        let notification = ProgressNotificationParam::new(self.token.clone(), progress as f64).with_message(message);
        // The receiver is dropped when the call ends. The run may continue, but its further progress is not
        // sent.
        let _ = self.sender.send(notification);
    }
}

impl WatchIndexing for Notifications {
    fn files_read(&self, num_files: u64) {
        self.num_files.store(num_files, Ordering::Relaxed);
        self.send(num_files, format!("{num_files} files read"));
    }

    fn parts_ended(&self, num_ended: u32, num_parts: u32) {
        let progress = self.num_files.load(Ordering::Relaxed) + u64::from(num_ended);
        self.send(progress, format!("{num_ended} of {num_parts} parts ended"));
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn progress_only_increases() {
        let (watch, mut notifications) = Notifications::new(ProgressToken(NumberOrString::Number(7)));
        watch.files_read(100);
        watch.files_read(200);
        watch.parts_ended(1, 9);
        let mut seen = Vec::new();
        while let Ok(sent) = notifications.try_recv() {
            seen.push((sent.progress as u64, sent.message.unwrap_or_default()));
        }
        let expect = [(100, "100 files read"), (200, "200 files read"), (201, "1 of 9 parts ended")];
        assert_eq!(seen, expect.map(|(progress, message)| (progress, message.to_owned())));
    }
}
