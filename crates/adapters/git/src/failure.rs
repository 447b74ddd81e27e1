//! Creates the errors of this adapter, including those whose cause is an error of libgit2 or of the file
//! system.

use std::io;

use cairn_ports::{ErrorKind, SourceError};
use cairn_redaction::{Untrusted, quoted};

/// An error whose cause is a readable message.
pub(crate) fn failure(kind: ErrorKind, operation: &'static str, key: &str, message: impl Into<String>) -> SourceError {
    SourceError::new(kind, operation, key).because(message.into())
}

pub(crate) fn from_io(operation: &'static str, key: &str, error: io::Error) -> SourceError {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => ErrorKind::Forbidden,
        _ => ErrorKind::Io,
    };
    SourceError::new(kind, operation, key).because(error)
}

/// An error about the files of a repository. Its message may contain names and settings of the repository,
/// so it is quoted as untrusted text.
pub(crate) fn from_git(operation: &'static str, key: &str, error: &git2::Error) -> SourceError {
    let kind = match (error.code(), error.class()) {
        (git2::ErrorCode::NotFound | git2::ErrorCode::UnbornBranch, _) => ErrorKind::NotFound,
        (_, git2::ErrorClass::Os) => ErrorKind::Io,
        (_, git2::ErrorClass::Odb | git2::ErrorClass::Object | git2::ErrorClass::Zlib | git2::ErrorClass::Tree) => {
            ErrorKind::Corrupt
        }
        _ => ErrorKind::Invalid,
    };
    failure(kind, operation, key, format!("the repository cannot be read: {}", quoted(error.message())))
}

/// Makes a name from a repository printable: redacted, escaped and limited in length, without quotation marks
/// around it.
pub(crate) fn printable(text: &str) -> String {
    Untrusted::new(text).as_str().trim().to_owned()
}
