//! What goes wrong at the server, and how it becomes an error of a port.

use std::io;

use cairn_ports::{Cause, ErrorKind, PortError};
use cairn_runs::Refusal;

/// A failure without its port: operation and key are known only at the boundary.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    /// Running the whole transaction again, soon, may succeed.
    pub(crate) may_pass: bool,
    pub(crate) cause: Option<Cause>,
}

impl Fault {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, may_pass: false, cause: Some(message.into().into()) }
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn damaged(detail: impl std::fmt::Display) -> Self {
        Self::new(
            ErrorKind::Corrupt,
            format!("the graph is damaged ({detail}); remove the repository and index it again"),
        )
    }

    /// The task of a transaction ended without an answer: it panicked, or the process ends.
    pub(crate) fn broken_off() -> Self {
        Self::new(ErrorKind::ConnectionLost, "the transaction was broken off")
    }

    /// Nobody answers at the address.
    fn unreachable(cause: impl Into<Cause>) -> Self {
        Self { kind: ErrorKind::Unavailable, may_pass: true, cause: Some(cause.into()) }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound => Self { kind: ErrorKind::NotFound, may_pass: false, cause: None },
            Refusal::Conflict(reason) => Self::conflict(reason),
            Refusal::Invalid(reason) => Self::invalid(reason),
        }
    }
}

impl From<neo4rs::DeError> for Fault {
    fn from(error: neo4rs::DeError) -> Self {
        Self::damaged(error)
    }
}

impl From<neo4rs::Error> for Fault {
    fn from(error: neo4rs::Error) -> Self {
        let (kind, may_pass) = match &error {
            neo4rs::Error::Neo4j(answer) => of_code(answer.code()),
            neo4rs::Error::IOError { detail } => of_io(detail.kind()),
            // The server still works on what it was asked: asking again at once would add to it.
            neo4rs::Error::ConnectionTimedOut => (ErrorKind::Timeout, false),
            neo4rs::Error::ConnectionError
            | neo4rs::Error::IncompleteBoltExchange
            | neo4rs::Error::UnexpectedMessage(_)
            | neo4rs::Error::UnknownMessage(_)
            | neo4rs::Error::Ignored(_)
            | neo4rs::Error::RequestIgnoredError => (ErrorKind::ConnectionLost, true),
            neo4rs::Error::ServerUnavailableError(_) => return Self::unreachable(error),
            neo4rs::Error::AuthenticationError(_) => (ErrorKind::Forbidden, false),
            neo4rs::Error::DeserializationError(_) | neo4rs::Error::ConversionError => (ErrorKind::Corrupt, false),
            _ => (ErrorKind::Invalid, false),
        };
        Self { kind, may_pass, cause: Some(Box::new(error)) }
    }
}

fn of_io(kind: io::ErrorKind) -> (ErrorKind, bool) {
    match kind {
        io::ErrorKind::ConnectionRefused
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::NotFound => (ErrorKind::Unavailable, true),
        _ => (ErrorKind::ConnectionLost, true),
    }
}

/// The kind of a server's answer, by its code (`Neo.CLASS.CATEGORY.TITLE`), and whether the transaction may be run again.
fn of_code(code: &str) -> (ErrorKind, bool) {
    let mut parts = code.split('.').skip(1);
    let (class, category) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match (class, category, parts.next().unwrap_or_default()) {
        // Two transactions merged one key, or one deleted what the other just joined something to.
        ("ClientError", "Schema", "ConstraintValidationFailed") | ("ClientError", "Statement", "EntityNotFound") => {
            (ErrorKind::TransactionConflict, true)
        }
        (_, "Transaction", "TransactionTimedOut" | "TransactionTimedOutClientConfiguration") => {
            (ErrorKind::Timeout, false)
        }
        // Somebody, or a server that stops, ended the transaction from outside.
        (_, "Transaction", "Terminated" | "LockClientStopped") => (ErrorKind::TransactionConflict, true),
        (_, "General", "DatabaseUnavailable") | ("TransientError", "Database", _) => (ErrorKind::Unavailable, true),
        ("TransientError", "General", "OutOfMemoryError" | "MemoryPoolOutOfMemoryError") => {
            (ErrorKind::Throttled { retry_after: None }, false)
        }
        (_, "Security", "AuthenticationRateLimit") => (ErrorKind::Throttled { retry_after: None }, false),
        ("TransientError", ..) => (ErrorKind::TransactionConflict, true),
        ("ClientError", "Security", _) => (ErrorKind::Forbidden, false),
        ("ClientError", ..) => (ErrorKind::Invalid, false),
        ("ServerError", "Ignored", _) => (ErrorKind::ConnectionLost, true),
        _ => (ErrorKind::Io, false),
    }
}

/// Gives a fault its operation and key.
pub(crate) fn of<E: PortError>(operation: &'static str, key: &impl ToString) -> impl FnOnce(Fault) -> E {
    let key = key.to_string();
    move |fault| E::of(fault.kind, operation, key, fault.cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_tell_what_may_pass() {
        let check = |code, expect| assert_eq!(of_code(code), expect, "{code}");
        check("Neo.TransientError.Transaction.DeadlockDetected", (ErrorKind::TransactionConflict, true));
        check("Neo.TransientError.Transaction.LockAcquisitionTimeout", (ErrorKind::TransactionConflict, true));
        check("Neo.ClientError.Schema.ConstraintValidationFailed", (ErrorKind::TransactionConflict, true));
        check("Neo.ClientError.Transaction.Terminated", (ErrorKind::TransactionConflict, true));
        check("Neo.ClientError.Transaction.TransactionTimedOut", (ErrorKind::Timeout, false));
        check("Neo.TransientError.General.DatabaseUnavailable", (ErrorKind::Unavailable, true));
        check(
            "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
            (ErrorKind::Throttled { retry_after: None }, false),
        );
        check("Neo.ClientError.Security.Unauthorized", (ErrorKind::Forbidden, false));
        check("Neo.ClientError.Statement.SyntaxError", (ErrorKind::Invalid, false));
        check("Neo.DatabaseError.General.UnknownError", (ErrorKind::Io, false));
        check("", (ErrorKind::Io, false));
    }
}
