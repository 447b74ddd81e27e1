//! Defines how a sync handles files on disk that change while it reads them.

/// The reaction to a file on disk that changes after it was listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnChange {
    /// The read fails with `Conflict`, and the caller lists the tree again.
    ListAgain,
    /// The file is recorded as unreadable, so that a file that changes all the time does not stop the sync.
    Record,
}

/// The message for a file that is recorded as unreadable because it changes.
pub(crate) const CHANGES: &str = "the file changes while it is read";
