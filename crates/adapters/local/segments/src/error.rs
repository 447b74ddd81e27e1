//! Errors of segments. A message states the file, the fault and the remedy.

use std::io;
use std::path::{Path, PathBuf};

use cairn_ports::{ErrorKind, MaintenanceError, VectorStoreError};

/// A fault of a segment.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SegmentError {
    #[error("segment `{path}` is damaged: {what}; `cairn index --rebuild {repository}` writes it again")]
    Damaged { path: PathBuf, what: &'static str, repository: String },
    #[error("{operation} `{path}`")]
    Io { operation: &'static str, path: PathBuf, source: io::Error },
    #[error("{0}")]
    Invalid(String),
}

impl SegmentError {
    /// Creates an error. In the message, the name of the segment's folder identifies the repository.
    pub(crate) fn damaged(path: &Path, what: &'static str) -> Self {
        let folder = path.parent().and_then(Path::file_name);
        let repository = folder.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Self::Damaged { path: path.to_owned(), what, repository }
    }

    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { operation, path: path.to_owned(), source }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Damaged { .. } => ErrorKind::Corrupt,
            Self::Io { .. } => ErrorKind::Io,
            Self::Invalid(_) => ErrorKind::Invalid,
        }
    }

    pub(crate) fn into_store_error(self, operation: &'static str, key: impl Into<String>) -> VectorStoreError {
        VectorStoreError::new(self.kind(), operation, key).because(self)
    }

    pub(crate) fn into_maintenance_error(self, operation: &'static str, key: impl Into<String>) -> MaintenanceError {
        MaintenanceError::new(self.kind(), operation, key).because(self)
    }
}
