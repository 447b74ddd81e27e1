//! The reasons for refusing a change.

use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The object that the command would change does not exist.
    NotFound,
    /// The current state does not allow the change, for example because a different change was made first.
    Conflict(&'static str),
    /// The change is not allowed in any state.
    Invalid(&'static str),
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotFound => formatter.write_str("the record does not exist"),
            Refusal::Conflict(reason) | Refusal::Invalid(reason) => formatter.write_str(reason),
        }
    }
}

impl std::error::Error for Refusal {}
