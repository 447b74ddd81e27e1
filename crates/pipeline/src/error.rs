//! The error of a stage. The error has a code with a page in `runbooks/`, a class that determines the next
//! step for the job, and the cause.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use cairn_ports::{ErrorClass, FailureCode, PortError, plain};
use cairn_wire::DecodeError;

#[derive(Debug)]
pub struct StageError {
    pub code: FailureCode,
    pub class: ErrorClass,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StageError {
    pub fn new(code: FailureCode, class: ErrorClass, message: impl Into<String>) -> Self {
        Self { code, class, message: message.into(), source: None }
    }

    /// No attempt at the job can succeed.
    pub fn permanent(code: FailureCode, message: impl Into<String>) -> Self {
        Self::new(code, ErrorClass::Permanent, message)
    }

    /// Another attempt may succeed.
    pub fn transient(code: FailureCode, message: impl Into<String>) -> Self {
        Self::new(code, ErrorClass::Transient, message)
    }

    /// The failure that a fail point injects. The failure has the code of a conflict between two database
    /// transactions.
    pub fn injected(message: String) -> Self {
        Self::transient(FailureCode::TransactionConflict, message)
    }

    /// The run is no longer active.
    pub fn cancelled() -> Self {
        Self::new(FailureCode::Cancelled, ErrorClass::Cancelled, "the run is no longer active")
    }

    /// The process is stopping while the job waits for a dependency. Another process may take the job at
    /// once.
    pub(crate) fn leaving() -> Self {
        let class = ErrorClass::Pause { retry_after: Some(Duration::ZERO) };
        Self::new(FailureCode::Cancelled, class, "the process is stopping")
    }

    /// Converts the error of a dependency that only this repository needs. Other jobs do not need this
    /// dependency, so the attempt is counted as failed, and the workers do not pause.
    #[must_use]
    pub fn of_its_own(self) -> Self {
        let class = if matches!(self.class, ErrorClass::Pause { .. }) { ErrorClass::Transient } else { self.class };
        Self { class, ..self }
    }

    /// A handler took too long. The sweep removes records that the handler writes after this error.
    pub fn timed_out(after: Duration) -> Self {
        Self::transient(FailureCode::Timeout, format!("the handler did not end within {} s", after.as_secs()))
    }

    /// Another worker holds the lease that the job needs, and may be doing the same work. This is not a
    /// failure: the job is delivered again soon, and no attempt is counted.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(FailureCode::Busy, ErrorClass::Busy, message)
    }

    /// This process has no capacity for the job yet. Neither the job nor a store has failed.
    pub fn no_capacity(message: impl Into<String>) -> Self {
        Self::new(FailureCode::Unavailable, ErrorClass::Pause { retry_after: None }, message)
    }

    /// The worker process died in each attempt at the job.
    pub fn crashed(message: impl Into<String>) -> Self {
        Self::permanent(FailureCode::Crash, message)
    }

    /// A task of Cairn panicked. This is a bug, and each attempt panics again.
    pub fn panicked(message: impl Into<String>) -> Self {
        Self::permanent(FailureCode::Panic, message)
    }

    /// The whole chain of causes on one line.
    pub fn chain(&self) -> String {
        plain(self)
    }
}

impl fmt::Display for StageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for StageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}

impl<E: PortError> From<E> for StageError {
    fn from(error: E) -> Self {
        // The message contains only the text of the port's error, because the causes of the error are stored
        // separately.
        let message = error.to_string();
        let cause = error.source().map(plain);
        let source = cause.map(Box::<dyn Error + Send + Sync>::from);
        Self { code: error.kind().code(), class: error.class(), message, source }
    }
}

impl StageError {
    /// Makes an error from a `DecodeError`, and adds the artifact's key, which `DecodeError` does not
    /// contain.
    pub fn corrupt(key: &str, error: &DecodeError) -> Self {
        Self::permanent(FailureCode::Corrupt, format!("artifact `{key}`: {error}"))
    }

    /// Whether stored bytes differ from the bytes that were written.
    pub fn is_corrupt(&self) -> bool {
        self.code == FailureCode::Corrupt
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use cairn_ports::{BlobStoreError, ErrorKind, MaintenanceError};

    use super::*;

    #[test]
    fn chain_contains_the_first_cause() {
        let disk = io::Error::other("the disk is full");
        let blobs = BlobStoreError::new(ErrorKind::Io, "put", "packs/x").because(disk);
        let error = StageError::from(MaintenanceError::new(ErrorKind::Io, "compact", "r").because(blobs));
        let chain = error.chain();
        assert!(chain.starts_with("maintenance: compact of `r` failed"), "{chain}");
        assert!(chain.ends_with("put of `packs/x` failed: io: the disk is full"), "{chain}");
    }
}
