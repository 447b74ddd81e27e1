//! Failures of requests to the server, and their conversion to errors of a port.

use std::io;

use cairn_ports::{Cause, ErrorKind, PortError, plain_cause};
use cairn_runs::Refusal;

/// A failure that is not yet an error of a port. The operation and the key are added when a method of the
/// port returns, because they are not known earlier.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    /// True if a retry of the whole transaction may soon succeed.
    pub(crate) is_retryable: bool,
    pub(crate) cause: Option<Cause>,
}

impl Fault {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, is_retryable: false, cause: Some(message.into().into()) }
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

    /// The task of a transaction ended without a reply, because the task panicked or because the process is
    /// ending.
    pub(crate) fn no_reply() -> Self {
        Self::new(ErrorKind::ConnectionLost, "the transaction ended without a reply")
    }

    /// No server accepts connections at the address.
    fn unreachable(cause: impl Into<Cause>) -> Self {
        Self { kind: ErrorKind::Unavailable, is_retryable: true, cause: Some(cause.into()) }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound => Self { kind: ErrorKind::NotFound, is_retryable: false, cause: None },
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
        let (kind, is_retryable) = match &error {
            neo4rs::Error::Neo4j(answer) => of_code(answer.code()),
            neo4rs::Error::IOError { detail } => of_io(detail.kind()),
            // The server may still execute the statement. Sending the statement again at once would add to
            // the server's load.
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
        Self { kind, is_retryable, cause: Some(cause(error)) }
    }
}

/// The cause for users. The driver's own text for an error of the connection is omitted, because it adds no
/// fact.
fn cause(error: neo4rs::Error) -> Cause {
    match error {
        neo4rs::Error::IOError { detail } => plain_cause(&detail).into(),
        other => Box::new(other),
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

/// Returns the kind of a server error from its code (`Neo.CLASS.CATEGORY.TITLE`), and whether the transaction
/// may be retried.
fn of_code(code: &str) -> (ErrorKind, bool) {
    let mut parts = code.split('.').skip(1);
    let (class, category) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match (class, category, parts.next().unwrap_or_default()) {
        // Two transactions merged the same key, or one transaction deleted a node to which the other
        // transaction had just added an edge.
        ("ClientError", "Schema", "ConstraintValidationFailed") | ("ClientError", "Statement", "EntityNotFound") => {
            (ErrorKind::TransactionConflict, true)
        }
        (_, "Transaction", "TransactionTimedOut" | "TransactionTimedOutClientConfiguration") => {
            (ErrorKind::Timeout, false)
        }
        // An operator ended the transaction, or the server is stopping.
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

/// Adds the operation and the key to a fault.
pub(crate) fn of<E: PortError>(operation: &'static str, key: &impl ToString) -> impl FnOnce(Fault) -> E {
    let key = key.to_string();
    move |fault| E::of(fault.kind, operation, key, fault.cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cause_is_shown_once() {
        let detail = io::Error::from_raw_os_error(111);
        let error: cairn_ports::LedgerError = of("view", &"registry")(Fault::from(neo4rs::Error::IOError { detail }));
        let expect = "ledger: view of `registry` failed: unavailable: connection refused";
        assert_eq!(cairn_ports::plain(&error), expect);
    }

    #[test]
    fn error_codes_map_to_kind_and_retry() {
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
