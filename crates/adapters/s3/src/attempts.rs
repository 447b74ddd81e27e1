//! Repeats failed attempts within the deadline of the operation, if another attempt may soon succeed.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use cairn_ports::{BlobStoreError, ErrorKind};
use tokio::time::{sleep, timeout};

use crate::S3BlobStore;
use crate::fault::Fault;

/// Maximum number of further attempts after the first attempt. More attempts would only increase the load of
/// an overloaded server.
const NUM_REPEATS: usize = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl S3BlobStore {
    pub(crate) async fn attempt<T, A>(
        &self,
        operation: &'static str,
        key: &str,
        attempt: impl Fn() -> A + Send,
    ) -> Result<T, BlobStoreError>
    where
        A: Future<Output = Result<T, Fault>> + Send,
    {
        let mut last = None;
        let attempts = async {
            for pause in pauses() {
                match attempt().await {
                    Err(fault) if may_succeed_soon(&fault) => last = Some(fault),
                    outcome => return outcome,
                }
                sleep(pause).await;
            }
            attempt().await
        };
        let outcome = timeout(self.deadline, attempts).await;
        // The last error of the server is returned, because it is more useful than a timeout.
        let outcome = outcome.unwrap_or_else(|_| Err(last.unwrap_or_else(|| self.timed_out())));
        outcome.map_err(|fault| fault.into_error(operation, key))
    }

    fn timed_out(&self) -> Fault {
        Fault::new(ErrorKind::Timeout, format!("the operation did not finish within {:?}", self.deadline))
    }
}

fn pauses() -> impl Iterator<Item = Duration> + Send {
    ExponentialBuilder::default()
        .with_min_delay(FIRST_PAUSE)
        .with_factor(3.0)
        .with_max_delay(LONGEST_PAUSE)
        .with_max_times(NUM_REPEATS)
        .with_jitter()
        .build()
}

/// True if another attempt may succeed. If the server states how long to wait, the fault is returned at once,
/// so that the consumer pauses.
fn may_succeed_soon(fault: &Fault) -> bool {
    match fault.kind {
        ErrorKind::ConnectionLost | ErrorKind::TransactionConflict | ErrorKind::Unavailable => true,
        ErrorKind::Throttled { retry_after } => retry_after.is_none(),
        ErrorKind::Timeout
        | ErrorKind::NotFound
        | ErrorKind::Forbidden
        | ErrorKind::Invalid
        | ErrorKind::Corrupt
        | ErrorKind::TooLarge
        | ErrorKind::Conflict
        | ErrorKind::AlreadyExists
        | ErrorKind::Cancelled
        | ErrorKind::Io => false,
    }
}
