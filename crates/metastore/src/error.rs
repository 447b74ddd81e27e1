//! Errors of the store of documents, as those of the port that was called.

use cairn_ports::{ErrorKind, PortError, RunDocumentsError};

/// Turns a store's error into one of the operation that was asked for.
pub(crate) fn port_result<T, E: PortError>(
    outcome: Result<T, RunDocumentsError>,
    operation: &'static str,
    key: &dyn ToString,
) -> Result<T, E> {
    // The store's own line repeats what this one says; what lies below it does not.
    outcome.map_err(|error| E::of(error.kind, operation, key.to_string(), error.source))
}

/// A store answered a command with something that does not belong to it.
pub(crate) fn unexpected<E: PortError>(operation: &'static str, key: &dyn ToString) -> E {
    E::of(ErrorKind::Corrupt, operation, key.to_string(), None)
}
