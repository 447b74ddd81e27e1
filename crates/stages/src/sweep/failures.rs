//! Collects the failures of a sweep, because a sweep continues after a failure.

use std::fmt::Display;

use cairn_pipeline::StageError;
use cairn_ports::ErrorClass;

/// Logs each failure of a sweep and stores the first failure.
#[derive(Default)]
pub(super) struct Failures {
    first: Option<StageError>,
    /// True if a store is unavailable. The sweep then stops, because each further call would also fail after
    /// its full timeout.
    pub(super) is_unavailable: bool,
}

impl Failures {
    pub(super) fn note<T>(&mut self, what: &(dyn Display + Sync), result: Result<T, StageError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                tracing::warn!(what = %what, code = %error.code, "the records of this entry cannot be removed: {}", error.chain());
                self.is_unavailable |= matches!(error.class, ErrorClass::Pause { .. });
                self.first.get_or_insert(error);
                None
            }
        }
    }

    pub(super) fn end<T>(self, value: T) -> Result<T, StageError> {
        self.first.map_or(Ok(value), Err)
    }
}
