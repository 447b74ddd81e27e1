//! A sweep continues after a failure.

use std::fmt::Display;

use cairn_pipeline::StageError;
use cairn_ports::ErrorClass;

/// Collects the failures of a sweep and keeps the first one.
#[derive(Default)]
pub(super) struct Failures {
    first: Option<StageError>,
    /// A store is not available: each further call would fail too, and would take its full time.
    pub(super) is_unavailable: bool,
}

impl Failures {
    pub(super) fn note<T>(&mut self, what: &(dyn Display + Sync), result: Result<T, StageError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                tracing::warn!(what = %what, code = %error.code, "not swept: {}", error.chain());
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
