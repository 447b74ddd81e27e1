//! What a stage fails with: a code that has a page in `runbooks/`, what is to be done about it, and the cause.

use std::error::Error;
use std::fmt;

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

    /// A task of our own panicked: a bug, the same on every attempt.
    pub fn panicked(message: impl Into<String>) -> Self {
        Self::permanent("panic", message)
    }

    /// The whole chain of causes on one line.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
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
        let cause = error.source().map(|source| source.to_string());
        let source = cause.map(Box::<dyn Error + Send + Sync>::from);
        Self { code: error.kind().code(), class: error.class(), message, source }
    }
}

/// `DecodeError` comes without the artifact's key: the stage adds it.
impl StageError {
    pub fn corrupt(key: &str, error: &DecodeError) -> Self {
        Self::permanent(ErrorKind::Corrupt.code(), format!("artifact `{key}`: {error}"))
    }
}
