//! Errors of this adapter: short ways to make them, and what those of libgit2 mean.

use std::io;

use cairn_ports::{ErrorKind, SourceError};

/// An error with a sentence for people as its cause.
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

pub(crate) fn from_git(operation: &'static str, key: &str, error: git2::Error) -> SourceError {
    let kind = match (error.code(), error.class()) {
        (git2::ErrorCode::NotFound | git2::ErrorCode::UnbornBranch, _) => ErrorKind::NotFound,
        (_, git2::ErrorClass::Os) => ErrorKind::Io,
        (_, git2::ErrorClass::Odb | git2::ErrorClass::Object | git2::ErrorClass::Zlib | git2::ErrorClass::Tree) => {
            ErrorKind::Corrupt
        }
        _ => ErrorKind::Invalid,
    };
    SourceError::new(kind, operation, key).because(error)
}

/// A text of somebody else's (a server, a file name) on one line, without control characters, bounded.
pub(crate) fn printable(text: &str) -> String {
    let shown = |character: char| if character.is_control() { ' ' } else { character };
    text.chars().map(shown).take(300).collect::<String>().trim().to_owned()
}
