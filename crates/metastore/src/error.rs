//! Turns errors of the document store into errors of the called port.

use cairn_ports::{ErrorKind, PortError, RunDocumentsError};

/// Turns a store's error into an error of the called operation.
pub(crate) fn port_result<T, E: PortError>(
    outcome: Result<T, RunDocumentsError>,
    operation: &'static str,
    key: &dyn ToString,
) -> Result<T, E> {
    // The store's own message repeats this one; its causes do not.
    outcome.map_err(|error| E::of(error.kind, operation, key.to_string(), error.source))
}

/// A store returned a reply that does not belong to the command.
pub(crate) fn unexpected<E: PortError>(operation: &'static str, key: &dyn ToString) -> E {
    E::of(ErrorKind::Corrupt, operation, key.to_string(), None)
}
