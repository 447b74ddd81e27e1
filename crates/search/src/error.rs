//! Errors of questions: what was wrong, where, and the call to make next.

use std::time::Duration;

use cairn_ports::{ErrorKind, PortError};

/// What to do about damage.
pub(crate) const REBUILD: &str = "`cairn doctor` names all that is damaged; `cairn index --rebuild` writes it anew";

/// Codes that callers branch on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchErrorCode {
    ValidationError,
    NotFound,
    InvalidCursor,
    /// The caller may see it, but not do that with it.
    Forbidden,
    /// The index was built with another embedding model.
    ModelMismatch,
    /// A stored file is damaged; the message names it and the remedy.
    Corrupt,
    /// A store or a provider took too long.
    Timeout,
    /// A provider takes no more for now.
    RateLimited {
        retry_after: Option<Duration>,
    },
    InternalError,
}

impl SearchErrorCode {
    pub fn as_str(self) -> &'static str {
        match self {
            SearchErrorCode::ValidationError => "validation_error",
            SearchErrorCode::NotFound => "not_found",
            SearchErrorCode::InvalidCursor => "invalid_cursor",
            SearchErrorCode::Forbidden => "forbidden",
            SearchErrorCode::ModelMismatch => "model_mismatch",
            SearchErrorCode::Corrupt => "corrupt",
            SearchErrorCode::Timeout => "timeout_error",
            SearchErrorCode::RateLimited { .. } => "rate_limited",
            SearchErrorCode::InternalError => "internal_error",
        }
    }
}

/// A call that helps, in terms that every front end can render: which capability, with which arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextCall {
    /// Name of the tool: `search_code`, `read_code` …
    pub tool: &'static str,
    pub reason: String,
    /// Names and values, in the order in which they read best. A name that stands several times has a list of values.
    pub arguments: Vec<(&'static str, String)>,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct SearchError {
    pub code: SearchErrorCode,
    pub message: String,
    pub similar_symbols: Vec<String>,
    pub similar_files: Vec<String>,
    pub similar_repositories: Vec<String>,
    /// What to do next, in words.
    pub hint: Option<String>,
    /// At most two, and each works when it is made as it stands.
    pub next_calls: Vec<NextCall>,
}

impl SearchError {
    pub fn new(code: SearchErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            similar_symbols: Vec::new(),
            similar_files: Vec::new(),
            similar_repositories: Vec::new(),
            hint: None,
            next_calls: Vec::new(),
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn next(mut self, call: NextCall) -> Self {
        self.next_calls.push(call);
        self
    }
}

impl<E: PortError> From<E> for SearchError {
    fn from(error: E) -> Self {
        let code = match error.kind() {
            ErrorKind::Corrupt => SearchErrorCode::Corrupt,
            ErrorKind::Timeout => SearchErrorCode::Timeout,
            ErrorKind::Throttled { retry_after } => SearchErrorCode::RateLimited { retry_after },
            // What callers get wrong is found before a port is asked: the rest is ours, whatever the port calls it.
            _ => SearchErrorCode::InternalError,
        };
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(source) = cause {
            message.push_str(": ");
            message.push_str(&source.to_string());
            cause = source.source();
        }
        let error = SearchError::new(code, message);
        if code == SearchErrorCode::Corrupt { error.hint(REBUILD) } else { error }
    }
}
