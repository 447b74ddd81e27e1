//! What a stage fails with: a code that has a page in `runbooks/`, what is to be done about it, and the cause.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use cairn_ports::{ErrorClass, ErrorKind, PortError};
use cairn_wire::DecodeError;

#[derive(Debug)]
pub struct StageError {
    pub code: &'static str,
    pub class: ErrorClass,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StageError {
    /// The input can never be worked on.
    pub fn permanent(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, class: ErrorClass::Permanent, message: message.into(), source: None }
    }

    /// Shutdown, or the run is no longer active.
    pub fn cancelled() -> Self {
        let message = "the run is no longer active".to_owned();
        Self { code: ErrorKind::Cancelled.code(), class: ErrorClass::Cancelled, message, source: None }
    }

    /// The process ends before what the job waits for is there: somebody else takes it at once.
    pub(crate) fn leaving() -> Self {
        let class = ErrorClass::Pause { retry_after: Some(Duration::ZERO) };
        let message = "the process is asked to stop".to_owned();
        Self { code: ErrorKind::Cancelled.code(), class, message, source: None }
    }

    /// Something of the repository's own is not there, and nobody else need wait for it: other than for what all jobs
    /// depend on, trying again counts as an attempt.
    #[must_use]
    pub fn of_its_own(self) -> Self {
        let class = if matches!(self.class, ErrorClass::Pause { .. }) { ErrorClass::Transient } else { self.class };
        Self { class, ..self }
    }

    /// A handler that takes longer than any should; what it still writes is taken back by sweeping.
    pub fn timed_out(after: Duration) -> Self {
        let message = format!("no end after {} s", after.as_secs());
        Self { code: ErrorKind::Timeout.code(), class: ErrorClass::Transient, message, source: None }
    }

    /// Somebody else is at it; what he does may be all that is asked for.
    pub fn occupied(message: impl Into<String>) -> Self {
        let code = ErrorKind::TransactionConflict.code();
        Self { code, class: ErrorClass::Transient, message: message.into(), source: None }
    }

    /// Nothing is wrong with the job or the stores, but this process has no room for it yet.
    pub fn no_room(message: impl Into<String>) -> Self {
        let class = ErrorClass::Pause { retry_after: None };
        Self { code: ErrorKind::Unavailable.code(), class, message: message.into(), source: None }
    }

    /// Whoever worked on it died, again and again.
    pub fn crashed() -> Self {
        Self::permanent("crash", "the worker died on it each time, also when it worked on nothing else")
    }

    /// A task of our own panicked: a bug, the same on every attempt.
    pub fn panicked(message: impl Into<String>) -> Self {
        Self::permanent("panic", message)
    }

    /// The whole chain of causes on one line.
    pub fn chain(&self) -> String {
        match self.source() {
            Some(cause) => format!("{self}: {}", chain(cause)),
            None => self.to_string(),
        }
    }
}

/// An error and everything below it, in one line.
fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", chain(cause)),
        None => error.to_string(),
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
        // The port's own line becomes the message; what lies below it stays as the cause.
        let message = error.to_string();
        let cause = error.source().map(chain);
        let source = cause.map(Box::<dyn Error + Send + Sync>::from);
        Self { code: error.kind().code(), class: error.class(), message, source }
    }
}

/// `DecodeError` comes without the artifact's key: the stage adds it.
impl StageError {
    pub fn corrupt(key: &str, error: &DecodeError) -> Self {
        Self::permanent(ErrorKind::Corrupt.code(), format!("artifact `{key}`: {error}"))
    }

    /// What is stored is not what was written.
    pub fn is_corrupt(&self) -> bool {
        self.code == ErrorKind::Corrupt.code()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use cairn_ports::{BlobStoreError, MaintenanceError};

    use super::*;

    #[test]
    fn the_chain_goes_down_to_the_first_cause() {
        let disk = io::Error::other("the disk is full");
        let blobs = BlobStoreError::new(ErrorKind::Io, "put", "packs/x").because(disk);
        let error = StageError::from(MaintenanceError::new(ErrorKind::Io, "compact", "r").because(blobs));
        let chain = error.chain();
        assert!(chain.starts_with("maintenance: compact of `r` failed"), "{chain}");
        assert!(chain.ends_with("put of `packs/x` failed: io: the disk is full"), "{chain}");
    }
}
