//! Errors of ports. Each error has a kind, the operation, the key, and the cause.
//!
//! The reaction to an error depends only on the kind of the error: `ErrorKind::class` maps each kind to a
//! reaction, so callers need no separate rules.

use std::fmt;
use std::time::Duration;

use crate::FailureCode;

/// The kind of an error, in terms that all back ends share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    Timeout,
    ConnectionLost,
    /// A transaction conflicted with another transaction. The operation may be run again.
    TransactionConflict,
    Unavailable,
    Throttled {
        retry_after: Option<Duration>,
    },
    NotFound,
    Forbidden,
    Invalid,
    /// The data does not match its checksum or format.
    Corrupt,
    TooLarge,
    /// The current state does not allow the write.
    Conflict,
    AlreadyExists,
    Cancelled,
    /// Local input or output failed (full disk, permission).
    Io,
}

/// The reaction to an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorClass {
    /// The job is tried again later. The attempt is counted as failed.
    Transient,
    /// The dependency is down or throttles requests, so the consumer pauses. The attempt is not counted.
    Pause { retry_after: Option<Duration> },
    /// Another worker is doing the work. The job is delivered again soon, and the attempt is not counted.
    Busy,
    /// A retry cannot help: the part ends as failed.
    Permanent,
    /// The stage chooses the reaction. Usually, the error means that an idempotent write was already done.
    Decide,
    /// The process is shutting down. The job goes back to the queue.
    Cancelled,
}

impl ErrorKind {
    pub fn class(self) -> ErrorClass {
        match self {
            ErrorKind::Timeout | ErrorKind::ConnectionLost | ErrorKind::TransactionConflict | ErrorKind::Io => {
                ErrorClass::Transient
            }
            ErrorKind::Unavailable => ErrorClass::Pause { retry_after: None },
            ErrorKind::Throttled { retry_after } => ErrorClass::Pause { retry_after },
            ErrorKind::NotFound
            | ErrorKind::Forbidden
            | ErrorKind::Invalid
            | ErrorKind::Corrupt
            | ErrorKind::TooLarge => ErrorClass::Permanent,
            ErrorKind::Conflict | ErrorKind::AlreadyExists => ErrorClass::Decide,
            ErrorKind::Cancelled => ErrorClass::Cancelled,
        }
    }

    /// The code that dead letters, failed parts and `runbooks/` use.
    pub fn code(self) -> FailureCode {
        match self {
            ErrorKind::Timeout => FailureCode::Timeout,
            ErrorKind::ConnectionLost => FailureCode::ConnectionLost,
            ErrorKind::TransactionConflict => FailureCode::TransactionConflict,
            ErrorKind::Unavailable => FailureCode::Unavailable,
            ErrorKind::Throttled { .. } => FailureCode::Throttled,
            ErrorKind::NotFound => FailureCode::NotFound,
            ErrorKind::Forbidden => FailureCode::Forbidden,
            ErrorKind::Invalid => FailureCode::Invalid,
            ErrorKind::Corrupt => FailureCode::Corrupt,
            ErrorKind::TooLarge => FailureCode::TooLarge,
            ErrorKind::Conflict => FailureCode::Conflict,
            ErrorKind::AlreadyExists => FailureCode::AlreadyExists,
            ErrorKind::Cancelled => FailureCode::Cancelled,
            ErrorKind::Io => FailureCode::Io,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code().as_str())
    }
}

/// The cause of a port's error, which the adapter provides.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The common parts of all port errors.
pub trait PortError: std::error::Error + Send + Sync + 'static {
    fn kind(&self) -> ErrorKind;

    /// Creates the error. An adapter that implements several ports uses this function to turn its own error
    /// type into the error of each port.
    fn of(kind: ErrorKind, operation: &'static str, key: String, source: Option<Cause>) -> Self
    where
        Self: Sized;

    fn class(&self) -> ErrorClass {
        self.kind().class()
    }
}

macro_rules! port_error {
    ($(#[$doc:meta])* $name:ident, $subject:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            pub kind: $crate::ErrorKind,
            /// The operation, e.g. `put`.
            pub operation: &'static str,
            /// The subject of the operation, e.g. an artifact's key. The subject never contains a credential.
            pub key: String,
            pub source: Option<$crate::Cause>,
        }

        impl $name {
            pub fn new(kind: $crate::ErrorKind, operation: &'static str, key: impl Into<String>) -> Self {
                Self { kind, operation, key: key.into(), source: None }
            }

            #[must_use]
            pub fn because(mut self, cause: impl Into<$crate::Cause>) -> Self {
                self.source = Some(cause.into());
                self
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $name { kind, operation, key, .. } = self;
                write!(formatter, concat!($subject, ": {} of `{}` failed: {}"), operation, key, kind)
            }
        }

        impl std::error::Error for $name {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                self.source.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static))
            }
        }

        impl $crate::PortError for $name {
            fn kind(&self) -> $crate::ErrorKind {
                self.kind
            }

            fn of(
                kind: $crate::ErrorKind,
                operation: &'static str,
                key: String,
                source: Option<$crate::Cause>,
            ) -> Self {
                Self { kind, operation, key, source }
            }
        }
    };
}
pub(crate) use port_error;
