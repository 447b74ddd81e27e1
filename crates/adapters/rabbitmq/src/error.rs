//! Converts errors of lapin into errors of the port.

use cairn_ports::{BrokerError, ErrorKind};
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};

/// Returns the error kind of the port for an error of lapin. A lost connection is reported as `Unavailable`,
/// so that callers pause.
pub(crate) fn kind_of(error: &lapin::Error) -> ErrorKind {
    use lapin::ErrorKind as Lapin;
    match error.kind() {
        Lapin::ProtocolError(protocol) => match protocol.kind() {
            AMQPErrorKind::Soft(AMQPSoftError::NOTFOUND) => ErrorKind::NotFound,
            AMQPErrorKind::Soft(AMQPSoftError::ACCESSREFUSED) => ErrorKind::Forbidden,
            AMQPErrorKind::Soft(AMQPSoftError::PRECONDITIONFAILED) => ErrorKind::Conflict,
            _ => ErrorKind::Unavailable,
        },
        Lapin::SerialisationError(_) => ErrorKind::Invalid,
        _ => ErrorKind::Unavailable,
    }
}

pub(crate) fn broker_error(operation: &'static str, key: impl Into<String>, error: lapin::Error) -> BrokerError {
    BrokerError::new(kind_of(&error), operation, key).because(error)
}
