//! Turns errors of the document store into errors of the called port.

use cairn_ports::{ErrorKind, PortError, RunDocumentsError};

/// Turns a store's error into an error of the called operation.
pub(crate) fn port_result<T, E: PortError>(
    outcome: Result<T, RunDocumentsError>,
    operation: &'static str,
    key: &dyn ToString,
) -> Result<T, E> {
    // Only the causes of the store's error are kept, because the new error has the same message as the
    // store's error.
    outcome.map_err(|error| E::of(error.kind, operation, key.to_string(), error.source))
}

/// The error for a reply that does not match the command.
pub(crate) fn unexpected<E: PortError>(operation: &'static str, key: &dyn ToString) -> E {
    E::of(ErrorKind::Corrupt, operation, key.to_string(), None)
}
