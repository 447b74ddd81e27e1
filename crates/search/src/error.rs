//! Errors of questions. An error describes the fault, the place of the fault, and the next call to make. Text
//! from a repository is always quoted in a message, see `cairn_redaction::Message`.

use std::time::Duration;

use cairn_ports::{ErrorKind, PortError};
use cairn_redaction::{Message, Own};

/// The hint for a damaged index.
pub(crate) const REBUILD: &str =
    "`cairn doctor` lists everything that is damaged; `cairn index --rebuild` writes it again";

/// Error codes. Clients use the code to decide how to handle the error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueryErrorCode {
    ValidationError,
    NotFound,
    InvalidCursor,
    /// The caller may see the object, but may not execute this operation on it.
    Forbidden,
    /// The index was built with a different embedding model.
    ModelMismatch,
    /// A stored file is damaged. The message contains the name of the file and the remedy.
    Corrupt,
    /// A store or a provider exceeded its time limit.
    Timeout,
    /// A provider currently refuses requests because a rate limit was reached.
    RateLimited {
        retry_after: Option<Duration>,
    },
    InternalError,
}

impl QueryErrorCode {
    pub fn as_str(self) -> &'static str {
        match self {
            QueryErrorCode::ValidationError => "validation_error",
            QueryErrorCode::NotFound => "not_found",
            QueryErrorCode::InvalidCursor => "invalid_cursor",
            QueryErrorCode::Forbidden => "forbidden",
            QueryErrorCode::ModelMismatch => "model_mismatch",
            QueryErrorCode::Corrupt => "corrupt",
            QueryErrorCode::Timeout => "timeout_error",
            QueryErrorCode::RateLimited { .. } => "rate_limited",
            QueryErrorCode::InternalError => "internal_error",
        }
    }
}

/// A suggested call: the tool and its arguments. Every front end can show a call in this form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextCall {
    /// Name of the tool: `search_code`, `read_code` …
    pub tool: &'static str,
    pub reason: Message,
    /// The names and values of the arguments, in the order in which they are shown. If a name occurs several
    /// times, its values form a list.
    pub arguments: Vec<(&'static str, String)>,
}

/// The field of a request that has an invalid value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FieldFault {
    /// Name of the field, as the caller spelled it.
    pub field: String,
    /// The value, if it is an invalid pattern.
    pub pattern: Option<String>,
    /// The value, if it is a path that cannot be used.
    pub path: Option<String>,
    /// The largest allowed number, if the value exceeds this number.
    pub max_allowed: Option<u64>,
    /// The value, if it is a number outside the allowed range.
    pub provided: Option<i64>,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    pub code: QueryErrorCode,
    pub message: Message,
    /// Set if one field of the request is wrong.
    pub fault: Option<Box<FieldFault>>,
    pub similar_symbols: Vec<String>,
    pub similar_files: Vec<String>,
    pub similar_repositories: Vec<String>,
    /// A sentence about changed files that were not searched for an absent name.
    pub unread: Option<Box<Message>>,
    /// A text that describes what the caller can do next.
    pub hint: Option<Message>,
    /// At most two calls. Each call contains all its arguments and can be made without changes.
    pub next_calls: Vec<NextCall>,
}

impl QueryError {
    pub fn new(code: QueryErrorCode, message: impl Into<Message>) -> Self {
        Self {
            code,
            message: message.into(),
            fault: None,
            similar_symbols: Vec::new(),
            similar_files: Vec::new(),
            similar_repositories: Vec::new(),
            unread: None,
            hint: None,
            next_calls: Vec::new(),
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<Message>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the field that has an invalid value.
    #[must_use]
    pub fn in_field(mut self, fault: FieldFault) -> Self {
        self.fault = Some(Box::new(fault));
        self
    }

    #[must_use]
    pub fn next(mut self, call: NextCall) -> Self {
        self.next_calls.push(call);
        self
    }

    /// Adds a call before the other calls. At most two calls remain.
    #[must_use]
    pub(crate) fn next_first(mut self, call: NextCall) -> Self {
        self.next_calls.insert(0, call);
        self.next_calls.truncate(2);
        self
    }
}

impl FieldFault {
    pub fn of(field: impl Into<String>) -> Self {
        Self { field: field.into(), ..Self::default() }
    }
}

impl<E: PortError> From<E> for QueryError {
    fn from(error: E) -> Self {
        let code = match error.kind() {
            ErrorKind::Corrupt => QueryErrorCode::Corrupt,
            ErrorKind::Timeout => QueryErrorCode::Timeout,
            ErrorKind::Throttled { retry_after } => QueryErrorCode::RateLimited { retry_after },
            // Mistakes of the caller are found before a port is called. Therefore all other errors of a port
            // are internal errors.
            _ => QueryErrorCode::InternalError,
        };
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(source) = cause {
            message.push_str(": ");
            message.push_str(&source.to_string());
            cause = source.source();
        }
        let error = QueryError::new(code, Own(message));
        if code == QueryErrorCode::Corrupt { error.hint(REBUILD) } else { error }
    }
}
