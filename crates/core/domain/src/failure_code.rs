//! The codes of failures.

use std::fmt;

/// The code of a failure. Each code has a page in `runbooks/`. Documents, messages and answers contain the
/// code as text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FailureCode {
    Timeout,
    ConnectionLost,
    /// A database transaction conflicted with another transaction.
    TransactionConflict,
    Unavailable,
    Throttled,
    NotFound,
    Forbidden,
    Invalid,
    Corrupt,
    TooLarge,
    Conflict,
    AlreadyExists,
    Cancelled,
    Io,
    /// Another worker holds the lease that the job needs.
    Busy,
    /// The job kills its worker process.
    Crash,
    /// A task of Cairn panicked.
    Panic,
    /// The settings of the repository or of the operator cannot be used.
    InvalidSettings,
    /// A snapshot exceeds an upper limit.
    OverBudget,
    /// Another version of Cairn has stored a code that this version does not have.
    Unknown,
}

impl FailureCode {
    pub const ALL: [Self; 20] = [
        Self::Timeout,
        Self::ConnectionLost,
        Self::TransactionConflict,
        Self::Unavailable,
        Self::Throttled,
        Self::NotFound,
        Self::Forbidden,
        Self::Invalid,
        Self::Corrupt,
        Self::TooLarge,
        Self::Conflict,
        Self::AlreadyExists,
        Self::Cancelled,
        Self::Io,
        Self::Busy,
        Self::Crash,
        Self::Panic,
        Self::InvalidSettings,
        Self::OverBudget,
        Self::Unknown,
    ];

    /// The text of the code. The text never changes, because stores, messages and scripts of operators
    /// contain it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::ConnectionLost => "connection_lost",
            Self::TransactionConflict => "transaction_conflict",
            Self::Unavailable => "unavailable",
            Self::Throttled => "throttled",
            Self::NotFound => "not_found",
            Self::Forbidden => "forbidden",
            Self::Invalid => "invalid",
            Self::Corrupt => "corrupt",
            Self::TooLarge => "too_large",
            Self::Conflict => "conflict",
            Self::AlreadyExists => "already_exists",
            Self::Cancelled => "cancelled",
            Self::Io => "io",
            Self::Busy => "busy",
            Self::Crash => "crash",
            Self::Panic => "panic",
            Self::InvalidSettings => "invalid_settings",
            Self::OverBudget => "over_budget",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }

    /// The code for a text from a store. Another version of Cairn may have stored the text.
    pub fn of_stored(text: &str) -> Self {
        Self::parse(text).unwrap_or(Self::Unknown)
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_back_from_its_text() {
        for code in FailureCode::ALL {
            assert_eq!(FailureCode::parse(code.as_str()), Some(code));
        }
        assert_eq!(FailureCode::parse("no_code"), None);
        assert_eq!(FailureCode::of_stored("no_code"), FailureCode::Unknown);
    }
}
