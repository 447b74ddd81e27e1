//! The serialised form of failure codes.

use cairn_domain::FailureCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The code of a failure. Each code except `unknown` has a page in the runbooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureName {
    Timeout,
    ConnectionLost,
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
    Busy,
    Crash,
    Panic,
    InvalidSettings,
    OverBudget,
    /// Another version of Cairn has written a code that this version does not have.
    #[serde(other)]
    Unknown,
}

impl FailureName {
    pub fn as_str(self) -> &'static str {
        FailureCode::from(self).as_str()
    }
}

impl From<FailureCode> for FailureName {
    fn from(code: FailureCode) -> Self {
        match code {
            FailureCode::Timeout => Self::Timeout,
            FailureCode::ConnectionLost => Self::ConnectionLost,
            FailureCode::TransactionConflict => Self::TransactionConflict,
            FailureCode::Unavailable => Self::Unavailable,
            FailureCode::Throttled => Self::Throttled,
            FailureCode::NotFound => Self::NotFound,
            FailureCode::Forbidden => Self::Forbidden,
            FailureCode::Invalid => Self::Invalid,
            FailureCode::Corrupt => Self::Corrupt,
            FailureCode::TooLarge => Self::TooLarge,
            FailureCode::Conflict => Self::Conflict,
            FailureCode::AlreadyExists => Self::AlreadyExists,
            FailureCode::Cancelled => Self::Cancelled,
            FailureCode::Io => Self::Io,
            FailureCode::Busy => Self::Busy,
            FailureCode::Crash => Self::Crash,
            FailureCode::Panic => Self::Panic,
            FailureCode::InvalidSettings => Self::InvalidSettings,
            FailureCode::OverBudget => Self::OverBudget,
            FailureCode::Unknown => Self::Unknown,
        }
    }
}

impl From<FailureName> for FailureCode {
    fn from(name: FailureName) -> Self {
        match name {
            FailureName::Timeout => Self::Timeout,
            FailureName::ConnectionLost => Self::ConnectionLost,
            FailureName::TransactionConflict => Self::TransactionConflict,
            FailureName::Unavailable => Self::Unavailable,
            FailureName::Throttled => Self::Throttled,
            FailureName::NotFound => Self::NotFound,
            FailureName::Forbidden => Self::Forbidden,
            FailureName::Invalid => Self::Invalid,
            FailureName::Corrupt => Self::Corrupt,
            FailureName::TooLarge => Self::TooLarge,
            FailureName::Conflict => Self::Conflict,
            FailureName::AlreadyExists => Self::AlreadyExists,
            FailureName::Cancelled => Self::Cancelled,
            FailureName::Io => Self::Io,
            FailureName::Busy => Self::Busy,
            FailureName::Crash => Self::Crash,
            FailureName::Panic => Self::Panic,
            FailureName::InvalidSettings => Self::InvalidSettings,
            FailureName::OverBudget => Self::OverBudget,
            FailureName::Unknown => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_equal_the_codes_of_the_domain() {
        for code in FailureCode::ALL {
            let name = FailureName::from(code);
            assert_eq!((serde_json::json!(name), FailureCode::from(name)), (serde_json::json!(code.as_str()), code));
        }
    }

    #[test]
    fn unknown_code_is_readable() {
        let name: FailureName = serde_json::from_str("\"out_of_luck\"").expect("a name");
        assert_eq!(name, FailureName::Unknown);
    }
}
