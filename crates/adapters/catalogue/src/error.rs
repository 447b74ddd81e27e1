//! Errors of the store of documents, as those of the port that was called.

use cairn_ports::{CatalogueError, ErrorKind, LedgerError, RunDocumentsError};

pub(crate) trait FromStore: Sized {
    fn of(kind: ErrorKind, operation: &'static str, key: String) -> Self;

    fn caused_by(self, cause: RunDocumentsError) -> Self;
}

macro_rules! from_store {
    ($($error:ident),+) => {$(
        impl FromStore for $error {
            fn of(kind: ErrorKind, operation: &'static str, key: String) -> Self {
                $error::new(kind, operation, key)
            }

            fn caused_by(self, cause: RunDocumentsError) -> Self {
                // The store's own line repeats what this one says; what lies below it does not.
                match cause.source {
                    Some(source) => $error { source: Some(source), ..self },
                    None => self,
                }
            }
        }
    )+};
}
from_store!(CatalogueError, LedgerError);

/// Turns a store's error into one of the operation that was asked for.
pub(crate) fn told<T, E: FromStore>(
    outcome: Result<T, RunDocumentsError>,
    operation: &'static str,
    key: &dyn ToString,
) -> Result<T, E> {
    outcome.map_err(|error| E::of(error.kind, operation, key.to_string()).caused_by(error))
}

/// A store answered a command with something that does not belong to it.
pub(crate) fn unexpected<E: FromStore>(operation: &'static str, key: &dyn ToString) -> E {
    E::of(ErrorKind::Corrupt, operation, key.to_string())
}
