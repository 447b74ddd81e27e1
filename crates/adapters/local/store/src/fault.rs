//! Defines failures inside the store, and converts them to errors of a port.

use cairn_ports::{Cause, ErrorKind};
use rusqlite::ErrorCode;

/// A failure without its operation and key. The method of the port adds the operation and the key when it
/// returns.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    pub(crate) cause: Option<Cause>,
}

/// The cause of every error about a damaged file.
#[derive(Debug, thiserror::Error)]
#[error("the index is damaged ({detail}); delete the index directory and index again")]
pub(crate) struct Damaged {
    pub(crate) detail: String,
}

/// The cause of every error about a damaged file of cached vectors. The file of cached vectors may be deleted
/// without loss of data.
#[derive(Debug, thiserror::Error)]
#[error(
    "the vector cache is damaged ({detail}); delete `vectors.db` next to `cairn.db`; its vectors are computed again"
)]
pub(crate) struct DamagedCache {
    pub(crate) detail: String,
}

impl Fault {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, cause: Some(message.into().into()) }
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn not_found() -> Self {
        Self { kind: ErrorKind::NotFound, cause: None }
    }

    /// Converts a fault of the index to a fault of the vector cache, because the remedy for a damaged vector
    /// cache is different.
    pub(crate) fn in_cache(self) -> Self {
        let cause = self.cause.map(|cause| match cause.downcast::<Damaged>() {
            Ok(damaged) => Box::new(DamagedCache { detail: damaged.detail }),
            Err(other) => other,
        });
        Self { kind: self.kind, cause }
    }

    pub(crate) fn damaged(detail: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Corrupt, cause: Some(Box::new(Damaged { detail: detail.into() })) }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        let kind = match &error {
            rusqlite::Error::SqliteFailure(failure, _) => kind_of(failure.code),
            // A referenced row is missing, or a column contains a value that this build does not write.
            rusqlite::Error::QueryReturnedNoRows
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => ErrorKind::Corrupt,
            _ => ErrorKind::Invalid,
        };
        if kind == ErrorKind::Corrupt {
            return Self::damaged(error.to_string());
        }
        Self { kind, cause: Some(Box::new(error)) }
    }
}

impl From<rusqlite::types::FromSqlError> for Fault {
    fn from(error: rusqlite::types::FromSqlError) -> Self {
        Self::damaged(error.to_string())
    }
}

fn kind_of(code: ErrorCode) -> ErrorKind {
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            ErrorKind::TransactionConflict
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => ErrorKind::Corrupt,
        ErrorCode::SystemIoFailure | ErrorCode::DiskFull | ErrorCode::CannotOpen | ErrorCode::ReadOnly => ErrorKind::Io,
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => ErrorKind::Forbidden,
        ErrorCode::TooBig => ErrorKind::TooLarge,
        ErrorCode::OperationInterrupted => ErrorKind::Cancelled,
        _ => ErrorKind::Invalid,
    }
}
